#include "occam/simulate/own/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"
#include "occam/io/npy.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr unsigned char kNpyFirst = 0x93;
constexpr std::size_t kLongestHeader = 1 << 16;
constexpr std::size_t kLongestCell = 64;
constexpr std::size_t kLongestMessage = 4096;

template <class Range, class Text>
void append_list(std::string& line, const Range& items, Text&& text) {
  line += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) line += ',';
    first = false;
    fmt::format_to(std::back_inserter(line), "{}", text(item));
  }
  line += ']';
}

// ,"design":{"dose":[...]}
void append_design(std::string& line, const std::vector<Column>& columns,
                   std::span<const SimulationRequest> requests) {
  line += R"(,"design":)";
  char before = '{';
  std::vector<float> values;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].given()) continue;
    values.clear();
    for (const SimulationRequest& request : requests) {
      const std::size_t end = static_cast<std::size_t>(request.n) * columns.size();
      for (std::size_t i = c; i < end; i += columns.size()) values.push_back(request.out[i]);
    }
    line += fmt::format("{}\"{}\":", before, columns[c].name);
    append_list(line, values, [](float value) { return value; });
    before = ',';
  }
  line += '}';
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A cell of an answer in text. "NA" is how R writes a missing number.
bool parse_cell(std::string_view cell, double& value) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  if (cell == "NA") {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, status] = from_chars(cell.data(), cell.data() + cell.size(), value);
  return status == std::errc{} && end == cell.data() + cell.size();
}

}  // namespace

std::vector<std::size_t> answered_columns(const std::vector<Column>& columns, bool designed) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!designed || !columns[c].given()) places.push_back(c);
  }
  return places;
}

std::string request_line(const std::string& model, const std::vector<Column>& columns,
                         const std::vector<std::string>& names, std::span<const SimulationRequest> requests,
                         std::span<const std::uint64_t> seeds) {
  const bool designed = !requests.empty() && requests.front().designed;
  const std::vector<std::size_t> answered = answered_columns(columns, designed);
  std::string line = fmt::format(R"({{"occam":1,"model":"{}","columns":{},"names":)", model, answered.size());
  append_list(line, answered, [&](std::size_t c) { return nlohmann::json(columns[c].name).dump(); });
  line += R"(,"n":)";
  append_list(line, requests, [](const SimulationRequest& request) { return request.n; });
  line += fmt::format(R"(,"seed":{},"seeds":)", seeds.empty() ? 0 : seeds.front());
  append_list(line, seeds, [](std::uint64_t seed) { return seed; });
  line += R"(,"parameters":{)";
  for (std::size_t p = 0; p < names.size(); ++p) {
    line += fmt::format("{}\"{}\":", p > 0 ? "," : "", names[p]);
    append_list(line, requests, [p](const SimulationRequest& request) { return request.theta[p]; });
  }
  line += '}';
  if (designed) append_design(line, columns, requests);
  return line + "}\n";
}

AnswerReader::AnswerReader(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

void AnswerReader::add(std::string_view bytes) {
  if (complete_) refuse_more(0);
  bytes_ += bytes;
  if (bytes_.empty()) return;
  if (static_cast<unsigned char>(bytes_[0]) == kNpyFirst && taken_ == 0 && values_.empty()) {
    take_npy();
  } else {
    take_lines();
  }
}

void AnswerReader::refuse_more(std::size_t used) const {
  throw Error(ErrorKind::bad_data, "it wrote more than the {} rows asked for: '{}'", rows_,
              shown(std::string_view(bytes_).substr(used)));
}

void AnswerReader::take_npy() {
  if (needed_ == 0) {
    if (bytes_.size() < 12) return;
    const auto byte = [&](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes_[at]));
    };
    const bool short_length = byte(6) == 1;
    const std::size_t header =
        (short_length ? 10 : 12) +
        (byte(8) | byte(9) << 8 | (short_length ? 0 : byte(10) << 16 | byte(11) << 24));
    if (header > kLongestHeader) {
      throw Error(ErrorKind::bad_data, "the header of its npy array claims {} bytes, expected fewer than {}",
                  header, kLongestHeader);
    }
    if (bytes_.size() < header) return;
    std::string_view rest = std::string_view(bytes_).substr(0, header);
    const NpyHeader parsed = read_npy_header(
        [&rest](std::span<char> out) {
          const std::size_t count = rest.copy(out.data(), out.size());
          rest.remove_prefix(count);
          return count;
        },
        "its answer");
    const Shape expected = {rows_, columns_};
    const bool flat = columns_ == 1 && parsed.shape == Shape{rows_};
    if (parsed.shape != expected && !flat) {
      throw Error(ErrorKind::bad_data,
                  "its answer has shape {}, expected {}: the rows of all data sets, {} columns",
                  shown(shape_text(parsed.shape), 100), shape_text(expected), columns_);
    }
    needed_ =
        header + parsed.data_bytes;  // agrees with what was asked for, so it is no claim of the program's
  }
  if (bytes_.size() < needed_) return;
  if (bytes_.size() > needed_) refuse_more(needed_);
  values_ = parse_npy(bytes_, "its answer").as_float();
  complete_ = true;
}

void AnswerReader::take_lines() {
  const std::size_t longest = std::max(kLongestMessage, static_cast<std::size_t>(columns_) * kLongestCell);
  for (;;) {
    const auto newline = bytes_.find('\n', taken_);
    if (newline == std::string::npos) break;
    if (complete_) refuse_more(taken_);
    take_line(std::string_view(bytes_).substr(taken_, newline - taken_));
    taken_ = newline + 1;
    complete_ = static_cast<std::int64_t>(values_.size()) == rows_ * columns_;
  }
  if (complete_ && taken_ < bytes_.size()) refuse_more(taken_);
  bytes_.erase(0, taken_);
  taken_ = 0;
  if (bytes_.size() > longest) {
    throw Error(ErrorKind::bad_data, "its answer is no npy array and has a line of more than {} bytes: '{}'",
                longest, shown(bytes_));
  }
}

void AnswerReader::take_line(std::string_view line) {
  if (line.starts_with("error:")) {
    throw Error(ErrorKind::bad_data, "it says: {}", shown(trimmed(line.substr(6)), 500));
  }
  const auto row = static_cast<std::int64_t>(values_.size()) / columns_ + 1;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::bad_data,
                "row {} of its answer is '{}': {}; expected {} number{} separated by commas (what a program "
                "prints for "
                "people has to go to standard error)",
                row, shown(line), why, columns_, columns_ == 1 ? "" : "s");
  };
  std::int64_t cells = 0;
  for (std::size_t at = 0; at <= line.size(); ++cells) {
    const std::size_t comma = std::min(line.find(',', at), line.size());
    double value = 0.0;
    if (cells == columns_) refuse(fmt::format("more than {} columns", columns_));
    if (!parse_cell(line.substr(at, comma - at), value)) refuse("not a number");
    if (std::isfinite(value) && std::fabs(value) > std::numeric_limits<float>::max()) refuse("too large");
    values_.push_back(static_cast<float>(value));
    at = comma + 1;
  }
  if (cells != columns_) refuse(fmt::format("{} of {} columns", cells, columns_));
}

}  // namespace occam
