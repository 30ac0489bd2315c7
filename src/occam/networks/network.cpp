#include "occam/networks/network.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"
#include "occam/networks/structure_json.hpp"

namespace occam {
namespace {

using nlohmann::json;

template <class T>
std::unique_ptr<Body<T>> make_body(const Architecture& architecture, const json& options, BodyPlan<T>& plan) {
  if constexpr (sizeof(T) == 4) {
    return architecture.make_f32(options, plan);
  } else {
    return architecture.make_f64(options, plan);
  }
}

template <class T>
std::unique_ptr<Head<T>> make_head(const HeadKind& kind, const json& options, HeadPlan<T>& plan) {
  if constexpr (sizeof(T) == 4) {
    return kind.make_f32(options, plan);
  } else {
    return kind.make_f64(options, plan);
  }
}

// A key that only other heads know gets a message of its own.
void refuse_option_of_other_head(const std::string& key, const std::string& head, const std::string& where) {
  std::vector<std::string> owners;
  for (const std::string& name : heads().names()) {
    if (heads().at(name).resolve(json::object()).contains(key)) owners.push_back(name);
  }
  if (owners.empty()) return;
  throw Error(ErrorKind::bad_config, "{}: '{}' is an option of the head {}, but the head is {}", where, key,
              fmt::join(owners, " or "), head);
}

void require(bool ok, const std::string& what) {
  if (!ok) throw Error(ErrorKind::bad_config, "network: {}", what);
}

void check(const NetworkConfig& config) {
  const Standardisation& s = config.standardisation;
  const auto usable = [](double x) { return std::isfinite(x) && x > 0; };
  require(config.channels >= 1 && config.channels <= 65536, "the number of channels is not usable");
  require(config.models >= 2 && config.models <= 1000000, "the number of models is not usable");
  require(config.parameters >= 0 && config.parameters <= 100000, "the number of parameters is not usable");
  require(s.mean.size() == static_cast<std::size_t>(config.channels) && s.scale.size() == s.mean.size(),
          "the standardisation does not match the number of channels");
  for (std::size_t c = 0; c < s.mean.size(); ++c) {
    require(std::isfinite(s.mean[c]) && usable(s.scale[c]), "the standardisation is not usable");
  }
  require(increasing_columns(config.missing, config.channels),
          "the columns with missing values are not usable");
  require(std::isfinite(s.log_n_mean) && usable(s.log_n_scale) && usable(s.typical_n),
          "the standardisation of N is not usable");
  require(std::isfinite(s.plain_within) && s.plain_within >= 0, "the standardisation is not usable");
  require(config.inputs.empty() || config.inputs.size() == s.mean.size(),
          "how columns are read does not match the number of channels");
  const StatisticsScale& statistics = config.statistics;
  require(statistics.mean.size() == statistics.scale.size(), "the scales of its statistics are not usable");
  for (std::size_t i = 0; i < statistics.mean.size(); ++i) {
    require(std::isfinite(statistics.mean[i]) && usable(statistics.scale[i]),
            "the scales of its statistics are not usable");
  }
  check_structure(statistics.structure, config.channels);
  require(statistics.mean.empty() || statistics.list != StatisticsList::none || !statistics.structure.none(),
          "its statistics are of a list that is not known");
}

// Sequence networks had no windows; set networks no moments, and the same layers before and after pooling.
void name_what_old_files_do_not(const std::string& architecture, json& body) {
  if (!body.is_object()) return;
  if (architecture == "sequence" && !body.contains("window")) body["window"] = 0;
  if (architecture != "set") return;
  if (!body.contains("moments")) body["moments"] = 0;
  if (!body.contains("moment_blocks")) body["moment_blocks"] = 1;
  for (const char* option : {"factor", "gains"}) {
    if (!body.contains(option)) body[option] = false;
  }
  if (!body.contains("labels")) body["labels"] = 0;
  if (!body.contains("after_width") && body.contains("inv_width")) body["after_width"] = body["inv_width"];
  if (!body.contains("after_layers") && body.contains("inv_layers"))
    body["after_layers"] = body["inv_layers"];
}

// What values of a column that is not to be read are divided by: nothing is left of them.
constexpr double kUnread = 1e30;

// Statistics begin with little weight: most are beside the point, and those that are not are soon found.
constexpr double kStatisticsWeight = 0.1;

// What statistics are taken of: a column as it enters, or its indicators, and those of its atoms. NaN:
// missing.
std::vector<BaseChannel> base_channels(const NetworkConfig& config) {
  std::vector<BaseChannel> base;
  for (std::int64_t c = 0; c < config.channels; ++c) {
    const ColumnInput input =
        config.inputs.empty() ? ColumnInput{} : config.inputs[static_cast<std::size_t>(c)];
    base.insert(base.end(), std::max<std::size_t>(input.levels.size(), 1), {c, input.local});
    base.insert(base.end(), input.atoms.size(), {c, false});
  }
  return base;
}

Statistics statistics_for(const NetworkConfig& config) {
  const StatisticsScale& s = config.statistics;
  return Statistics(base_channels(config), s.list, s.structure, s.label_list);
}

// Without the padding of rows, which for a column or two would be most of it.
Matrix<double> unpadded(std::int64_t rows, std::int64_t columns, Workspace& workspace) {
  return {workspace.take<double>(rows * columns), rows, columns, columns};
}

// z (n, D) of one data set as base channels.
Matrix<double> base_values(const NetworkConfig& config, Matrix<const double> z, Matrix<const float> raw,
                           std::int64_t width, Workspace& workspace) {
  const Matrix<double> base = unpadded(z.rows, width, workspace);
  std::int64_t at = 0;
  for (std::int64_t c = 0; c < config.channels; ++c) {
    const auto* input = config.inputs.empty() ? nullptr : &config.inputs[static_cast<std::size_t>(c)];
    const auto indicators = [&](const std::vector<float>& values) {
      for (const float value : values) {
        for (std::int64_t r = 0; r < z.rows; ++r) {
          const float x = raw.row(r)[c];
          base.row(r)[at] = std::isnan(x) ? NAN : x == value ? 1 : 0;
        }
        ++at;
      }
    };
    if (input == nullptr || input->levels.empty()) {
      for (std::int64_t r = 0; r < z.rows; ++r) base.row(r)[at] = z.row(r)[c];
      ++at;
    } else {
      indicators(input->levels);
    }
    if (input != nullptr) indicators(input->atoms);
  }
  return base;
}

// Of one data set, out (statistics.size()).
void take_statistics(const NetworkConfig& config, const Statistics& statistics, Matrix<const float> rows,
                     double* out, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  Matrix<const double> base;
  if (statistics.reads_base()) {  // which for a long data set takes more than its values do
    const Matrix<double> z = unpadded(rows.rows, config.channels, workspace);
    standardise(config, rows, z);
    base = base_values(config, z, rows, statistics.base_channels(), workspace);
  }
  statistics.of(base, rows, out, workspace);
}

Matrix<const float> rows_of(Ragged<const float> data, std::int64_t set) {
  return data.x.rows_from(data.offsets[set], data.size(set));
}

}  // namespace

const Registry<Architecture>& architectures() {
  static const Registry<Architecture> all = [] {
    Registry<Architecture> registry("network architecture");
    register_networks(registry);
    return registry;
  }();
  return all;
}

Standardisation learn_standardisation(Ragged<const float> data, const std::vector<ColumnInput>& inputs) {
  Standardisation s;
  const auto rows = static_cast<double>(data.x.rows);
  const auto sets = static_cast<double>(data.sets);
  std::vector<double> values;  // of one column, where they are there
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    const ColumnInput input = inputs.empty() ? ColumnInput{} : inputs[static_cast<std::size_t>(c)];
    values.clear();
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x) && !input.is_atom(x)) values.push_back(input(x));
    }
    const auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
    double sum = 0;
    for (const double x : values) sum += x;
    const double mean = sum / count;
    double squares = 0;
    for (const double x : values) squares += std::pow(x - mean, 2);
    const double sd = std::sqrt(squares / count);
    s.mean.push_back(mean);
    s.scale.push_back(sd > 0 ? sd : 1);  // a constant column stays as it is
  }
  double sum = 0;
  double squares = 0;
  for (std::int64_t b = 0; b < data.sets; ++b) sum += std::log(static_cast<double>(data.size(b)));
  s.log_n_mean = sum / sets;
  for (std::int64_t b = 0; b < data.sets; ++b) {
    squares += std::pow(std::log(static_cast<double>(data.size(b))) - s.log_n_mean, 2);
  }
  const double sd = std::sqrt(squares / sets);
  s.log_n_scale = sd > 1e-9 ? sd : 1;
  s.typical_n = rows / sets;
  return s;
}

