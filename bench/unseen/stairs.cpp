// A staircase: the tone is 1 dB lower after two right answers at one loudness, 1 dB higher after a wrong one.
// Exact: loudness follows from answers, and answers are a regression on it; quadrature over two or three
// parameters.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double lapses = p.has("lapses") ? p["lapses"] : 0, learning = p.has("learning") ? p["learning"] : 0;
  double loudness = static_cast<double>(rng.integer(8, 12));
  int rights = 0;
  for (long i = 0; i < out.n(); ++i) {
    const double threshold = p["threshold"] - learning * static_cast<double>(i) / 100;
    const double heard = (1 - lapses) * logistic(p["steepness"] * (loudness - threshold));
    const bool right = rng.bernoulli(0.5 + 0.5 * heard);
    out(i, "loudness") = static_cast<float>(loudness);
    out(i, "right") = right ? 1 : 0;
    rights = right ? rights + 1 : 0;
    if (!right) loudness += 1;
    if (rights == 2) {
      loudness -= 1;
      rights = 0;
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto n = static_cast<std::size_t>(data.n());
  std::vector<double> x, right, wrong;  // answers by loudness
  std::vector<std::size_t> place(n);
  std::vector<bool> is_right(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<long>(i);
    std::size_t k = 0;
    while (k < x.size() && x[k] != data(row, 0)) ++k;
    if (k == x.size()) {
      x.push_back(data(row, 0));
      right.push_back(0);
      wrong.push_back(0);
    }
    place[i] = k;
    is_right[i] = data(row, 1) > 0.5;
    (is_right[i] ? right : wrong)[k] += 1;
  }
  // The threshold in units of 3 dB.
  const auto prior = [](double threshold, double log_steepness) {
    return log_normal(threshold, 4.0 / 3, 1) + log_normal(log_steepness, 0, 0.4);
  };
  const auto by_loudness = [&](double threshold, double steepness, double lapses) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double miss = 0.5 - 0.5 * (1 - lapses) * logistic(steepness * (x[k] - threshold));
      if (right[k] > 0) sum += right[k] * std::log1p(-miss);
      if (wrong[k] > 0) sum += wrong[k] * std::log(miss);
    }
    return sum;
  };
  if (p.is("steady")) {
    return log_integral_around<2>({1.0, 0.0}, [&](std::array<double, 2> at) {
      return prior(at[0], at[1]) + by_loudness(3 * at[0], std::exp(at[1]), 0);
    });
  }
  if (p.is("lapses")) {
    return log_integral_around<3>({1.0, 0.0, -1.4}, [&](std::array<double, 3> at) {
      return prior(at[0], at[1]) + log_beta_logit(at[2], 2, 8) +
             by_loudness(3 * at[0], std::exp(at[1]), logistic(at[2]));
    });
  }
  std::vector<double> odds(x.size());  // that a tone is heard at first
  return log_integral_around<3>({1.5, 0.0, 1.0}, [&](std::array<double, 3> at) {
    const double steepness = std::exp(at[1]), per_trial = std::exp(steepness * std::exp(at[2]) / 100);
    for (std::size_t k = 0; k < x.size(); ++k) odds[k] = std::exp(steepness * (x[k] - 3 * at[0]));
    double sum = prior(at[0], at[1]) + log_normal(at[2], 1, 0.6), product = 1, more = 1;
    for (std::size_t i = 0; i < n; ++i, more *= per_trial) {
      const double miss = 0.5 / (1 + odds[place[i]] * more);
      product *= is_right[i] ? 1 - miss : miss;
      if (i % 8 == 7 || i + 1 == n) {
        sum += std::log(std::max(product, 1e-300));
        product = 1;
      }
    }
    return sum;
  });
}
