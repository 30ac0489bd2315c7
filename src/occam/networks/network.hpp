// A network: standardised input -> body -> post layers -> linear summary -> heads. A function of observations
// and one flat weight vector; it owns no weights, and what backward needs lives in a workspace the caller
// owns.
//   head `models`:     J outputs f, which a Dirichlet link turns into concentrations
//   head `parameters`: rough point estimates of the standardised model parameters (may be absent)
// Every float network has a double twin (the same templates), against which its gradients are tested.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/networks/body.hpp"
#include "occam/nn/dense.hpp"

namespace occam {

// How inputs are brought to a common scale; learned from simulations, stored with the network.
struct Standardisation {
  std::vector<double> mean, scale;  // (D)
  double log_n_mean = 0;
  double log_n_scale = 1;
  double typical_n = 1;  // sums over observations are divided by it
};

// Mean and spread of every column and of log N over simulated data sets.
Standardisation learn_standardisation(Ragged<const float> data);

struct NetworkOptions {
  std::string architecture = "set";
  std::int64_t post_width = 64;
  std::int64_t post_layers = 2;
  std::int64_t summary = 32;
  bool log_n = true;
};
Fields fields(NetworkOptions& o);

// Everything needed to rebuild a network, but for its weights.
struct NetworkConfig {
  NetworkOptions options;
  nlohmann::json body = nlohmann::json::object();  // options of the architecture
  std::int64_t channels = 1;                       // D
  std::int64_t models = 2;                         // J
  std::int64_t parameters = 0;                     // outputs of the head `parameters`
  Standardisation standardisation;

  nlohmann::json json() const;
  static NetworkConfig from_json(const nlohmann::json& json);  // Error(bad_config) if anything is amiss
  // Sorts the keys of one flat table of options (a problem file's [network]) to where they belong.
  void set_options(const nlohmann::json& table, const std::string& where);
};

template <class T>
class Network {
 public:
  explicit Network(NetworkConfig config);

  const NetworkConfig& config() const { return config_; }
  const ParameterLayout& layout() const { return layout_; }
  std::int64_t weight_count() const { return layout_.size(); }
  std::int64_t packed_size() const { return packed_layout_.size(); }
  std::int64_t summary_width() const { return models_->in(); }
  std::int64_t shortest() const { return body_->shortest(); }
  std::int64_t bundle_rows() const { return body_->bundle_rows(); }
  std::int64_t bundle_sets() const { return body_->bundle_sets(); }

  // Copies weights into the form the products read; tasks are independent of each other.
  std::int64_t pack_tasks() const { return body_->pack_tasks() + static_cast<std::int64_t>(layers_.size()); }
  void pack(std::int64_t task, const T* weights, T* packed) const;
  void pack_all(const T* weights, T* packed) const;

  struct Tape {
    Ragged<const T> x;  // standardised
    void* body;
    Matrix<T> features;  // (sets, features)
    Matrix<T>* post;
    Matrix<T> summary;     // (sets, summary)
    Matrix<T> models;      // (sets, J)
    Matrix<T> parameters;  // (sets, P), data null without that head
  };

  // Error(bad_data) for zero observations, too few, a wrong channel count, or values that are not finite.
  void check(Ragged<const float> data) const;

  // The tape lives in the workspace until it is reset. `data` must have passed check(). Without `keep` the
  // outputs are there, but backward is not possible.
  Tape* forward(const T* packed, Ragged<const float> data, Workspace& workspace, bool keep = true) const;
  // Gradients of the heads' outputs are overwritten; weight gradients are added.
  void backward(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters, T* gradient,
                Workspace& workspace) const;

 private:
  Matrix<T> input_of_summary(const Tape& tape) const;

  NetworkConfig config_;
  ParameterLayout layout_;
  PackedLayout<T> packed_layout_;
  std::unique_ptr<Body<T>> body_;
  Stack<T> post_;
  std::unique_ptr<Dense<T>> summary_, models_, parameters_;
  std::vector<const Dense<T>*> layers_;  // all but the body's
};

}  // namespace occam