Fields fields(NetworkOptions& o) {
  return {
      field("architecture", o.architecture, "set (exchangeable observations) or sequence (ordered)")
          .one_of(architectures().names()),
      field("head", o.head, "how features become model probabilities").one_of(heads().names()),
      field("post_width", o.post_width, "units per layer after the body").at_least(1).at_most(8192),
      field("post_layers", o.post_layers, "layers after the body").at_least(0).at_most(16),
      field("summary", o.summary, "width of the linear summary layer before the heads (0: none)")
          .at_least(0)
          .at_most(8192),
      field("log_n", o.log_n, "whether the network is told N"),
      field("inputs", o.inputs, "robust: columns transformed as their range asks for; plain: as they are")
          .one_of({"robust", "plain"}),
      field("waves", o.waves, "lengths of the waves as which one to three columns with many values come, too")
          .at_least(0)
          .at_most(kMostWaves),
      field("statistics", o.statistics,
            "whether the network is told plain statistics: of series, labels, places and what columns say of "
            "each "
            "other"),
      field("growth", o.growth, "whether outputs may grow in proportion to N, as evidence does"),
      field("direct", o.direct,
            "whether factors of moments, and statistics, enter the summary directly, too")};
}

void NetworkConfig::learn_input(Ragged<const float> data, bool ordered, const LabelGroups& groups,
                                const std::vector<std::int64_t>& design) {
  inputs.clear();
  if (options.inputs == "robust") inputs = learn_inputs(data, ordered, options.waves);
  standardisation = learn_standardisation(data, inputs);
  if (options.inputs == "robust") standardisation.plain_within = kPlainWithin;
  const std::vector<std::int64_t> declared = columns_in(groups);
  for (const std::int64_t label : declared) {  // its number means nothing, so it is read as nothing
    const auto c = static_cast<std::size_t>(label);
    if (!inputs.empty()) inputs[c] = {};
    standardisation.mean[c] = 0;
    standardisation.scale[c] = kUnread;
  }
  statistics = {};
  if (!options.statistics) return;
  std::vector<std::int64_t> found;
  if (!ordered) {
    statistics.list = StatisticsList::none;
    found = find_labels(data);
  }
  // What is declared is one, whether it looks like it or not.
  statistics.structure = find_structure(data, ordered, with_labels(declared, found), groups, design);
  if (!ordered && statistics.structure.none()) return;
  const Statistics plain = statistics_for(*this);
  const auto S = static_cast<std::size_t>(plain.size());
  std::vector<double> values(S * static_cast<std::size_t>(data.sets));
  Workspace workspace;
  for (std::int64_t set = 0; set < data.sets; ++set) {
    workspace.reset();
    take_statistics(*this, plain, rows_of(data, set), values.data() + static_cast<std::size_t>(set) * S,
                    workspace);
  }
  for (std::size_t i = 0; i < S; ++i) {
    double sum = 0, squares = 0;
    for (std::size_t at = i; at < values.size(); at += S) sum += values[at];
    const double mean = sum / static_cast<double>(data.sets);
    for (std::size_t at = i; at < values.size(); at += S) squares += std::pow(values[at] - mean, 2);
    const double sd = std::sqrt(squares / static_cast<double>(data.sets));
    statistics.mean.push_back(mean);
    statistics.scale.push_back(sd > 1e-6 ? sd : 1);
  }
}

