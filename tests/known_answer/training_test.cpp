// Training end to end on problems whose exact posterior is known, small enough for the test run.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "occam/check/check_network.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/ensemble.hpp"
#include "training_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using namespace testing_support;

TEST(Training, ApproachesTheExactPosteriorOfTheOneSampleTest) {
  TrainOptions options = quick(1500);
  options.batch = 64;
  ThreadPool pool(2);
  Listener listener;
  const Problem problem = load_problem("one-sample");
  Trainer trainer(problem, {{"inv_width", 32}, {"equiv_width", 32}, {"modules", 1}}, options, {}, pool,
                  listener);
  Comparator comparator(trainer.train(), pool);
  // Exact: accuracy .8243, log-loss .3890. With 4000 data sets the standard errors are .006 and .008; the
  // difference to the exact answer on the same data sets is far smaller.
  CheckRequest request;
  request.seed = 5;
  request.data_sets = 4000;
  SilentProgress progress;
  const CheckResult result = check_network(comparator, problem, request, pool, progress);
  const auto found = [&](const char* metric) { return metric_value(result.report.findings, metric); };
  EXPECT_NEAR(found("best_accuracy"), 0.8243, 5 * 0.006);
  EXPECT_NEAR(found("best_log_loss"), 0.3890, 5 * 0.008);
  EXPECT_LT(found("kl"), 0.01);
  EXPECT_GT(found("kl"), 0);
  EXPECT_NEAR(found("accuracy"), found("best_accuracy"), 0.02);
  EXPECT_LE(result.verdict.severity, Severity::note) << result.verdict.text;
}

TEST(TrainingThreaded, NetworkFileHasTheSameBytesOnAnyNumberOfThreads) {
  Listener listener;
  const std::string one = trained_bytes(1, quick(120), {}, listener);
  EXPECT_EQ(one, trained_bytes(7, quick(120), {}, listener));
  TrainRun other;
  other.seed = 2;
  EXPECT_NE(one, trained_bytes(1, quick(120), other, listener));
}

TEST(Training, IsJudgedByAllDataSetsThatWereAskedFor) {
  const auto loss = [](std::int64_t sets) {
    TrainOptions options = quick(60);
    options.validation_datasets = sets;
    ThreadPool pool(2);
    Listener listener;
    Trainer trainer(load_problem("one-sample"), kTiny, options, {}, pool, listener);
    return trainer.train().record["validation_loss"].get<double>();
  };
  EXPECT_NE(loss(2000), loss(4000));
}

