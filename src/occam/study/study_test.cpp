// Studies as data: reading them, scales, mistakes, published figures beside ours, and the built-in ones.
#include "occam/study/study.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "occam/check/diagnostic.hpp"
#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/study/experiment.hpp"
#include "occam/study/published.hpp"
#include "occam/study/reproduce.hpp"

namespace occam {
namespace {

const std::string kStudy = R"(
title = "Coins"
[[network]]
name = "a"
problem = "beta-binomial"
train = { batch = 8, lambda = 0.5 }
quick.train = { iterations = 10 }
full.train = { iterations = 20, batch = 16 }
[[network]]
name = "b"
problem = "beta-binomial"
start = "a"
only = "full"
[[experiment]]
kind = "sizes"
n = [5]
datasets = 100
full.datasets = 200
)";

Study study_of(const std::string& text, const std::string& scale = "quick",
               const std::string& expected = "") {
  std::map<std::string, std::string> files = {{"study.toml", text}};
  if (!expected.empty()) files["expected.json"] = expected;
  return parse_study("coins", files, scale);
}

std::string message_of(const std::function<void()>& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Study, ScalesGoOverTheRest) {
  const Study quick = study_of(kStudy, "quick");
  ASSERT_EQ(quick.networks.size(), 1u);
  EXPECT_EQ(quick.networks[0].train, (nlohmann::json{{"batch", 8}, {"lambda", 0.5}, {"iterations", 10}}));
  EXPECT_EQ(quick.experiments[0].options["datasets"], 100);
  const Study full = study_of(kStudy, "full");
  ASSERT_EQ(full.networks.size(), 2u);
  EXPECT_EQ(full.networks[0].train, (nlohmann::json{{"batch", 16}, {"lambda", 0.5}, {"iterations", 20}}));
  EXPECT_EQ(full.networks[1].start, "a");
  EXPECT_EQ(full.experiments[0].options["datasets"], 200);
  EXPECT_EQ(full.experiments[0].name, "sizes");
}

TEST(Study, MistakesAreNamed) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kStudy;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto message = [](const std::string& text) {
    return message_of([&] { study_of(text, "full"); }, ErrorKind::bad_config);
  };
  EXPECT_NE(message(with("start = \"a\"", "start = \"c\"")).find("starts from 'c'"), std::string::npos);
  EXPECT_NE(message(with("name = \"b\"", "name = \"a\"")).find("two of name 'a'"), std::string::npos);
  EXPECT_NE(message(with("name = \"b\"", "name = \"b.1\"")).find("'b.1'"), std::string::npos);
  EXPECT_NE(message(with("only = \"full\"", "only = \"ful\"")).find("only"), std::string::npos);
  EXPECT_NE(message(with("title", "tittle")).find("did you mean 'title'"), std::string::npos);
  EXPECT_NE(message(with("start", "strat")).find("did you mean 'start'"), std::string::npos);
  EXPECT_NE(message("title = \"x\"").find("no [[network]]"), std::string::npos);
  EXPECT_NE(message("title = ").find("coins/study.toml:1"), std::string::npos);
  message_of([] { study_of(kStudy, "middle"); }, ErrorKind::usage);
  EXPECT_NE(message_of([] { load_study("beta-binomail", "quick"); }, ErrorKind::usage)
                .find("did you mean 'beta-binomial'"),
            std::string::npos);
  message_of([] { load_study("no/such/folder", "quick"); }, ErrorKind::no_input);
}

TEST(Study, UnknownKindsAndOptionsOfExperimentsAreNamed) {
  StudyExperiment experiment = study_of(kStudy).experiments[0];
  make_experiment(experiment);
  experiment.kind = "size";
  EXPECT_NE(message_of([&] { make_experiment(experiment); }, ErrorKind::bad_config).find("'sizes'"),
            std::string::npos);
  experiment.kind = "sizes";
  experiment.options["datsets"] = 3;
  EXPECT_NE(message_of([&] { make_experiment(experiment); }, ErrorKind::bad_config).find("'datasets'"),
            std::string::npos);
}

