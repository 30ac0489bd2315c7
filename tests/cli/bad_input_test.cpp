// Whatever is wrong: one message on standard error, the documented exit code, no file left, no crash.
#include <algorithm>

#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

// A problem file that is right, to be made wrong in one place.
const std::string kCoins =
    "name = \"coins\"\n"
    "n = \"uniform(1, 10)\"\n"
    "family = \"bernoulli\"\n"
    "\n"
    "[model.flat]\n"
    "theta = \"uniform(0, 1)\"\n"
    "\n"
    "[model.fair]\n"
    "theta = 0.5\n";

std::string with(const std::string& from, const std::string& to, std::string text = kCoins) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct BadInput {
  const char* what;
  std::string command;
  int code;
  std::vector<std::string> says;      // parts of the message
  std::string problem_file = kCoins;  // p.toml
};

// For failure messages; the default prints the bytes of the object.
void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.command;
}

class EveryBadInput : public ::testing::TestWithParam<BadInput> {};

TEST_P(EveryBadInput, IsOneMessageACodeAndNoFile) {
  const BadInput& bad = GetParam();
  Shell shell;
  shell.write("p.toml", bad.problem_file);
  const Outcome outcome = shell(bad.command);
  EXPECT_EQ(outcome.code, bad.code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("occam: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : bad.says) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
  }
  EXPECT_EQ(shell.folder().count_files(), 1u) << "a file was left beside p.toml";
}

std::string bad_input_label(const ::testing::TestParamInfo<BadInput>& bad) {
  return bad.param.what;
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, EveryBadInput,
    ::testing::Values(
        BadInput{"UnknownVerb", "occam simulat beta-binomial", 64, {"'simulat'", "did you mean 'simulate'?"}},
        BadInput{"UnknownOption",
                 "occam simulate beta-binomial --dataset 5 -o a.csv",
                 64,
                 {"'--dataset'", "did you mean '--datasets'?"}},
        BadInput{"UnknownGlobalOption", "occam --verion", 64, {"'--verion'", "did you mean '--version'?"}},
        BadInput{"MissingProblem",
                 "occam simulate -o a.csv",
                 64,
                 {"PROBLEM is missing", "occam simulate PROBLEM"}},
        BadInput{"ArgumentTooMany",
                 "occam simulate beta-binomial other -o a.csv",
                 64,
                 {"unexpected argument 'other'"}},
        BadInput{
            "OptionWithoutValue", "occam simulate beta-binomial -o a.csv --n", 64, {"--n needs a value"}},
        BadInput{"OptionGivenTwice",
                 "occam simulate beta-binomial -o a.csv --n 3 --n 4",
                 64,
                 {"--n is given more than once"}},
        BadInput{"UnknownProblem",
                 "occam simulate beta-binomal -o a.csv",
                 64,
                 {"'beta-binomal'", "did you mean 'beta-binomial'?"}},
        BadInput{"UnknownVariant",
                 "occam simulate gaussian-mixtures:as_ran -o a.csv",
                 64,
                 {"did you mean 'gaussian-mixtures:as_run'?"}},
        BadInput{"ZeroObservations",
                 "occam simulate beta-binomial --n 0 -o a.csv",
                 64,
                 {"--n: '0'", "at least 1"}},
        BadInput{"NegativeObservations", "occam simulate beta-binomial --n -4 -o a.csv", 64, {"--n: '-4'"}},
        BadInput{"NegativeDataSets",
                 "occam simulate beta-binomial --datasets -1 -o a.csv",
                 64,
                 {"--datasets: '-1'", "at least 1"}},
        BadInput{"NoDataSets", "occam simulate beta-binomial --datasets 0 -o a.csv", 64, {"--datasets: '0'"}},
        BadInput{"FractionOfADataSet",
                 "occam simulate beta-binomial --datasets 2.5 -o a.csv",
                 64,
                 {"--datasets: '2.5' is not an integer"}},
        BadInput{"HugeNumber",
                 "occam simulate beta-binomial --datasets 99999999999999999999 -o a.csv",
                 64,
                 {"--datasets: '99999999999999999999'"}},
        BadInput{"WordForANumber", "occam simulate beta-binomial --seed one -o a.csv", 64, {"--seed: 'one'"}},
        BadInput{"NoThreads", "occam simulate beta-binomial --threads 0 -o a.csv", 64, {"--threads: '0'"}},
        BadInput{"UnknownModel",
                 "occam simulate beta-binomial --model fairr -o a.csv",
                 64,
                 {"'fairr'", "did you mean 'fair'?"}},
        BadInput{"UnknownFormat",
                 "occam simulate beta-binomial -o a.xlsx",
                 64,
                 {"'a.xlsx'", ".csv, .tsv or .npz"}},
        BadInput{"UnknownProblemToShow", "occam models --show coins", 64, {"unknown problem 'coins'"}}),
    bad_input_label);

INSTANTIATE_TEST_SUITE_P(
    Files, EveryBadInput,
    ::testing::Values(
        BadInput{"MissingFolder",
                 "occam simulate beta-binomial -o nowhere/a.csv",
                 74,
                 {"'nowhere/a.csv'", "No such file"}},
        BadInput{
            "MissingFolderForNpz", "occam simulate beta-binomial -o nowhere/a.npz", 74, {"'nowhere/a.npz'"}},
        BadInput{"FileAsFolder", "occam simulate beta-binomial -o p.toml/a.csv", 74, {"p.toml"}},
        BadInput{"FolderAsFile", "occam simulate beta-binomial -o ./", 64, {"'./'"}},
        BadInput{
            "FullDevice", "occam simulate beta-binomial -o /dev/full", 74, {"'/dev/full'", "No space left"}},
        BadInput{"FullStandardOutput", "occam simulate beta-binomial > /dev/full", 74, {"No space left"}},
        BadInput{"FullStandardOutputOfHelp", "occam --help > /dev/full", 74, {"No space left"}},
        BadInput{"FullStandardOutputOfTheList", "occam models > /dev/full", 74, {"No space left"}},
        BadInput{"ClosedStandardOutput", "occam models >&-", 74, {"Bad file descriptor"}},
        BadInput{"MissingProblemFile",
                 "occam simulate missing.toml -o a.csv",
                 66,
                 {"missing.toml", "No such file"}}),
    bad_input_label);

INSTANTIATE_TEST_SUITE_P(
    ProblemFiles, EveryBadInput,
    ::testing::Values(BadInput{"MalformedToml",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:2:"},
                               with("n = \"uniform(1, 10)\"", "n = \"uniform(1, 10)")},
                      BadInput{"UnknownKey",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:3:1: ", "unknown key 'famly'", "did you mean 'family'?"},
                               with("family", "famly")},
                      BadInput{"UnknownParameter",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:9:1: ", "'thetta'", "did you mean 'theta'?"},
                               with("theta = 0.5", "thetta = 0.5")},
                      BadInput{"ModelPriorNotSummingToOne",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:", "1.1"},
                               with("[model.fair]", "[model.fair]\nprior_probability = 0.5",
                                    with("[model.flat]", "[model.flat]\nprior_probability = 0.6"))},
                      BadInput{"ReversedBounds",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:6:9: ", "uniform(1, 0)"},
                               with("uniform(0, 1)", "uniform(1, 0)")},
                      BadInput{"PriorOutsideTheLegalRange",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:6:9: ", "theta"},
                               with("uniform(0, 1)", "uniform(0, 2)")},
                      BadInput{"NegativeSize",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:2:5: "},
                               with("\"uniform(1, 10)\"", "-3")},
                      BadInput{"OneModel",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:", "two"},
                               kCoins.substr(0, kCoins.find("[model.fair]"))},
                      BadInput{"UnknownFamily",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:3:10: ", "'bernouli'", "did you mean 'bernoulli'?"},
                               with("bernoulli", "bernouli")},
                      BadInput{"EmptyFile", "occam simulate p.toml -o a.csv", 78, {"p.toml:", "name"}, ""},
                      BadInput{"BinaryFile",
                               "occam simulate p.toml -o a.csv",
                               78,
                               {"p.toml:1:"},
                               std::string("\x7f\x45\x4c\x46\0\1", 6)},
                      BadInput{"NoExactPosterior",
                               "occam simulate p.toml --exact -o a.csv",
                               64,
                               {"no exact posterior"},
                               with("uniform(0, 1)", "uniform(0, 0.9)")}),
    bad_input_label);

// Refused folders: root may write anywhere, so this is for the others.
TEST(UnwritableFolder, IsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  Shell shell;
  const Outcome outcome =
      shell("mkdir locked; chmod 500 locked; occam simulate beta-binomial -o locked/a.csv");
  EXPECT_EQ(outcome.code, 74);
  EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
}

TEST(GoodInput, TheOneThatIsBrokenAboveWorksWhenWhole) {
  Shell shell;
  shell.write("p.toml", kCoins);
  const Outcome outcome = shell("occam simulate p.toml --datasets 2 --exact -o a.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_TRUE(shell.read("a.csv").starts_with("dataset,model,x,exact_flat,exact_fair\n"));
}

}  // namespace
}  // namespace occam::testing_support