TEST(Training, InterruptedAndResumedEqualsUninterrupted) {
  const testing_support::TemporaryFolder folder;
  for (const std::int64_t replay : {1, 3}) {
    TrainOptions options = quick(260);
    options.replay = replay;
    TrainRun run;
    run.checkpoint = folder / "run.checkpoint";
    Listener through;
    const std::string whole = trained_bytes(2, options, {}, through);
    Listener stopping;
    stopping.stop_at = 137;
    try {
      trained_bytes(2, options, run, stopping);
      ADD_FAILURE() << "was not interrupted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    }
    run.resume = true;
    Listener rest;
    EXPECT_EQ(whole, trained_bytes(1, options, run, rest));
    EXPECT_EQ(rest.said.at(0), "continuing from step 137");
    TrainOptions changed = options;
    changed.learning_rate = 1e-4;
    EXPECT_THROW(trained_bytes(1, changed, run, rest), Error);
    std::filesystem::remove(run.checkpoint);
  }
}

// A run that is to find out its end by itself, looking after 40, 80, 160, ... steps.
TrainOptions automatic(double gain) {
  TrainOptions options = quick(0);
  options.gain = gain;
  options.first_look = 40;
  options.most_iterations = 320;
  options.warmup = 10;
  return options;
}

TEST(Training, EndsWhenTwiceAsMuchWouldGainTooLittle) {
  const Problem problem = load_problem("one-sample");
  ThreadPool pool(2);
  Listener listener;
  const NetworkFile soon = Trainer(problem, kTiny, automatic(10), {}, pool, listener).train();
  EXPECT_EQ(soon.record["steps"], 133);  // the first doubling that can be judged ends at 80, three fifths
  EXPECT_EQ(soon.record["looks"].size(), 3u);
  EXPECT_NE(listener.said.back().find("less than 10 within its error: the last steps begin"),
            std::string::npos)
      << listener.said.back();
  const NetworkFile late = Trainer(problem, kTiny, automatic(1e-9), {}, pool, listener).train();
  EXPECT_EQ(late.record["steps"], 320);
  EXPECT_EQ(late.record["looks"].size(), 5u);  // after 40, 80, 160, 192 and 320
  EXPECT_GT(late.record["expected_gain"].get<double>(), 0);
  EXPECT_LT(late.record["validation_loss"].get<double>(), soon.record["validation_loss"].get<double>());
}

TEST(Training, ARunThatFindsItsEndIsTheSameOnAnyThreadsAndWhenResumed) {
  const testing_support::TemporaryFolder folder;
  const TrainOptions options = automatic(0.004);
  Listener through;
  const std::string whole = trained_bytes(1, options, {}, through);
  EXPECT_EQ(whole, trained_bytes(7, options, {}, through));
  TrainRun run;
  run.checkpoint = folder / "run.checkpoint";
  for (const std::int64_t at : {40, 79}) {  // after the first cycle, and within the second
    Listener stopping;
    stopping.stop_at = at;
    run.resume = false;
    EXPECT_THROW(trained_bytes(2, options, run, stopping), Error);
    run.resume = true;
    Listener rest;
    EXPECT_EQ(whole, trained_bytes(2, options, run, rest)) << at;
  }
}

TEST(Training, AnEnsembleIsInterruptedAndResumedLikeOneNetwork) {
  const testing_support::TemporaryFolder folder;
  TrainOptions options = quick(120);
  options.ensemble = 3;
  const Problem problem = load_problem("one-sample");
  ThreadPool pool(2);
  Listener through;
  std::vector<std::int64_t> logged;  // members
  TrainRun watched;
  watched.log = [&](const TrainEvent& event) { logged.push_back(event.member); };
  const NetworkFile whole = train_ensemble(problem, kTiny, options, watched, pool, through);
  ASSERT_EQ(whole.members.size(), 3u);
  EXPECT_TRUE(std::is_sorted(logged.begin(), logged.end()));
  for (const std::int64_t member : {1, 2, 3}) EXPECT_GT(std::count(logged.begin(), logged.end(), member), 0);
  EXPECT_NE(whole.members[0], whole.members[1]);
  EXPECT_NE(whole.members[1], whole.members[2]);
  EXPECT_EQ(whole.record["member_losses"].size(), 3u);
  // The first member is what a single run gives.
  TrainOptions single = options;
  single.ensemble = 1;
  logged.clear();
  EXPECT_EQ(train_ensemble(problem, kTiny, single, watched, pool, through).members[0], whole.members[0]);
  EXPECT_EQ(std::count(logged.begin(), logged.end(), 0), std::ssize(logged));

  // Stops in the second member; what the first learned is not lost.
  struct Second : Listener {
    bool stop_requested() override {
      return std::count(said.begin(), said.end(), "member 2 of 3") > 0 && step == 50;
    }
  } stopping;
  TrainRun run;
  run.checkpoint = folder / "run.checkpoint";
  EXPECT_THROW(train_ensemble(problem, kTiny, options, run, pool, stopping), Error);
  run.resume = true;
  Listener rest;
  const NetworkFile resumed = train_ensemble(problem, kTiny, options, run, pool, rest);
  EXPECT_EQ(safetensors_bytes(network_to_safetensors(resumed)),
            safetensors_bytes(network_to_safetensors(whole)));
  EXPECT_EQ(std::count(rest.said.begin(), rest.said.end(), "continuing from step 120"), 1);
  EXPECT_EQ(std::count(rest.said.begin(), rest.said.end(), "continuing from step 50"), 1);
  forget_checkpoints(run.checkpoint, 3);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(run.checkpoint).parent_path()));
}

