// The set networks of the published studies, as benchmarks run them.
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

}  // namespace occam
