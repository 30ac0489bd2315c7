// Numbers from text as std::from_chars reads them, also where the standard library cannot read floating-point
// numbers yet (libc++ up to 19): fast_float does it there. Both round correctly, so the bits are the same.
#pragma once

#include <charconv>
#include <concepts>

#ifndef __cpp_lib_to_chars
#include <algorithm>
#include <cmath>
#include <fast_float/fast_float.h>
#endif

namespace occam {

template <std::integral Number>
std::from_chars_result from_chars(const char* first, const char* last, Number& value) {
  return std::from_chars(first, last, value);
}

template <std::floating_point Number>
std::from_chars_result from_chars(const char* first, const char* last, Number& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, value);
#else
  double number = 0;
  const auto [end, status] = fast_float::from_chars(first, last, number);
  if (status == std::errc::invalid_argument) return {first, status};
  // Versions of fast_float differ in what they call out of range; std::from_chars means digits that became
  // infinite or zero, and a long double holds what became zero.
  const char* const digits = std::find_if(first, end, [](char c) { return c != '-'; });
  const char* const exponent = std::find_if(digits, end, [](char c) { return c == 'e' || c == 'E'; });
  const bool spelled = std::none_of(digits, exponent, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_zero = std::none_of(digits, exponent, [](char c) { return c >= '1' && c <= '9'; });
  const bool vanished = std::same_as<Number, double> && number == 0 && !is_zero;
  if (!spelled && (std::isinf(number) || vanished)) return {end, std::errc::result_out_of_range};
  value = static_cast<Number>(number);
  return {end, std::errc{}};
#endif
}

}  // namespace occam
