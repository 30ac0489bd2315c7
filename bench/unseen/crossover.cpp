// Four periods of each of 5 to 40 patients. Exact: conjugate given the spread, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]), effect = p.has("effect") ? p["effect"] : 0;
  double own = 0;
  bool drug = false;
  for (long i = 0; i < out.n(); ++i) {
    const long period = i % 4 + 1;
    if (period == 1) own = p["spread"] * rng.normal();
    const bool before = period > 1 && drug;
    drug = rng.bernoulli(0.5);
    out(i, "patient") = static_cast<float>(i / 4 + 1);
    out(i, "period") = static_cast<float>(period);
    out(i, "drug") = drug;
    out(i, "pain") =
        static_cast<float>(50 + sd * (p["level"] + own + effect * drug +
                                      (p.is("carry") && before ? p["after"] : 0) + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto patients = static_cast<std::size_t>((data.n() + 3) / 4);
  MixedSums sums(patients + 3);
  for (long i = 0; i < data.n(); ++i) {
    const double before = i % 4 > 0 ? data(i - 1, 2) : 0;
    sums.add({{static_cast<std::size_t>(i / 4), 1},
              {patients, 1},
              {patients + 1, data(i, 2)},
              {patients + 2, before}},
             data(i, 3) - 50.0);
  }
  return log_integral(0, 6, 5 * FINE, [&](double spread) {
    std::vector<double> sd(patients, spread);
    sd.insert(sd.end(), {2, p.is("nothing") ? 0 : 0.7, p.is("carry") ? 0.7 : 0});
    return log_half_normal(spread, 1) + sums.evidence(sd, 4, 300);
  });
}
