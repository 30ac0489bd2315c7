// Chains of infection in many small households. Exact: quadrature over one parameter.
#include <occam/simulator.h>

#include "more.h"

// Chance to escape in a generation after one with so many cases.
static double escape(const occam::Parameters& p, double one, double cases, int generation) {
  if (p.is("any")) return one;
  return std::pow(p.is("weaker") && generation > 0 ? 1 - (1 - one) / 2 : one, cases);
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    int healthy = 4;
    double cases = 1;
    for (int generation = 0; generation < 3; ++generation) {
      int fresh = 0;
      const double q = escape(p, p["escape"], cases, generation);
      for (int k = 0; k < healthy && cases > 0; ++k) fresh += rng.uniform() < q ? 0 : 1;
      healthy -= fresh;
      cases = fresh;
      out(i, generation) = fresh;
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // How often so many were infected and escaped after so many cases.
  double infected[3][5] = {}, escaped[3][5] = {};
  for (long i = 0; i < data.n(); ++i) {
    double healthy = 4;
    int cases = 1;
    for (int generation = 0; generation < 3 && cases > 0; ++generation) {
      const double fresh = data(i, generation);
      infected[generation][cases] += fresh;
      escaped[generation][cases] += healthy - fresh;
      healthy -= fresh;
      cases = static_cast<int>(fresh);
    }
  }
  return log_integral_around<1>(
      {0.7},
      [&](std::array<double, 1> x) {
        double sum = log_beta_logit(x[0], 6, 3);
        for (int generation = 0; generation < 3; ++generation) {
          for (int cases = 1; cases < 5; ++cases) {
            const double q = escape(p, logistic(x[0]), cases, generation);
            if (escaped[generation][cases] > 0) sum += escaped[generation][cases] * std::log(q);
            if (infected[generation][cases] > 0) sum += infected[generation][cases] * std::log1p(-q);
          }
        }
        return sum;
      },
      0.3);
}
