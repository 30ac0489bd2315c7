// A design column, a category, a yes or no and a positive value, each of which may depend on another. Exact:
// conjugate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  static const char* const in_ward[] = {"chance_1", "chance_2", "chance_3"};
  for (long i = 0; i < out.n(); ++i) {
    const bool treated = out.design(i, "treated") > 0.5;
    const auto ward = rng.integer(1, 3);
    const double chance = p.is("wards")   ? p[in_ward[ward - 1]]
                          : p.is("cures") ? p[treated ? "chance_treated" : "chance_untreated"]
                                          : p["chance"];
    const double per_day =
        p.is("shortens") ? p[treated ? "per_day_treated" : "per_day_untreated"] : p["per_day"];
    out(i, "ward") = static_cast<float>(ward);
    out(i, "recovered") = rng.uniform() < chance ? 1 : 0;
    out(i, "days") = rng.gamma(2) / per_day;
  }
  return true;
}

// Without what all models have in common: the wards, and the days themselves in the density of stays.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double yes[3] = {}, no[3] = {}, days[2] = {}, n[2] = {};  // by treatment or ward; by treatment
  for (long i = 0; i < data.n(); ++i) {
    const int treated = data(i, "treated") > 0.5 ? 1 : 0, ward = static_cast<int>(data(i, "ward")) - 1;
    const int group = p.is("wards") ? ward : p.is("cures") ? treated : 0;
    ++(data(i, "recovered") > 0.5 ? yes : no)[group];
    days[p.is("shortens") ? treated : 0] += data(i, "days");
    ++n[p.is("shortens") ? treated : 0];
  }
  double result = 0;
  for (int group = 0; group < 3; ++group) result += log_beta(3 + yes[group], 2 + no[group]) - log_beta(3, 2);
  for (int group = 0; group < 2; ++group) result += log_rate_evidence(days[group], 2 * n[group], 4, 0.075);
  return result;
}
