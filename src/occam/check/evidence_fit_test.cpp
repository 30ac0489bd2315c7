// Exact posteriors held against true models: right ones pass at the stated rate, wrong ones do not.
#include "occam/check/evidence_fit.hpp"

#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

// A posterior of three models for one data set; `sure` of them are nearly certain.
std::array<double, 3> posterior(Rng& rng, double sure) {
  std::array<double, 3> q;
  double sum = 0;
  for (double& one : q) sum += one = -std::log(rng.uniform());
  for (double& one : q) one /= sum;
  if (rng.uniform() < sure) q = {1 - 1e-4, 5e-5, 5e-5};
  return q;
}

std::size_t draw(Rng& rng, const std::array<double, 3>& q) {
  const double u = rng.uniform();
  return u < q[0] ? 0 : u < q[0] + q[1] ? 1 : 2;
}

// Of 1,000 checks with 300 data sets each, how many raise an alarm at level .01.
int alarms(double sure) {
  int count = 0;
  for (std::uint64_t check = 0; check < 1000; ++check) {
    Rng rng(5, Purpose::test, check);
    EvidenceFit fit(3);
    for (int b = 0; b < 300; ++b) {
      const auto q = posterior(rng, sure);
      fit.add(q, draw(rng, q));
    }
    count += fit.excess(0.01) > 1 ? 1 : 0;
  }
  return count;
}

// 10 are expected; more than 22 have probability 2e-4. Sums of rare large terms are judged more leniently.
TEST(EvidenceFit, RightPosteriorsPass) {
  EXPECT_LE(alarms(0), 22);
  EXPECT_LE(alarms(1), 22);
  EXPECT_LE(alarms(0.9), 22);
}

// q is what is claimed, p what the true models are drawn from.
double excess_of(const std::function<std::array<double, 3>(std::array<double, 3>)>& claimed) {
  Rng rng(6, Purpose::test, 0);
  EvidenceFit fit(3);
  for (int b = 0; b < 4000; ++b) {
    const auto p = posterior(rng, 0);
    fit.add(claimed(p), draw(rng, p));
  }
  return fit.excess(1e-6);
}

std::array<double, 3> normalised(std::array<double, 3> q) {
  const double sum = q[0] + q[1] + q[2];
  for (double& one : q) one /= sum;
  return q;
}

TEST(EvidenceFit, WrongPosteriorsAreFound) {
  EXPECT_LT(excess_of([](auto p) { return p; }), 1);
  // Too sure, not sure enough, a factor of one model forgotten, a model that is called impossible.
  EXPECT_GT(excess_of([](auto p) { return normalised({p[0] * p[0], p[1] * p[1], p[2] * p[2]}); }), 1);
  EXPECT_GT(excess_of([](auto p) {
              return normalised({std::sqrt(p[0]), std::sqrt(p[1]), std::sqrt(p[2])});
            }),
            1);
  EXPECT_GT(excess_of([](auto p) { return normalised({1.5 * p[0], p[1], p[2]}); }), 1);
  EXPECT_GT(excess_of([](auto p) { return normalised({p[0], p[1], 0}); }), 1);
  EXPECT_GT(excess_of([](auto) { return std::array<double, 3>{1, 0, 0}; }), 1);
}

}  // namespace
}  // namespace occam