json NetworkConfig::json() const {
  NetworkOptions copy = options;
  const Standardisation& s = standardisation;
  nlohmann::json result = {{"options", fields_json(fields(copy))},
                           {"body", body},
                           {"channels", channels},
                           {"models", models},
                           {"parameters", parameters},
                           {"standardisation",
                            {{"mean", s.mean},
                             {"scale", s.scale},
                             {"log_n_mean", s.log_n_mean},
                             {"log_n_scale", s.log_n_scale},
                             {"typical_n", s.typical_n}}}};
  if (s.plain_within > 0) result["standardisation"]["plain_within"] = s.plain_within;
  if (!missing.empty()) result["missing"] = missing;
  if (!inputs.empty()) result["inputs"] = inputs_json(inputs);
  if (!statistics.mean.empty() || !statistics.structure.none()) {  // labels alone may have no statistics
    result["statistics"] = {{"mean", statistics.mean}, {"scale", statistics.scale}};
    // The first list goes without saying, as in the files of its time.
    if (statistics.list != StatisticsList::first)
      result["statistics"]["list"] = static_cast<int>(statistics.list);
    // And so does that of labels.
    if (!statistics.structure.labels.columns.empty() && statistics.label_list != LabelList::differences)
      result["statistics"]["label_list"] = static_cast<int>(statistics.label_list);
    structure_to_json(statistics.structure, result["statistics"]);
  }
  // The default head goes without saying: files and checkpoints from before there were others stay equal.
  if (options.head == kDefaultHead) {
    result["options"].erase("head");
  } else {
    result["head"] = head;
  }
  return result;
}

