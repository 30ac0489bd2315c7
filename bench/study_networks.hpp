// The networks of the published studies, as benchmarks run them.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace occam {

inline nlohmann::json study_network(std::int64_t wide, std::int64_t narrow, std::int64_t post_layers,
                                    const std::string& pooling = "attention") {
  return {{"architecture", "set"}, {"modules", 2},        {"moments", 0},
          {"inv_width", wide},     {"after_width", wide}, {"after_layers", 2},
          {"equiv_width", narrow}, {"post_width", wide},  {"post_layers", post_layers},
          {"summary", 0},          {"log_n", false},      {"pooling", pooling},
          {"growth", false}};
}

// The fourth study's, for series.
inline nlohmann::json series_network(std::int64_t lstm, std::int64_t post_width) {
  return {{"architecture", "sequence"},
          {"lstm", lstm},
          {"window", 0},
          {"filters", {64, 64, 128, 128, 128}},
          {"kernels", {5, 5, 3, 3, 2}},
          {"strides", {2, 3, 2, 3, 2}},
          {"pooling", "max"},
          {"post_width", post_width},
          {"post_layers", 2},
          {"summary", 0},
          {"log_n", false},
          {"growth", false}};
}

}  // namespace occam
