// Shares of people who are admitted, by department and sex. Exact: conjugate.
#include <occam/simulator.h>

#include "../unseen/more.h"

constexpr std::size_t kDepartments = 6;

namespace {

std::size_t cell(const occam::Parameters& p, double department, double sex) {
  const std::size_t k = p.is("neither") || p.is("sexes") ? 0 : static_cast<std::size_t>(department) - 1;
  return 2 * k + (p.is("neither") || p.is("departments") ? 0 : static_cast<std::size_t>(sex));
}

}  // namespace

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double share[2 * kDepartments];
  for (double& one : share) one = rng.beta(p["a"], p["b"]);
  for (long i = 0; i < out.n(); ++i)
    out(i, "admitted") = rng.bernoulli(share[cell(p, out.design(i, "department"), out.design(i, "sex"))]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double n[2 * kDepartments] = {}, admitted[2 * kDepartments] = {};
  for (long i = 0; i < data.n(); ++i) {
    const std::size_t k = cell(p, data(i, "department"), data(i, "sex"));
    ++n[k];
    admitted[k] += data(i, "admitted");
  }
  double sum = 0;
  for (std::size_t k = 0; k < 2 * kDepartments; ++k)
    sum += log_beta(p["a"] + admitted[k], p["b"] + n[k] - admitted[k]) - log_beta(p["a"], p["b"]);
  return sum;
}
