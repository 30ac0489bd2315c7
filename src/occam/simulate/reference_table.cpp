#include "occam/simulate/reference_table.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <unordered_set>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/suggest.hpp"
#include "occam/data/labels.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

// For each column whether values may be missing: then a table has them missing as the data have.
std::vector<bool> may_be_missing(const Problem& problem) {
  std::vector<bool> result(static_cast<std::size_t>(problem.D()), false);
  for (const MissingColumn& one : problem.missing()) result[static_cast<std::size_t>(one.at)] = true;
  return result;
}

[[noreturn]] void refuse(const std::string& place, const std::string& why) {
  throw Error(ErrorKind::bad_data, "{}: {}", place, why);
}

// Files of `occam simulate` say which models their indices mean.
void check_meta(const NpzReader& file, const std::string& path, const Problem& problem) {
  if (!file.has("meta")) return;
  const NdArray array = file.read("meta");
  if (!array.is_text()) return;  // another program's, of another kind
  const nlohmann::json meta = parse_json(array.text(), path + ": meta", ErrorKind::bad_data);
  if (!meta.is_object() || !meta.contains("models")) return;
  if (meta["models"] != nlohmann::json(problem.model_names())) {
    refuse(path, fmt::format("it holds simulations of the models {}, problem '{}' has {}",
                             shown(json_text(meta["models"], JsonStyle::compact), 300), problem.name(),
                             json_text(problem.model_names(), JsonStyle::compact)));
  }
}

void read_npz_table(const std::string& path, const Problem& problem, Batch& all) {
  const NpzReader file(path);
  check_meta(file, path, problem);
  const NdArray data = file.read("data");
  const std::vector<std::int64_t> n = file.read("n").as_int64();
  const std::vector<std::int64_t> model = file.read("model").as_int64();
  if (data.shape.size() != 2 || data.shape[1] != problem.D()) {
    refuse(path, fmt::format("'data' has shape {}, expected (rows, {}) for the columns of '{}'",
                             shape_text(data.shape), problem.D(), problem.name()));
  }
  if (n.size() != model.size())
    refuse(path, fmt::format("'n' has {} entries, 'model' {}", n.size(), model.size()));
  std::int64_t rows = 0;
  for (std::size_t k = 0; k < n.size(); ++k) {
    if (n[k] < 1 || n[k] > data.shape[0] - rows)
      refuse(path, fmt::format("data set {}: n = {} is not possible", k, n[k]));
    if (model[k] < 0 || model[k] >= problem.J()) {
      refuse(path, fmt::format("data set {}: model {} is not one of 0 to {}", k, model[k], problem.J() - 1));
    }
    rows += n[k];
  }
  if (rows != data.shape[0])
    refuse(path, fmt::format("'n' sums to {}, 'data' has {} rows", rows, data.shape[0]));

  const std::vector<float> values = data.as_float();
  const std::vector<bool> may_miss = may_be_missing(problem);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) || (std::isnan(values[i]) && may_miss[i % may_miss.size()])) continue;
    refuse(path, fmt::format("row {} of 'data' holds {}", i / may_miss.size(), values[i]));
  }
  std::vector<double> parameters;
  if (file.has("parameters")) {
    const NdArray array = file.read("parameters");
    if (array.shape != Shape{static_cast<std::int64_t>(n.size()), problem.P()}) {
      refuse(path, fmt::format("'parameters' has shape {}, expected ({}, {})", shape_text(array.shape),
                               n.size(), problem.P()));
    }
    parameters = array.as_double();
  }
  const float* next = values.data();
  for (std::size_t k = 0; k < n.size(); ++k) {
    const std::int64_t b = all.append(static_cast<std::int32_t>(model[k]), n[k], n[k]);
    const auto to = all.mutable_data(b);
    std::copy_n(next, to.size(), to.begin());
    next += to.size();
    const auto theta = all.mutable_parameters(b);
    for (std::size_t p = 0; p < theta.size() && !parameters.empty(); ++p) {
      theta[p] = parameters[k * theta.size() + p];
    }
  }
}

// Reads row by row; a data set is complete when another begins.
class CsvTableReader {
 public:
  CsvTableReader(const std::string& path, const Problem& problem, const CsvFormat& format,
                 ProgressSink* notes)
      : problem_(problem),
        reader_(
            CsvReader::open(path, {.format = format, .missing = MissingValues::keep_nan, .notes = notes})),
        dataset_(reader_.column_index("dataset")),
        model_(reader_.column_index("model")),
        may_miss_(may_be_missing(problem)) {
    for (const Column& column : problem.columns()) columns_.push_back(reader_.column_index(column.name));
    for (const std::string& name : problem.parameter_names()) {
      parameters_.push_back(reader_.has_column(name) ? std::optional(reader_.column_index(name))
                                                     : std::nullopt);
    }
  }

  void read(Batch& all) {
    while (reader_.next()) {
      if (reader_.text(dataset_) != present_ || rows_ == 0) {
        finish(all);
        begin();
      } else if (reader_.text(model_) != problem_.model_names()[static_cast<std::size_t>(model_index_)]) {
        refuse_here(fmt::format("data set '{}' is of model '{}' above, here of '{}'", present_,
                                problem_.model_names()[static_cast<std::size_t>(model_index_)],
                                reader_.text(model_)));
      }
      add_row();
    }
    finish(all);
  }

