#include "occam/train/course.hpp"

#include <gtest/gtest.h>

namespace occam {
namespace {

struct Heard : SilentProgress {
  std::vector<std::string> said, warned;
  void say(std::string_view message) override { said.emplace_back(message); }
  void warn(std::string_view message) override { warned.emplace_back(message); }
};

const double kChance = std::log(2.0);
const std::vector<float> kWeights = {1, 2};

TrainOptions automatic() {
  TrainOptions options;
  options.first_look = 100;
  options.most_iterations = 1000;
  return options;
}

// A run that finds out its end, before its first step.
struct AutomaticRun {
  Heard heard;
  TrainOptions options = automatic();
  Course course;
  TrainingProgress at;
  explicit AutomaticRun(std::int64_t pass = 0) : course(options, kChance, heard, pass) {
    course.settle_total(at, 0, 1);
  }
};

// The gain of each data set is `gain`, give or take: its error is small but not zero.
std::vector<double> losses(std::int64_t count, double mean) {
  std::vector<double> all;
  for (std::int64_t b = 0; b < count; ++b) all.push_back(mean + (b % 2 == 0 ? 1e-5 : -1e-5));
  return all;
}

TEST(Course, ALookSaysHowFarTheFewAreOff) {
  AutomaticRun run;
  auto& [heard, options, course, at] = run;
  at.step = 100;
  at.last_validation = 0.47;
  course.look(at, losses(100, 0.5), {}, kWeights);
  EXPECT_NEAR(at.beyond_few, 0.03, 1e-9);
  EXPECT_NEAR(at.last_validation, 0.5, 1e-9);
  at.last_validation = 0.42 + at.beyond_few;
  course.look(at, losses(100, 0.44), losses(100, 0.5), kWeights);
  EXPECT_NEAR(at.beyond_few, 0.02, 1e-9);
  at.last_validation = NAN;
  course.look(at, losses(100, 0.43), losses(100, 0.44), kWeights);
  EXPECT_NEAR(at.beyond_few, 0.02, 1e-9);
}

TEST(Course, GoesOnWhileDoublingGainsEnough) {
  AutomaticRun run;
  auto& [heard, options, course, at] = run;
  EXPECT_EQ(at.total, 100);
  at.step = 100;
  course.look(at, losses(100, 0.5), {}, kWeights);
  EXPECT_EQ(at.total, 200) << "one look says nothing";
  EXPECT_EQ(at.best, kWeights);
  at.step = 200;
  course.look(at, losses(100, 0.49), losses(100, 0.5), kWeights);
  EXPECT_NEAR(at.expected_gain, 0.005, 1e-6) << "half of what was gained";
  EXPECT_EQ(at.total, 400);
  EXPECT_FALSE(at.ending);
  at.step = 400;
  const double before = course.settings(at).rate;
  course.look(at, losses(100, 0.4899), losses(100, 0.49), kWeights);
  EXPECT_LT(at.expected_gain, options.gain);
  EXPECT_EQ(at.best_step, 400);
  EXPECT_TRUE(at.ending);
  EXPECT_EQ(at.total, 667) << "what went before is three fifths";
  EXPECT_NEAR(course.settings(at).rate, before, 0.01 * before);
  EXPECT_NE(heard.said.back().find("the last steps begin"), std::string::npos);
  at.step = 666;
  EXPECT_LT(course.settings(at).rate, 0.02 * before);
  EXPECT_EQ(course.settings(at).parameter_weight, 0);
  at.step = 667;
  course.look(at, losses(100, 0.4898), losses(100, 0.4899), kWeights);
  EXPECT_FALSE(course.goes_on(at));
}

// Half of .0003 +- .0002 would be too little to go on for, but it may be more. Half of .0001 +- .0002 will
// hardly be.
TEST(Course, GoesOnWhereTheErrorLeavesRoomForMore) {
  for (const auto& [gained, goes_on] : {std::pair{0.0003, true}, {0.0001, false}, {-0.0004, false}}) {
    AutomaticRun run;
    auto& [heard, options, course, at] = run;
    at.step = 100;
    const std::vector<double> before = losses(100, 0.5);
    course.look(at, before, {}, kWeights);
    at.step = 200;
    std::vector<double> now = losses(100, 0.5 - gained);
    // Standard errors of means of 100 are a tenth of this.
    for (std::size_t b = 0; b < now.size(); ++b) now[b] += b % 2 == 0 ? 0.002 : -0.002;
    course.look(at, now, before, kWeights);
    EXPECT_EQ(at.ending, !goes_on) << gained;
    EXPECT_EQ(heard.said.back().find("perhaps 0.0002") != std::string::npos, goes_on) << heard.said.back();
  }
}

TEST(Course, EndsAtTheMostStepsThereAre) {
  AutomaticRun run;
  auto& [heard, options, course, at] = run;
  double loss = 0.6;
  for (const std::int64_t next : {200, 400, 600, 1000}) {
    at.step = at.total;
    course.look(at, losses(100, loss - 0.1), at.looks.empty() ? std::vector<double>() : losses(100, loss),
                kWeights);
    loss -= 0.1;
    EXPECT_EQ(at.total, next);
    EXPECT_EQ(at.ending, next == 1000);
  }
}

TEST(Course, KeepsTheBetterOfTwoLooks) {
  Heard heard;
  const TrainOptions options = automatic();
  const Course course(options, kChance, heard);
  TrainingProgress at;
  at.step = at.total = 100;
  course.look(at, losses(100, 0.5), {}, kWeights);
  at.step = 200;
  course.look(at, losses(100, 0.51), losses(100, 0.5), {7, 8});
  EXPECT_EQ(at.best, kWeights);
  EXPECT_EQ(at.best_step, 100);
}

// Fifteen standard errors worse, as once seen: the end begins, from the weights before.
TEST(Course, GoesBackWhereTheTrainingWentAstray) {
  AutomaticRun run;
  auto& [heard, options, course, at] = run;
  at.step = 100;
  EXPECT_FALSE(course.look(at, losses(100, 0.5), {}, kWeights));
  at.step = 200;
  EXPECT_TRUE(course.look(at, losses(100, 0.52), losses(100, 0.5), {3, 4}));
  EXPECT_TRUE(at.ending);
  EXPECT_EQ(at.total, 333);
  EXPECT_EQ(at.best, kWeights);
  EXPECT_EQ(at.best_step, 100);
  ASSERT_EQ(heard.warned.size(), 1u);
  EXPECT_NE(heard.warned[0].find("going back"), std::string::npos) << heard.warned[0];
  // Worse again: nothing to go back for, but it is said.
  at.step = 333;
  EXPECT_FALSE(course.look(at, losses(100, 0.51), losses(100, 0.5), {5, 6}));
  EXPECT_EQ(at.best, kWeights);
  EXPECT_EQ(heard.warned.size(), 2u);
}

// A run that is still at chance goes on, whatever the difference.
TEST(Course, AtChanceThereIsNothingToGoBackTo) {
  AutomaticRun run;
  auto& [heard, options, course, at] = run;
  at.step = 100;
  course.look(at, losses(100, kChance), {}, kWeights);
  at.step = 200;
  EXPECT_FALSE(course.look(at, losses(100, kChance + 0.001), losses(100, kChance), {3, 4}));
  EXPECT_FALSE(at.ending);
  EXPECT_TRUE(heard.warned.empty());
}

// Four steps to a pass: the first look comes after eight of them, and what is worse by one standard error
// ends it.
TEST(Course, ATableIsLookedAtSoonAndNotLearnedByHeart) {
  AutomaticRun run(4);
  auto& [heard, options, course, at] = run;
  EXPECT_EQ(at.total, 32);
  at.step = 32;
  EXPECT_FALSE(course.look(at, losses(100, 0.5), {}, kWeights));
  at.step = 64;
  std::vector<double> now = losses(100, 0.501);  // .001 more, give or take .005 for each: two standard errors
  for (std::size_t b = 0; b < now.size(); ++b) now[b] += b % 4 < 2 ? 0.005 : -0.005;
  EXPECT_TRUE(course.look(at, now, losses(100, 0.5), {3, 4}));
  EXPECT_TRUE(at.ending);
  EXPECT_EQ(at.best, kWeights);
  EXPECT_TRUE(heard.warned.empty()) << "nothing went wrong";
  EXPECT_NE(heard.said.back().find("by heart"), std::string::npos) << heard.said.back();
}

// The losses of few data sets that a network is sure of say little by their mean; less than before is less.
TEST(Course, OfATableTheLeastValidationLossIsKept) {
  Heard heard;
  TrainOptions options;
  options.iterations = 1000;
  const std::vector<double> best(40, 0.5);
  std::vector<double> last(40, 0.05);
  for (std::size_t b = 0; b < 4; ++b) last[b] = 20;
  for (const std::int64_t pass : {0, 4}) {
    const Course course(options, kChance, heard, pass);
    TrainingProgress at;
    at.step = 500;
    EXPECT_FALSE(course.judge_validation(at, 0.5, kWeights));
    EXPECT_EQ(course.restarts(at, 2.0), pass == 0) << "it had learned something";
    at.step = 1000;
    course.keep_last(at, last, best, {3, 4});
    EXPECT_EQ(at.best_step, pass == 0 ? 1000 : 500);
    EXPECT_EQ(course.validates({.step = 32}), pass > 0);
  }
}

TEST(Course, RestartsAtChanceAsOftenAsAllowed) {
  Heard heard;
  TrainOptions options;
  options.restarts = 1;
  const Course course(options, kChance, heard);
  TrainingProgress at;
  EXPECT_FALSE(course.restarts(at, kChance - 0.02));
  EXPECT_TRUE(course.restarts(at, kChance - 0.001));
  at.attempt = 1;
  EXPECT_FALSE(course.restarts(at, kChance - 0.001));
  EXPECT_EQ(course.doubt(kChance - 0.02), "");
  EXPECT_NE(course.doubt(kChance), "");
}

TEST(Course, PatienceEndsARunOfGivenLength) {
  Heard heard;
  TrainOptions options;
  options.iterations = 1000;
  options.patience = 2;
  const Course course(options, kChance, heard);
  TrainingProgress at;
  EXPECT_FALSE(course.judge_validation(at, 0.5, kWeights));
  EXPECT_FALSE(course.judge_validation(at, 0.6, {}));
  EXPECT_FALSE(course.judge_validation(at, 0.4, {3, 4}));
  EXPECT_FALSE(course.judge_validation(at, 0.6, {}));
  EXPECT_TRUE(course.judge_validation(at, 0.6, {}));
  EXPECT_EQ(at.best, (std::vector<float>{3, 4}));
}

// The least of many validations is often so by chance.
TEST(Course, InTheEndTheLastWeightsStayUnlessTheyAreClearlyWorse) {
  Heard heard;
  TrainOptions options;
  options.iterations = 1000;
  const Course course(options, kChance, heard);
  std::vector<double> best,
      last;  // .002 apart, give or take .02 for each of 100 data sets: one standard error
  for (int b = 0; b < 100; ++b) {
    best.push_back(0.4);
    last.push_back(0.402 + (b % 2 == 0 ? 0.02 : -0.02));
  }
  TrainingProgress at;
  at.step = 500;
  EXPECT_FALSE(course.judge_validation(at, 0.4, kWeights));
  at.step = 1000;
  course.keep_last(at, last, best, {3, 4});
  EXPECT_EQ(at.best, (std::vector<float>{3, 4}));
  EXPECT_EQ(at.best_step, 1000);
  EXPECT_NEAR(at.best_loss, 0.402, 1e-9);
  for (double& loss : last) loss += 0.003;
  course.keep_last(at, last, best, {5, 6});
  EXPECT_EQ(at.best, (std::vector<float>{3, 4}));
  last[0] = NAN;
  course.keep_last(at, last, best, {5, 6});
  EXPECT_EQ(at.best, (std::vector<float>{3, 4}));
}

TEST(Course, ARunLimitedByTimeLearnsItsLengthAfterTheWarmUp) {
  Heard heard;
  TrainOptions options;
  options.minutes = 1;
  options.warmup = 10;
  const Course course(options, kChance, heard);
  TrainingProgress at;
  course.settle_total(at, 0, 100);
  EXPECT_EQ(at.total, 0);
  EXPECT_TRUE(course.goes_on(at));
  at.step = 10;
  course.settle_total(at, 10, 100);
  EXPECT_EQ(at.total, 10 + 4850);
}

}  // namespace
}  // namespace occam
