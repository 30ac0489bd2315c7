// The MC-dropout head: a softmax head whose post layers are thinned at random, in training and in answers.
//   p = mean over samples of softmax(f with other masks),  spread = their standard deviation
// The body runs once. The masks of an answer come from a fixed stream, the same for all data sets, so that
// the answer for one does not depend on the others.
// Source: Gal & Ghahramani 2016, Dropout as a Bayesian Approximation. Dropout is in the head only.
#include <algorithm>
#include <cmath>

#include "occam/core/error.hpp"
#include "occam/networks/head.hpp"
#include "occam/nn/loss.hpp"
#include "occam/nn/sampling.hpp"

namespace occam {
namespace {

constexpr std::uint64_t kAnswerSeed = 0x6f6363616d;  // "occam"
constexpr std::int64_t kSamplesAtOnce = 64;
constexpr double kSmallestMean = 1e-300;  // a logarithm has to stay finite

struct DropoutOptions {
  double dropout_rate = 0.5;
  std::int64_t dropout_samples = 1000;
};

Fields fields(DropoutOptions& o) {
  return {field("dropout_rate", o.dropout_rate, "share of the units of the post layers that is left out")
              .above(0)
              .at_most(0.95),
          field("dropout_samples", o.dropout_samples, "samples whose mean is an answer")
              .at_least(2)
              .at_most(100000)};
}

// y = x mask, element by element.
template <class T>
void thin(const T* x, const T* mask, std::int64_t columns, T* __restrict y) {
  for (std::int64_t c = 0; c < columns; ++c) y[c] = x[c] * mask[c];
}

template <class T>
class DropoutHead final : public PlainHead<T> {
 public:
  DropoutHead(const DropoutOptions& options, HeadPlan<T>& plan)
      : PlainHead<T>(plan, false), options_(options) {
    if (plan.post_layers < 1) {
      throw Error(ErrorKind::bad_config,
                  "network: the head mc-dropout thins the post layers, but post_layers is 0; at least 1");
    }
  }

  // The masks of the post layers, one behind the other.
  std::int64_t noise_width() const override { return this->post_.size() * this->post_.out(); }
  void draw(Rng rng, T* masks) const override {
    dropout_mask(options_.dropout_rate, rng, Matrix<T>{masks, 1, noise_width(), noise_width()});
  }

  HeadAnswer answer(const T* packed, const HeadTape<T>& tape, std::int64_t most_samples,
                    Workspace& workspace) const override {
    const std::int64_t sets = tape.models.rows;
    const std::int64_t samples = std::max<std::int64_t>(2, std::min(options_.dropout_samples, most_samples));
    HeadAnswer answer;
    answer.log_p = workspace.zeros<double>(sets, tape.models.columns);   // sums of p first
    answer.spread = workspace.zeros<double>(sets, tape.models.columns);  // and of its squares
    const Workspace::Scope scope(workspace);
    Scratch scratch(*this, tape.models.columns, workspace);
    for (std::int64_t first = 0; first < samples; first += kSamplesAtOnce) {
      const std::int64_t count = std::min(kSamplesAtOnce, samples - first);
      draw_masks(first, count, scratch);
      for (std::int64_t b = 0; b < sets; ++b) {
        add_samples(packed, tape.post[0].row(b), count, scratch, answer.log_p.row(b), answer.spread.row(b));
      }
    }
    for (std::int64_t b = 0; b < sets; ++b) settle(samples, answer, b);
    return answer;
  }

 private:
  struct OwnTape {
    Matrix<T> masks;     // (sets, layers width)
    Matrix<T>* thinned;  // the output of each layer times its mask
  };

  // Memory for some samples of one data set.
  struct Scratch {
    Scratch(const DropoutHead& head, std::int64_t J, Workspace& workspace)
        : masks(workspace.matrix<T>(kSamplesAtOnce, head.noise_width())), p(workspace.take<double>(J)) {
      const std::int64_t width = head.post_.out();
      x = workspace.matrix<T>(kSamplesAtOnce, width);
      y = workspace.matrix<T>(kSamplesAtOnce, width);
      summary = workspace.matrix<T>(kSamplesAtOnce, head.summary_width());
      models = workspace.matrix<T>(kSamplesAtOnce, J);
    }
    Matrix<T> masks;  // as in training
    Matrix<T> x, y, summary, models;
    double* p;
  };

