// What the instruction sets have to agree on. They round alike in single operations, but a fused multiply-add
// rounds once where others round twice, so simulated data may differ where a trial ends a step earlier or a
// spike comes a step later.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/core/simd_targets.hpp"
#include "occam/models/neuron.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

class InstructionSets : public testing::Test {
 protected:
  void TearDown() override { use_best_simd_target(); }

  // The values of one batch of the problem, for each instruction set.
  static std::vector<std::vector<float>> simulated(const std::string& problem, std::int64_t n) {
    ThreadPool pool(1);
    std::vector<std::vector<float>> values;
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      EXPECT_EQ(neuron_target(), target);  // it is what computes
      Simulator simulator(builtin_problem(problem), 5, Purpose::test, {.batch = 40, .n = n});
      const Batch batch = simulator.simulate(0, pool);
      values.emplace_back(batch.data().begin(), batch.data().end());
    }
    return values;
  }
};

TEST_F(InstructionSets, AllOfThemAreCompiledIntoPackages) {
#ifdef __x86_64__
  EXPECT_GE(simd_targets().size(), 2u);
#else
  EXPECT_GE(simd_targets().size(), 1u);
#endif
}

TEST_F(InstructionSets, OnesThatAreNotThereAreNamed) {
  try {
    use_simd_target("AVX9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(simd_targets().front()), std::string::npos);
  }
}

TEST_F(InstructionSets, DecisionsAgreeButForFew) {
  const auto values = simulated("decision-making", 100);
  for (std::size_t t = 1; t < values.size(); ++t) {
    ASSERT_EQ(values[t].size(), values[0].size());
    std::size_t apart = 0;
    for (std::size_t i = 0; i < values[0].size(); ++i) apart += values[t][i] != values[0][i] ? 1 : 0;
    EXPECT_LE(apart, values[0].size() / 100) << simd_targets()[t];
  }
}

TEST_F(InstructionSets, NeuronsAgreeOnAverage) {
  const auto values = simulated("neuron", 50);
  for (std::size_t t = 1; t < values.size(); ++t) {
    ASSERT_EQ(values[t].size(), values[0].size());
    double apart_mV = 0;
    for (std::size_t i = 0; i < values[0].size(); ++i) {
      apart_mV +=
          std::fabs(double{values[t][i]} - double{values[0][i]}) / static_cast<double>(values[0].size());
    }
    EXPECT_LE(apart_mV, 0.05) << simd_targets()[t];
  }
}

}  // namespace
}  // namespace occam
