#include "occam/core/registry.hpp"

#include <gtest/gtest.h>

namespace occam {
namespace {

TEST(Registry, FindsAndSuggests) {
  Registry<int> registry("problem");
  registry.add("beta-binomial", 1);
  registry.add("neuron", 2);
  EXPECT_EQ(registry.at("neuron"), 2);
  EXPECT_EQ(registry.find("nothing"), nullptr);
  EXPECT_THROW(registry.add("neuron", 3), Error);
  try {
    registry.at("beta-binomal");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown problem 'beta-binomal' (did you mean 'beta-binomial'?)");
    EXPECT_EQ(exit_code(error.kind()), 64);
  }
  try {
    registry.at("xyzzyx");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown problem 'xyzzyx' (known: beta-binomial, neuron)");
  }
}

}  // namespace
}  // namespace occam
