// Kernels and weights against their formulas, written out plainly.
#include "occam/abc/proposal.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "occam/abc/population_size.hpp"
#include "occam/abc/weighted.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

// Two models of the normal family: both parameters continuous; mu an integer from -3 to 3.
Problem two_kinds(double first_probability = 0.25) {
  const auto family = make_family("normal");
  ProblemSpec spec;
  spec.name = "two-kinds";
  spec.size = SizeDistribution::fixed(5);
  spec.model_prior = {first_probability, 1 - first_probability};
  spec.models = {
      Model("smooth", family, {{"mu", Prior::normal(0, 2)}, {"sigma", Prior::gamma(2, 1)}}),
      Model("steps", family, {{"mu", Prior::discrete_uniform(-3, 3)}, {"sigma", Prior::gamma(2, 1)}})};
  return Problem(std::move(spec));
}

// Particles drawn from the prior with uneven weights.
Particles some_particles(const Problem& problem, std::int64_t count, std::uint64_t seed) {
  Particles particles;
  particles.stride = 2;
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    Rng rng(seed, Purpose::test, static_cast<std::uint64_t>(k));
    const std::int64_t model = problem.sample_model(rng);
    std::vector<double> theta(2);
    problem.models()[static_cast<std::size_t>(model)].sample_parameters(rng, theta);
    particles.models.push_back(static_cast<std::int32_t>(model));
    particles.theta.insert(particles.theta.end(), theta.begin(), theta.end());
    particles.weights.push_back(0.2 + rng.uniform());
    particles.distances.push_back(rng.uniform());
    sum += particles.weights.back();
  }
  for (double& w : particles.weights) w /= sum;
  return particles;
}

// The density of a model's kernel at theta, from the definition alone.
double plain_density(const Particles& from, std::int32_t model, std::span<const double> theta) {
  std::vector<std::array<double, 2>> x;
  std::vector<double> w;
  double sum = 0;
  for (std::int64_t k = 0; k < from.size(); ++k) {
    if (from.models[static_cast<std::size_t>(k)] != model) continue;
    x.push_back({from.parameters(k)[0], from.parameters(k)[1]});
    w.push_back(from.weights[static_cast<std::size_t>(k)]);
    sum += w.back();
  }
  double squares = 0;
  std::array<double, 2> mean{};
  for (std::size_t k = 0; k < x.size(); ++k) {
    w[k] /= sum;
    squares += w[k] * w[k];
    for (int a = 0; a < 2; ++a) mean[a] += w[k] * x[k][a];
  }
  double c[2][2] = {};
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) c[a][b] += w[k] * (x[k][a] - mean[a]) * (x[k][b] - mean[b]) / (1 - squares);
    }
  }
  const double d = model == 0 ? 2 : 1;
  const double h2 = std::pow(4 * squares / (d + 2), 2 / (d + 4));
  double density = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double u = theta[0] - x[k][0];
    const double v = theta[1] - x[k][1];
    if (model == 0) {
      const double det = h2 * h2 * (c[0][0] * c[1][1] - c[0][1] * c[1][0]);
      const double q = h2 * (c[1][1] * u * u - 2 * c[0][1] * u * v + c[0][0] * v * v) / det;
      density += w[k] * std::exp(-q / 2) / (2 * std::numbers::pi * std::sqrt(det));
    } else {
      const double variance = h2 * c[1][1];
      const double jump = u == 0 ? 0.7 : 0.3 / 6;
      density += w[k] * jump * std::exp(-v * v / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
    }
  }
  return density;
}

TEST(AbcWeighted, QuantileStandsAtTheMiddleOfEachWeight) {
  // numpy.interp(part, cumsum(w) - w / 2, x), as pyABC has it.
  const std::vector<double> x = {3, 1, 2};
  const std::vector<double> w = {0.5, 0.25, 0.25};
  EXPECT_DOUBLE_EQ(weighted_quantile(x, w, 0.5), 2 + 0.125 / 0.375);
  EXPECT_DOUBLE_EQ(weighted_quantile(x, w, 0.125), 1);
  EXPECT_DOUBLE_EQ(weighted_quantile(x, w, 0.01), 1);
  EXPECT_DOUBLE_EQ(weighted_quantile(x, w, 1), 3);
  EXPECT_DOUBLE_EQ(weighted_quantile(x, std::vector<double>{2, 1, 1}, 0.5), 2 + 0.125 / 0.375);
  EXPECT_DOUBLE_EQ(weighted_quantile(std::vector<double>{5}, std::vector<double>{1}, 0.5), 5);
}

