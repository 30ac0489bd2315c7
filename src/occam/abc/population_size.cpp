#include "occam/abc/population_size.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

constexpr std::int64_t kBootstraps = 10;
constexpr std::size_t kTestPoints = 256;

// Where the density of a model is looked at, with weights that sum to one.
struct TestPoints {
  std::vector<double> theta;  // (count, P)
  std::vector<double> weights;
};

// All particles; where they are many, some at equal steps of the summed weight.
TestPoints test_points(const ParticleKernel& kernel) {
  const auto P = static_cast<std::size_t>(kernel.P());
  const std::span<const double> theta = kernel.theta();
  const std::span<const double> weights = kernel.weights();
  if (weights.size() <= kTestPoints) return {{theta.begin(), theta.end()}, {weights.begin(), weights.end()}};
  TestPoints points;
  points.weights.assign(kTestPoints, 1.0 / kTestPoints);
  std::size_t k = 0;
  double below = weights[0];
  for (std::size_t i = 0; i < kTestPoints; ++i) {
    const double target = (static_cast<double>(i) + 0.5) / kTestPoints;
    while (below < target && k + 1 < weights.size()) below += weights[++k];
    points.theta.insert(points.theta.end(), theta.begin() + static_cast<std::ptrdiff_t>(k * P),
                        theta.begin() + static_cast<std::ptrdiff_t>((k + 1) * P));
  }
  return points;
}

// How many of n particles each model gets.
std::vector<std::int64_t> share_out(Rng& rng, std::int64_t n, std::span<const double> p) {
  std::vector<double> cumulative;
  double sum = 0;
  for (const double value : p) cumulative.push_back(sum += value);
  std::vector<std::int64_t> counts(p.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const double target = rng.uniform() * sum;
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target);
    ++counts[std::min(static_cast<std::size_t>(found - cumulative.begin()), p.size() - 1)];
  }
  return counts;
}

// The density of a model at its test points, fitted anew to `count` draws from it.
std::vector<double> bootstrap(const ParticleKernel& kernel, const TestPoints& points, std::int64_t count,
                              Rng& rng) {
  const auto P = static_cast<std::size_t>(kernel.P());
  std::vector<double> theta(static_cast<std::size_t>(count) * P);
  for (std::int64_t i = 0; i < count; ++i)
    kernel.sample(rng, std::span(theta).subspan(static_cast<std::size_t>(i) * P, P));
  const ParticleKernel again(kernel.priors(), std::move(theta),
                             std::vector<double>(static_cast<std::size_t>(count), 1.0), kernel.width());
  std::vector<double> density(points.weights.size());
  again.densities(points.theta, density);
  return density;
}

// Mean over the points of standard deviation / mean over the bootstraps.
double mean_variation(const std::vector<std::vector<double>>& densities, const TestPoints& points) {
  const auto B = static_cast<double>(densities.size());
  double total = 0;
  for (std::size_t i = 0; i < points.weights.size(); ++i) {
    double mean = 0;
    for (const auto& density : densities) mean += density[i] / B;
    double variance = 0;
    for (const auto& density : densities) variance += (density[i] - mean) * (density[i] - mean) / B;
    if (mean > 0) total += points.weights[i] * std::sqrt(variance) / mean;
  }
  return total;
}

}  // namespace

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  // For a given b the best a is linear; b by golden section.
  const auto best_a = [&](double b) {
    double top = 0;
    double bottom = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double power = std::pow(x[i], -b);
      top += y[i] * power;
      bottom += power * power;
    }
    return bottom > 0 ? top / bottom : 0;
  };
  const auto error = [&](double b) {
    const double a = best_a(b);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = y[i] - a * std::pow(x[i], -b);
      sum += off * off;
    }
    return sum;
  };
  constexpr double kGolden = 0.6180339887498949;
  double low = 0.001;
  double high = 5;
  for (int step = 0; step < 60; ++step) {
    const double left = high - kGolden * (high - low);
    const double right = low + kGolden * (high - low);
    (error(left) < error(right) ? high : low) = error(left) < error(right) ? right : left;
  }
  const double b = 0.5 * (low + high);
  const double a = best_a(b);
  return {std::isfinite(a) ? a : 0, b};
}

std::int64_t adapted_population_size(const Proposal& proposal, std::int64_t present,
                                     const PopulationSizeOptions& options, std::uint64_t seed,
                                     std::int64_t population, ThreadPool& pool) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = std::max<std::int64_t>(present / 3, 2); n < 2 * present;
       n += std::max<std::int64_t>(present / 10, 1))
    sizes.push_back(n);
  if (sizes.size() < 2) return present;
  const auto& kernels = proposal.kernels();
  std::vector<TestPoints> points(kernels.size());
  for (std::size_t j = 0; j < kernels.size(); ++j) {
    if (kernels[j]) points[j] = test_points(*kernels[j]);
  }
  const auto stream = [&](std::int64_t size, std::int64_t what) {
    return Rng(seed, Purpose::replicate, static_cast<std::uint64_t>((population << 32) + (size << 8) + what));
  };
  const auto count = static_cast<std::int64_t>(sizes.size());
  std::vector<std::vector<std::int64_t>> shares;
  for (std::int64_t s = 0; s < count; ++s) {
    Rng rng = stream(s, kBootstraps);
    shares.push_back(share_out(rng, sizes[static_cast<std::size_t>(s)], proposal.model_probabilities()));
  }
  // densities[s][j][bootstrap]
  std::vector<std::vector<std::vector<std::vector<double>>>> densities(
      sizes.size(), std::vector<std::vector<std::vector<double>>>(
                        kernels.size(), std::vector<std::vector<double>>(kBootstraps)));
  pool.for_each(count * kBootstraps, [&](std::int64_t task, int) {
    const std::int64_t s = count - 1 - task / kBootstraps;  // the largest first
    Rng rng = stream(s, task % kBootstraps);
    for (std::size_t j = 0; j < kernels.size(); ++j) {
      const std::int64_t n = shares[static_cast<std::size_t>(s)][j];
      if (!kernels[j] || !kernels[j]->is_free() || n == 0) continue;
      densities[static_cast<std::size_t>(s)][j][static_cast<std::size_t>(task % kBootstraps)] =
          bootstrap(*kernels[j], points[j], n, rng);
    }
  });
  std::vector<double> x, y;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    double cv = 0;
    for (std::size_t j = 0; j < kernels.size(); ++j) {
      const auto n = static_cast<double>(shares[s][j]);
      if (kernels[j] && kernels[j]->is_free() && n > 0)
        cv += n / static_cast<double>(sizes[s]) * mean_variation(densities[s][j], points[j]);
    }
    x.push_back(static_cast<double>(sizes[s]));
    y.push_back(cv);
  }
  const PowerLaw law = fit_power_law(x, y);
  if (!(law.a > 0)) return present;
  const double wanted = std::pow(law.a / options.mean_cv, 1 / law.b);
  if (!(wanted < static_cast<double>(options.largest))) return std::max(options.smallest, options.largest);
  return std::max(options.smallest, static_cast<std::int64_t>(wanted));
}

}  // namespace occam
