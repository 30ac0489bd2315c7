#include "occam/check/prediction_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::int64_t kBlock = 1000;  // rows handed over at a time

// One row of probabilities; `where` opens the message, `names` are those of the columns.
void check_probabilities(std::span<const double> p, const std::string& where,
                         const std::vector<std::string>& names) {
  double sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (!(p[j] >= 0 && p[j] <= 1 + kSumTolerance)) {
      throw Error(ErrorKind::bad_data, "{}: column '{}': {} is not a probability", where, names[j], p[j]);
    }
    sum += p[j];
  }
  if (!(std::fabs(sum - 1) <= kSumTolerance)) {
    throw Error(ErrorKind::bad_data, "{}: the probabilities {} to {} sum to {}, not to 1 (within {})", where,
                names.front(), names.back(), sum, kSumTolerance);
  }
}

void check_extras(double u, const std::string& where) {
  if (!(u >= 0 && u <= 1 + kSumTolerance)) {
    throw Error(ErrorKind::bad_data, "{}: column 'u': {} is not between 0 and 1", where, u);
  }
}

void check_size(double n, const std::string& where) {
  if (!(n >= 0 && n == std::floor(n) && n < 9e15)) {
    throw Error(ErrorKind::bad_data, "{}: column 'n': {} is not a number of observations", where, n);
  }
}

class TextReader final : public PredictionReader {
 public:
  TextReader(const std::string& path, const CsvFormat& format, ProgressSink* notes)
      : reader_(CsvReader::open(path, {.format = format, .notes = notes})) {
    for (const std::string& column : reader_.columns()) {
      if (!column.starts_with("p_") || column.size() == 2) continue;
      layout_.model_names.push_back(column.substr(2));
      p_names_.push_back(column);
      p_.push_back(reader_.column_index(column));
    }
    if (layout_.J() < 2) {
      throw Error(
          ErrorKind::bad_data,
          "{}:1: {} columns of probabilities; predictions need one p_<model> for each of at least two "
          "models, and `true`",
          reader_.name(), layout_.J());
    }
    truth_ = reader_.column_index("true");
    layout_.has_n = reader_.has_column("n");
    layout_.has_u = reader_.has_column("u");
    if (layout_.has_n) n_ = reader_.column_index("n");
    if (layout_.has_u) u_ = reader_.column_index("u");
    layout_.has_exact = reader_.has_column("exact_" + layout_.model_names.front());
    for (std::size_t j = 0; layout_.has_exact && j < p_.size(); ++j) {
      exact_names_.push_back("exact_" + layout_.model_names[j]);
      exact_.push_back(reader_.column_index(exact_names_.back()));
    }
    settle_truth(path, format);
  }

  const PredictionLayout& layout() const override { return layout_; }

  bool next(Predictions& block) override {
    block.clear();
    while (block.size() < kBlock && reader_.next()) {
      const std::string where = fmt::format("{}:{}", reader_.name(), reader_.line());
      add_probabilities(p_, p_names_, where, block.p);
      if (layout_.has_exact) add_probabilities(exact_, exact_names_, where, block.exact);
      block.truth.push_back(true_model(where));
      if (layout_.has_n) {
        const double n = reader_.number(n_);
        check_size(n, where);
        block.n.push_back(static_cast<std::int64_t>(n));
      }
      if (layout_.has_u) {
        block.u.push_back(reader_.number(u_));
        check_extras(block.u.back(), where);
      }
    }
    return block.size() > 0;
  }

 private:
  void add_probabilities(const std::vector<std::size_t>& columns, const std::vector<std::string>& names,
                         const std::string& where, std::vector<double>& to) const {
    const std::size_t first = to.size();
    for (const std::size_t column : columns) to.push_back(reader_.number(column));
    check_probabilities({to.data() + first, columns.size()}, where, names);
  }

