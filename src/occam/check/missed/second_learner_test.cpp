#include "occam/check/missed/second_learner.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/check/missed/boosted_trees.hpp"
#include "occam/check/missed/linear_correction.hpp"
#include "occam/check/statistics.hpp"
#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

// Data sets of two statistics a and b and one of noise; the true model is drawn from softmax(score(a, b)),
// and the network says the same for all of them.
struct Case {
  std::int64_t J = 2;
  std::int64_t B = 4000;
  std::vector<double> (*score)(double a, double b) = nullptr;
  bool knows = false;  // the network gives the exact probabilities instead
};

struct Made {
  SecondLearnerInput input;
  double gap = 0;  // mean KL of the network from the exact probabilities
};

Made made(const Case& of, std::uint64_t seed = 1) {
  Made result;
  result.input.J = of.J;
  result.input.statistics = 3;
  Rng rng(seed, Purpose::test, 0);
  const auto J = static_cast<std::size_t>(of.J);
  std::vector<double> p(J);
  for (std::int64_t k = 0; k < of.B; ++k) {
    const double a = rng.normal(), b = rng.normal();
    softmax(of.score(a, b), p);
    result.input.truth.push_back(static_cast<std::int32_t>(rng.categorical(p)));
    for (std::size_t j = 0; j < J; ++j) {
      const double said = of.knows ? std::log(p[j]) : -std::log(static_cast<double>(J));
      result.input.log_p.push_back(said);
      result.gap += p[j] * (std::log(p[j]) - said) / static_cast<double>(of.B);
    }
    // Far out and in strange units: ranks are all that counts.
    result.input.values.insert(result.input.values.end(),
                               {static_cast<float>(1e30 * std::sinh(a)), static_cast<float>(b + 1e4),
                                static_cast<float>(rng.normal())});
  }
  return result;
}

std::vector<double> exclusive_or(double a, double b) {
  return {a * b > 0 ? 1.5 : -1.5, 0};
}
std::vector<double> linear(double a, double b) {
  return {a, 0.5 * b};
}
std::vector<double> three(double a, double b) {
  return {a * a - 1, b, 0};
}
std::vector<double> eight(double a, double b) {
  std::vector<double> score;
  for (int j = 0; j < 8; ++j) score.push_back(2 * std::cos(std::atan2(b, a) - j * 0.785));
  return score;
}

Mean gain_of(const Made& of, int threads = 2) {
  ThreadPool pool(threads);
  Mean mean;
  for (const double gain : second_opinion(of.input, 1, pool).gain) mean.add(gain);
  return mean;
}

TEST(SecondLearner, FindsWhatABlindNetworkMisses) {
  for (const Case& of :
       {Case{2, 4000, exclusive_or}, Case{2, 4000, linear}, Case{3, 4000, three}, Case{8, 6000, eight}}) {
    const Made made_of = made(of);
    const Mean gain = gain_of(made_of);
    EXPECT_GT(made_of.gap, 0.1);
    EXPECT_GT(gain.value(), 0.7 * made_of.gap) << of.J;
    // Not more than there is: no learner beats the exact posterior but by chance.
    EXPECT_LT(gain.value(), made_of.gap + 4 * gain.se()) << of.J;
  }
}

TEST(SecondLearner, FindsNothingWhereNothingIsMissing) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Mean gain = gain_of(made({3, 3000, three, true}, seed));
    EXPECT_LT(gain.value(), 3 * gain.se() + 1e-12) << seed;
    EXPECT_GT(gain.value(), -0.01) << "early stopping should have kept the learner quiet, seed " << seed;
  }
}

TEST(SecondLearner, NamesTheStatisticsThatMatter) {
  ThreadPool pool(2);
  const Made of = made({2, 4000, [](double a, double) { return std::vector<double>{2 * a, 0}; }});
  const std::vector<double> explains = second_opinion(of.input, 1, pool).explains;
  EXPECT_GT(explains[0], 0.8);
  EXPECT_LT(explains[1], 0.1);
  EXPECT_LT(explains[2], 0.1);
}

