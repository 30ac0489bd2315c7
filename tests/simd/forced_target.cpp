// Runs every test of the program with the instruction set that OCCAM_SIMD names; ends with code 77,
// "skipped", where the processor does not have it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/simd_targets.hpp"

namespace occam {
namespace {

class ForcedTarget : public testing::Environment {
 public:
  void SetUp() override {
    const char* const wanted = std::getenv("OCCAM_SIMD");
    if (wanted == nullptr) return;
    const std::vector<std::string> targets = simd_targets();
    if (std::find(targets.begin(), targets.end(), wanted) == targets.end()) {
      std::fprintf(stderr, "This processor does not have %s.\n", wanted);
      std::exit(77);
    }
    use_simd_target(wanted);
  }
};

const testing::Environment* const kForced = testing::AddGlobalTestEnvironment(new ForcedTarget);

}  // namespace
}  // namespace occam