  // The place of a model of this name; -1 where there is none.
  std::int32_t by_name(std::string_view text) const {
    const auto& names = layout_.model_names;
    const auto found = std::find(names.begin(), names.end(), text);
    return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
  }
  std::int32_t by_index(std::string_view text) const {
    std::int32_t index = -1;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), index);
    const bool whole = !text.empty() && status == std::errc{} && end == text.data() + text.size();
    return whole && index >= 0 && index < layout_.J() ? index : -1;
  }

  // What the column means has to hold for all of it: "1" may be the name of the first model and the index of
  // the second. Where names are like indices, the whole column decides, before any row is used.
  void settle_truth(const std::string& path, const CsvFormat& format) {
    const auto& names = layout_.model_names;
    bool alike = true;
    for (std::int32_t j = 0; j < layout_.J(); ++j) {
      const std::int32_t index = by_index(names[static_cast<std::size_t>(j)]);
      alike = alike && (index < 0 || index == j);
    }
    if (alike) return;
    bool all_names = true, all_indices = true, differ = false;
    for (CsvReader rows = CsvReader::open(path, {.format = format}); rows.next();) {
      const std::int32_t name = by_name(rows.text(truth_)), index = by_index(rows.text(truth_));
      all_names = all_names && name >= 0;
      all_indices = all_indices && index >= 0;
      differ = differ || name != index;
    }
    if (all_names && all_indices && differ) {
      throw Error(
          ErrorKind::bad_data,
          "{}: column 'true' can be read in two ways, as the names of models or as their indices from 0: "
          "give the models names that are no numbers",
          path);
    }
    if (all_names || all_indices) meaning_ = all_names ? Truth::names : Truth::indices;
  }

  // A name or an index, the same in all rows.
  std::int32_t true_model(const std::string& where) {
    const std::string_view text = reader_.text(truth_);
    const std::int32_t name = by_name(text), index = by_index(text);
    const bool is_name = name >= 0 && meaning_ != Truth::indices;
    if (is_name || (index >= 0 && meaning_ != Truth::names)) {
      // Names that are their own indices say nothing of what the others are.
      if (name != index) meaning_ = is_name ? Truth::names : Truth::indices;
      return is_name ? name : index;
    }
    if (name >= 0 || index >= 0) {
      throw Error(
          ErrorKind::bad_data,
          "{}: column 'true': '{}' is {}, and the rows before have {}; expected one of them in all rows",
          where, shown(text), name >= 0 ? "the name of a model" : "an index",
          name >= 0 ? "indices" : "names of models");
    }
    const bool number = text.find_first_not_of("-0123456789") == std::string_view::npos;
    throw Error(ErrorKind::bad_data, "{}: column 'true': '{}' is neither a model nor an index from 0 to {}{}",
                where, shown(text), layout_.J() - 1,
                number || layout_.model_names.size() > 20 ? "" : did_you_mean(text, layout_.model_names));
  }

  enum class Truth { open, names, indices };

  CsvReader reader_;
  PredictionLayout layout_;
  std::vector<std::size_t> p_, exact_;
  std::vector<std::string> p_names_, exact_names_;
  std::size_t truth_ = 0, n_ = 0, u_ = 0;
  Truth meaning_ = Truth::open;
};

class ArrayReader final : public PredictionReader {
 public:
  explicit ArrayReader(const std::string& path) : path_(path) {
    const NpzReader file(path);
    const NdArray p = file.read("p");
    if (p.shape.size() != 2 || p.shape[1] < 2) {
      throw Error(ErrorKind::bad_data, "{}: array 'p' has shape {}; (data sets, models) is expected", path,
                  shape_text(p.shape));
    }
    K_ = p.shape[0];
    J_ = p.shape[1];
    all_.p = p.as_double();
    for (const std::int64_t truth : checked(file, "true", {K_}).as_int64()) {
      if (truth < 0 || truth >= J_) {
        throw Error(ErrorKind::bad_data, "{}: row {}: array 'true': {} is no index from 0 to {}", path,
                    all_.truth.size(), truth, J_ - 1);
      }
      all_.truth.push_back(static_cast<std::int32_t>(truth));
    }
    if (file.has("n")) all_.n = checked(file, "n", {K_}).as_int64();
    if (file.has("u")) all_.u = checked(file, "u", {K_}).as_double();
    if (file.has("exact")) all_.exact = checked(file, "exact", {K_, J_}).as_double();
    layout_.has_n = file.has("n");
    layout_.has_u = file.has("u");
    layout_.has_exact = file.has("exact");
    read_names(file);
    check_rows();
  }

