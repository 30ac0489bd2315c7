// Whole numbers that heap at multiples of five or ten. Exact: sums over the kilograms that may be told as one
// number, quadrature over two or three parameters.
#include <map>
#include <occam/simulator.h>

#include "more.h"

constexpr int kLightest = 5;

// To which number somebody of this weight rounds, and how many of those who might do it.
static int heap(const occam::Parameters& p, int weight) {
  return p.is("tens") ? (weight + 5) / 10 * 10 : (weight + 2) / 5 * 5;
}
static double willing(const occam::Parameters& p, int weight) {
  return p.is("heavy_fives") ? logistic((weight - 75) / 5.0) : 1;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double share = p.has("share") ? p["share"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const int weight =
        static_cast<int>(std::lround(std::max(rng.normal(p["mean"], p["spread"]), double(kLightest))));
    const bool round = rng.bernoulli(share * willing(p, weight));
    out(i, 0) = static_cast<float>(round ? heap(p, weight) : weight);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::map<int, double> told;
  double sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    ++told[static_cast<int>(data(i, 0))];
    sum += data(i, 0);
  }
  const int low = std::max(told.begin()->first - 5, kLightest), high = told.rbegin()->first + 5;
  std::vector<double> below(high - low + 2), willing_of(high - low + 1), heaped(high + 6);
  for (int kg = low; kg <= high; ++kg) willing_of[kg - low] = willing(p, kg);
  const auto log_f = [&](double mean, double log_spread, double share) {
    const double per = std::exp(-log_spread) * std::sqrt(0.5);
    for (int kg = low; kg <= high + 1; ++kg)
      below[kg - low] = kg == kLightest ? 0 : 0.5 * std::erfc((mean - kg + 0.5) * per);
    std::fill(heaped.begin(), heaped.end(), 0.0);
    if (share > 0) {
      for (int kg = low; kg <= high; ++kg)
        heaped[heap(p, kg)] += willing_of[kg - low] * (below[kg - low + 1] - below[kg - low]);
    }
    double result = log_normal(mean, 75, 5) + log_normal(log_spread, 2.6, 0.2);
    for (const auto& [kg, times] : told) {
      const double same = below[kg - low + 1] - below[kg - low];
      result += times * std::log(same * (1 - share * willing_of[kg - low]) + share * heaped[kg] + 1e-300);
    }
    return result;
  };
  const double start = sum / static_cast<double>(data.n());
  if (p.is("exact"))
    return log_integral_around<2>({start, 2.6},
                                  [&](std::array<double, 2> at) { return log_f(at[0], at[1], 0); });
  const double a = p.is("heavy_fives") ? 2 : 1.5, b = p.is("heavy_fives") ? 2 : 5;
  return log_integral_around<3>(
      {start, 2.6, -1},
      [&](std::array<double, 3> at) {
        return log_f(at[0], at[1], logistic(at[2])) + log_beta_logit(at[2], a, b);
      },
      0.8);
}
