// The rival heads as a user meets them: train, compare, check, info, scope, extend, and what is refused.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

const std::string kQuickHead =
    " --iterations 60 --batch 16 --warmup 20 --validate-every 30 --validation-datasets 100 --quiet"
    " --scope-reference 150 --scope-calibration 150";
const std::string kSmallBody = "inv_width=8 equiv_width=8 post_width=8 summary=4";

std::string own_options(const std::string& head) {
  if (head == "mc-dropout") return " dropout_samples=40";
  return head.ends_with("vae") ? " encoder_width=8 latents=3" : "";
}

class HeadsOfTheProgram : public ::testing::TestWithParam<const char*> {
 protected:
  std::string train(const std::string& output, const std::string& more = "") const {
    const std::string head = GetParam();
    return "occam train beta-binomial -o " + output + " --head " + head + kQuickHead + " --network '" +
           kSmallBody + own_options(head) + "'" + more;
  }
  Shell shell_;
};

TEST_P(HeadsOfTheProgram, GiveProbabilitiesAndNoConcentrations) {
  const std::string head = GetParam();
  ASSERT_EQ(shell_(train("net.occam", " --threads 1")).code, 0);
  ASSERT_EQ(shell_(train("again.occam", " --threads 7")).code, 0);
  EXPECT_TRUE(shell_.read("net.occam") == shell_.read("again.occam"));
  shell_.write("d.csv", "subject,x\na,1\na,1\na,0\nb,1\nb,1\n");
  const std::string compare = "occam compare net.occam d.csv --by subject --quiet";
  ASSERT_EQ(shell_(compare + " -o a.csv").code, 0);
  const CsvTable table = read_csv(shell_.folder() / "a.csv");
  std::vector<std::string> columns = {"dataset",     "n",          "best",       "p_flat",
                                      "p_fair",      "alpha_flat", "alpha_fair", "log_bf_flat",
                                      "log_bf_fair", "u",          "flag",       "note"};
  if (head == "mc-dropout") columns.insert(columns.end(), {"spread_flat", "spread_fair"});
  columns.insert(columns.end(), {"scope_p", "scope_p_flat", "scope_p_fair", "verdict", "explanation"});
  EXPECT_EQ(table.columns(), columns);
  for (std::size_t r = 0; r < 2; ++r) {
    const double p = table.numbers("p_flat")[r];
    const double q = table.numbers("p_fair")[r];
    EXPECT_NEAR(p + q, 1, 1e-12);
    const bool flat = table.text("best")[r] == "flat";
    EXPECT_NEAR(table.numbers(flat ? "log_bf_fair" : "log_bf_flat")[r], (flat ? 1 : -1) * std::log(q / p),
                1e-9);
    for (const char* name : {"alpha_flat", "alpha_fair", "u"}) EXPECT_EQ(table.text(name)[r], "") << name;
    if (head == "mc-dropout") {
      EXPECT_GT(table.numbers("spread_flat")[r], 0);
    }
  }
  ASSERT_EQ(shell_(compare + " -o a.json").code, 0);
  const json answers = json::parse(shell_.read("a.json"))["data_sets"];
  EXPECT_TRUE(answers[0]["u"].is_null());
  EXPECT_TRUE(answers[0]["alpha_flat"].is_null());
  EXPECT_EQ(answers[1]["p_flat"].get<double>(), table.numbers("p_flat")[1]);
  // Another model prior is as exact as ever; the spread over samples is of the training's alone.
  const CsvTable other(shell_(compare + " --model-prior flat=0.2,fair=0.8 -o -").out, "answers");
  const double even = table.numbers("p_flat")[0];
  EXPECT_NEAR(other.numbers("p_flat")[0], even * 0.2 / (even * 0.2 + (1 - even) * 0.8), 1e-9);
  if (head == "mc-dropout") {
    EXPECT_EQ(other.text("spread_flat")[0], "");
  }
  // An answer does not depend on the other data sets.
  shell_.write("b.csv", "x\n1\n1\n");
  const CsvTable alone(shell_("occam compare net.occam b.csv -o - --quiet").out, "answers");
  EXPECT_NEAR(alone.numbers("p_flat")[0], table.numbers("p_flat")[1], 1e-6);
  const Outcome shown = shell_(compare + " --parameters --exact --report page.html");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("mean KL from the exact posterior"), std::string::npos) << shown.out;
  EXPECT_NE(shell_.read("page.html").find("alpha and u are not defined for this network."),
            std::string::npos);
}

