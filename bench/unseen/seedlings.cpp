// Three to twelve trees anywhere on a plot of 100 m by 100 m, and seedlings. Exact: sums over the trees that
// a seedling may come from; quadrature over the reach, and over the plot where seedlings are away from all
// trees.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long trees = static_cast<long>(rng.integer(3, 12));
  const double reach = p.has("reach") ? p["reach"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    double x = rng.uniform(), y = rng.uniform();
    if (i >= trees && p.is("around")) {
      const long tree = static_cast<long>(rng.integer(0, trees - 1));
      do {
        x = out(tree, "x") + reach * rng.normal();
        y = out(tree, "y") + reach * rng.normal();
      } while (x <= 0 || x >= 1 || y <= 0 || y >= 1);
    }
    if (i >= trees && p.is("away")) {
      for (double survives = 1;; x = rng.uniform(), y = rng.uniform(), survives = 1) {
        for (long k = 0; k < trees; ++k) {
          const double dx = (x - out(k, "x")) / reach, dy = (y - out(k, "y")) / reach;
          survives *= -std::expm1(-(dx * dx + dy * dy) / 2);
        }
        if (rng.bernoulli(survives)) break;
      }
    }
    out(i, "tree") = i < trees;
    out(i, "x") = static_cast<float>(x);
    out(i, "y") = static_cast<float>(y);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("anywhere")) return 0;
  struct Place {
    double x, y;
  };
  std::vector<Place> trees, seedlings;
  for (long i = 0; i < data.n(); ++i)
    (data(i, 0) > 0.5 ? trees : seedlings).push_back({data(i, 1), data(i, 2)});
  const double n = static_cast<double>(seedlings.size());
  return log_integral(std::log(0.03), std::log(0.2), 6 * FINE, [&](double log_reach) {
    const double reach = std::exp(log_reach), prior = -std::log(std::log(0.2 / 0.03));
    const auto kernel = [&](double d) { return std::exp(-0.5 * d * d / (reach * reach)); };
    if (p.is("around")) {
      double sum = 0;
      const auto inside = [&](double x) {
        return 0.5 * (std::erf(x / reach / std::sqrt(2.0)) + std::erf((1 - x) / reach / std::sqrt(2.0)));
      };
      std::vector<double> weight;
      for (const Place& t : trees) weight.push_back(1 / (inside(t.x) * inside(t.y)));
      for (const Place& s : seedlings) {
        double density = 1e-300;
        for (std::size_t k = 0; k < trees.size(); ++k)
          density += weight[k] * kernel(s.x - trees[k].x) * kernel(s.y - trees[k].y);
        sum += std::log(density);
      }
      return prior + sum - n * std::log(static_cast<double>(trees.size()) * 2 * kPi * reach * reach);
    }
    double sum = 0;
    for (const Place& s : seedlings) {
      for (const Place& t : trees)
        sum += std::log(
            -std::expm1(-((s.x - t.x) * (s.x - t.x) + (s.y - t.y) * (s.y - t.y)) / (2 * reach * reach)));
    }
    const double whole = log_integral(0, 1, 6 * FINE, [&](double x) {
      std::vector<double> of_x;
      for (const Place& t : trees) of_x.push_back(kernel(x - t.x));
      return log_integral(0, 1, 6 * FINE, [&](double y) {
        double survives = 1;
        for (std::size_t k = 0; k < trees.size(); ++k) survives *= 1 - of_x[k] * kernel(y - trees[k].y);
        return std::log(survives + 1e-300);
      });
    });
    return prior + sum - n * whole;
  });
}
