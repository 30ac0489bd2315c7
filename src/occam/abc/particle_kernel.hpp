// The kernel density of the weighted particles of one model, which new candidates are drawn from:
//   continuous parameters  N(particle, bw^2 C), C the weighted covariance, bw = (4 / (ess (d + 2)))^(1/(d+4))
//     (Silverman's rule with the effective number of particles, as pyABC's MultivariateNormalTransition)
//   discrete parameters    stay with probability 0.7, else any other value of the prior's range
//   fixed parameters       stay
// With too few particles for a covariance (fewer than d + 2), or where a parameter does not vary among them,
// the prior's variance stands in: such a kernel reaches wherever the prior does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "occam/core/rng.hpp"
#include "occam/simulate/prior.hpp"

namespace occam {

class ParticleKernel {
 public:
  static constexpr double kStayDiscrete = 0.7;

  // Parameters theta (K, P) with priors (P), weights (K), which need not sum to one. K >= 1. `width`
  // multiplies bw.
  ParticleKernel(std::span<const Prior> priors, std::vector<double> theta, std::vector<double> weights,
                 double width = 1);

  std::int64_t K() const { return static_cast<std::int64_t>(weights_.size()); }
  std::int64_t P() const { return static_cast<std::int64_t>(priors_.size()); }
  // Whether any parameter is free.
  double width() const { return width_; }
  bool is_free() const { return !continuous_.empty() || !discrete_.empty(); }
  std::span<const Prior> priors() const { return priors_; }     // (P)
  std::span<const double> theta() const { return theta_; }      // (K, P)
  std::span<const double> weights() const { return weights_; }  // (K) sum to one

  // Draws a particle and moves it; may leave the support of the prior.
  void sample(Rng& rng, std::span<double> theta) const;

  // Densities at points theta (M, P), as their product of continuous density and discrete probability.
  void densities(std::span<const double> theta, std::span<double> out) const;

 private:
  struct Discrete {
    std::size_t parameter;
    std::int64_t low, high;
  };
  void fit();
  double bandwidth() const;
  bool factorise(std::vector<double> covariance);
  std::vector<double> covariance() const;
  void whiten(const double* theta, double* out) const;

  double width_;
  std::vector<Prior> priors_;
  std::vector<double> theta_;       // (K, P)
  std::vector<double> weights_;     // (K)
  std::vector<double> cumulative_;  // (K)
  std::vector<std::size_t> continuous_;
  std::vector<Discrete> discrete_;
  std::vector<double> cholesky_;     // (d, d) lower: L L^T = bw^2 C
  double normaliser_ = 1;            // (2 pi)^(d/2) |L|
  std::vector<double> where_;        // (K, d + e): L^-1 theta, then discrete values
  std::vector<double> stay_, move_;  // (e)
};

}  // namespace occam
