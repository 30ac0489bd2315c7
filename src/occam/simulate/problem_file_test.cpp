#include "occam/simulate/problem_file.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

const std::string kCoinFile = R"toml(name = "coins"
n = "uniform(1, 100)"
family = "bernoulli"

[model.zebra]
prior_probability = 0.25
theta = "beta(1, 1)"

[model.ant]
family = "bernoulli"
prior_probability = 0.75
theta = 0.5

[network]
width = 48
pooling = ["mean", "sum"]
[train]
rate = 1.0
schedule = { name = "cosine", warm = 10 }
)toml";

std::string coin_file_with(const std::string& from, const std::string& to) {
  std::string text = kCoinFile;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ProblemFile, ReadsModelsInTheOrderOfTheFile) {
  const Problem problem = read_problem(kCoinFile, "coins.toml");
  EXPECT_EQ(problem.name(), "coins");
  EXPECT_EQ(problem.model_names(), (std::vector<std::string>{"zebra", "ant"}));
  EXPECT_EQ(problem.model_prior()[0], 0.25);
  EXPECT_EQ(problem.models()[1].priors()[0], Prior::fixed(0.5));
  EXPECT_EQ(problem.network().at("pooling").size(), 2u);
  EXPECT_EQ(problem.train().at("schedule").at("warm"), 10);
  EXPECT_EQ(problem.models()[0].shared_family(), problem.models()[1].shared_family());
}

TEST(ProblemFile, PrintsWhatItReads) {
  const Problem problem = read_problem(kCoinFile, "coins.toml");
  const std::string printed = problem_toml(problem);
  const Problem again = read_problem(printed, "printed.toml");
  EXPECT_EQ(again.fingerprint(), problem.fingerprint()) << printed;
  EXPECT_EQ(again.network(), problem.network());
  EXPECT_EQ(again.train(), problem.train());
  EXPECT_TRUE(again.train().at("rate").is_number_float());
  EXPECT_EQ(problem_toml(again), printed);
}

TEST(ProblemFile, PrintsNamesAndTextsThatNeedQuotes) {
  const auto family = make_family("bernoulli");
  ProblemSpec spec;
  spec.name = "quotes \" and \\";
  spec.description = "caf\xc3\xa9 and\nlines";
  spec.one_n_per_batch = true;
  spec.models = {Model("M1.5", family), Model("M2+x", make_family("normal"), {{"mu", Prior::fixed(1e-300)}})};
  const Problem problem(spec);
  const Problem again = read_problem(problem_toml(problem), "printed.toml");
  EXPECT_EQ(again.name(), problem.name());
  EXPECT_EQ(again.description(), problem.description());
  EXPECT_EQ(again.canonical_text(), problem.canonical_text());
}

// In TOML a key belongs to the table whose header stands above it.
TEST(ProblemFile, KeysOfTheFileBelowATableAreToldWhereTheyBelong) {
  const auto refusal = [](const std::string& middle) {
    const std::string text = "name = \"p\"\nn = 5\n" + middle + "[model.a]\nb = 1\n[model.c]\nb = 2\n";
    return testing_support::failure_of([&] { read_problem(text, "p.toml"); });
  };
  const std::string parameter = refusal("columns = [\"x\"]\n[parameters]\nsimulator = \"q.R\"\n");
  EXPECT_NE(parameter.find("p.toml:5:1: 'simulator' stands below [parameters]"), std::string::npos)
      << parameter;
  EXPECT_NE(parameter.find("it belongs above [parameters]"), std::string::npos) << parameter;
  const std::string column = refusal("[columns]\nx = \"an x\"\nsimulator = \"q.R\"\n");
  EXPECT_NE(column.find("p.toml:5:1: 'simulator' stands below [columns]"), std::string::npos) << column;
  EXPECT_NE(column.find("it belongs above [columns]"), std::string::npos) << column;
  const std::string list =
      refusal("simulator = \"q.R\"\n[columns]\nx = \"\"\n[parameters]\nordered = true\n");
  EXPECT_NE(list.find("p.toml:7:1: 'ordered' stands below [parameters]"), std::string::npos) << list;
  const std::string dotted = refusal("simulator = \"q.R\"\n[columns]\nSolar.R = { role = \"design\" }\n");
  EXPECT_NE(dotted.find("unknown key 'R' of column 'Solar'"), std::string::npos) << dotted;
  EXPECT_NE(dotted.find("quote the name: \"Solar.R\""), std::string::npos) << dotted;
  // Columns of these names are fine where they are meant.
  EXPECT_EQ(refusal("simulator = \"q.R\"\n[columns]\nx = \"\"\nfamily = { description = \"one\" }\n"),
            "no error");
}

