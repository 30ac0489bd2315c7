// Every head trained end to end: bits, interruptions, and how near each comes to the exact posterior.
#include <cmath>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "occam/check/check_network.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"
#include "occam/train/ensemble.hpp"
#include "training_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using namespace testing_support;

// kTiny with a head, itself small.
json tiny_with(const std::string& head) {
  json network = kTiny;
  network["head"] = head;
  const json own = heads().at(head).resolve(json::object());
  if (own.contains("latents")) network["encoder_width"] = 16;
  if (own.contains("dropout_samples")) network["dropout_samples"] = 20;
  return network;
}

TEST(HeadTrainingThreaded, SameBytesOnAnyNumberOfThreads) {
  for (const std::string& head : heads().names()) {
    Listener listener;
    const TrainOptions options = quick(60);
    const std::string one = trained_bytes(1, options, {}, listener, "one-sample", tiny_with(head));
    EXPECT_EQ(one, trained_bytes(7, options, {}, listener, "one-sample", tiny_with(head))) << head;
    TrainRun other;
    other.seed = 2;
    EXPECT_NE(one, trained_bytes(2, options, other, listener, "one-sample", tiny_with(head))) << head;
  }
}

TEST(HeadTraining, InterruptedAndResumedEqualsUninterrupted) {
  const testing_support::TemporaryFolder folder;
  for (const std::string& head : heads().names()) {
    TrainOptions options = quick(130);
    options.replay = 3;
    TrainRun run;
    run.checkpoint = folder / "run.checkpoint";
    Listener through;
    const std::string whole = trained_bytes(2, options, {}, through, "one-sample", tiny_with(head));
    Listener stopping;
    stopping.stop_at = 67;
    EXPECT_THROW(trained_bytes(2, options, run, stopping, "one-sample", tiny_with(head)), Error);
    run.resume = true;
    Listener rest;
    EXPECT_EQ(whole, trained_bytes(1, options, run, rest, "one-sample", tiny_with(head))) << head;
    EXPECT_EQ(rest.said.at(0), "continuing from step 67") << head;
    // Another head is another run.
    const std::string other = head == "vae" ? "mmd-vae" : "vae";
    EXPECT_THROW(trained_bytes(1, options, run, rest, "one-sample", tiny_with(other)), Error) << head;
    std::filesystem::remove(run.checkpoint);
  }
}

// Seen: .0012 nats from exact for the evidential head, softmax .0020, mc-dropout .0072, vae .024 (its penalty
// makes it unsure), mmd-vae .0030. A network that answers with the model prior is .24 nats away.
TEST(HeadTraining, ApproachesTheExactPosteriorOfCoins) {
  const std::map<std::string, double> most = {
      {"evidential", 0.005}, {"softmax", 0.008}, {"mc-dropout", 0.03}, {"vae", 0.05}, {"mmd-vae", 0.012}};
  ThreadPool pool(2);
  const Problem problem = load_problem("beta-binomial");
  for (const std::string& head : heads().names()) {
    TrainOptions options = quick(800);
    options.batch = 64;
    Listener listener;
    json network = {{"inv_width", 32}, {"equiv_width", 32}, {"modules", 1}, {"head", head}};
    if (head == "mc-dropout") network["dropout_samples"] = 200;
    Trainer trainer(problem, network, options, {}, pool, listener);
    Comparator comparator(trainer.train(), pool);
    CheckRequest request;
    request.seed = 5;
    request.data_sets = 1000;
    SilentProgress progress;
    const CheckResult result = check_network(comparator, problem, request, pool, progress);
    const auto found = [&](const char* metric) { return metric_value(result.report.findings, metric); };
    EXPECT_LT(found("kl"), most.at(head)) << head;
    EXPECT_GT(found("kl"), 0) << head;
    EXPECT_GT(found("accuracy"), found("best_accuracy") - 0.02) << head;
    EXPECT_EQ(std::isnan(found("u")), head != "evidential") << head;
  }
}

TEST(HeadTraining, AnEnsembleOfAnyHeadIsTheMixtureOfItsMembers) {
  ThreadPool pool(2);
  const Problem problem = load_problem("one-sample");
  Batch batch;
  Simulator(problem, 3, Purpose::test).simulate_range(0, 50, pool, batch);
  const Ragged<const float> data = batch.view();
  for (const std::string& head : heads().names()) {
    TrainOptions options = quick(40);
    options.ensemble = 2;
    Listener listener;
    Comparator comparator(train_ensemble(problem, tiny_with(head), options, {}, pool, listener), pool);
    ModelPosterior answers = comparator.empty_posterior();
    comparator.compare(std::vector<std::string>(50), data, answers);
    EXPECT_EQ(answers.has_concentrations(), head == "evidential");
    for (std::int64_t b = 0; b < 50; ++b) {
      const double mean = (std::exp(answers.members(b)[0]) + std::exp(answers.members(b)[2])) / 2;
      ASSERT_NEAR(answers.probabilities(b)[0], mean, 1e-12) << head;
      ASSERT_NEAR(
          answers.spread(b, 0),
          std::fabs(std::exp(answers.members(b)[0]) - std::exp(answers.members(b)[2])) / std::sqrt(2.0), 1e-9)
          << head;
    }
  }
}

TEST(HeadTraining, LinkAndLambdaBelongToTheEvidentialHead) {
  const auto message = [](const TrainOptions& options, const std::string& head) -> std::string {
    ThreadPool pool(1);
    Listener listener;
    try {
      Trainer trainer(load_problem("one-sample"), tiny_with(head), options, {}, pool, listener);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "accepted";
  };
  TrainOptions lambda = quick(10), link = quick(10), single = quick(10);
  lambda.lambda = 0.1;
  link.link = "softplus";
  single.batch = 1;
  for (const std::string& head : heads().names()) {
    const bool evidential = head == "evidential";
    EXPECT_EQ(message(lambda, head) == "accepted", evidential) << head;
    EXPECT_EQ(message(link, head) == "accepted", evidential) << head;
    EXPECT_EQ(message(single, head) == "accepted", head != "mmd-vae") << head;
  }
}

}  // namespace
}  // namespace occam