TEST(AbcWeighted, EffectiveSizeAndScale) {
  EXPECT_DOUBLE_EQ(effective_size(std::vector<double>{1, 1, 1, 1}), 4);
  EXPECT_DOUBLE_EQ(effective_size(std::vector<double>{1, 0, 0}), 1);
  std::vector<double> spread = {1, 2, 3, 4, 100};
  EXPECT_DOUBLE_EQ(robust_scale(spread), 1);
  std::vector<double> mostly = {0, 0, 0, 0, 5};
  EXPECT_DOUBLE_EQ(robust_scale(mostly), 1);  // half are 0: the mean deviation
  std::vector<double> same = {7, 7, 7};
  EXPECT_DOUBLE_EQ(robust_scale(same), 1);
}

TEST(AbcProposal, KernelDensitiesAreThoseOfTheDefinition) {
  const Problem problem = two_kinds();
  const Particles particles = some_particles(problem, 60, 1);
  const Proposal proposal(problem, particles, 0.7);
  const Particles elsewhere = some_particles(problem, 40, 2);
  for (std::int64_t k = 0; k < elsewhere.size(); ++k) {
    for (std::int32_t model = 0; model < 2; ++model) {
      std::vector<double> theta(elsewhere.parameters(k).begin(), elsewhere.parameters(k).end());
      if (model == 1) theta[0] = std::round(std::clamp(theta[0], -3.0, 3.0));
      double density = 0;
      proposal.kernels()[static_cast<std::size_t>(model)]->densities(theta, {&density, 1});
      const double expected = plain_density(particles, model, theta);
      EXPECT_NEAR(density, expected, 1e-12 * expected);
    }
  }
}

TEST(AbcProposal, WeightsHaveTheExactDenominator) {
  const Problem problem = two_kinds();
  const Particles before = some_particles(problem, 700, 3);  // several pieces of work
  const double stay = 0.6;
  const Proposal proposal(problem, before, stay);
  Particles after = some_particles(problem, 500, 4);
  const std::vector<double> p = before.model_probabilities(2);
  std::vector<double> expected;
  double sum = 0;
  for (std::int64_t k = 0; k < after.size(); ++k) {
    const std::int32_t m = after.models[static_cast<std::size_t>(k)];
    const auto theta = after.parameters(k);
    const double prior =
        problem.model_prior()[static_cast<std::size_t>(m)] *
        std::exp(problem.models()[static_cast<std::size_t>(m)].priors()[0].log_density(theta[0]) +
                 problem.models()[static_cast<std::size_t>(m)].priors()[1].log_density(theta[1]));
    double model_factor = 0;
    for (std::int32_t other = 0; other < 2; ++other)
      model_factor += p[static_cast<std::size_t>(other)] * (other == m ? stay : 1 - stay);
    expected.push_back(prior / (model_factor * plain_density(before, m, theta)));
    sum += expected.back();
  }
  ThreadPool pool(1);
  proposal.weigh(after, pool);
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_NEAR(after.weights[k], expected[k] / sum, 1e-11 * expected[k] / sum);
}

TEST(AbcProposal, DrawsStayInsideThePriors) {
  const Problem problem = two_kinds();
  const Proposal proposal(problem, some_particles(problem, 50, 5), 0.7);
  std::vector<std::int64_t> counts(2, 0);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Rng rng(1, Purpose::test, i);
    std::int32_t model = -1;
    std::vector<double> theta(2);
    proposal.sample(rng, model, theta);
    ++counts[static_cast<std::size_t>(model)];
    EXPECT_GT(theta[1], 0);
    EXPECT_TRUE(model == 0 || (theta[0] == std::round(theta[0]) && std::fabs(theta[0]) <= 3));
  }
  EXPECT_GT(counts[0], 100);
  EXPECT_GT(counts[1], 100);
}

