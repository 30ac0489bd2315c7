// What candidates of the next population are drawn from (Toni & Stumpf 2010,
// doi:10.1093/bioinformatics/btp619): a model m' with its probability, moved to m (stay with probability s,
// else any other model alike), then a particle of m, moved by its kernel; all of it again where the prior is
// zero or m has no particles. The weight of an accepted particle is
//   w = p(m) p(theta | m) / [ sum_m' P(m') K(m | m')  sum_k w_k K_m(theta | theta_k) ].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "occam/abc/particle_kernel.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// A population: K particles.
struct Particles {
  std::int64_t stride = 0;           // parameters of the model that has most
  std::vector<std::int32_t> models;  // (K)
  std::vector<double> theta;         // (K, stride): all parameters of the model's family, fixed ones included
  std::vector<double> weights;       // (K) sum to one
  std::vector<double> distances;     // (K)

  std::int64_t size() const { return static_cast<std::int64_t>(models.size()); }
  std::span<const double> parameters(std::int64_t k) const {
    return {theta.data() + k * stride, static_cast<std::size_t>(stride)};
  }
  // (J) shares of the weight
  std::vector<double> model_probabilities(std::int64_t J) const;
};

class Proposal {
 public:
  // `stay` is the probability of a move that keeps the model; `kernel_width` is that of ParticleKernel.
  Proposal(const Problem& problem, const Particles& particles, double stay, double kernel_width = 1);

  const std::vector<double>& model_probabilities() const { return p_; }                   // (J)
  const std::vector<std::optional<ParticleKernel>>& kernels() const { return kernels_; }  // (J)

  // Draws a model and all its parameters where the prior is above zero. Throws Error(bad_data) when a million
  // draws in a row are not.
  void sample(Rng& rng, std::int32_t& model, std::span<double> theta) const;

  // Sets the weights of particles that were drawn from this proposal, to sum to one.
  void weigh(Particles& particles, ThreadPool& pool) const;

 private:
  std::int64_t move(Rng& rng, std::int64_t from) const;

  Problem problem_;
  double stay_;
  std::vector<double> p_;       // (J)
  std::vector<double> target_;  // (J) probability to propose the model
  std::vector<double> cumulative_;
  std::vector<std::optional<ParticleKernel>> kernels_;
};

// The log of p(m) p(theta | m); -infinity outside the support.
double log_prior(const Problem& problem, std::int64_t model, std::span<const double> theta);

}  // namespace occam
