// Rows of six ones and zeros whose order within a row may matter. Exact: conjugate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  static const char* const names[] = {"chance1", "chance2", "chance3", "chance4", "chance5", "chance6"};
  for (long i = 0; i < out.n(); ++i) {
    bool known = false;
    for (int night = 0; night < 6; ++night) {
      const double chance = p.is("nights")           ? p[names[night]]
                            : p.is("learn") && known ? p["again"]
                                                     : p["chance"];
      const bool caught = rng.uniform() < chance;
      out(i, night) = caught ? 1 : 0;
      known = known || caught;
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double caught[6][2] = {}, free[6][2] = {};
  for (long i = 0; i < data.n(); ++i) {
    int known = 0;
    for (int night = 0; night < 6; ++night) {
      ++(data(i, night) > 0.5 ? caught : free)[night][known];
      if (data(i, night) > 0.5) known = 1;
    }
  }
  const auto evidence = [](double yes, double no) { return log_beta(2 + yes, 4 + no) - log_beta(2, 4); };
  double result = 0, yes[2] = {}, no[2] = {};
  for (int night = 0; night < 6; ++night) {
    for (int known = 0; known < 2; ++known) {
      yes[known] += caught[night][known];
      no[known] += free[night][known];
    }
    if (p.is("nights"))
      result += evidence(caught[night][0] + caught[night][1], free[night][0] + free[night][1]);
  }
  if (p.is("learn")) return evidence(yes[0], no[0]) + evidence(yes[1], no[1]);
  return p.is("alike") ? evidence(yes[0] + yes[1], no[0] + no[1]) : result;
}