TEST(Study, ExpectedFiguresAreChecked) {
  const auto message = [](const std::string& expected) {
    return message_of([&] { study_of(kStudy, "quick", expected); }, ErrorKind::bad_config);
  };
  EXPECT_NE(message("{}").find("\"figures\""), std::string::npos);
  EXPECT_NE(message(R"({"figures": [{"what": "x"}]})").find("figure 1"), std::string::npos);
  EXPECT_NE(message(R"({"figures": [{"what": "x", "metric": "a/b", "publish": 1}]})").find("'published'"),
            std::string::npos);
}

// Findings as experiments make them.
std::vector<Finding> some_findings() {
  Finding finding{"sizes", "", {}, {}, {}, {}};
  finding.metrics = {metric("a.accuracy.5", "", 0.8, 0.7, 0.9), metric("a.best_accuracy.5", "", 0.82)};
  return {finding};
}

TEST(Published, SetsOursBesideTheOthersAndJudgesAims) {
  const Study study = study_of(kStudy, "quick", R"({"figures": [
    {"what": "one", "metric": "sizes/a.accuracy.5", "published": 0.7, "best": "sizes/a.best_accuracy.5", "at_least": 0.79},
    {"what": "two", "metric": "sizes/a.accuracy.5", "best": 0.9, "below_best": 0.05},
    {"what": "three", "metric": "sizes/a.accuracy.5", "at_most": 0.8},
    {"what": "four", "metric": "sizes/a.accuracy.5", "best": 0.7, "above_best": 0.05},
    {"what": "better than the best by chance", "metric": "sizes/a.accuracy.5", "best": 0.7, "below_best": 0.01},
    {"what": "no aim", "metric": "sizes/a.accuracy.5"},
    {"what": "of full only", "metric": "sizes/b.accuracy.5", "at_least": 0.5},
    {"what": "of another experiment", "metric": "shift/a.u.5", "at_least": 0.5}]})");
  const Finding found = published_figures(study, some_findings());
  const auto& rows = found.tables.front().rows;
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(std::get<double>(rows[0][1]), 0.8);
  EXPECT_EQ(std::get<double>(rows[0][2]), 0.7);
  EXPECT_EQ(std::get<double>(rows[0][3]), 0.82);
  EXPECT_EQ(std::get<std::string>(rows[0][5]), "yes");
  EXPECT_EQ(std::get<std::string>(rows[1][5]), "no");
  EXPECT_EQ(std::get<std::string>(rows[2][5]), "yes");
  EXPECT_EQ(std::get<std::string>(rows[3][5]), "no");
  EXPECT_EQ(std::get<std::string>(rows[4][5]), "yes");
  EXPECT_EQ(std::get<std::string>(rows[5][5]), "");
  EXPECT_TRUE(std::isnan(std::get<double>(rows[5][2])));
  ASSERT_EQ(found.judgements.size(), 5u);
  EXPECT_EQ(found.judgements[1].severity, Severity::warning);
}

TEST(Published, ASlipInTheNameOfAMetricIsAnError) {
  const Study study = study_of(kStudy, "quick", R"({"figures": [
    {"what": "one", "metric": "sizes/a.acuracy.5"}]})");
  EXPECT_NE(message_of([&] { published_figures(study, some_findings()); }, ErrorKind::bad_config)
                .find("a.accuracy.5"),
            std::string::npos);
}

TEST(Reproduce, ATrainedNetworkIsTakenOnlyIfItIsTheOneWanted) {
  const Study study = study_of(kStudy, "full");
  TrainingPlan plan = plan_training(study, study.networks[0], 3, "folder");
  EXPECT_EQ(plan.path, "folder/a.occam");
  EXPECT_EQ(plan.options.iterations, 20);        // the study's
  EXPECT_EQ(plan.options.learning_rate, 0.002);  // the problem's
  NetworkFile file;
  file.fingerprint = plan.problem.fingerprint();
  TrainOptions options = plan.options;
  file.record = {{"seed", 3}, {"options", fields_json(fields(options))}};
  EXPECT_TRUE(is_trained(file, plan));
  plan.seed = 4;
  EXPECT_FALSE(is_trained(file, plan));
  plan.seed = 3;
  plan.options.iterations = 21;
  EXPECT_FALSE(is_trained(file, plan));
  plan.options.iterations = 20;
  plan.network.network = {{"post_width", 63}};
  EXPECT_FALSE(is_trained(file, plan));
  plan.network.network = {{"post_width", file.config.options.post_width}};
  EXPECT_TRUE(is_trained(file, plan));
  plan.network.scope = true;
  EXPECT_FALSE(is_trained(file, plan));
  plan.network.scope = false;
  plan.start = std::make_shared<NetworkFile>([] {
    NetworkFile start;
    start.members = {{1.0F}};
    return start;
  }());
  EXPECT_FALSE(is_trained(file, plan));
}

