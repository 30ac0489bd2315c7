// A network: transformed and standardised input, masks of missing values -> body, beside it plain statistics
// -> head. A function of observations and one flat weight vector; it owns no weights, and what backward needs
// lives in a workspace the caller owns.
//   output `models`:     J numbers f, whose meaning is the head's (head.hpp): evidence or logits
//   output `parameters`: rough point estimates of the standardised model parameters (may be absent)
// Every float network has a double twin (the same templates), against which its gradients are tested.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/data/column.hpp"
#include "occam/networks/body.hpp"
#include "occam/networks/head.hpp"
#include "occam/networks/input_rows.hpp"
#include "occam/networks/inputs.hpp"
#include "occam/networks/statistics.hpp"

namespace occam {

// How inputs are brought to a common scale; learned from simulations, stored with the network.
struct Standardisation {
  std::vector<double> mean, scale;  // (D) of transformed values
  double log_n_mean = 0;
  double log_n_scale = 1;
  double typical_n = 1;  // sums over observations are divided by it
  // Values further out than so many standard deviations count by the logarithm of what lies beyond; 0: as
  // they are, as in old files.
  double plain_within = 0;
};

// Mean and spread of every column, transformed, where its values are there, and of log N over simulated data
// sets.
Standardisation learn_standardisation(Ragged<const float> data, const std::vector<ColumnInput>& inputs = {});

// Mean and spread of the statistics that the head reads; none: it reads none.
struct StatisticsScale {
  std::vector<double> mean, scale;
  StatisticsList list = kNewestStatistics;
  LabelList label_list = kNewestLabels;
  Structure structure;  // of the columns
};

struct NetworkOptions {
  std::string architecture = "set";
  std::string head = kDefaultHead;
  std::int64_t post_width = 64;
  std::int64_t post_layers = 2;
  std::int64_t summary = 32;
  bool log_n = true;
  std::string inputs = "robust";
  std::int64_t waves = kWaves;
  bool statistics = true;
  bool growth = true;
  bool direct = true;
};
Fields fields(NetworkOptions& o);

// Everything needed to rebuild a network, but for its weights.
struct NetworkConfig {
  NetworkOptions options;
  nlohmann::json body = nlohmann::json::object();  // options of the architecture
  nlohmann::json head = nlohmann::json::object();  // options of the head
  std::int64_t channels = 1;                       // D
  std::int64_t models = 2;                         // J
  std::int64_t parameters = 0;                     // P, outputs `parameters`
  std::vector<std::int64_t> missing;               // (M) columns in which values may be missing, ascending
  std::vector<ColumnInput> inputs;                 // (D); none: all as they are
  Standardisation standardisation;
  StatisticsScale statistics;

  // All that is learned from simulations about the input.
  void learn_input(Ragged<const float> data, bool ordered, const LabelGroups& labels = {},
                   const std::vector<std::int64_t>& design = {});

  nlohmann::json json() const;
  static NetworkConfig from_json(const nlohmann::json& json);  // Error(bad_config) if anything is amiss
  // Sorts the keys of one flat table of options (a problem file's [network]) to where they belong.
  void set_options(const nlohmann::json& table, const std::string& where);
  const HeadKind& head_kind() const { return heads().at(options.head, ErrorKind::bad_config); }
};

template <class T>
class Network {
 public:
  // A data set of more than `tile_rows` rows goes through the body in tiles of so many, where the body can.
  explicit Network(NetworkConfig config, std::int64_t tile_rows = kTileRows);

