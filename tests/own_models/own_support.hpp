// For tests of simulators of the user's own: a folder with a problem file and its simulators, a cache of its
// own, and a Python that has NumPy.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "../cli/shell.hpp"

namespace occam::testing_support {

// Of the Pythons there are, the first with NumPy: how to begin a PATH so that it is the one found; nothing
// where there is none.
inline const std::optional<std::string>& numpy_path() {
  static const std::optional<std::string> path = []() -> std::optional<std::string> {
    if (std::system("python3 -c 'import numpy' 2>/dev/null") == 0) return "";
    if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0) return "/usr/bin:";
    return std::nullopt;
  }();
  return path;
}

inline bool has_r() {
  static const bool found = std::system("Rscript -e 1 >/dev/null 2>&1") == 0;
  return found;
}

#define OCCAM_NEEDS_NUMPY() \
  if (!numpy_path()) GTEST_SKIP() << "there is no python3 with NumPy"

// Whether a process is there and has not ended.
inline bool runs(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  std::string text;
  std::getline(file, text);
  const auto state = text.rfind(')');
  return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
}

// Two coins, `flat` and `fair`, with data from `simulator` (as in a problem file, quotes included).
inline std::string coins(const std::string& simulator, const std::string& more = "") {
  return "name = \"coins\"\nn = \"uniform(1, 100)\"\ncolumns = [\"x\"]\nsimulator = " + simulator + "\n" +
         more + "\n[model.flat]\ntheta = \"beta(1, 1)\"\n\n[model.fair]\ntheta = \"beta(30, 30)\"\n";
}

inline const std::string kPythonCoin =
    "from occam_simulator import serve\n"
    "def coin(theta, n, rng):\n"
    "    return rng.random(n) < theta\n"
    "serve({'flat': coin, 'fair': coin})\n";

inline const std::string kPythonCoins =
    "from occam_simulator import serve\n"
    "def coins(theta, n, rng):\n"
    "    print('does no harm')\n"
    "    return rng.random((len(n), n.max())) < theta[:, None]\n"
    "serve({'flat': coins, 'fair': coins}, vectorized=True)\n";

inline const std::string kCppCoin =
    "#include <occam/simulator.h>\n"
    "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n"
    "  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.uniform() < p[\"theta\"];\n"
    "  return true;\n"
    "}\n";

class OwnModels : public ::testing::Test {
 protected:
  OwnModels() {
    ::setenv("XDG_CACHE_HOME", (shell_.folder().path() + "/cache").c_str(), 1);
    if (numpy_path() && !numpy_path()->empty()) {
      const char* path = std::getenv("PATH");
      ::setenv("PATH", (*numpy_path() + (path == nullptr ? "" : path)).c_str(), 1);
    }
  }
  ~OwnModels() override { ::unsetenv("XDG_CACHE_HOME"); }

  // Runs a command that has to succeed, and gives what it wrote to standard output.
  std::string must(const std::string& command) {
    const Outcome outcome = shell_(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    return outcome.out;
  }

  // Runs a command that has to fail with `code` and to say all of `parts`.
  void fails(const std::string& command, int code, const std::vector<std::string>& parts) {
    const Outcome outcome = shell_(command);
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("occam: ")) << outcome.err;
    for (const std::string& part : parts) {
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    }
  }

  // Small enough to train in a moment.
  const std::string quick_ =
      " --iterations 60 --batch 16 --warmup 20 --validate-every 30 --validation-datasets 50 --quiet"
      " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'";
  Shell shell_;
};

}  // namespace occam::testing_support
