// Extra hours of sleep of people under two drugs, for R's sleep. Exact: conjugate given the spread between
// people, quadrature over that.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]), effect = p.has("effect") ? p["effect"] : 0;
  std::vector<double> person;
  for (long i = 0; i < out.n(); ++i) {
    const auto who = static_cast<std::size_t>(out.design(i, "ID"));
    while (person.size() <= who) person.push_back(p.has("spread") ? p["spread"] * rng.normal() : 0);
    const double mean = p["level"] + effect * (out.design(i, "drug") - 0.5) + person[who];
    out(i, "extra") = static_cast<float>(sd * (mean + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::size_t people = 0;
  for (long i = 0; i < data.n(); ++i) people = std::max(people, static_cast<std::size_t>(data(i, "ID")) + 1);
  MixedSums sums(2 + people);
  for (long i = 0; i < data.n(); ++i)
    sums.add({{0, 1.0}, {1, data(i, "drug") - 0.5}, {2 + static_cast<std::size_t>(data(i, "ID")), 1.0}},
             data(i, "extra"));
  const auto with = [&](double spread) {
    std::vector<double> sd(2 + people, spread);
    sd[0] = 1;
    sd[1] = p.has("effect") ? 1 : 0;
    return sums.evidence(sd, 3, 3);
  };
  if (!p.has("spread")) return with(0);
  return log_integral(0, 6, 10 * FINE, [&](double s) { return log_half_normal(s, 1) + with(s); });
}
