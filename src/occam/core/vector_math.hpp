// Logarithms and exponentials of many numbers at a time: plain arithmetic without branches or tables, which a
// compiler turns into vectors of the processor. Within 2 units of the last digit of what the library's say.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace occam {

// std::bit_cast, which the library of emscripten does not have yet.
template <class To, class From>
To as_bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Of a positive normal number x = 2^k m, m within a factor of the root of 2 from 1: k log 2 + log m, the
// latter by the series of the area tangent in (m - 1) / (m + 1).
inline double plain_log(double x) {
  constexpr std::uint64_t kToRootHalf = 0x00095f619980c433;  // what moves sqrt(1/2) up to 1
  constexpr double kLog2High = 0x1.62e42fefa3800p-1, kLog2Low = 0x1.ef35793c76730p-45;
  const auto bits = as_bits_of<std::uint64_t>(x);
  const std::uint64_t biased = (bits + kToRootHalf) >> 52;
  const double m = as_bits_of<double>(bits - (biased << 52) + (std::uint64_t{1023} << 52));
  const double k = as_bits_of<double>(0x4330000000000000 | biased) - (0x1p52 + 1023);
  const double s = (m - 1) / (m + 1), z = s * s;
  double p = 2.0 / 19;
  for (const double c : {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3})
    p = p * z + c;
  return k * kLog2High + (2 * s + (s * z * p + k * kLog2Low));
}

// Of x up to 700; what is below -700 counts as that.
inline double plain_exp(double x) {
  constexpr double kLog2High = 0x1.62e42fefa3800p-1, kLog2Low = 0x1.ef35793c76730p-45;
  constexpr double kRound = 0x1.8p52;  // added, it leaves no room for fractions
  x = x < -700 ? -700 : x;
  const double rounded = x * 0x1.71547652b82fep0 + kRound;
  const double k = rounded - kRound;
  const double r = (x - k * kLog2High) - k * kLog2Low;
  double p = 1.0 / 479001600 / 13;
  for (const double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                         1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0})
    p = p * r + c;
  const double power = as_bits_of<double>((as_bits_of<std::uint64_t>(rounded) + 1023) << 52);
  return power * (p * r + 1);
}

// Each by its logarithm, or exponential.
inline void take_logs(std::span<double> x) {
  for (double& value : x) value = plain_log(value);
}
inline void take_exps(std::span<double> x) {
  for (double& value : x) value = plain_exp(value);
}

}  // namespace occam