namespace {

// A list of statistics by its number; `unnamed` is that of files from before there were others.
template <class List>
List list_from_json(const nlohmann::json& statistics, const char* key, List unnamed, List newest) {
  if (!statistics.contains(key)) return unnamed;
  const std::int64_t list = whole_number(statistics.at(key));
  require(list >= 0 && list <= static_cast<std::int64_t>(newest),
          "its statistics are of a list that is not known");
  return static_cast<List>(list);
}

}  // namespace

NetworkConfig NetworkConfig::from_json(const nlohmann::json& json) {
  try {
    NetworkConfig config;
    // What old files do not name.
    for (bool* option : {&config.options.growth, &config.options.direct}) *option = false;
    set_fields(fields(config.options), json.at("options"), "network");
    nlohmann::json body = json.at("body");
    name_what_old_files_do_not(config.options.architecture, body);
    config.body = architectures().at(config.options.architecture, ErrorKind::bad_config).resolve(body);
    config.head = config.head_kind().resolve(json.value("head", nlohmann::json::object()));
    config.channels = whole_number(json.at("channels"));
    config.models = whole_number(json.at("models"));
    config.parameters = whole_number(json.at("parameters"));
    if (json.contains("missing")) config.missing = whole_numbers(json.at("missing"));
    if (json.contains("inputs")) config.inputs = inputs_from_json(json.at("inputs"));
    if (json.contains("statistics")) {
      const auto& t = json.at("statistics");
      config.statistics = {
          .mean = t.at("mean").get<std::vector<double>>(),
          .scale = t.at("scale").get<std::vector<double>>(),
          .list = list_from_json(t, "list", StatisticsList::first, kNewestStatistics),
          .label_list = list_from_json(t, "label_list", LabelList::differences, kNewestLabels),
          .structure = structure_from_json(t)};
    }
    const auto& s = json.at("standardisation");
    config.standardisation = {
        s.at("mean").get<std::vector<double>>(), s.at("scale").get<std::vector<double>>(),
        s.at("log_n_mean").get<double>(),        s.at("log_n_scale").get<double>(),
        s.at("typical_n").get<double>(),         s.value("plain_within", 0.0)};
    check(config);
    return config;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::bad_config, "network: its description is not usable ({})", error.what());
  }
}

