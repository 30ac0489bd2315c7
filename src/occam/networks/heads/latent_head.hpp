// What the variational heads share: an encoder makes of the summary a Gaussian over a few latent variables,
//   (mu, log_var) = encoder(summary),  z = mu + exp(log_var / 2) eps,  f = W z + b,  p = softmax(f),
// and a penalty keeps z near N(0, I). Training draws eps, an answer takes z = mu. The heads differ in the
// penalty alone. The encoder stands behind the summary, which stays what it is for all heads.
#pragma once

#include "occam/networks/head.hpp"

namespace occam {

struct LatentOptions {
  std::int64_t encoder_width = 128;
  std::int64_t encoder_layers = 3;
  std::int64_t latents = 5;
  double latent_weight = 0.1;
};
Fields fields(LatentOptions& o);

// Values and gradients of a penalty for the data sets of a bundle; gradients arrive as zeros.
template <class T>
struct LatentPenalty {
  Matrix<const T> mu, log_var, z;  // (sets, L)
  double* value;                   // (sets)
  Matrix<T> d_mu, d_log_var, d_z;  // (sets, L) of the sum over the data sets
};

template <class T>
class LatentHead : public Head<T> {
 public:
  LatentHead(const LatentOptions& options, HeadPlan<T>& plan);
  std::int64_t noise_width() const override { return options_.latents; }
  void draw(Rng rng, T* eps) const override;

 protected:
  // Already times the weight.
  virtual void penalise(const LatentPenalty<T>& penalty, Workspace& workspace) const = 0;
  double weight() const { return options_.latent_weight; }

 private:
  struct OwnTape;

  Matrix<T> upper(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                  Workspace& workspace) const override;
  Matrix<T> upper_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_last, T* gradient,
                       Workspace& workspace) const override;

  LatentOptions options_;
  Stack<T> encoder_;
  std::unique_ptr<Dense<T>> latent_;  // to mu and log_var, side by side
};

}  // namespace occam
