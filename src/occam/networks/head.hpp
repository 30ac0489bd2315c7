// A head turns the feature vector of a body into model probabilities:
//   features -> post layers -> linear summary -> (what is a head's own) -> models (J outputs)
//   the last features may enter the summary directly, too
//                                             -> parameters: rough point estimates (may be absent)
// All heads share this trunk, so that whatever reads the summary (scope, estimates, `compare --summary`) is
// the same for all. They differ in what stands between, in the noise of training, in their loss, and in what
// their outputs mean.
//   evidential  outputs f, which a Dirichlet link turns into concentrations alpha
//   all others  outputs f, p = softmax(f): no concentrations, hence neither alpha nor u
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/core/fields.hpp"
#include "occam/core/registry.hpp"
#include "occam/core/rng.hpp"
#include "occam/nn/dense.hpp"

namespace occam {

// What a head is built from.
template <class T>
struct HeadPlan {
  ParameterLayout& layout;
  PackedLayout<T>& packed;
  std::int64_t features;  // of the body
  std::int64_t direct;    // the last of them, which the summary may read as well, for heads that know of it
  std::int64_t post_width, post_layers;
  std::int64_t summary;             // width of the summary layer, 0: none
  std::int64_t models, parameters;  // J, P
  bool growth;                      // whether outputs may grow with N, for heads that know of it
};

// The noise of one pass in training: the data sets of a bundle draw from streams of their own, so that
// neither threads nor bundles matter.
struct PassNoise {
  std::uint64_t seed = 0;
  std::uint64_t item = 0;  // of the first data set; the next ones follow

  Rng stream(std::int64_t set) const {
    return {seed, Purpose::dropout, item + static_cast<std::uint64_t>(set)};
  }
};

// What a head made of the features of a bundle; lives in the workspace.
template <class T>
struct HeadTape {
  Matrix<T> features;         // (sets, features)
  const T* growth = nullptr;  // (sets) N in units of its typical value
  Matrix<T>* post = nullptr;  // outputs of the post layers
  Matrix<T> top;              // what the summary layer reads
  Matrix<T> summary;          // (sets, S)
  Matrix<T> last;             // what the layer `models` reads
  Matrix<T> models;           // (sets, J)
  Matrix<T> parameters;       // (sets, P), data null without that output
  double* penalty = nullptr;  // (sets) what the head adds to the loss of each data set, or null
  void* own = nullptr;        // what else a head keeps for its backward pass
};

// The answer of a head whose outputs are no concentrations.
struct HeadAnswer {
  Matrix<double> log_p;   // (sets, J); data null for concentrations, which are the link's business
  Matrix<double> spread;  // (sets, J) standard deviation of p over samples; data null where none are drawn
};

template <class T>
class Head {
 public:
  virtual ~Head() = default;

  std::int64_t summary_width() const { return summary_ ? summary_->out() : top_width_; }
  const std::vector<const Dense<T>*>& layers() const { return layers_; }
  // The fewest data sets a bundle should hold in training (if the batch has as many).
  virtual std::int64_t fewest_sets() const { return 1; }
  // The noise of one data set in training: so many numbers, drawn from the stream of that data set.
  virtual std::int64_t noise_width() const { return 0; }
  virtual void draw(Rng, T*) const {}

  // Fills the tape, whose `features` are given. With `noise` as in training; without it there is none.
  void forward(const T* packed, const PassNoise* noise, HeadTape<T>& tape, Workspace& workspace) const;
  // Gradients of the outputs are overwritten; weight gradients, also those of the penalty, are added.
  // Returns the gradient of the features.
  Matrix<T> backward(const T* packed, HeadTape<T>& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                     T* gradient, Workspace& workspace) const;
  // From a tape without noise. At most `most_samples` where samples are drawn; such a head reads nothing of
  // the tape but the output of the first post layer and the shape of the outputs.
  virtual HeadAnswer answer(const T* packed, const HeadTape<T>& tape, std::int64_t most_samples,
                            Workspace& workspace) const;