void NetworkConfig::set_options(const nlohmann::json& table, const std::string& where) {
  auto own = nlohmann::json::object();
  auto rest = nlohmann::json::object();
  const auto known = fields_json(fields(options));
  for (const auto& [key, value] : table.items()) (known.contains(key) ? own : rest)[key] = value;
  const NetworkOptions before = options;
  set_fields(fields(options), own, where);
  if (options.architecture != before.architecture) body = nlohmann::json::object();
  if (options.head != before.head) head = nlohmann::json::object();
  head = head_kind().resolve(head);
  for (const auto& [key, value] : rest.items()) {
    if (!head.contains(key)) refuse_option_of_other_head(key, options.head, where);
    (head.contains(key) ? head : body)[key] = value;
  }
  head = head_kind().resolve(head);
  body = architectures().at(options.architecture, ErrorKind::bad_config).resolve(body);
}

template <class T>
Network<T>::Network(NetworkConfig config, std::int64_t tile_rows) : config_(std::move(config)) {
  occam::check(config_);
  const Architecture& architecture = architectures().at(config_.options.architecture, ErrorKind::bad_config);
  config_.body = architecture.resolve(config_.body);
  may_miss_.assign(static_cast<std::size_t>(config_.channels), false);
  for (const std::int64_t c : config_.missing) may_miss_[static_cast<std::size_t>(c)] = true;
  if (!config_.statistics.mean.empty()) {
    statistics_ = statistics_for(config_);
    require(static_cast<std::size_t>(statistics_.size()) == config_.statistics.mean.size(),
            "the number of its statistics is not that of its columns");
  }
  BodyPlan<T> plan{layout_,
                   packed_layout_,
                   InputRows<T>::width(config_),
                   config_.options.log_n,
                   static_cast<T>(1 / config_.standardisation.typical_n),
                   config_.statistics.structure.labels.columns,
                   tile_rows};
  body_ = make_body<T>(architecture, config_.body, plan);
  const NetworkOptions& o = config_.options;
  HeadPlan<T> head_plan{layout_,
                        packed_layout_,
                        body_->features() + statistics_.size(),
                        o.direct ? body_->direct() + statistics_.size() : 0,
                        o.post_width,
                        o.post_layers,
                        o.summary,
                        config_.models,
                        config_.parameters,
                        o.growth};
  config_.head = config_.head_kind().resolve(config_.head);
  head_ = make_head<T>(config_.head_kind(), config_.head, head_plan);
}

template <class T>
void Network<T>::pack(std::int64_t task, const T* weights, T* packed) const {
  if (task < body_->pack_tasks()) {
    body_->pack(task, weights, packed);
  } else {
    head_->layers()[static_cast<std::size_t>(task - body_->pack_tasks())]->pack(weights, packed);
  }
}

template <class T>
void Network<T>::pack_all(const T* weights, T* packed) const {
  for (std::int64_t task = 0; task < pack_tasks(); ++task) pack(task, weights, packed);
}

namespace {

// Without a branch for each number: compilers make vectors of it.
bool all_finite(Matrix<const float> x) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (x.stride == x.columns) x = {x.data, 1, x.rows * x.columns, x.rows * x.columns};
  std::uint32_t other = 0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const float* const row = x.row(r);
    for (std::int64_t c = 0; c < x.columns; ++c) {
      other |= std::fabs(row[c]) <= kLargest ? 0u : 1u;
    }
  }
  return other == 0;
}

}  // namespace

template <class T>
void Network<T>::check(Ragged<const float> data) const {
  if (data.x.columns != config_.channels) {
    throw Error(ErrorKind::bad_data, "the data have {} columns, the network expects {}", data.x.columns,
                config_.channels);
  }
  for (std::int64_t set = 0; set < data.sets; ++set) {
    const std::int64_t n = data.size(set);
    if (n < 1) throw Error(ErrorKind::bad_data, "data set {} has no observations", set);
    if (n < shortest()) {
      throw Error(ErrorKind::bad_data, "data set {} has {} observations, the network needs at least {}", set,
                  n, shortest());
    }
  }
  if (all_finite(data.x)) return;
  for (std::int64_t r = 0; r < data.x.rows; ++r) {
    for (std::int64_t c = 0; c < data.x.columns; ++c) {
      const float value = data.x.row(r)[c];
      if (!std::isfinite(value) && !(std::isnan(value) && may_miss_[static_cast<std::size_t>(c)])) {
        throw Error(ErrorKind::bad_data, "observation {}, column {}: {} is not a finite number", r, c, value);
      }
    }
  }
}