TEST(ProblemFile, NamesOfDesignColumnsMayHoldDots) {
  const auto refusal = [](const std::string& name) {
    const std::string text = "name = \"p\"\nn = 5\nsimulator = \"q.R\"\n[columns]\n\"" + name +
                             "\" = { role = \"design\" }\ny = \"\"\n[design]\n\"" + name +
                             "\" = \"uniform(0, 1)\"\n[model.a]\nb = 1\n[model.c]\nb = 2\n";
    return testing_support::failure_of([&] { read_problem(text, "p.toml"); });
  };
  EXPECT_EQ(refusal("Solar.R"), "no error");
  for (const std::string name : {".R", "1.R", "n", "a b"})
    EXPECT_NE(refusal(name).find("'" + name + "' cannot be one"), std::string::npos) << refusal(name);
}

TEST(ProblemFile, SharedParametersServeEveryModel) {
  const Problem problem = read_problem(R"toml(
name = "shared"
n = 5
family = "normal"
parameters = { sigma = 2, mu = "normal(0, 1)" }
[model.a]
[model.b]
mu = 0
)toml",
                                       "shared.toml");
  EXPECT_EQ(problem.models()[0].priors()[0], Prior::normal(0, 1));
  EXPECT_EQ(problem.models()[1].priors()[0], Prior::fixed(0));
  EXPECT_EQ(problem.models()[1].priors()[1], Prior::fixed(2));
}

TEST(ProblemFile, EveryErrorNamesItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {coin_file_with("n = \"uniform(1, 100)\"", "n = \"uniform(1, 100)"), "p.toml:2:"},
      {coin_file_with("[model.ant]", "[model.zebra]"), "p.toml:9:"},
      {coin_file_with("name =", "nmae ="), "p.toml:1:1: unknown key 'nmae' (did you mean 'name'?)"},
      {coin_file_with("name = \"coins\"\n", ""), "missing key 'name'"},
      {coin_file_with("\"coins\"", "\"\""), "p.toml:1:8: name is empty"},
      {coin_file_with("\"coins\"", "3"), "p.toml:1:8: name: expected text in quotes"},
      {coin_file_with("n = \"uniform(1, 100)\"\n", ""), "missing key 'n'"},
      {coin_file_with("\"uniform(1, 100)\"", "0"),
       "p.toml:2:5: n = '0': a data set needs at least 1 observation"},
      {coin_file_with("\"uniform(1, 100)\"", "-4"), "p.toml:2:5: n = '-4'"},
      {coin_file_with("\"uniform(1, 100)\"", "1.5"), "p.toml:2:5: n: expected an integer"},
      {coin_file_with("uniform(1, 100)", "uniform(100, 1)"),
       "p.toml:2:5: n = 'uniform(100, 1)': low must not be above"},
      {coin_file_with("\nfamily = \"bernoulli\"\n\n", "\n\n\n"), "p.toml:5:8: model 'zebra' has no family"},
      {coin_file_with("\"bernoulli\"", "\"bernouli\""),
       "p.toml:3:10: unknown family 'bernouli' (did you mean 'bernoulli'?)"},
      {coin_file_with("theta = \"beta", "thta = \"beta"),
       "p.toml:7:1: unknown key 'thta' in model 'zebra' (family 'bernoulli') (did you mean 'theta'?)"},
      {coin_file_with("\"beta(1, 1)\"", "\"uniform(1, 0)\""),
       "p.toml:7:9: theta = 'uniform(1, 0)': low must be below high"},
      {coin_file_with("\"beta(1, 1)\"", "\"beta(1)\""),
       "p.toml:7:9: theta = 'beta(1)': 1 argument given, expected beta(a, b)"},
      {coin_file_with("\"beta(1, 1)\"", "\"normal(0, 1)\""),
       "p.toml:7:9: theta = normal(0, 1) reaches outside"},
      {coin_file_with("\"beta(1, 1)\"", "[1, 2]"),
       "p.toml:7:9: theta: expected a number or a prior in quotes"},
      {coin_file_with("= 0.75", "= 0.7"),
       "p.toml:5:8: problem 'coins': the prior probabilities of the models sum to 0.95"},
      {coin_file_with("= 0.75", "= -0.75"), "p.toml:11:21: prior_probability: -0.75 is not above 0"},
      {coin_file_with("= 0.75", "= \"most\""), "p.toml:11:21: prior_probability: expected a number"},
      {coin_file_with("prior_probability = 0.75\n", ""), "p.toml:9:8: model 'ant' has no prior_probability"},
      {coin_file_with("[model.ant]\nfamily = \"bernoulli\"\nprior_probability = 0.75\ntheta = 0.5", ""),
       "p.toml:5:8: problem 'coins' has 1 model; a comparison needs at least two"},
      {"name = \"x\"\nn = 1\nfamily = \"normal\"\n[model.a]\n",
       "p.toml:4:8: problem 'x' has 1 model; a comparison"},
      {"name = \"x\"\nn = 1\n", "no models: expected a table [model.NAME]"},
      {"name = \"x\"\nn = 1\nmodel = 3\n", "p.toml:3:9: model: expected a table"},
      {"name = \"x\"\nn = 1\nmodel.a = 3\nmodel.b = 3", "p.toml:3:11: model.a: expected a table"},
      {coin_file_with("[model.ant]\nfamily = \"bernoulli\"\nprior_probability = 0.75\ntheta = 0.5",
                      "[model.ant]\nfamily = \"gaussian-mixture\"\nprior_probability = 0.75"),
       "p.toml:9:8: model 'ant' (family 'gaussian-mixture') has columns x, y"},
      {coin_file_with("[network]", "[settings]\ndt = 3\n[network]"), "p.toml:15:1: unknown setting 'dt'"},
      {coin_file_with("[network]", "[parameters]\nsigma = 3\n[network]"),
       "p.toml:15:1: unknown parameter 'sigma' of every family"},
      {coin_file_with("[network]", "[model.ant.settings]\ndt = 3\n[network]"),
       "p.toml:15:1: unknown key 'dt' in the settings"},
      {coin_file_with("width = 48", "width = 1979-05-27"), "p.toml:15:9: dates and times"},
      {coin_file_with("family = \"bernoulli\"\n\n", "one_n_per_batch = 1\nfamily = \"bernoulli\"\n"),
       "p.toml:3:19: one_n_per_batch: expected true or false"},
      {"", "p.toml:"},
      {"\xff\xfe", "p.toml:1:1:"},
  };
  for (const auto& [text, expected] : cases) {
    try {
      read_problem(text, "p.toml");
      ADD_FAILURE() << "accepted; expected: " << expected << "\n" << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_config);
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos)
          << "got:      " << error.what() << "\nexpected: " << expected;
      EXPECT_EQ(std::string(error.what()).find("p.toml:"), 0u) << error.what();
    }
  }
}