  const PredictionLayout& layout() const override { return layout_; }

  bool next(Predictions& block) override {
    block.clear();
    const std::int64_t count = std::min(kBlock, K_ - at_);
    const auto take = [&](const auto& from, auto& to, std::int64_t width) {
      if (!from.empty()) to.assign(from.begin() + at_ * width, from.begin() + (at_ + count) * width);
    };
    take(all_.p, block.p, J_);
    take(all_.truth, block.truth, 1);
    take(all_.n, block.n, 1);
    take(all_.u, block.u, 1);
    take(all_.exact, block.exact, J_);
    at_ += count;
    return count > 0;
  }

 private:
  NdArray checked(const NpzReader& file, const char* name, const Shape& shape) const {
    NdArray array = file.read(name);
    if (array.shape != shape) {
      throw Error(ErrorKind::bad_data, "{}: array '{}' has shape {}; with 'p' as it is, {} is expected",
                  path_, name, shape_text(array.shape), shape_text(shape));
    }
    return array;
  }

  void read_names(const NpzReader& file) {
    for (std::int64_t j = 0; j < J_; ++j) layout_.model_names.push_back(fmt::format("model_{}", j + 1));
    if (!file.has("meta")) return;
    const NdArray meta = file.read("meta");
    if (!meta.is_text()) {
      throw Error(ErrorKind::bad_data,
                  "{}: array 'meta' holds {}; JSON text is expected, as its bytes: "
                  "np.frombuffer(json.dumps(...).encode(), np.uint8)",
                  path_, dtype_name(meta.dtype));
    }
    const nlohmann::json told = parse_json(meta.text(), path_ + ": meta", ErrorKind::bad_data);
    try {
      if (!told.is_object()) throw Error(ErrorKind::bad_data, "{}: meta: expected a JSON object", path_);
      if (told.contains("models")) layout_.model_names = told["models"].get<std::vector<std::string>>();
      if (told.contains("model_prior")) layout_.model_prior = told["model_prior"].get<std::vector<double>>();
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorKind::bad_data, "{}: meta: models must be a list of names, model_prior one of numbers",
                  path_);
    }
    const auto J = static_cast<std::size_t>(J_);
    if (layout_.model_names.size() != J ||
        (!layout_.model_prior.empty() && layout_.model_prior.size() != J)) {
      throw Error(ErrorKind::bad_data,
                  "{}: meta: {} models with {} prior probabilities, but 'p' has {} columns", path_,
                  layout_.model_names.size(), layout_.model_prior.size(), J);
    }
  }

  void check_rows() const {
    std::vector<std::string> p_names;
    std::vector<std::string> exact_names;
    for (const std::string& name : layout_.model_names) {
      p_names.push_back("p_" + name);
      exact_names.push_back("exact_" + name);
    }
    const auto J = static_cast<std::size_t>(J_);
    for (std::size_t k = 0; k < static_cast<std::size_t>(K_); ++k) {
      const std::string where = fmt::format("{}: row {}", path_, k);
      check_probabilities({all_.p.data() + k * J, J}, where, p_names);
      if (layout_.has_exact) check_probabilities({all_.exact.data() + k * J, J}, where, exact_names);
      if (layout_.has_u) check_extras(all_.u[k], where);
      if (layout_.has_n) check_size(static_cast<double>(all_.n[k]), where);
    }
  }

  std::string path_;
  PredictionLayout layout_;
  Predictions all_;
  std::int64_t K_ = 0, J_ = 0, at_ = 0;
};