 private:
  [[noreturn]] void refuse_here(const std::string& why) const {
    refuse(fmt::format("{}:{}", reader_.name(), reader_.line()), why);
  }

  void begin() {
    present_ = reader_.text(dataset_);
    if (!seen_.insert(present_).second) {
      refuse_here(
          fmt::format("data set '{}' begins again; the rows of a data set must stand together", present_));
    }
    const auto& names = problem_.model_names();
    const auto found = std::find(names.begin(), names.end(), reader_.text(model_));
    if (found == names.end()) {
      refuse_here(fmt::format("problem '{}' has no model '{}'{}", problem_.name(), reader_.text(model_),
                              did_you_mean(reader_.text(model_), names)));
    }
    model_index_ = found - names.begin();
    theta_.assign(parameters_.size(), std::numeric_limits<double>::quiet_NaN());
    const auto mask = problem_.mask(model_index_);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (parameters_[p] && mask[p] != 0) theta_[p] = reader_.number(*parameters_[p]);
    }
  }

  void add_row() {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t column = columns_[c];
      if (problem_.columns()[c].role == Role::label) {
        if (const auto number = names_.number(reader_.text(column))) {
          data_.push_back(*number);
          continue;
        }
      }
      const double value = reader_.number(column);
      const bool missing = std::isnan(value) && may_miss_[c];
      if (!missing && !(std::fabs(value) <= std::numeric_limits<float>::max())) {
        refuse_here(fmt::format("column '{}' holds no usable number", reader_.columns()[column]));
      }
      data_.push_back(static_cast<float>(value));
    }
    ++rows_;
  }

  void finish(Batch& all) {
    if (rows_ == 0) return;
    const std::int64_t b = all.append(static_cast<std::int32_t>(model_index_), rows_, rows_);
    std::copy(data_.begin(), data_.end(), all.mutable_data(b).begin());
    std::copy(theta_.begin(), theta_.end(), all.mutable_parameters(b).begin());
    data_.clear();
    rows_ = 0;
  }

  const Problem& problem_;
  CsvReader reader_;
  std::size_t dataset_, model_;
  std::vector<bool> may_miss_;  // (D)
  LabelNames names_;
  std::vector<std::size_t> columns_;
  std::vector<std::optional<std::size_t>> parameters_;  // (P)
  std::unordered_set<std::string> seen_;
  std::string present_;
  std::int64_t model_index_ = 0;
  std::int64_t rows_ = 0;
  std::vector<float> data_;
  std::vector<double> theta_;
};

void append_all(const Batch& from, Batch& to) {
  for (std::int64_t k = 0; k < from.size(); ++k) {
    const std::int64_t b = to.append(from.models()[static_cast<std::size_t>(k)], from[k].n, from[k].n);
    std::ranges::copy(from[k].values(), to.mutable_data(b).begin());
    std::ranges::copy(from.parameters(k), to.mutable_parameters(b).begin());
  }
}

std::string fingerprint_of(const Batch& all) {
  const auto bytes = [](const auto& values) {
    const auto raw = std::as_bytes(values);
    return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
  };
  return hexadecimal_hash(hexadecimal_hash(bytes(all.data())) + hexadecimal_hash(bytes(all.offsets())) +
                          hexadecimal_hash(bytes(all.models())));
}

}  // namespace

std::vector<std::string> table_files(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown)) return {path};  // a name may hold commas
  std::vector<std::string> files;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t comma = std::min(path.find(',', at), path.size());
    files.push_back(path.substr(at, comma - at));
    at = comma + 1;
  }
  return files;
}

ReferenceTable ReferenceTable::read(const std::string& path, const Problem& problem, const CsvFormat& format,
                                    ProgressSink* notes) {
  ReferenceTable table;
  table.all_.reset(problem.D(), problem.P(), problem.J());
  const std::vector<std::string> files = table_files(path);
  std::map<std::string, std::string> known;  // what is in a file, and its name
  for (const std::string& file : files) {
    Batch one;
    Batch& to = files.size() == 1 ? table.all_ : one;
    to.reset(problem.D(), problem.P(), problem.J());
    if (file.ends_with(".csv") || file.ends_with(".tsv")) {
      CsvTableReader(file, problem, format, notes).read(to);
      if (to.size() == 0) refuse(file, "there is a header but no data");
    } else {
      read_npz_table(file, problem, to);
    }
    if (files.size() == 1) break;
    const auto [same, is_new] = known.emplace(fingerprint_of(one), file);
    if (!is_new)
      refuse(file, fmt::format("it holds the same data sets as '{}'; give each run of `occam simulate` a "
                               "--seed of its own",
                               same->second));
    append_all(one, table.all_);
  }
  const LabelGroups labels = label_groups(problem.columns());
  for (std::int64_t b = 0; b < table.all_.size(); ++b)
    number_labels({table.all_.mutable_data(b).data(), table.all_[b].n, problem.D(), problem.D()}, labels);
  table.fingerprint_ = fingerprint_of(table.all_);
  return table;
}

}  // namespace occam
