#include "occam/abc/proposal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "occam/core/error.hpp"

namespace occam {

double log_prior(const Problem& problem, std::int64_t model, std::span<const double> theta) {
  const std::span<const Prior> priors = problem.models()[static_cast<std::size_t>(model)].priors();
  double sum = std::log(problem.model_prior()[static_cast<std::size_t>(model)]);
  for (std::size_t p = 0; p < priors.size(); ++p) sum += priors[p].log_density(theta[p]);
  return sum;
}

std::vector<double> Particles::model_probabilities(std::int64_t J) const {
  std::vector<double> p(static_cast<std::size_t>(J), 0.0);
  for (std::size_t k = 0; k < models.size(); ++k) p[static_cast<std::size_t>(models[k])] += weights[k];
  return p;
}

Proposal::Proposal(const Problem& problem, const Particles& particles, double stay, double kernel_width)
    : problem_(problem), stay_(stay), p_(particles.model_probabilities(problem.J())) {
  const std::size_t J = p_.size();
  const double leave = (1 - stay_) / static_cast<double>(J - 1);
  double sum = 0;
  for (std::size_t j = 0; j < J; ++j) {
    target_.push_back(stay_ * p_[j] + leave * (1 - p_[j]));
    cumulative_.push_back(sum += p_[j]);
  }
  std::vector<std::vector<double>> theta(J), weights(J);
  for (std::int64_t k = 0; k < particles.size(); ++k) {
    const auto j = static_cast<std::size_t>(particles.models[k]);
    const std::size_t P = problem.models()[j].parameters().size();
    const std::span<const double> all = particles.parameters(k);
    theta[j].insert(theta[j].end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(P));
    weights[j].push_back(particles.weights[k]);
  }
  kernels_.resize(J);
  for (std::size_t j = 0; j < J; ++j) {
    if (p_[j] > 0)
      kernels_[j].emplace(problem.models()[j].priors(), std::move(theta[j]), std::move(weights[j]),
                          kernel_width);
  }
}

std::int64_t Proposal::move(Rng& rng, std::int64_t from) const {
  if (rng.uniform() < stay_) return from;
  const std::int64_t other = rng.uniform_int(0, problem_.J() - 2);
  return other < from ? other : other + 1;
}

void Proposal::sample(Rng& rng, std::int32_t& model, std::span<double> theta) const {
  constexpr int kMost = 1'000'000;
  for (int tries = 0; tries < kMost; ++tries) {
    const double place = rng.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), place);
    const std::int64_t j = move(rng, std::min<std::int64_t>(found - cumulative_.begin(), problem_.J() - 1));
    const auto& kernel = kernels_[static_cast<std::size_t>(j)];
    if (!kernel) continue;
    kernel->sample(rng, theta);
    if (!(log_prior(problem_, j, theta) > -std::numeric_limits<double>::infinity())) continue;
    model = static_cast<std::int32_t>(j);
    return;
  }
  throw Error(ErrorKind::bad_data,
              "a million draws from the last population lie outside the priors of their models; take more "
              "particles (--population-size)");
}

void Proposal::weigh(Particles& particles, ThreadPool& pool) const {
  // Particles of one model in pieces: large enough to fill vectors, small enough for all threads.
  constexpr std::size_t kPiece = 256;
  struct Piece {
    std::size_t model;
    std::vector<std::int64_t> members;
  };
  std::vector<std::vector<std::int64_t>> of_model(p_.size());
  for (std::int64_t k = 0; k < particles.size(); ++k)
    of_model[static_cast<std::size_t>(particles.models[k])].push_back(k);
  std::vector<Piece> pieces;
  for (std::size_t j = 0; j < of_model.size(); ++j) {
    for (std::size_t at = 0; at < of_model[j].size(); at += kPiece) {
      const auto begin = of_model[j].begin() + static_cast<std::ptrdiff_t>(at);
      pieces.push_back({j, {begin, begin + std::min<std::ptrdiff_t>(kPiece, of_model[j].end() - begin)}});
    }
  }
  std::vector<double> log_weights(static_cast<std::size_t>(particles.size()));
  pool.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t index, int) {
    const Piece& piece = pieces[static_cast<std::size_t>(index)];
    const ParticleKernel& kernel = *kernels_[piece.model];
    const auto P = static_cast<std::size_t>(kernel.P());
    std::vector<double> theta;
    for (const std::int64_t k : piece.members) {
      const std::span<const double> all = particles.parameters(k);
      theta.insert(theta.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(P));
    }
    std::vector<double> density(piece.members.size());
    kernel.densities(theta, density);
    for (std::size_t i = 0; i < density.size(); ++i) {
      log_weights[static_cast<std::size_t>(piece.members[i])] =
          log_prior(problem_, static_cast<std::int64_t>(piece.model), {theta.data() + i * P, P}) -
          std::log(target_[piece.model]) - std::log(density[i]);
    }
  });
  const double top = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0;
  particles.weights.clear();
  for (const double value : log_weights) {
    particles.weights.push_back(std::exp(value - top));
    sum += particles.weights.back();
  }
  for (double& w : particles.weights) w /= sum;
}

}  // namespace occam
