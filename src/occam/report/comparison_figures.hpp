// The figures of the comparison report, as Vega-Lite specifications over its tables.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/check/finding.hpp"

namespace occam {

// Models that colours can tell apart; where there are more, only the most probable of a data set are shown.
inline constexpr std::int64_t kColours = 8;
inline constexpr std::array<const char*, 3> kPlaceNames = {"most probable", "second", "third"};
inline constexpr std::int64_t kPlaces = kPlaceNames.size();
inline constexpr const char* kOthers = "all others";

// Words for natural log Bayes factors, and the limits between them.
inline constexpr std::array<const char*, 5> kStrengths = {"against", "bare mention", "positive", "strong",
                                                          "very strong"};
inline constexpr std::array<double, 4> kStrengthLimits = {0, 1, 3, 5};

// Stacked bars by data set, over dataset, model, place, position, p and, where the network has it, u;
// `with_u` draws it.
nlohmann::json probabilities_specification(const std::vector<std::string>& models, bool with_u, bool has_u);

// Bars by model, over model, mean_p, prior, best.
nlohmann::json models_specification();

// Dots by data set over bands of strength, over dataset, best, runner_up, log_bf, strength.
nlohmann::json factors_specification(const Table& table);

// Bars over strength and data_sets.
nlohmann::json strengths_specification();

// A histogram of scope p with the height expected of each bar, over from, to, data_sets, expected.
nlohmann::json scope_specification();

// The Dirichlet density over the triangle of three models, over one row of alpha_1..3 and p_1..3.
nlohmann::json simplex_specification(const std::vector<std::string>& models);

}  // namespace occam
