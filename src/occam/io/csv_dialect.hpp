// What stands between the cells of a csv file and which mark its decimals have. The user may say; otherwise
// both are recognised from the beginning of the file, by the rules in docs/data.md. Where these leave a
// doubt, nothing is guessed: reading fails with a message that names the option which settles it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "occam/core/fields.hpp"

namespace occam {

// As the user says it.
struct CsvFormat {
  std::string separator = "auto";  // auto, comma, semicolon, tab
  std::string decimal = "auto";    // auto, point, comma
};
Fields fields(CsvFormat& format);

struct CsvDialect {
  char separator = ',';
  char decimal = '.';             // ',' or '.'; '\0': in doubt, so that only whole numbers can be read
  std::string doubt;              // then: why, and what to do
  std::string note;               // what was recognised and should be said; empty for the usual
  std::size_t skipped_bytes = 0;  // before the header: the line "sep=;" that some spreadsheets write
};

constexpr std::size_t kCsvHeadBytes = std::size_t{1} << 16;  // as much of a file as is looked at

// From `head`, the beginning of the file without byte order mark (`whole`: all of it). `name` tells tsv from
// csv and is for messages. Error(bad_data) when the header leaves it open what separates cells.
CsvDialect csv_dialect(std::string_view head, bool whole, std::string_view name, const CsvFormat& format);

// Whether the text is a decimal number with `mark` where others have the other mark: for hints.
bool is_decimal_with(char mark, std::string_view text);

// Whether `mark` may stand between thousands in the text: after up to three digits, and before three each. It
// may be a decimal mark all the same, as in 1,500; in 1,500,000 and 1,500.5 it is none.
enum class Thousands { no, perhaps, surely };
Thousands thousands_with(char mark, std::string_view text);

}  // namespace occam