TEST(Training, MembersOfAnEnsembleDifferMoreWhereTheMixtureIsWrong) {
  TrainOptions options = quick(250);
  options.ensemble = 4;
  const Problem problem = load_problem("one-sample");
  ThreadPool pool(2);
  Listener listener;
  Comparator comparator(train_ensemble(problem, kTiny, options, {}, pool, listener), pool);
  Batch batch;
  Simulator(problem, 3, Purpose::test).simulate_range(0, 2000, pool, batch);
  ModelPosterior answers = comparator.empty_posterior();
  comparator.compare(std::vector<std::string>(2000), batch.view(), answers);
  std::vector<double> spread, error;
  for (std::int64_t b = 0; b < 2000; ++b) {
    spread.push_back(answers.spread(b, 0));
    error.push_back(
        std::fabs(answers.probabilities(b)[0] - std::exp((*problem.exact_log_posterior(batch[b]))[0])));
    // The mixture costs no more than its members do on average, data set by data set.
    const auto truth = static_cast<std::size_t>(batch.models()[static_cast<std::size_t>(b)]);
    double mean_loss = 0;
    for (std::size_t k = 0; k < 4; ++k) mean_loss -= answers.members(b)[2 * k + truth] / 4;
    ASSERT_LE(-answers.log_probabilities(b)[truth], mean_loss + 1e-9);
  }
  std::vector<double> sorted = spread;
  std::nth_element(sorted.begin(), sorted.begin() + 1500, sorted.end());
  double wide = 0, narrow = 0;
  for (std::size_t b = 0; b < 2000; ++b)
    (spread[b] > sorted[1500] ? wide : narrow) += error[b] / (spread[b] > sorted[1500] ? 500 : 1500);
  EXPECT_GT(wide, 1.3 * narrow);
}

TEST(Training, ARunAtChanceIsRestartedAndSaysSo) {
  // With a vanishing step size nothing is learned.
  TrainOptions options = quick(150);
  options.learning_rate = 1e-12;
  options.restart_after = 60;
  options.restarts = 2;
  Listener listener;
  trained_bytes(1, options, {}, listener);
  ASSERT_GE(listener.said.size(), 3u);  // that it is of no use follows where it begins no better than chance
  EXPECT_NE(listener.said[0].find("restarting from another initialisation (1 of 2)"), std::string::npos);
  EXPECT_NE(listener.said[2].find("2 restarts did not help"), std::string::npos);
}

TEST(Training, RatesArePositiveWhenAResumedRunRestarts) {
  TrainOptions options = quick(150);
  options.learning_rate = 1e-12;
  options.restart_after = 60;
  options.restarts = 1;
  options.validate_every = 10;
  const testing_support::TemporaryFolder folder;
  TrainRun run;
  run.checkpoint = folder / "run.checkpoint";
  struct Stopping : Listener {
    bool stop_requested() override { return step == 50; }
  } stopping;
  EXPECT_THROW(trained_bytes(1, options, run, stopping), Error);
  run.resume = true;
  std::vector<std::int64_t> steps;
  run.log = [&](const TrainEvent& event) {
    steps.push_back(event.step);
    EXPECT_GT(event.data_sets_per_s, 0) << "at step " << event.step;
  };
  Listener listener;
  trained_bytes(1, options, run, listener);
  ASSERT_GT(steps.size(), 2u);
  EXPECT_EQ(steps.front(), 10);  // step 60 began anew
}

// The rate rises from step to step until the weights go astray.
TEST(Training, ALossThatIsNotFiniteLeavesAMarkedNetwork) {
  TrainOptions options = quick(400);
  options.learning_rate = 5e4;
  options.warmup = 390;
  options.validate_every = 5;
  options.clip = 0;
  options.restarts = 0;
  ThreadPool pool(1);
  Listener listener;
  const NetworkFile file = Trainer(load_problem("one-sample"), kTiny, options, {}, pool, listener).train();
  EXPECT_NE(file.doubt().find("its loss was not finite at step"), std::string::npos) << file.doubt();
  ASSERT_FALSE(listener.said.empty());
  EXPECT_NE(listener.said.back().find("Try a smaller --learning-rate"), std::string::npos);
  EXPECT_LT(file.record["steps"].get<std::int64_t>(), 400);
  EXPECT_TRUE(std::isfinite(file.record["validation_loss"].get<double>()));
}

TEST(Training, ADivergingRunNamesItsStep) {
  TrainOptions options = quick(400);
  options.learning_rate = 1e20;
  options.clip = 0;
  Listener listener;
  try {
    trained_bytes(1, options, {}, listener);
    ADD_FAILURE() << "did not diverge";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_NE(std::string(error.what()).find("the loss is not finite at step"), std::string::npos)
        << error.what();
  }
}