template <class T>
void Network<T>::statistics_of(Matrix<const float> data, T* out, Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  double* values = workspace.take<double>(statistics());
  take_statistics(config_, statistics_, data, values, workspace);
  for (std::int64_t i = 0; i < statistics(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double standard = (values[i] - config_.statistics.mean[k]) / config_.statistics.scale[k];
    out[i] = static_cast<T>(kStatisticsWeight * std::clamp(standard, -kFarthestInput, kFarthestInput));
  }
}

template <class T>
Matrix<T> Network<T>::with_statistics(Matrix<T> features, Ragged<const float> data,
                                      Workspace& workspace) const {
  if (statistics() == 0) return features;
  const Matrix<T> joined = workspace.zeros<T>(data.sets, features.columns + statistics());
  for (std::int64_t set = 0; set < data.sets; ++set) {
    T* out = std::copy_n(features.row(set), features.columns, joined.row(set));
    statistics_of(rows_of(data, set), out, workspace);
  }
  return joined;
}

template <class T>
typename Network<T>::BodyPass Network<T>::forward_body(const T* packed, Ragged<const float> data,
                                                       Workspace& workspace, bool keep,
                                                       const TileThreads* threads) const {
  const Standardisation& s = config_.standardisation;
  BodyPass pass;
  pass.input = InputRows<T>(config_, data, workspace);
  T* f_n = workspace.take<T>(data.sets);
  T* growth = workspace.take<T>(data.sets);
  pass.growth = growth;
  for (std::int64_t set = 0; set < data.sets; ++set) {
    growth[set] = static_cast<T>(static_cast<double>(data.size(set)) / s.typical_n);
    f_n[set] = static_cast<T>((std::log(static_cast<double>(data.size(set))) - s.log_n_mean) / s.log_n_scale);
  }
  const Matrix<T> features = body_->forward(packed, pass.input, f_n, workspace, pass.tape, keep, threads);
  pass.features = with_statistics(features, data, workspace);
  return pass;
}

template <class T>
typename Network<T>::Tape* Network<T>::forward_head(const T* packed, const BodyPass& pass, std::int64_t first,
                                                    std::int64_t count, const PassNoise* noise,
                                                    Workspace& workspace) const {
  Tape& tape = *workspace.make<Tape>();
  tape.input = pass.input;
  tape.body = pass.tape;
  tape.features = pass.features.rows_from(first, count);
  tape.growth = pass.growth + first;
  head_->forward(packed, noise, tape, workspace);
  return &tape;
}

template <class T>
typename Network<T>::Tape* Network<T>::forward(const T* packed, Ragged<const float> data,
                                               Workspace& workspace, bool keep, const PassNoise* noise,
                                               const TileThreads* threads) const {
  const BodyPass pass = forward_body(packed, data, workspace, keep, threads);
  return forward_head(packed, pass, 0, data.sets, noise, workspace);
}

template <class T>
Matrix<T> Network<T>::backward_head(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                                    T* gradient, Workspace& workspace) const {
  const Matrix<T> d = head_->backward(packed, tape, d_models, d_parameters, gradient, workspace);
  if (statistics_.size() == 0) return d;
  const Matrix<T> of_body = workspace.zeros<T>(d.rows, body_->features());
  for (std::int64_t set = 0; set < d.rows; ++set) {
    std::copy_n(d.row(set), of_body.columns, of_body.row(set));
  }
  return of_body;
}

template <class T>
void Network<T>::backward(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                          T* gradient, Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  const Matrix<T> d = backward_head(packed, tape, d_models, d_parameters, gradient, workspace);
  body_->backward(packed, tape.input, tape.body, d, gradient, workspace);
}

template class Network<float>;
template class Network<double>;

}  // namespace occam
