// The variational posterior against the package groupBMC (tests/data/group/make_reference.py): 2, 3 and 6
// models, 1 to 50 data sets, evidences from none to overwhelming.
#include "occam/group/variational.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"

namespace occam {
namespace {

using nlohmann::json;

Evidences evidences_of(const json& rows) {
  Evidences result(static_cast<std::int64_t>(rows.at(0).size()));
  for (const auto& row : rows) result.add("s", row.get<std::vector<double>>());
  return result;
}

void expect_near(const std::vector<double>& ours, const json& theirs, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t k = 0; k < ours.size(); ++k)
    EXPECT_NEAR(ours[k], theirs[k].get<double>(), tolerance) << what << k;
}

TEST(Variational, AgreesWithAnIndependentProgram) {
  const json expected = json::parse(read_file(OCCAM_TEST_DATA "/group/expected.json"));
  ASSERT_EQ(expected.at("cases").size(), 45U);
  for (const json& one : expected.at("cases")) {
    const std::string name = one.at("name");
    const Evidences evidences = evidences_of(one.at("log_evidence"));
    for (const bool shared : {false, true}) {
      const json& theirs = one.at(shared ? "alpha0_share" : "alpha0_one");
      const double alpha0 = shared ? 1.0 / static_cast<double>(evidences.J()) : 1.0;
      const VariationalFrequencies ours = variational_frequencies(evidences, alpha0);
      expect_near(ours.alpha, theirs.at("alpha"), 1e-5, name + " alpha ");
      expect_near(ours.frequency, theirs.at("frequency"), 1e-6, name + " frequency ");
      expect_near(ours.exceedance, theirs.at("exceedance"), 1e-6, name + " exceedance ");
      expect_near(ours.protected_exceedance, theirs.at("protected_exceedance"), 1e-6, name + " protected ");
      EXPECT_NEAR(ours.bor, theirs.at("bor").get<double>(), 1e-6) << name;
      const double gap = theirs.at("free_energy").get<double>() - theirs.at("null").get<double>();
      EXPECT_NEAR(ours.free_energy - log_evidence_if_equal(evidences), gap, 1e-6 + 1e-9 * std::abs(gap))
          << name;
    }
  }
}

TEST(Variational, TakesModelsThatAreExcluded) {
  Evidences evidences(3);
  evidences.add("a", std::vector<double>{-INFINITY, 0.0, -INFINITY});
  evidences.add("b", std::vector<double>{-5.0, -INFINITY, -5.0});
  const VariationalFrequencies ours = variational_frequencies(evidences, 1);
  EXPECT_NEAR(ours.frequency[0] + ours.frequency[1] + ours.frequency[2], 1, 1e-12);
  EXPECT_NEAR(ours.frequency[1], 0.4, 1e-9);
  EXPECT_TRUE(std::isfinite(ours.free_energy));
  EXPECT_TRUE(std::isnan(fixed_effects(evidences)[0]));
}

}  // namespace
}  // namespace occam
