#include "occam/networks/network.hpp"

#include <cmath>

#include "occam/core/error.hpp"

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
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    double sum = 0;
    for (std::int64_t r = 0; r < data.x.rows; ++r) sum += data.x.row(r)[c];
    const double mean = sum / rows;
    double squares = 0;
    for (std::int64_t r = 0; r < data.x.rows; ++r) squares += std::pow(data.x.row(r)[c] - mean, 2);
    const double sd = std::sqrt(squares / rows);
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
  return {{"options", fields_json(fields(copy))},
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
}

NetworkConfig NetworkConfig::from_json(const nlohmann::json& json) {
  try {
    NetworkConfig config;
    set_fields(fields(config.options), json.at("options"), "network");
    config.body =
        architectures().at(config.options.architecture, ErrorKind::bad_config).resolve(json.at("body"));
    config.channels = json.at("channels").get<std::int64_t>();
    config.models = json.at("models").get<std::int64_t>();
    config.parameters = json.at("parameters").get<std::int64_t>();
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
  const std::string before = options.architecture;
  set_fields(fields(options), own, where);
  if (options.architecture != before) body = nlohmann::json::object();
  body.update(rest);
  body = architectures().at(options.architecture, ErrorKind::bad_config).resolve(body);
}

template <class T>
Network<T>::Network(NetworkConfig config) : config_(std::move(config)) {
  occam::check(config_);
  const Architecture& architecture = architectures().at(config_.options.architecture, ErrorKind::bad_config);
  config_.body = architecture.resolve(config_.body);
  BodyPlan<T> plan{layout_, packed_layout_, config_.channels, config_.options.log_n,
                   static_cast<T>(1 / config_.standardisation.typical_n)};
  body_ = make_body<T>(architecture, config_.body, plan);
  std::int64_t in = body_->features();
  post_ = Stack<T>(layout_, packed_layout_, "post", in, config_.options.post_width,
                   config_.options.post_layers, Activation::elu);
  if (!post_.empty()) in = post_.out();
  const auto linear = [&](const std::string& name, std::int64_t out) {
    return std::make_unique<Dense<T>>(layout_, packed_layout_, name, in, out, Activation::identity);
  };
  if (config_.options.summary > 0) {
    summary_ = linear("summary", config_.options.summary);
    in = summary_->out();
  }
  models_ = linear("head", config_.models);
  if (config_.parameters > 0) parameters_ = linear("parameters", config_.parameters);
  post_.list(layers_);
  for (const auto* layer : {summary_.get(), models_.get(), parameters_.get()}) {
    if (layer != nullptr) layers_.push_back(layer);
  }
}

template <class T>
void Network<T>::pack(std::int64_t task, const T* weights, T* packed) const {
  if (task < body_->pack_tasks()) {
    body_->pack(task, weights, packed);
  } else {
    layers_[static_cast<std::size_t>(task - body_->pack_tasks())]->pack(weights, packed);
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
      if (!std::isfinite(data.x.row(r)[c])) {
        throw Error(ErrorKind::bad_data, "observation {}, column {}: {} is not a finite number", r, c,
                    data.x.row(r)[c]);
      }
    }
  }
}

template <class T>
typename Network<T>::Tape* Network<T>::forward(const T* packed, Ragged<const float> data,
                                               Workspace& workspace, bool keep) const {
  const Standardisation& s = config_.standardisation;
  Tape& tape = *workspace.make<Tape>();
  const std::int64_t D = config_.channels;
  T* x = workspace.take<T>(data.x.rows * D);
  for (std::int64_t c = 0; c < D; ++c) {
    const T mean = static_cast<T>(s.mean[c]);
    const T factor = static_cast<T>(1 / s.scale[c]);
    for (std::int64_t r = 0; r < data.x.rows; ++r)
      x[r * D + c] = (static_cast<T>(data.x.row(r)[c]) - mean) * factor;
  }
  T* f_n = workspace.take<T>(data.sets);
  for (std::int64_t set = 0; set < data.sets; ++set) {
    f_n[set] = static_cast<T>((std::log(static_cast<double>(data.size(set))) - s.log_n_mean) / s.log_n_scale);
  }
  tape.x = {{x, data.x.rows, D, D}, data.offsets, data.sets};
  tape.features = body_->forward(packed, tape.x, f_n, workspace, tape.body, keep);
  tape.post = post_.forward(packed, tape.features, workspace);
  tape.summary = input_of_summary(tape);
  if (summary_) {
    tape.summary = workspace.matrix<T>(data.sets, summary_->out());
    summary_->forward(packed, input_of_summary(tape), tape.summary);
  }
  tape.models = workspace.matrix<T>(data.sets, models_->out());
  models_->forward(packed, tape.summary, tape.models);
  if (parameters_) {
    tape.parameters = workspace.matrix<T>(data.sets, parameters_->out());
    parameters_->forward(packed, tape.summary, tape.parameters);
  }
  return &tape;
}

template <class T>
Matrix<T> Network<T>::input_of_summary(const Tape& tape) const {
  return post_.empty() ? tape.features : tape.post[post_.size() - 1];
}

template <class T>
void Network<T>::backward(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                          T* gradient, Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  Matrix<T> d = workspace.matrix<T>(tape.x.sets, models_->in());
  models_->backward(tape.summary, tape.models, d_models, gradient);
  models_->backward_input(packed, d_models, d, false);
  if (parameters_ && d_parameters.data != nullptr) {
    parameters_->backward(tape.summary, tape.parameters, d_parameters, gradient);
    parameters_->backward_input(packed, d_parameters, d, true);
  }
  if (summary_) {
    const Matrix<T> below = workspace.matrix<T>(tape.x.sets, summary_->in());
    summary_->backward(input_of_summary(tape), tape.summary, d, gradient);
    summary_->backward_input(packed, d, below, false);
    d = below;
  }
  if (!post_.empty()) {
    const Matrix<T> below = workspace.matrix<T>(tape.x.sets, tape.features.columns);
    post_.backward(packed, tape.features, tape.post, d, below, false, gradient, workspace);
    d = below;
  }
  body_->backward(packed, tape.x, tape.body, d, gradient, workspace);
}

template class Network<float>;
template class Network<double>;

}  // namespace occam