TEST(BuiltInStudies, AreReadAtBothScales) {
  EXPECT_EQ(study_names(), (std::vector<std::string>{"beta-binomial", "decision-making", "exact-zoo",
                                                     "gaussian-mixtures", "jump-process", "neuron"}));
  for (const std::string& name : study_names()) {
    for (const char* scale : {"quick", "full"}) {
      const Study study = load_study(name, scale);
      EXPECT_FALSE(study.title.empty()) << name;
      EXPECT_FALSE(study.figures.empty()) << name;
      for (const StudyNetwork& network : study.networks) plan_training(study, network, 1, "folder");
      for (const StudyExperiment& experiment : study.experiments) make_experiment(experiment);
    }
  }
}

// The problem files of studies are for people to read: they must say what the program has built in.
TEST(BuiltInStudies, ProblemFilesAreTheBuiltInProblems) {
  int files = 0;
  for (const std::string& name : study_names()) {
    const Study study = load_study(name, "full");
    for (const auto& [file, text] : study.files) {
      if (!file.starts_with("problem")) continue;
      const Problem problem = read_problem(text, file);
      EXPECT_EQ(problem.fingerprint(), load_problem(problem.name()).fingerprint()) << name << "/" << file;
      EXPECT_EQ(problem.train(), load_problem(problem.name()).train()) << name << "/" << file;
      EXPECT_EQ(problem.network(), load_problem(problem.name()).network()) << name << "/" << file;
      EXPECT_EQ(problem.abc(), load_problem(problem.name()).abc()) << name << "/" << file;
      ++files;
    }
  }
  EXPECT_EQ(files, 5);
}

// A study in the repository and the one inside the program are the same.
TEST(BuiltInStudies, AFolderIsReadLikeTheProgramsOwn) {
  for (const std::string name : {"decision-making", "exact-zoo"}) {
    const Study inside = load_study(name, "quick");
    const Study folder = load_study(OCCAM_SOURCE "/studies/" + name + "/", "quick");
    EXPECT_EQ(folder.name, name);
    EXPECT_EQ(folder.files, inside.files);
  }
}

// Simulators of a built-in study are run from files that are written for it; the program alone only names
// them.
TEST(BuiltInStudies, SimulatorsOfTheirOwnAreUnpacked) {
  const testing_support::TemporaryFolder folder;
  const Study study = load_study("exact-zoo", "quick");
  const Study ready = unpacked(study, folder.path() + "/study");
  EXPECT_EQ(ready.files, study.files);
  for (const auto& [file, text] : study.files) EXPECT_EQ(read_file(ready.folder + "/" + file), text);
  const Problem named = study.problem(study.networks.front());
  const Problem to_run = ready.problem(ready.networks.front());
  EXPECT_NE(named.fingerprint(), to_run.fingerprint());  // which knows the content of the simulator
  EXPECT_EQ(unpacked(load_study("neuron", "quick"), folder.path() + "/neuron").folder, "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/neuron"));
}

// The zoo judges the defaults: no problem may bring settings of its own.
TEST(BuiltInStudies, TheZooHasNoSettings) {
  const Study study = load_study("exact-zoo", "quick");
  EXPECT_GE(study.networks.size(), 20u);
  for (const StudyNetwork& network : study.networks) {
    const Problem problem = study.problem(network);
    EXPECT_TRUE(problem.train().empty() && problem.network().empty()) << network.name;
    EXPECT_TRUE(network.train.empty() && network.network.empty()) << network.name;
    EXPECT_EQ(problem.name(), network.name);
  }
}

}  // namespace
}  // namespace occam
