// Whole numbers out of JSON that may come from anywhere. json::get takes other numbers as well: it cuts their
// fraction off, and is undefined for those that are too large. These throw nlohmann::json::type_error, as
// json::get does for text.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace occam {

inline std::int64_t whole_number(const nlohmann::json& value) {
  return value.get_ref<const nlohmann::json::number_integer_t&>();
}

inline std::vector<std::int64_t> whole_numbers(const nlohmann::json& values) {
  std::vector<std::int64_t> numbers;
  for (const auto& value : values.get_ref<const nlohmann::json::array_t&>())
    numbers.push_back(whole_number(value));
  return numbers;
}

}  // namespace occam
