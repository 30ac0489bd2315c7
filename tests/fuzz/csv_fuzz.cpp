// csv: the first byte chooses options, the rest is the text. Read whole, in small pieces and as observed
// data: all must agree, and what was read must survive being written.
#include <array>

#include "fuzz.hpp"
#include "occam/compare/observed.hpp"
#include "occam/io/csv.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> lines;
  bool operator==(const Rows&) const = default;
};

Rows rows_of(CsvReader reader) {
  Rows rows{reader.columns(), {}, {}};
  while (reader.next()) {
    rows.lines.push_back(reader.line());
    auto& row = rows.cells.emplace_back();
    for (std::size_t c = 0; c < rows.columns.size(); ++c) row.emplace_back(reader.text(c));
  }
  return rows;
}

Rows rows_of(const CsvTable& table) {
  Rows rows{table.columns(), {}, {}};
  for (std::size_t r = 0; r < table.rows(); ++r) {
    rows.lines.push_back(table.line(r));
    auto& row = rows.cells.emplace_back();
    for (std::size_t c = 0; c < rows.columns.size(); ++c) row.push_back(table.cell(r, c));
  }
  return rows;
}

std::string written(const Rows& rows) {
  std::string text;
  CsvWriter writer([&](std::string_view bytes) { text += bytes; }, rows.columns);
  for (const auto& row : rows.cells) {
    for (const std::string& cell : row) writer.cell(cell);
    writer.end_row();
  }
  return text;
}

// The first column is data; another, if there is one, tells data sets apart.
void read_as_observed(const std::string& path, const std::vector<std::string>& columns, bool drop,
                      std::size_t by) {
  ObservedOptions options;
  options.columns = {columns.front()};
  if (by > 0 && columns.size() > 1) options.by = {columns.back()};
  if (by > 1 && columns.size() > 2) options.by.push_back(columns[1]);
  options.chunk_sets = 2;
  options.chunk_rows = 4;
  options.missing = drop ? MissingRows::drop : MissingRows::refuse;
  read_observed(path, options, [](const ObservedSets& sets) {
    const std::vector<std::string>& ids = sets.ids;
    const Ragged<const float> data = sets.data;
    require(static_cast<std::int64_t>(ids.size()) == data.sets && data.sets > 0, "one id for each data set");
    for (std::int64_t b = 0; b < data.sets; ++b) require(data.size(b) > 0, "no data set without rows");
    for (std::int64_t r = 0; r < data.x.rows; ++r)
      require(data.x.row(r)[0] - data.x.row(r)[0] == 0, "finite values");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::uint8_t choice = choices.byte();
  const std::string text(choices.rest());
  CsvOptions options;
  constexpr std::array<const char*, 4> kSeparators = {"comma", "semicolon", "tab", "auto"};
  options.format.separator = kSeparators[choice & 3];
  options.chunk_bytes = 1u + (choice >> 2 & 7);
  const bool drop = (choice & 0x20) != 0;
  if (drop) options.missing = MissingValues::keep_nan;

  Rows whole;
  Rows pieces;
  const bool sound =
      accepted({ErrorKind::bad_data}, [&] { whole = rows_of(CsvTable(text, "t.csv", options)); });
  const bool sound_in_pieces = accepted({ErrorKind::bad_data}, [&] {
    pieces = rows_of(CsvReader(in_pieces(text, options.chunk_bytes), "t.csv", options));
  });
  require(sound == sound_in_pieces && (!sound || whole == pieces), "whole and in pieces, the same rows");
  if (!sound || whole.columns.empty()) return 0;

  accepted({ErrorKind::bad_data}, [&] {
    const CsvTable table(text, "t.csv", options);
    for (std::size_t c = 0; c < whole.columns.size(); ++c) table.numbers(c);
  });
  CsvOptions ours;
  ours.format = {"comma", "point"};
  const Rows again = rows_of(CsvTable(written(whole), "t.csv", ours));
  require(again.columns == whole.columns && again.cells == whole.cells,
          "what is written reads back the same");

  static Scratch file(".csv");
  accepted({ErrorKind::bad_data},
           [&] { read_as_observed(file.holding(text), whole.columns, drop, choice >> 6); });
  return 0;
}
