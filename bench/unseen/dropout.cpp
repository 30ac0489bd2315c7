// Values that are missing at random or not at random. Exact: a normal integral for every value that is not
// there, quadrature over one to three parameters.
#include <occam/simulator.h>

#include "more.h"

constexpr double kCorrelation = 0.6, kRest = 0.8;

static double chance_of(double deviate) {
  return 0.5 * std::erfc(-deviate * std::sqrt(0.5));
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double slope = p.has("slope") ? p["slope"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const double before = rng.normal(), after = p["change"] + kCorrelation * before + kRest * rng.normal();
    const bool gone = rng.bernoulli(chance_of(p["base"] + slope * (p.is("as_after") ? after : before)));
    out(i, "before") = static_cast<float>(50 + 10 * before);
    out(i, "after") = gone ? 0 : static_cast<float>(50 + 10 * after);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // Of those who came: what is left of `after` without what `before` says.
  std::vector<double> gone, came;
  double n = 0, sum = 0, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double before = (data(i, 0) - 50.0) / 10, after = (data(i, 1) - 50.0) / 10;
    if (data(i, 1) == 0) {
      gone.push_back(before);
      continue;
    }
    const double rest = (after - kCorrelation * before) / kRest;
    came.push_back(p.is("as_after") ? after : before);
    ++n;
    sum += rest;
    squares += rest * rest;
  }
  const auto log_chance = [](double deviate) { return std::log(std::max(chance_of(deviate), 1e-300)); };
  const auto staying_away = [&](double base, double slope, double change) {
    const double scale = p.is("as_after") ? 1 / std::hypot(1, slope * kRest) : 1;
    const double of_before = p.is("as_after") ? kCorrelation : 1;
    double result = log_normal(base, -0.5, 0.5);
    for (const double one : gone) result += log_chance((base + slope * (change + of_before * one)) * scale);
    for (const double one : came) result += log_chance(-base - slope * one);
    return result;
  };
  if (p.is("as_after")) {
    return log_integral_around<3>(
        {-0.5, 0, 0},
        [&](std::array<double, 3> at) {
          const double change = at[2] / kRest;
          return staying_away(at[0], std::exp(at[1]), at[2]) + log_normal(at[1], 0, 0.4) +
                 log_normal(at[2], 0, 0.3) - 0.5 * (squares - 2 * change * sum + n * change * change);
        },
        0.8);
  }
  const double ratio = 0.3 * 0.3 / (kRest * kRest);
  const double values = -0.5 * (squares - sum * sum / (n + 1 / ratio)) - 0.5 * std::log1p(n * ratio);
  if (p.is("by_chance")) {
    return values + log_integral_around<1>(
                        {-0.5}, [&](std::array<double, 1> at) { return staying_away(at[0], 0, 0); });
  }
  return values + log_integral_around<2>({-0.5, 0}, [&](std::array<double, 2> at) {
           return staying_away(at[0], std::exp(at[1]), 0) + log_normal(at[1], 0, 0.4);
         });
}
