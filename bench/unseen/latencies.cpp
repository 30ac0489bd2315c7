// Gamma-distributed times, with or without a delay that nobody undercuts. Exact: the rate is conjugate,
// quadrature over delay and shape.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double shape = 1 + (p.has("more_steps") ? p["more_steps"] : 0),
               delay = p.has("delay") ? p["delay"] : 0;
  for (long i = 0; i < out.n(); ++i) out(i, "time") = delay + rng.gamma(shape, 1 / p["rate"]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double least = 1e30, sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double t = data(i, "time");
    least = std::min(least, t);
    sum += t;
  }
  // Nodes over the shape, which are the same for all delays.
  struct Node {
    double shape, weight;
  };
  std::vector<Node> nodes = {{1, 0}};
  if (p.has("more_steps")) {
    const double mean = p.is("none") ? 0.5 : 0, sd = p.is("none") ? 0.5 : 0.7;
    const double step = std::min(0.1, 1 / std::sqrt(n)) * sd / FINE;
    nodes.clear();
    for (double x = mean - 6 * sd; x < mean + 6 * sd; x += step) {
      const double shape = 1 + std::exp(x);
      nodes.push_back({shape, std::log(step) + log_normal(x, mean, sd) - n * std::lgamma(shape) +
                                  std::lgamma(4 + n * shape) - std::lgamma(4.0) - 4 * std::log(0.0015)});
    }
  } else {
    nodes[0].weight = std::lgamma(4 + n) - std::lgamma(4.0) - 4 * std::log(0.0015);
  }
  const auto given = [&](double delay) {
    double logs = 0;
    for (long i = 0; i < data.n(); ++i) logs += std::log(data(i, "time") - delay);
    const double log_time = std::log(sum - n * delay + 1 / 0.0015);
    LogSum all;
    for (const Node& node : nodes)
      all.add(node.weight + (node.shape - 1) * logs - (4 + n * node.shape) * log_time);
    return all.value();
  };
  if (!p.has("delay")) return given(0);
  if (least <= 100) return -INFINITY;
  // By the logarithm of what is left between the delay and the first answer.
  const double most = std::log(least - 100), few = std::log(std::max(least - 300, 1e-7));
  return log_integral(few, most, static_cast<int>(2 + 3 * (most - few)) * FINE,
                      [&](double x) { return x + given(least - std::exp(x)); }) -
         std::log(200.0);
}