class TextWriter final : public PredictionWriter {
 public:
  TextWriter(const std::string& path, const PredictionLayout& layout)
      : layout_(layout),
        file_(path),
        writer_(file_.sink(), columns(layout), path.ends_with(".tsv") ? '\t' : ',') {}

  void add(const Predictions& block) override {
    const auto J = static_cast<std::size_t>(layout_.J());
    for (std::size_t b = 0; b < static_cast<std::size_t>(block.size()); ++b) {
      writer_.cell(layout_.model_names[static_cast<std::size_t>(block.truth[b])]);
      if (layout_.has_n) writer_.cell(block.n[b]);
      for (std::size_t j = 0; j < J; ++j) writer_.cell(block.p[b * J + j]);
      if (layout_.has_u) writer_.cell(block.u[b]);
      for (std::size_t j = 0; layout_.has_exact && j < J; ++j) writer_.cell(block.exact[b * J + j]);
      writer_.end_row();
    }
  }
  void commit() override { file_.commit(); }

 private:
  static std::vector<std::string> columns(const PredictionLayout& layout) {
    std::vector<std::string> names = {"true"};
    if (layout.has_n) names.emplace_back("n");
    for (const std::string& model : layout.model_names) names.push_back("p_" + model);
    if (layout.has_u) names.emplace_back("u");
    for (const std::string& model : layout.model_names) {
      if (layout.has_exact) names.push_back("exact_" + model);
    }
    return names;
  }

  PredictionLayout layout_;
  AtomicFile file_;
  CsvWriter writer_;
};

class ArrayWriter final : public PredictionWriter {
 public:
  ArrayWriter(const std::string& path, const PredictionLayout& layout) : path_(path), layout_(layout) {
    require_writable(path);
  }

  void add(const Predictions& block) override {
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all_.p, block.p);
    append(all_.truth, block.truth);
    append(all_.n, block.n);
    append(all_.u, block.u);
    append(all_.exact, block.exact);
  }

  void commit() override {
    const std::int64_t K = all_.size();
    const std::int64_t J = layout_.J();
    NpzWriter writer(path_);
    writer.add("p", ArrayView::of<double>({K, J}, all_.p));
    writer.add("true", ArrayView::of<std::int32_t>({K}, all_.truth));
    if (layout_.has_n) writer.add("n", ArrayView::of<std::int64_t>({K}, all_.n));
    if (layout_.has_u) writer.add("u", ArrayView::of<double>({K}, all_.u));
    if (layout_.has_exact) writer.add("exact", ArrayView::of<double>({K, J}, all_.exact));
    const std::string meta = json_text({{"format", "occam-predictions"},
                                        {"format_version", 1},
                                        {"models", layout_.model_names},
                                        {"model_prior", layout_.model_prior}},
                                       JsonStyle::compact);
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(meta.data()),
                                              meta.size());
    writer.add("meta", ArrayView::of<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, bytes));
    writer.commit();
  }

 private:
  std::string path_;
  PredictionLayout layout_;
  Predictions all_;
};

}  // namespace

std::unique_ptr<PredictionReader> PredictionReader::open(const std::string& path, const CsvFormat& format,
                                                         ProgressSink* notes) {
  if (path.ends_with(".npz")) return std::make_unique<ArrayReader>(path);
  return std::make_unique<TextReader>(path, format, notes);
}

std::unique_ptr<PredictionWriter> PredictionWriter::create(const std::string& path,
                                                           const PredictionLayout& layout) {
  if (path.ends_with(".npz")) return std::make_unique<ArrayWriter>(path, layout);
  if (path.ends_with(".csv") || path.ends_with(".tsv")) return std::make_unique<TextWriter>(path, layout);
  throw Error(ErrorKind::usage, "{}: predictions are written as .csv, .tsv or .npz", path);
}

}  // namespace occam