TEST_P(HeadsOfTheProgram, AreCheckedDescribedAndExtended) {
  const std::string head = GetParam();
  ASSERT_EQ(shell_(train("net.occam")).code, 0);
  const Outcome info = shell_("occam info net.occam");
  EXPECT_NE(info.out.find("head              " + head), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("alpha and u are not defined"), std::string::npos) << info.out;
  EXPECT_EQ(info.out.find("link"), std::string::npos) << info.out;
  const json all = json::parse(shell_("occam info net.occam --json").out);
  EXPECT_EQ(all["head"], head);
  EXPECT_TRUE(all["link"].is_null());

  const Outcome check = shell_(
      "occam check net.occam --datasets 100 --n 5 --robustness all --robustness-datasets 20 "
      "--save-predictions "
      "p.csv -o report --quiet");
  ASSERT_EQ(check.code, 0) << check.err;
  const json findings = json::parse(shell_.read("report/metrics.json"))["findings"];
  for (const char* name : {"accuracy", "scores", "calibration", "overconfidence", "exact", "robustness"}) {
    EXPECT_TRUE(findings.contains(name)) << name;
  }
  EXPECT_FALSE(findings.contains("uncertainty"));
  EXPECT_FALSE(read_csv(shell_.folder() / "p.csv").has_column("u"));
  EXPECT_EQ(shell_("occam check --predictions p.csv --quiet").code, 0);

  ASSERT_EQ(
      shell_("occam scope net.occam -o scope.occam --scope-reference 200 --scope-calibration 200 --quiet")
          .code,
      0);
  const std::string problem = shell_("occam models --show beta-binomial").out;
  shell_.write("three.toml", problem.substr(0, problem.find("[network]")) +
                                 "[model.biased]\ntheta = \"beta(8, 3)\"\n[train]\niterations = 60\n");
  const std::string extend =
      "occam extend net.occam three.toml -o three.occam --retention-datasets 50 --batch 16 --warmup 5 "
      "--validation-datasets 100 --scope-reference 0";
  const Outcome extended = shell_(extend + " --quiet");
  ASSERT_EQ(extended.code, 0) << extended.err;
  EXPECT_EQ(json::parse(shell_("occam info three.occam --json").out)["head"], head);
  const Outcome refused = shell_(extend + " --lambda 0.1 --quiet");
  EXPECT_EQ(refused.code, 64);
  EXPECT_NE(refused.err.find("--lambda is an option of the head evidential"), std::string::npos)
      << refused.err;
}

INSTANTIATE_TEST_SUITE_P(All, HeadsOfTheProgram, ::testing::Values("softmax", "mc-dropout", "vae", "mmd-vae"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(HeadOptions, ComeFromTheProblemAndTheCommandLine) {
  const Shell shell;
  const std::string problem = shell("occam models --show beta-binomial").out;
  shell.write("rival.toml", problem.substr(0, problem.find("[network]")) +
                                "[network]\nhead = \"vae\"\nlatents = 2\nencoder_width = 8\ninv_width = 8\n"
                                "equiv_width = 8\n[train]\nlambda = 0.5\n");
  const auto head_of = [&](const std::string& options) {
    const Outcome outcome = shell("occam train rival.toml -o net.occam" + kQuickHead + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(shell("occam info net.occam --json").out);
  };
  const json own = head_of("");
  EXPECT_EQ(own["head"], "vae");
  EXPECT_EQ(own["network"]["head"]["latents"], 2);
  EXPECT_EQ(own["record"]["options"]["lambda"], 0);  // which is for the evidential head
  EXPECT_EQ(head_of(" --head softmax")["head"], "softmax");
  const json evidential = head_of(" --head evidential");
  EXPECT_EQ(evidential["head"], "evidential");
  EXPECT_EQ(evidential["record"]["options"]["lambda"], 0.5);
  EXPECT_EQ(head_of(" --network 'head=mmd-vae latents=4'")["network"]["head"]["latents"], 4);
  EXPECT_NE(shell("occam train rival.toml -o net.occam --iterations 20 --warmup 5 --batch 16 "
                  "--validation-datasets 100 --scope-reference 0")
                .err.find("the problem's link and lambda are left out: the head vae has no concentrations"),
            std::string::npos);
}

TEST(HeadOptions, BadOnesAreOneMessageAndACode) {
  const Shell shell;
  const std::string train = "occam train beta-binomial -o out.occam --quiet ";
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"--head vea", 64, "one of evidential, softmax, mc-dropout, vae, mmd-vae"},
      {"--head softmax --lambda 0.1", 64,
       "--lambda is an option of the head evidential; the head softmax has no"},
      {"--head vae --link exp", 64, "--link is an option of the head evidential"},
      {"--head vae --lambda-ramp 0.5", 64, "--lambda-ramp is an option of the head evidential"},
      {"--network head=vae --lambda 1", 64, "--lambda is an option of the head evidential; the head vae"},
      {"--head softmax --network latents=3", 78, "'latents' is an option of the head vae or mmd-vae"},
      {"--head mc-dropout --network dropout_rate=1", 78, "dropout_rate"},
      {"--head mc-dropout --network post_layers=0", 78, "post_layers is 0"},
      {"--head mmd-vae --batch 1", 64, "--batch at least 2"},
  };
  for (const auto& [options, code, says] : cases) {
    const Outcome outcome = shell(train + options);
    EXPECT_EQ(outcome.code, code) << options << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << options << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << options << "\n" << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(shell.folder() / "out.occam")) << options;
  }
}

}  // namespace
}  // namespace occam::testing_support