 protected:
  // The order of weights in a file is that of these calls: trunk, what is the head's own, outputs.
  explicit Head(HeadPlan<T>& plan, bool direct = false);
  void add_outputs(HeadPlan<T>& plan, std::int64_t in);

  // From the features to what the summary reads, but for those that enter it directly, and from the summary
  // to what the outputs read.
  virtual Matrix<T> lower(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                          Workspace& workspace) const;
  virtual Matrix<T> lower_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_top, T* gradient,
                               Workspace& workspace) const;
  virtual Matrix<T> upper(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                          Workspace& workspace) const;
  virtual Matrix<T> upper_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_last, T* gradient,
                               Workspace& workspace) const;

  // For what a head adds between: packed with the others.
  void add_layers(const Stack<T>& stack) { stack.list(layers_); }
  void add_layer(const Dense<T>& layer) { layers_.push_back(&layer); }

  Stack<T> post_;
  std::unique_ptr<Dense<T>> summary_, models_, parameters_;

 private:
  Matrix<T> with_direct(const HeadTape<T>& tape, Matrix<T> top, Workspace& workspace) const;
  Matrix<T> with_direct_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_both, T* gradient,
                             Workspace& workspace) const;

  std::int64_t direct_ = 0, top_width_ = 0;
  std::vector<const Dense<T>*> layers_;
};

// p = softmax(f), row by row, as an answer.
template <class T>
HeadAnswer softmax_answer(Matrix<const T> models, Workspace& workspace);

// The trunk and no layer between. With `ours` the last features enter the summary directly, and with growth
// the outputs read the summary s as (s, N s): evidence grows with the number of observations, and products
// with N are what layers come near only slowly. Rivals do without, as published.
template <class T>
class PlainHead : public Head<T> {
 public:
  PlainHead(HeadPlan<T>& plan, bool ours) : Head<T>(plan, ours), growth_(ours && plan.growth) {
    this->add_outputs(plan, (growth_ ? 2 : 1) * this->summary_width());
  }

 private:
  Matrix<T> upper(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                  Workspace& workspace) const override;
  Matrix<T> upper_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_last, T* gradient,
                       Workspace& workspace) const override;

  bool growth_;
};

// An entry of the list of heads.
struct HeadKind {
  std::string help;
  bool concentrations = false;  // outputs are evidence: alpha, u, and the options link and lambda
  bool samples = false;         // an answer is a mean over samples, with a spread
  std::function<nlohmann::json(const nlohmann::json& given)> resolve;  // all options, defaults filled in
  std::function<std::string()> markdown;                               // table of its options
  std::function<std::unique_ptr<Head<float>>(const nlohmann::json&, HeadPlan<float>&)> make_f32;
  std::function<std::unique_ptr<Head<double>>(const nlohmann::json&, HeadPlan<double>&)> make_f64;
};

struct NoHeadOptions {};
inline Fields fields(NoHeadOptions&) {
  return {};
}

// Describes a head whose class template is Type<T>(const Options&, HeadPlan<T>&).
template <template <class> class Type, class Options>
HeadKind make_head_kind(std::string help) {
  const auto read = [](const nlohmann::json& given) {
    Options options;
    set_fields(fields(options), given, "network");
    return options;
  };
  HeadKind kind;
  kind.help = std::move(help);
  kind.resolve = [read](const nlohmann::json& given) {
    Options options = read(given);
    return fields_json(fields(options));
  };
  kind.markdown = [] {
    Options options;
    return fields_markdown(fields(options));
  };
  kind.make_f32 = [read](const nlohmann::json& given, HeadPlan<float>& plan) -> std::unique_ptr<Head<float>> {
    return std::make_unique<Type<float>>(read(given), plan);
  };
  kind.make_f64 = [read](const nlohmann::json& given,
                         HeadPlan<double>& plan) -> std::unique_ptr<Head<double>> {
    return std::make_unique<Type<double>>(read(given), plan);
  };
  return kind;
}

inline constexpr const char* kDefaultHead = "evidential";

// Every head listed in heads/CMakeLists.txt.
const Registry<HeadKind>& heads();
void register_heads(Registry<HeadKind>& registry);  // generated

}  // namespace occam