  Matrix<T> lower(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                  Workspace& workspace) const override {
    if (noise == nullptr) return Head<T>::lower(packed, noise, tape, workspace);
    const std::int64_t sets = tape.features.rows;
    const std::int64_t layers = this->post_.size();
    auto& own = *workspace.make<OwnTape>();
    tape.own = &own;
    own.masks = workspace.matrix<T>(sets, noise_width());
    own.thinned = workspace.take<Matrix<T>>(layers);
    tape.post = workspace.take<Matrix<T>>(layers);
    for (std::int64_t i = 0; i < layers; ++i) {
      for (Matrix<T>* m : {&own.thinned[i], &tape.post[i]}) {
        *m = workspace.matrix<T>(sets, this->post_.layer(i).out());
      }
    }
    for (std::int64_t b = 0; b < sets; ++b) draw(noise->stream(b), own.masks.row(b));
    Matrix<T> x = tape.features;
    for (std::int64_t i = 0; i < layers; ++i) {
      this->post_.layer(i).forward(packed, x, tape.post[i]);
      x = own.thinned[i];
      for (std::int64_t b = 0; b < sets; ++b) {
        thin(tape.post[i].row(b), of_layer(own.masks, i).row(b), x.columns, x.row(b));
      }
    }
    return x;
  }

  Matrix<T> lower_back(const T* packed, HeadTape<T>& tape, Matrix<T> d, T* gradient,
                       Workspace& workspace) const override {
    if (tape.own == nullptr) return Head<T>::lower_back(packed, tape, d, gradient, workspace);
    const auto& own = *static_cast<const OwnTape*>(tape.own);
    for (std::int64_t i = this->post_.size() - 1; i >= 0; --i) {
      const Dense<T>& layer = this->post_.layer(i);
      const Matrix<T> input = i == 0 ? tape.features : own.thinned[i - 1];
      dropout_back<T>(of_layer(own.masks, i), d);
      layer.backward(input, tape.post[i], d, gradient);
      const Matrix<T> below = workspace.matrix<T>(input.rows, input.columns);
      layer.backward_input(packed, d, below, false);
      d = below;
    }
    return d;
  }

  Matrix<T> of_layer(Matrix<T> masks, std::int64_t i) const {
    return masks.columns_from(i * this->post_.out(), this->post_.out());
  }

  void draw_masks(std::int64_t first, std::int64_t count, Scratch& scratch) const {
    for (std::int64_t s = 0; s < count; ++s) {
      draw({kAnswerSeed, Purpose::dropout, static_cast<std::uint64_t>(first + s)}, scratch.masks.row(s));
    }
  }

  // `bottom`: the output of the first post layer for one data set, which no mask has touched yet.
  void add_samples(const T* packed, const T* bottom, std::int64_t count, Scratch& scratch, double* sum,
                   double* squares) const {
    const std::int64_t width = scratch.x.columns;
    const Matrix<T> x = scratch.x.rows_from(0, count);
    const Matrix<T> y = scratch.y.rows_from(0, count);
    for (std::int64_t s = 0; s < count; ++s) thin(bottom, scratch.masks.row(s), width, x.row(s));
    for (std::int64_t i = 1; i < this->post_.size(); ++i) {
      this->post_.layer(i).forward(packed, x, y);
      const Matrix<T> masks = of_layer(scratch.masks, i);
      for (std::int64_t s = 0; s < count; ++s) thin(y.row(s), masks.row(s), width, x.row(s));
    }
    const Matrix<T> models = scratch.models.rows_from(0, count);
    if (this->summary_) {
      const Matrix<T> summary = scratch.summary.rows_from(0, count);
      this->summary_->forward(packed, x, summary);
      this->models_->forward(packed, summary, models);
    } else {
      this->models_->forward(packed, x, models);
    }
    const auto J = static_cast<std::size_t>(models.columns);
    const std::span<double> p(scratch.p, J);
    for (std::int64_t s = 0; s < count; ++s) {
      std::copy_n(models.row(s), J, p.begin());
      log_softmax(p, p);
      for (std::size_t j = 0; j < J; ++j) {
        const double value = std::exp(p[j]);
        sum[j] += value;
        squares[j] += value * value;
      }
    }
  }

  // Sums become log p and the standard deviation.
  static void settle(std::int64_t samples, HeadAnswer& answer, std::int64_t b) {
    const auto S = static_cast<double>(samples);
    for (std::int64_t j = 0; j < answer.log_p.columns; ++j) {
      double& sum = answer.log_p.row(b)[j];
      double& spread = answer.spread.row(b)[j];
      spread = std::sqrt(std::max(0.0, spread - sum * sum / S) / (S - 1));
      sum = std::log(std::max(sum / S, kSmallestMean));
    }
  }

  DropoutOptions options_;
};

}  // namespace

void register_mc_dropout(Registry<HeadKind>& registry) {
  HeadKind kind = make_head_kind<DropoutHead, DropoutOptions>(
      "probabilities averaged over random parts of the post layers");
  kind.samples = true;
  registry.add("mc-dropout", std::move(kind));
}

}  // namespace occam
