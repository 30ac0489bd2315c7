// Simulators in a C++ file: compiled once, by the user's compiler; mistakes shown as they are.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "own_support.hpp"

namespace occam::testing_support {
namespace {

class Compiled : public OwnModels {
 protected:
  // A problem whose simulator is a C++ file with this body of simulate().
  void body(const std::string& text) {
    shell_.write("coin.cpp",
                 "#include <occam/simulator.h>\n"
                 "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n" +
                     text + "\n}\n");
    shell_.write("p.toml", coins("\"coin.cpp\""));
  }
  std::size_t libraries() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(shell_.folder() / "cache/occam")) {
      EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
      count += entry.path().extension() == ".worker" ? 1 : 0;
    }
    return count;
  }
  const std::string simulate_ = "occam simulate p.toml --datasets 5 --n 3 --quiet";
};

TEST_F(Compiled, IsCompiledOnceAndAgainWhenItChanges) {
  shell_.write("coin.cpp", "#include \"half.h\"\n" + kCppCoin);
  shell_.write("half.h", "// nothing\n");
  shell_.write("p.toml", coins("\"coin.cpp\""));
  const std::string one = must(simulate_ + " --threads 1");
  EXPECT_EQ(one, must(simulate_ + " --threads 3"));
  EXPECT_EQ(libraries(), 1u);
  // A file that it includes belongs to it, also for the fingerprint.
  const std::string before = must("occam models --show p.toml --json");
  shell_.write("half.h", "// something\n");
  EXPECT_NE(before, must("occam models --show p.toml --json"));
  EXPECT_EQ(one, must(simulate_));
  EXPECT_EQ(libraries(), 2u);
}

// As for parameters with numbers: mean_0, mean_1, ...
TEST_F(Compiled, NamesMayBePutTogether) {
  shell_.write("coin.cpp", kCppCoin);
  shell_.write("p.toml", coins("\"coin.cpp\""));
  const std::string plain = must(simulate_);
  body(
      "  const std::string the = \"the\", fair = \"fair\", x = \"x\";\n"
      "  if (!p.has(the + \"ta\") || p.is(fair) != (std::string(p.model()) == fair)) return false;\n"
      "  for (long i = 0; i < out.n(); ++i) out(i, x) = rng.uniform() < p[the + \"ta\"];\n"
      "  return true;");
  EXPECT_EQ(plain, must(simulate_));
}

// Seconds since 1970 within an hour: in single precision two minutes apart.
TEST_F(Compiled, TrainingWarnsOfDigitsThatAreLost) {
  const std::string train = "occam train p.toml -o n.occam --scope-reference 0" + quick_;
  const auto warned = [&] {
    return shell_(train).err.find("steps of 128 (single precision)") != std::string::npos;
  };
  const auto times = [&](const std::string& offset) {
    body("  for (long i = 0; i < out.n(); ++i) out(i, 0) = " + offset +
         " + 3600 * rng.uniform() * p[\"theta\"];\n  return true;");
  };
  times("1.7e9");
  EXPECT_TRUE(warned());
  times("100");
  EXPECT_FALSE(warned());
}

// What a rate over five orders of magnitude is estimated to be is a rate, too.
TEST_F(Compiled, EstimatesOverOrdersOfMagnitudeArePositive) {
  shell_.write("rate.cpp",
               "#include <occam/simulator.h>\n#include <cmath>\n"
               "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n"
               "  for (long i = 0; i < out.n(); ++i) out(i, 0) = std::log(p[\"rate\"]) + rng.normal() * "
               "(p.is(\"a\") + 1);\n"
               "  return true;\n}\n");
  shell_.write("r.toml",
               "name = \"rates\"\nn = 5\ncolumns = [\"x\"]\nsimulator = \"rate.cpp\"\n[parameters]\n"
               "rate = \"log_uniform(1e-10, 1e-5)\"\n[model.a]\n[model.b]\n");
  must("occam train r.toml -o r.occam --scope-reference 0" + quick_);
  must("occam simulate r.toml --datasets 200 --quiet -o d.csv");
  must("occam compare r.occam d.csv --parameters --quiet -o a.json");
  const auto answers = nlohmann::json::parse(shell_.read("a.json"));
  std::size_t seen = 0;
  for (const auto& answer : answers.at("data_sets")) {
    EXPECT_GT(answer.at("estimate_rate").get<double>(), 0);
    ++seen;
  }
  EXPECT_EQ(seen, 200u);
}

