#include "occam/networks/network.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"

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
  const auto& missing = config.missing;
  require(missing.empty() || (missing.front() >= 0 && missing.back() < config.channels),
          "the columns with missing values are not usable");
  require(std::adjacent_find(missing.begin(), missing.end(), std::greater_equal<>()) == missing.end(),
          "the columns with missing values are not usable");
  require(std::isfinite(s.log_n_mean) && usable(s.log_n_scale) && usable(s.typical_n),
          "the standardisation of N is not usable");
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

Standardisation learn_standardisation(Ragged<const float> data) {
  Standardisation s;
  const auto rows = static_cast<double>(data.x.rows);
  const auto sets = static_cast<double>(data.sets);
  std::vector<float> values;  // of one column, where they are there
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    values.clear();
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x)) values.push_back(x);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
    double sum = 0;
    for (const float x : values) sum += x;
    const double mean = sum / count;
    double squares = 0;
    for (const float x : values) squares += std::pow(x - mean, 2);
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
  return {field("architecture", o.architecture, "set (exchangeable observations) or sequence (ordered)")
              .one_of(architectures().names()),
          field("head", o.head, "how features become model probabilities").one_of(heads().names()),
          field("post_width", o.post_width, "units per layer after the body").at_least(1).at_most(8192),
          field("post_layers", o.post_layers, "layers after the body").at_least(0).at_most(16),
          field("summary", o.summary, "width of the linear summary layer before the heads (0: none)")
              .at_least(0)
              .at_most(8192),
          field("log_n", o.log_n, "whether the network is told N")};
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
  if (!missing.empty()) result["missing"] = missing;
  // The default head goes without saying: files and checkpoints from before there were others stay equal.
  if (options.head == kDefaultHead) {
    result["options"].erase("head");
  } else {
    result["head"] = head;
  }
  return result;
}

NetworkConfig NetworkConfig::from_json(const nlohmann::json& json) {
  try {
    NetworkConfig config;
    set_fields(fields(config.options), json.at("options"), "network");
    config.body =
        architectures().at(config.options.architecture, ErrorKind::bad_config).resolve(json.at("body"));
    config.head = config.head_kind().resolve(json.value("head", nlohmann::json::object()));
    config.channels = whole_number(json.at("channels"));
    config.models = whole_number(json.at("models"));
    config.parameters = whole_number(json.at("parameters"));
    if (json.contains("missing")) config.missing = whole_numbers(json.at("missing"));
    const auto& s = json.at("standardisation");
    config.standardisation = {s.at("mean").get<std::vector<double>>(),
                              s.at("scale").get<std::vector<double>>(), s.at("log_n_mean").get<double>(),
                              s.at("log_n_scale").get<double>(), s.at("typical_n").get<double>()};
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
Network<T>::Network(NetworkConfig config) : config_(std::move(config)) {
  occam::check(config_);
  const Architecture& architecture = architectures().at(config_.options.architecture, ErrorKind::bad_config);
  config_.body = architecture.resolve(config_.body);
  may_miss_.assign(static_cast<std::size_t>(config_.channels), false);
  for (const std::int64_t c : config_.missing) may_miss_[static_cast<std::size_t>(c)] = true;
  BodyPlan<T> plan{layout_, packed_layout_, input_width(), config_.options.log_n,
                   static_cast<T>(1 / config_.standardisation.typical_n)};
  body_ = make_body<T>(architecture, config_.body, plan);
  const NetworkOptions& o = config_.options;
  HeadPlan<T> head_plan{layout_,       packed_layout_, body_->features(), o.post_width,
                        o.post_layers, o.summary,      config_.models,    config_.parameters};
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
typename Network<T>::Tape* Network<T>::forward(const T* packed, Ragged<const float> data,
                                               Workspace& workspace, bool keep,
                                               const PassNoise* noise) const {
  const Standardisation& s = config_.standardisation;
  Tape& tape = *workspace.make<Tape>();
  const std::int64_t width = input_width();
  T* x = workspace.take<T>(data.x.rows * width);
  for (std::int64_t c = 0; c < config_.channels; ++c) {
    const T mean = static_cast<T>(s.mean[c]);
    const T factor = static_cast<T>(1 / s.scale[c]);
    for (std::int64_t r = 0; r < data.x.rows; ++r)
      x[r * width + c] = (static_cast<T>(data.x.row(r)[c]) - mean) * factor;
  }
  for (std::size_t m = 0; m < config_.missing.size(); ++m) {
    const std::int64_t c = config_.missing[m];
    const std::int64_t mask = config_.channels + static_cast<std::int64_t>(m);
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      const bool gone = std::isnan(data.x.row(r)[c]);
      if (gone) x[r * width + c] = T{0};
      x[r * width + mask] = gone ? T{1} : T{0};
    }
  }
  T* f_n = workspace.take<T>(data.sets);
  for (std::int64_t set = 0; set < data.sets; ++set) {
    f_n[set] = static_cast<T>((std::log(static_cast<double>(data.size(set))) - s.log_n_mean) / s.log_n_scale);
  }
  tape.x = {{x, data.x.rows, width, width}, data.offsets, data.sets};
  tape.features = body_->forward(packed, tape.x, f_n, workspace, tape.body, keep);
  head_->forward(packed, noise, tape, workspace);
  return &tape;
}

template <class T>
void Network<T>::backward(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                          T* gradient, Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  const Matrix<T> d = head_->backward(packed, tape, d_models, d_parameters, gradient, workspace);
  body_->backward(packed, tape.x, tape.body, d, gradient, workspace);
}

template class Network<float>;
template class Network<double>;

}  // namespace occam