  const NetworkConfig& config() const { return config_; }
  const ParameterLayout& layout() const { return layout_; }
  std::int64_t weight_count() const { return layout_.size(); }
  std::int64_t packed_size() const { return packed_layout_.size(); }
  std::int64_t summary_width() const { return head_->summary_width(); }
  std::int64_t shortest() const { return body_->shortest(); }
  std::int64_t bundle_rows() const { return body_->bundle_rows(); }
  std::int64_t bundle_sets(std::int64_t batch) const { return body_->bundle_sets(batch); }
  std::int64_t shared_rows() const { return body_->shared_rows(); }
  std::int64_t sets_together() const { return body_->sets_together(); }
  std::int64_t fewest_sets() const { return head_->fewest_sets(); }
  // What the head draws for one data set of a pass in training: out (noise_width()).
  std::int64_t noise_width() const { return head_->noise_width(); }
  void draw_noise(const PassNoise& noise, std::int64_t set, T* out) const {
    head_->draw(noise.stream(set), out);
  }

  // Copies weights into the form the products read; tasks are independent of each other.
  std::int64_t pack_tasks() const {
    return body_->pack_tasks() + static_cast<std::int64_t>(head_->layers().size());
  }
  void pack(std::int64_t task, const T* weights, T* packed) const;
  void pack_all(const T* weights, T* packed) const;

  struct Tape : HeadTape<T> {
    InputRows<T> input;  // of the whole pass
    void* body = nullptr;
  };

  // Data sets on their way through the body, perhaps of several bundles.
  struct BodyPass {
    InputRows<T> input;
    void* tape = nullptr;
    Matrix<T> features;         // with the statistics behind them
    const T* growth = nullptr;  // (sets) N in units of its typical value
  };

  // Error(bad_data) for zero observations, too few, a wrong channel count, or values that are not finite. A
  // NaN is a missing value where the network knows of such.
  void check(Ragged<const float> data) const;

  // The tape lives in the workspace until it is reset. `data` must have passed check(). Without `keep` the
  // outputs are there, but backward is not possible. `noise`: as in training, for heads that have any.
  // `threads`: to share the tiles of a long data set; the result is the same to the bit.
  Tape* forward(const T* packed, Ragged<const float> data, Workspace& workspace, bool keep = true,
                const PassNoise* noise = nullptr, const TileThreads* threads = nullptr) const;
  // The two halves of forward: the second one for `count` data sets from `first` on.
  BodyPass forward_body(const T* packed, Ragged<const float> data, Workspace& workspace, bool keep,
                        const TileThreads* threads = nullptr) const;
  Tape* forward_head(const T* packed, const BodyPass& pass, std::int64_t first, std::int64_t count,
                     const PassNoise* noise, Workspace& workspace) const;
  // As Head::answer, from a tape without noise.
  HeadAnswer answer(const T* packed, const Tape& tape, std::int64_t most_samples,
                    Workspace& workspace) const {
    return head_->answer(packed, tape, most_samples, workspace);
  }
  // Gradients of the outputs are overwritten; weight gradients are added.
  void backward(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters, T* gradient,
                Workspace& workspace) const;
  // The two halves of backward: the first returns gradients of the features in the workspace, the second adds
  // what follows from those of the whole pass to `gradients` (sets), which may differ between bundles.
  Matrix<T> backward_head(const T* packed, Tape& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                          T* gradient, Workspace& workspace) const;
  void backward_body(const T* packed, const BodyPass& pass, Matrix<T> d_features, T* const* gradients,
                     Workspace& workspace) const {
    body_->backward_together(packed, pass.input, pass.tape, d_features, gradients, workspace);
  }
  std::int64_t features() const { return body_->features(); }
  // The statistics of one data set as the head reads them: out (statistics()).
  std::int64_t statistics() const { return statistics_.size(); }
  void statistics_of(Matrix<const float> data, T* out, Workspace& workspace) const;

 private:
  Matrix<T> with_statistics(Matrix<T> features, Ragged<const float> data, Workspace& workspace) const;

  NetworkConfig config_;
  std::vector<bool> may_miss_;  // (D)
  Statistics statistics_;
  ParameterLayout layout_;
  PackedLayout<T> packed_layout_;
  std::unique_ptr<Body<T>> body_;
  std::unique_ptr<Head<T>> head_;
};

}  // namespace occam
