// Long series of two values. The time in a state is geometric, or the sum of two geometric times. Exact:
// conjugate; the last stay, whose end is not seen, is a sum of two terms. All begin with the first row of a
// stay.
#include <occam/simulator.h>

#include "more.h"

static int stages(const occam::Parameters& p, int state) {
  return p.is("two_both") || (p.is("two_open") && state == 1) ? 2 : 1;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double leave[] = {p["leave_shut"], p["leave_open"]};
  int state = rng.uniform() < 0.5 ? 1 : 0, stage = 1;
  for (long t = 0; t < out.n(); ++t) {
    out(t, "open") = state;
    if (rng.uniform() >= leave[state]) continue;
    if (stage < stages(p, state)) {
      ++stage;
    } else {
      state = 1 - state;
      stage = 1;
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double result = 0;
  for (int state = 0; state < 2; ++state) {
    const bool two = stages(p, state) == 2;
    double left = 0, stayed = 0, ways = 0, last = 0;
    for (long t = 0, stay = 0; t < data.n(); ++t) {
      if (data(t, "open") != state) continue;
      ++stay;
      const bool ends = t + 1 < data.n() && data(t + 1, "open") != state;
      if (t + 1 == data.n()) last = static_cast<double>(stay);
      if (!ends) continue;
      if (two && stay == 1) return -1e300;  // no such stay
      const double d = static_cast<double>(stay);
      left += two ? 2 : 1;
      stayed += d - (two ? 2 : 1);
      if (two) ways += std::log(d - 1);
      stay = 0;
    }
    // A stay of `last` rows that is not over: none of so many steps was left in, or (two stages) exactly one.
    const auto evidence = [&](double more_left, double more_stayed) {
      return log_beta(2 + left + more_left, 20 + stayed + more_stayed) - log_beta(2, 20);
    };
    LogSum sum;
    if (last == 0) {
      sum.add(evidence(0, 0));
    } else {
      sum.add(evidence(0, last - 1));
      if (two && last > 1) sum.add(std::log(last - 1) + evidence(1, last - 2));
    }
    result += ways + sum.value();
  }
  return result;
}
