#include "occam/data/slopes.hpp"

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/test_support.hpp"

namespace occam {
namespace {

struct Doses {
  std::vector<std::int32_t> groups;
  std::vector<double> x, y;

  // People's slopes are `slope` and `spread` times a normal number.
  Doses(std::size_t rows, int people, double slope, double spread, std::uint64_t item) {
    Rng rng(3, Purpose::test, item);
    std::vector<double> level, own;
    for (int k = 0; k < people; ++k) {
      level.push_back(rng.normal());
      own.push_back(slope + spread * rng.normal());
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const auto k = static_cast<std::size_t>(rng.uniform(0, people));
      groups.push_back(static_cast<std::int32_t>(k));
      x.push_back(5 + 2 * rng.normal());
      y.push_back(100 + level[k] + own[k] * (x.back() - 5) / 2 + rng.normal());
    }
  }
  SlopesBetween slopes(std::size_t people) const {
    std::vector<LineSums> room(people);
    return slopes_between(groups, x, y, room);
  }
};

TEST(Slopes, EvidencesAreThoseOfTheWholeCovariance) {
  const Doses doses(30, 4, 0.4, 0.5, 1);
  const SlopesBetween got = doses.slopes(5);  // a label without rows, too
  double mean = 0, variance = 0;
  for (const double x : doses.x) mean += x / 30;
  for (const double x : doses.x) variance += (x - mean) * (x - mean) / 30;
  const auto whole = [&](double level, double slope) {
    return WholeCovariance(doses.x, doses.y, [&, level, slope](std::size_t i, std::size_t j) {
      const double product = (doses.x[i] - mean) * (doses.x[j] - mean) / variance;
      return (i == j ? 1 : 0) + (doses.groups[i] == doses.groups[j] ? level + slope * product : 0);
    });
  };
  const auto averaged = [&](const auto& log_likelihood) {
    double sum = 0;
    for (const double level : kLevelSpreads)
      sum += std::exp(log_likelihood(level) + 100) / kLevelSpreads.size();
    return std::log(sum) - 100;
  };
  const double level = averaged([&](double spread) { return whole(spread, 0).log_likelihood(); });
  EXPECT_NEAR(got.same, averaged([&](double s) { return whole(s, 0).log_likelihood_of_line(); }) - level,
              1e-5);
  for (std::size_t k = 0; k < kSpreadsBetween.size(); ++k) {
    const double expected =
        averaged([&](double s) { return whole(s, kSpreadsBetween[k]).log_likelihood_of_line(); });
    EXPECT_NEAR(got.spreads[k], expected - level, 1e-5) << k;
  }
}

TEST(Slopes, SpeakForWhatDiffersAndForWhatDoesNot) {
  const SlopesBetween differ = Doses(200, 10, 0, 0.8, 2).slopes(10);
  EXPECT_GT(differ.any() - differ.same, 10) << "slopes cancel out, so that one for all says little";
  const SlopesBetween same = Doses(200, 10, 0.8, 0, 3).slopes(10);
  EXPECT_GT(same.same, 20);
  EXPECT_LT(same.any(), same.same);
}

TEST(Slopes, PassOverWhatIsMissingAndSayNothingOfConstants) {
  Doses doses(40, 4, 0.5, 0.5, 4);
  const SlopesBetween before = doses.slopes(4);
  doses.groups.insert(doses.groups.end(), {-1, 2, 2});
  doses.x.insert(doses.x.end(), {5, NAN, 5});
  doses.y.insert(doses.y.end(), {1e6, 3, NAN});
  EXPECT_DOUBLE_EQ(doses.slopes(4).any(), before.any());
  std::fill(doses.x.begin(), doses.x.end(), 7.0);
  EXPECT_EQ(doses.slopes(4).any(), 0);
}

}  // namespace
}  // namespace occam