// Whatever the learner thinks, the network keeps a twentieth: no single loss is unbounded.
TEST(SecondLearner, NeverLosesMuchOnOneDataSet) {
  ThreadPool pool(2);
  const Made of = made({2, 2000, [](double a, double) { return std::vector<double>{8 * a, 0}; }});
  for (const double gain : second_opinion(of.input, 1, pool).gain) ASSERT_GE(gain, std::log(0.05) - 1e-9);
}

TEST(SecondLearner, LooksAtNoTrueModelOfWhatItIsJudgedOn) {
  ThreadPool pool(2);
  Made of = made({2, 2000, linear});
  const Ranks ranks = rank_statistics(of.input.values, 3, pool);
  const auto corrected = [&] {
    Scores scores = of.input.log_p;
    const LearningRows rows{ranks, 2, of.input.truth, {0, 750}, {750, 1000}};
    correct_linearly(rows, scores, pool);
    correct_by_trees(rows, {}, 1, scores, pool);
    return scores;
  };
  const Scores before = corrected();
  EXPECT_NE(before, of.input.log_p);
  for (std::size_t b = 1000; b < 2000; ++b) of.input.truth[b] = 1 - of.input.truth[b];
  EXPECT_EQ(corrected(), before);
}

TEST(SecondLearner, LeavesScoresAsTheyAreWhereNothingHelps) {
  ThreadPool pool(1);
  // The stopping rows contradict the rows to fit: whatever is learned makes them worse.
  Made of = made({2, 1000, [](double a, double) { return std::vector<double>{3 * a, 0}; }});
  for (std::size_t b = 500; b < 1000; ++b) of.input.truth[b] = 1 - of.input.truth[b];
  const Ranks ranks = rank_statistics(of.input.values, 3, pool);
  Scores scores = of.input.log_p;
  const LearningRows rows{ranks, 2, of.input.truth, {0, 500}, {500, 1000}};
  correct_linearly(rows, scores, pool);
  correct_by_trees(rows, {}, 1, scores, pool);
  EXPECT_EQ(scores, of.input.log_p);
}

TEST(SecondLearner, RefusesTooFewDataSets) {
  ThreadPool pool(1);
  EXPECT_THROW(second_opinion(made({2, kFewestToLearn - 1, linear}).input, 1, pool), Error);
  // A user who asks it to stop does not wait until it has learned.
  int calls = 0;
  const auto stop = [&] {
    if (++calls == 5) throw Error(ErrorKind::interrupted, "stopped");
  };
  EXPECT_THROW(second_opinion(made({2, 4000, linear}).input, 1, pool, stop), Error);
  EXPECT_EQ(calls, 5);
}

TEST(SecondLearnerThreaded, IsTheSameForAnyNumberOfThreads) {
  const Made of = made({8, 1500, eight});
  ThreadPool one(1), seven(7);
  const SecondOpinion a = second_opinion(of.input, 3, one);
  const SecondOpinion b = second_opinion(of.input, 3, seven);
  EXPECT_EQ(a.gain, b.gain);
  EXPECT_EQ(a.explains, b.explains);
}

TEST(Ranks, AreThoseOfValuesWhateverTheirRange) {
  ThreadPool pool(1);
  const std::vector<float> values = {-1e38f, 5, 7, 0, 5, 7, 1e-38f, 5, 7, 1e38f, 5, 8};  // (4, 3)
  const Ranks ranks = rank_statistics(values, 3, pool);
  // The second never varies.
  EXPECT_EQ(ranks.statistics, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(std::vector<std::uint8_t>(ranks.bins.begin(), ranks.bins.begin() + 4),
            (std::vector<std::uint8_t>{8, 24, 40, 56}));
  EXPECT_EQ(ranks.bins_of(1)[0], ranks.bins_of(1)[2]);
  EXPECT_LT(ranks.bins_of(1)[0], ranks.bins_of(1)[3]);
  EXPECT_NEAR(ranks.normal_of(0)[0], -1.1503, 1e-3);
  EXPECT_FLOAT_EQ(ranks.normal_of(0)[0], -ranks.normal_of(0)[3]);
}

}  // namespace
}  // namespace occam
