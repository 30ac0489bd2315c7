// Series of 5 to 20 days for each of several people. Exact: each person's values are normal, conjugate given
// spreads and carry, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"
#include "slopes.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long days = static_cast<long>(rng.integer(5, 20));
  const double sd = std::sqrt(p["variance"]), carry = p.has("carry") ? p["carry"] : 0;
  double own = 0, way = 0, swing = 0;
  for (long i = 0; i < out.n(); ++i) {
    const long day = i % days;
    if (day == 0) {
      own = p["spread"] * rng.normal();
      way = p.has("drift") ? p["drift"] : p.has("drift_spread") ? p["drift_spread"] * rng.normal() : 0;
    }
    swing = day == 0 ? rng.normal() : carry * swing + std::sqrt(1 - carry * carry) * rng.normal();
    out(i, "person") = static_cast<float>(i / days + 1);
    out(i, "day") = static_cast<float>(day);
    out(i, "mood") =
        static_cast<float>(50 + sd * (p["level"] + own + way * static_cast<double>(day) + swing));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto with = [&](double carry, double drift, auto&& over_spreads) {
    std::vector<Information> people;
    const double rest = 1 - carry * carry;
    double last_day = 0, last_y = 0;
    for (long i = 0; i < data.n(); ++i) {
      const double day = data(i, 1), y = data(i, 2) - 50.0;
      if (day == 0) {
        people.emplace_back();
        people.back().add(1, 1, 0, y);
      } else {
        people.back().add(1 / rest, 1 - carry, day - carry * last_day, y - carry * last_y);
        people.back().log_det += std::log(rest);
      }
      last_day = day;
      last_y = y;
    }
    return over_spreads([&](double spread, double drift_spread) {
      Information all;
      for (Information one : people) {
        one.take(0, spread);
        one.take(1, drift_spread);
        all.add(one);
      }
      all.take(0, 2);
      all.take(1, drift);
      return -0.5 * all.log_det + log_variance_evidence(static_cast<double>(data.n()), all.yy, 4, 300);
    });
  };
  const auto over_spread = [](auto f) {
    return log_integral(0, 6, 10 * FINE, [&](double s) { return log_half_normal(s, 1) + f(s, 0.0); });
  };
  if (p.is("differ")) return with(0, 0, over_spread);
  if (p.is("drift")) return with(0, 0.1, over_spread);
  if (p.is("carry")) {
    return log_integral(0, 1, 8 * FINE, [&](double carry) {
      return std::log(6 * carry * (1 - carry)) + with(carry, 0, over_spread);
    });
  }
  return with(0, 0, [&](auto f) {
    return log_integral(0, 0.6, 10 * FINE, [&](double t) {
      return log_half_normal(t, 0.1) +
             log_integral(0, 6, 10 * FINE, [&](double s) { return log_half_normal(s, 1) + f(s, t); });
    });
  });
}