// docs/problem-files.md: its examples load, and its table of priors is the one in the code.
TEST(ProblemFile, DocumentationIsTrue) {
  std::ifstream file(OCCAM_SOURCE "/docs/problem-files.md");
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string page = stream.str();
  int examples = 0;
  for (auto at = page.find("```toml\n"); at != std::string::npos; at = page.find("```toml\n", at + 1)) {
    const auto begin = at + 8;
    EXPECT_GE(read_problem(page.substr(begin, page.find("```", begin) - begin), "example.toml").J(), 2);
    ++examples;
  }
  EXPECT_EQ(examples, 3);
  for (const PriorSignature& prior : Prior::signatures()) {
    const std::string row = fmt::format("| `{}({})` | {} |", prior.name, prior.arguments, prior.meaning);
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(ProblemFile, LoadsByNameVariantAndPath) {
  EXPECT_EQ(load_problem("beta-binomial").J(), 2);
  EXPECT_EQ(load_problem("gaussian-mixtures:as_run").name(), "gaussian-mixtures:as_run");
  EXPECT_NE(load_problem("gaussian-mixtures:as_run").fingerprint(),
            load_problem("gaussian-mixtures").fingerprint());

  const auto path = std::filesystem::temp_directory_path() / "occam_problem_file_test.toml";
  std::ofstream(path) << kCoinFile;
  EXPECT_EQ(load_problem(path.string()).name(), "coins");
  std::filesystem::remove(path);

  const std::vector<std::pair<std::string, ErrorKind>> refused = {
      {"beta-binomal", ErrorKind::usage},
      {"beta-binomial:as_run", ErrorKind::usage},
      {"", ErrorKind::usage},
      {"/no/such/file.toml", ErrorKind::no_input}};
  for (const auto& [name, kind] : refused) {
    try {
      load_problem(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
  }
  try {
    load_problem("beta-binomal");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'beta-binomial'?"), std::string::npos)
        << error.what();
  }
}

// Models of the user's own: read without their simulators at hand, as from a network file.
const char* kOwnFile = R"toml(name = "bandit"
n = 100
columns = { choice = "option chosen", reward = "1 if it paid" }
ordered = true
simulator = ["python3", "bandit.py"]
simulator_timeout_s = 30

[parameters]
beta = "gamma(3, 1)"

[model.rw]
alpha = "beta(2, 2)"

[model.own_way]
simulator = "other.cpp"
beta = 2
kappa = "normal(0, 1)"
)toml";

std::string with_own(const std::string& from, const std::string& to) {
  std::string text = kOwnFile;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(OwnModelsInProblemFiles, AnyKeyIsAParameter) {
  const Problem problem = read_problem(kOwnFile, "own.toml");
  EXPECT_TRUE(problem.ordered());
  EXPECT_EQ(problem.columns(),
            (std::vector<Column>{{"choice", "option chosen"}, {"reward", "1 if it paid"}}));
  EXPECT_EQ(problem.parameter_names(), (std::vector<std::string>{"beta", "alpha", "kappa"}));
  EXPECT_EQ(problem.prior(0, 0)->text(), "gamma(3, 1)");
  EXPECT_EQ(problem.prior(1, 0), nullptr);  // fixed at 2 there
  const Problem again = read_problem(problem_toml(problem), "again.toml");
  EXPECT_EQ(again.canonical_text(), problem.canonical_text());
  EXPECT_EQ(problem_toml(again), problem_toml(problem));
  // What the data come from is part of the problem, and a network must not be taken for another's.
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"bandit.py", "bandit2.py"}, {"reward =", "payoff ="}, {"ordered = true", "ordered = false"}}) {
    EXPECT_NE(read_problem(with_own(from, to), "other.toml").fingerprint(), problem.fingerprint()) << to;
  }
  // Without the simulator everything works but simulating.
  ThreadPool pool(1);
  Simulator simulator(problem, 1, Purpose::simulate, {.batch = 1});
  EXPECT_EQ(testing_support::error_of([&] { simulator.simulate(0, pool); })->kind(), ErrorKind::no_input);
}

TEST(OwnModelsInProblemFiles, MistakesAreToldWithTheirPlace) {
  const auto expect = [](const std::string& text, const std::string& says) {
    const std::string got = testing_support::failure_of([&] { read_problem(text, "own.toml"); });
    EXPECT_NE(got.find("78: own.toml:"), std::string::npos) << got;
    EXPECT_NE(got.find(says), std::string::npos) << got;
  };
  expect(
      with_own("columns = { choice = \"option chosen\", reward = \"1 if it paid\" }", ""),
      "own.toml:11:8: model 'rw' has a simulator of your own, but the file does not say what it simulates");
  expect(with_own("reward =", "model ="), "own.toml:3:39: columns: 'model' is taken");
  expect(with_own("columns = {", "columns = 3 # {"), "own.toml:3:11: columns: expected a list of names");
  expect(with_own("{ choice = \"option chosen\", reward = \"1 if it paid\" }", "[\"x\", \"x\"]"),
         "own.toml:3:17: columns: 'x' is named twice");
  expect(with_own("{ choice = \"option chosen\", reward = \"1 if it paid\" }", "[]"),
         "columns: at least one is needed");
  expect(with_own("ordered = true", "ordered = \"yes\""), "own.toml:4:11: ordered: expected true");
  expect(with_own("[\"python3\", \"bandit.py\"]", "[\"python3\", 3]"),
         "own.toml:5:13: simulator: expected a C++ file");
  expect(with_own("[\"python3\", \"bandit.py\"]", "\"  \""), "own.toml:5:13: simulator: expected a C++ file");
  expect(with_own("simulator_timeout_s = 30", "simulator_timeout_s = 0"),
         "own.toml:6:23: simulator_timeout_s: expected seconds");
  expect(with_own("alpha = ", "prior_probabilty = "),
         "own.toml:12:1: unknown key 'prior_probabilty' (did you mean 'prior_probability'?)");
  expect(with_own("alpha = ", "rng = "), "own.toml:12:1: 'rng' cannot be the name of a parameter");
  expect(with_own("alpha = ", "\"1st\" = "), "own.toml:12:1: '1st' cannot be the name of a parameter");
  expect(with_own("alpha = \"beta(2, 2)\"", "alpha = \"bata(2, 2)\""), "own.toml:12:9: alpha = ");
  expect(with_own("kappa = ", "family = \"normal\"\nkappa = "), "has both a family and a simulator");
  expect(with_own("kappa = \"normal(0, 1)\"", "settings = { dt = 1 }"),
         "settings belong to built-in families");
  expect(with_own("n = 100\n", ""), "missing key 'n'");
  // A family whose data differ cannot be compared with them.
  expect(with_own("simulator = \"other.cpp\"\nbeta = 2\nkappa = \"normal(0, 1)\"", "family = \"normal\""),
         "has columns x");
}

TEST(OwnModelsInProblemFiles, ModelsWithoutASimulatorTakeTheirSizesFromATable) {
  const std::string text = "name = \"t\"\ncolumns = [\"x\"]\n[model.a]\n[model.b]\n";
  const Problem problem = read_problem(text, "t.toml");
  EXPECT_FALSE(problem.simulates());
  EXPECT_EQ(read_problem(problem_toml(problem), "again.toml").fingerprint(), problem.fingerprint());
  const std::string got = testing_support::failure_of([&] { read_problem("n = 3\n" + text, "t.toml"); });
  EXPECT_NE(got.find("78: t.toml:1:5: n has no meaning here"), std::string::npos) << got;
}

}  // namespace
}  // namespace occam