TEST(Training, StopsWhenValidationStopsImproving) {
  TrainOptions options = quick(100000);
  options.learning_rate = 1e-12;
  options.restarts = 0;
  options.patience = 2;
  options.validate_every = 20;
  Listener listener;
  trained_bytes(1, options, {}, listener);
  EXPECT_LT(listener.step, 2000);
  ASSERT_EQ(listener.said.size(), 2u);
  EXPECT_NE(listener.said[0].find("no improvement in 2 validations"), std::string::npos);
  EXPECT_NE(listener.said[1].find("it learned nothing in training"), std::string::npos);
}

TEST(Training, LambdaShrinksTheEvidence) {
  // The KL term pulls concentrations of wrong models to one, so u grows.
  const Problem problem = load_problem("one-sample");
  ThreadPool pool(2);
  const auto mean_u = [&](double lambda) {
    TrainOptions options = quick(300);
    options.lambda = lambda;
    Listener listener;
    Trainer trainer(problem, kTiny, options, {}, pool, listener);
    Comparator comparator(trainer.train(), pool);
    Batch batch;
    Simulator(problem, 3, Purpose::test, {.batch = 200}).simulate(0, pool, batch);
    ModelPosterior answers = comparator.empty_posterior();
    comparator.compare(std::vector<std::string>(200), batch.view(), answers);
    double sum = 0;
    for (std::int64_t b = 0; b < 200; ++b) sum += answers.uncertainty(b) / 200;
    return sum;
  };
  EXPECT_GT(mean_u(1), mean_u(0) + 0.05);
}

TEST(Training, SizesVaryAlsoWhereABatchSharesOne) {
  // A neuron's series of one batch have one length; the file must know all lengths trained on.
  TrainOptions options = quick(2);
  options.batch = 4;
  options.validation_datasets = 40;
  ThreadPool pool(2);
  Listener listener;
  Trainer trainer(load_problem("neuron"), {{"lstm", 4}}, options, {}, pool, listener);
  const NetworkFile file = trainer.train();
  EXPECT_EQ(file.smallest_n, 601);  // T = 100 ms
  EXPECT_EQ(file.largest_n, 2101);  // T = 400 ms
  EXPECT_GT(file.config.standardisation.log_n_scale, 0.1);
  EXPECT_LT(file.config.standardisation.log_n_scale, 0.8);
}

TEST(Training, TheBatchFollowsTheSizeOfTheDataSets) {
  ThreadPool pool(2);
  Listener listener;
  const auto batch = [&](const std::string& problem, std::int64_t wanted) {
    TrainOptions options = quick(1);
    options.batch = wanted;
    return Trainer(load_problem(problem), kTiny, options, {}, pool, listener).options().batch;
  };
  EXPECT_EQ(batch("one-sample", 0), 512);       // 20 to 29 rows
  EXPECT_EQ(batch("decision-making", 0), 128);  // 2 to 600
  EXPECT_EQ(batch("decision-making", 48), 48);
}

TEST(Training, FromATableEqualsWhatTheTableAllows) {
  const testing_support::TemporaryFolder folder;
  const Problem problem = load_problem("one-sample");
  ThreadPool pool(2);
  Batch batch;
  Simulator(problem, 8, Purpose::simulate, {.batch = 3000}).simulate(0, pool, batch);
  std::vector<std::int64_t> n, model;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    n.push_back(batch[b].n);
    model.push_back(batch.models()[static_cast<std::size_t>(b)]);
  }
  const std::string path = folder / "table.npz";
  NpzWriter writer(path);
  writer.add("data", ArrayView::of<float>({batch.rows(), 1}, batch.data()));
  writer.add("n", ArrayView::of<std::int64_t>({3000}, std::span<const std::int64_t>(n)));
  writer.add("model", ArrayView::of<std::int64_t>({3000}, std::span<const std::int64_t>(model)));
  writer.commit();
  TrainRun run;
  run.table = std::make_shared<ReferenceTable>(ReferenceTable::read(path, problem));
  Listener listener;
  Trainer trainer(problem, kTiny, quick(400), run, pool, listener);
  const NetworkFile file = trainer.train();
  EXPECT_EQ(file.record["source"], "table");
  EXPECT_LT(file.record["validation_loss"].get<double>(), 0.55);  // chance .693, exact .389
  EXPECT_THROW(ReferenceTable::read(path, load_problem("gaussian-mixtures")), Error);
}

}  // namespace
}  // namespace occam