TEST(AbcProposal, AModelWithoutParticlesIsNotProposed) {
  const Problem problem = two_kinds();
  Particles particles = some_particles(problem, 50, 6);
  for (std::size_t k = 0; k < particles.models.size(); ++k) {
    if (particles.models[k] == 1) particles.theta[2 * k] += 0.5;
    particles.models[k] = 0;
  }
  const Proposal proposal(problem, particles, 0.7);
  EXPECT_FALSE(proposal.kernels()[1].has_value());
  for (std::uint64_t i = 0; i < 100; ++i) {
    Rng rng(1, Purpose::test, i);
    std::int32_t model = -1;
    std::vector<double> theta(2);
    proposal.sample(rng, model, theta);
    EXPECT_EQ(model, 0);
  }
}

TEST(AbcKernel, FewParticlesFallBackToThePriorsWidth) {
  const std::vector<Prior> priors = {Prior::normal(0, 2), Prior::uniform(0, 12)};
  const ParticleKernel one(priors, {1, 6}, {1});
  double at_centre = 0;
  one.densities(std::vector<double>{1, 6}, {&at_centre, 1});
  const double h2 = std::pow(4.0 / 4, 2.0 / 6);  // one particle, two dimensions
  EXPECT_NEAR(at_centre, 1 / (2 * std::numbers::pi * h2 * 2 * (12 / std::sqrt(12.0))), 1e-12);
  // Particles that do not vary in one parameter: its prior stands in there, and only there.
  const ParticleKernel flat(priors, {1, 6, 1, 7, 1, 8, 1, 9, 1, 10}, std::vector<double>(5, 1.0));
  double spread = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    Rng rng(1, Purpose::test, i);
    std::vector<double> theta(2);
    flat.sample(rng, theta);
    spread += (theta[0] - 1) * (theta[0] - 1) / 200;
  }
  EXPECT_GT(spread, 0.5);
  // Twice the width, a quarter of the height in two dimensions.
  const ParticleKernel wide(priors, {1, 6}, {1}, 2);
  double at_wide = 0;
  wide.densities(std::vector<double>{1, 6}, {&at_wide, 1});
  EXPECT_NEAR(at_wide, at_centre / 4, 1e-12);
  // Nothing free: the density of what cannot be otherwise is 1.
  const ParticleKernel fixed(std::vector<Prior>{Prior::fixed(3)}, {3, 3}, {1, 1});
  double certain = 0;
  fixed.densities(std::vector<double>{3}, {&certain, 1});
  EXPECT_EQ(certain, 1);
  EXPECT_FALSE(fixed.is_free());
}

TEST(AbcPopulationSize, PowerLawIsRecovered) {
  std::vector<double> x, y;
  for (double n = 100; n < 1000; n += 50) {
    x.push_back(n);
    y.push_back(0.8 * std::pow(n, -0.4));
  }
  const PowerLaw law = fit_power_law(x, y);
  EXPECT_NEAR(law.a, 0.8, 1e-6);
  EXPECT_NEAR(law.b, 0.4, 1e-6);
  EXPECT_EQ(fit_power_law(x, std::vector<double>(x.size(), 0.0)).a, 0);
}

TEST(AbcPopulationSize, MoreParticlesForASmallerError) {
  const Problem problem = two_kinds();
  const Proposal proposal(problem, some_particles(problem, 300, 7), 0.7);
  ThreadPool pool(2);
  PopulationSizeOptions options;
  options.largest = 1000000;
  const auto size = [&](double cv) {
    options.mean_cv = cv;
    return adapted_population_size(proposal, 300, options, 1, 1, pool);
  };
  EXPECT_GT(size(0.1), 2 * size(0.2));
  EXPECT_GE(size(5), options.smallest);
  options.largest = 40;
  EXPECT_EQ(size(0.001), 40);
}

}  // namespace
}  // namespace occam
