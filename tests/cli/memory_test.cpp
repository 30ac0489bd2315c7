// What one long data set takes of memory, as a user would see it.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

constexpr const char* kLittleTraining =
    " --iterations 20 --batch 16 --warmup 5 --validation-datasets 100 --scope-reference 200"
    " --scope-calibration 200 --quiet";

// Runs the program with these arguments in the folder; the most memory it held at one time, in MB, or -1
// where it failed.
double peak_megabytes(const Shell& shell, const std::string& arguments) {
  const std::string command = "cd '" + shell.folder().path() + "' && exec '" OCCAM_BINARY "' " + arguments;
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
#ifdef __APPLE__
  constexpr double kUnit = 1e6;  // bytes
#else
  constexpr double kUnit = 1e3;  // kilobytes
#endif
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? static_cast<double>(usage.ru_maxrss) / kUnit : -1;
}

// Three million rows, with the default network and the scope test.
TEST(Memory, OfALongDataSetIsLittleMoreThanTheData) {
  const Shell shell;
  for (const std::string problem : {"beta-binomial", "correlation"}) {
    ASSERT_EQ(shell("occam train " + problem + " -o net.occam" + kLittleTraining).code, 0);
    for (const std::string file : {"long.csv", "long.npz"}) {
      ASSERT_EQ(shell("occam simulate " + problem + " --datasets 1 --n 3000000 -o " + file + " --quiet").code,
                0);
      const double peak = peak_megabytes(shell, "compare net.occam " + file + " -o answer.csv --quiet");
      EXPECT_GT(peak, 0) << problem << " " << file;
      EXPECT_LT(peak, 300) << problem << " " << file;
      EXPECT_NE(shell.read("answer.csv").find(",3000000,"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace occam::testing_support
