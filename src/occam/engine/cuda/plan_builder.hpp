// What programs of all architectures are built of: layers, values, programs of rows, and everything behind
// the features of the data sets: post layers, summary, outputs, loss, and the way back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "occam/engine/cuda/plan.hpp"

namespace occam::gpu {

// Which rows a matrix has: observations (level 0) or outputs of a convolution, or data sets.
struct RowKind {
  std::int32_t level = 0;
  bool of_sets = false;

  constexpr RowKind(bool sets = false) : of_sets(sets) {}
  static constexpr RowKind of_level(std::int32_t level) {
    RowKind rows;
    rows.level = level;
    return rows;
  }
};
inline constexpr RowKind kSetRows = true;

// A matrix on the device.
struct Value {
  float* data = nullptr;
  std::int32_t columns = 0;
  RowKind rows;
  Activation activation = Activation::identity;  // that it came out of
  // In training, where units are left out: the same times a mask, and the column of the noise that holds it.
  float* thinned = nullptr;
  std::int32_t noise = 0;
};

struct Layer {
  std::int64_t weight = 0, bias = -1;
  std::int32_t in = 0, out = 0;
  Activation activation = Activation::identity;
  std::vector<std::int32_t> besides;  // what else it reads
};

// What a layer reads beside the output of the one before: the weights for it and, where x came out of layers
// itself, the gradient of x, which is `before`, that of layers above, and what this one adds; where x came
// out of an activation, that of its input. `product` has room for x times the weights.
struct Beside {
  Layer layer;
  Value x, d, product;
  const float* before = nullptr;
};

// What the first layer of the head reads beside the top of the body. `learned`: it came out of layers, and
// has a gradient. `direct`: the summary reads it, too, where it is to.
struct Feature {
  Value x;
  bool learned, direct;
};

class ProgramBuilder {
 public:
  ProgramBuilder(const Network<float>& network, const LearningPlan& plan, Capacity capacity, Arena& arena)
      : network_(network), config_(network.config()), plan_(plan), capacity_(capacity), arena_(arena) {}

 protected:
  ~ProgramBuilder() = default;

  const Tensor& tensor(const std::string& name) const;
  // A matrix (in, out) of weights, wherever they come from; Error(usage) for one that no block can hold.
  Layer layer_of(const std::string& name, std::int64_t weight, std::int64_t bias, std::int64_t in,
                 std::int64_t out, Activation activation, std::int64_t beside = 0) const;
  // The last columns that the (first) layer reads may come from values beside, each in a product of its own.
  Layer layer(const std::string& name, Activation activation, std::int64_t beside = 0) const;
  std::vector<Layer> stack(const std::string& name, std::int64_t count, std::int64_t beside = 0) const;
  virtual std::int64_t most_rows(RowKind rows) const {
    return rows.of_sets ? capacity_.sets : capacity_.rows;
  }
  Value value(std::int64_t columns, RowKind rows, Activation activation = Activation::identity);
  std::vector<Value> values(const std::vector<Layer>& layers, RowKind rows);
  InputPlan input();
  void make_statistics();  // which the host sends with a batch

  // Programs of rows.
  int take();
  void release(int buffer) { used_[static_cast<std::size_t>(buffer)] = false; }
  void begin(RowKind rows);
  void end(std::vector<Launch>& launches);
  void pool(std::vector<Launch>& launches, const PoolView& view);
  int load(const Value& from, Op op = {});
  Source source(int buffer, const Layer& layer, bool transposed);
  int product(std::vector<Source> sources, const Value& to, bool keep, Op op = {});
  int forward(int in, const std::vector<Layer>& layers, const std::vector<Value>& outputs, bool keep_input,
              bool training = false);
  int backward(std::vector<Source> sources, const Value& y, Value d, bool keep, Op op = {});
  void learn(const Layer& layer, const Value& x, const Value& d);
  int stack_back(int d, const std::vector<Layer>& layers, const std::vector<Value>& outputs, const Value& x,
                 const Value& d_top, std::int64_t down_to);

  // Everything behind the features: the columns of `top`, and behind them those of the others in their order.
  void make_head(const Value& top, const std::vector<Feature>& others);
  // Of what layers of the head read beside; null where none is wanted.
  float* gradient_of(const Value& x) const;
  // Both may end a program and begin another, which they leave open: latent variables lie between. `training`
  // is with the noise of the head.
  void outputs(std::vector<Launch>& launches, int features, bool training);
  void loss();
  // Goes on through the layers of the body that `ys` came out of, down to the gradient of their input x.
  void back(std::vector<Launch>& launches, std::vector<Layer> layers, std::vector<Value> ys, const Value& x,
            const Value& d_x);
  Program finish();

  const Network<float>& network_;
  const NetworkConfig& config_;
  const LearningPlan& plan_;
  Capacity capacity_;
  Arena& arena_;
  Program program_;
  Launch launch_;
  Value x_;
  std::vector<Value> statistics_;  // in pieces

 private:
  Layer also_reads(Layer layer, const Value& x, bool learned);
  void beside_back(int d, const Layer& layer, const Value& of);
  int grown(const Value& from, const Value& to);
  void thin(int buffer, const float* from, float* to, const Value& of);
  void make_latent();
  void latent(std::vector<Launch>& launches, LaunchKind kind, bool training);
  std::vector<Source> outputs_back(std::vector<Launch>& launches);
  const Value& last() const;
  std::vector<MuonMatrix> muon();

  std::vector<bool> used_;
  std::vector<Beside> besides_;  // of the layers of the head, from the last one down
  Value top_;
  std::vector<Layer> post_;
  std::vector<Value> posts_;
  std::optional<Layer> summary_, parameters_;
  Layer models_;
  std::optional<Layer> models_grown_;  // the weights of what is taken times N
  Value grown_value_, d_grown_;
  // Between summary and outputs: an encoder, mu and log_var, and z.
  std::vector<Layer> encoder_;
  std::vector<Value> encoded_;
  std::optional<Layer> latent_layer_;
  Value latent_value_, d_latent_, z_, d_z_;
  LatentView latent_;
  Value summary_value_, models_value_, parameters_value_;
  int d_models_buffer_ = -1, d_parameters_buffer_ = -1;
  Value d_models_, d_parameters_;
};

// Error(usage) of what only the CPU knows.
void refuse(bool yes, const std::string& what);

Program make_sequence_program(const Network<float>& network, const LearningPlan& plan, Capacity capacity,
                              Arena& arena);

}  // namespace occam::gpu