TEST_F(Compiled, NamesThatBeginAlikeAreToldApart) {
  body(
      "  if (p[\"b\"] != 1 || p[\"b1\"] != (p.is(\"line\") ? 2 : 3)) return false;\n"
      "  if (p.has(\"b10\") || p.has(\"\") || p.is(\"lin\") || p.is(\"lines2\")) return false;\n"
      "  for (long i = 0; i < out.n(); ++i) out(i, \"xx\") = 10 + (out(i, \"x\") = 7);\n"
      "  return true;");
  shell_.write("p.toml",
               "name = \"names\"\nn = 1\ncolumns = [\"xx\", \"x\"]\nsimulator = \"coin.cpp\"\n"
               "[model.line]\nb = 1\nb1 = 2\n[model.lines]\nb1 = 3\nb = 1\n");
  const std::string rows = must("occam simulate p.toml --datasets 2 --quiet --model line") +
                           must("occam simulate p.toml --datasets 2 --quiet --model lines");
  EXPECT_EQ(rows,
            "dataset,model,xx,x\n0,line,17,7\n1,line,17,7\ndataset,model,xx,x\n0,lines,17,7\n1,lines,17,7\n");
}

TEST_F(Compiled, SeveralProgramsMayCompileAtOnce) {
  shell_.write("coin.cpp", kCppCoin);
  shell_.write("p.toml", coins("\"coin.cpp\""));
  must("for i in 1 2 3; do " + simulate_ + " -o $i.csv & done; wait; cmp 1.csv 2.csv && cmp 2.csv 3.csv");
  EXPECT_EQ(libraries(), 1u);
}

TEST_F(Compiled, MistakesAreShown) {
  body("  return retrun;");
  fails(simulate_, 78, {"'coin.cpp' does not compile; c++ says", "\n  coin.cpp:3:", "retrun"});
  shell_.write("coin.cpp", "#include <occam/simulator.h>\n");
  fails(simulate_, 78, {"undefined reference to `simulate"});
  shell_.write("coin.cpp", "int x = 0;\n");
  fails(simulate_, 78, {"does not include <occam/simulator.h>"});
  body(
      "  switch (static_cast<int>(p[\"mistake\"])) {\n"
      "    case 1: out(0, 0) = p[\"theeta\"]; return true;\n"
      "    case 2: out(out.n(), 0) = 1; return true;\n"
      "    case 3: out(0, 0) = 1; return true;\n"
      "    case 4: return true;\n"
      "    default: return false;\n"
      "  }");
  const std::pair<int, std::string> mistakes[] = {
      {1, "no parameter 'theeta'"},
      {2, "cell (3, 0) of a data set with 3 rows and 1 columns"},
      {3, "column 'x' is nan in row 2 of 3 (mistake = 3, theta = "},
      {4, "simulate() returned true, but no cell"},
      {5, "no usable data in 1000 draws"}};
  for (const auto& [number, says] : mistakes) {
    shell_.write("p.toml", coins("\"coin.cpp\"", "[parameters]\nmistake = " + std::to_string(number)));
    fails(simulate_, 65, {says});
  }
}

// Without `return true` at its end a simulator would go anywhere: it is refused, by whatever compiler.
TEST_F(Compiled, AForgottenReturnIsRefused) {
  body("  for (long i = 0; i < out.n(); ++i) out(i, \"x\") = rng.uniform() < p[\"theta\"];");
  fails(simulate_, 78, {"'coin.cpp' does not compile; c++ says", "return-type", "\n  coin.cpp:4:"});
  const std::string clang =
      must("for c in clang++ clang++-16 clang++-14; do command -v $c && break; done || true");
  if (clang.empty()) GTEST_SKIP() << "there is no clang++";
  fails("CXX=" + clang.substr(0, clang.find('\n')) + " " + simulate_, 78,
        {"'coin.cpp' does not compile; /", "return-type", "\n  coin.cpp:4:"});
}

TEST_F(Compiled, AMissingCompilerOrFileIsTold) {
  shell_.write("coin.cpp", kCppCoin);
  shell_.write("p.toml", coins("\"coin.cpp\""));
  fails("CXX=no-such-compiler " + simulate_, 78, {"there is no C++ compiler 'no-such-compiler'", "CXX"});
  std::filesystem::remove(shell_.folder() / "coin.cpp");
  fails(simulate_, 66, {"p.toml:4:13: simulator: there is no file 'coin.cpp'"});
}

}  // namespace
}  // namespace occam::testing_support
