// How long the symbols of a series stay: times in a state of an ion channel, bouts of a behaviour, stages of
// sleep. In a Markov chain the chance to leave does not depend on how long one has been there.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "occam/core/both.hpp"

namespace occam {

// Longer stays count as so many rows.
inline constexpr int kLongestStay = 256;

// For how many rows a column has had the value of this one, which x points at, itself included; `earlier`:
// the rows before it in its series. 1 where it is missing.
OCCAM_BOTH inline int rows_here(const float* x, std::int64_t stride, std::int64_t earlier) {
  int rows = 1;
  while (rows <= earlier && rows < kLongestStay && *(x - rows * stride) == *x) ++rows;
  return rows;
}
// As a network reads it: 0 to 2.8.
OCCAM_BOTH inline double age_input(int rows) {
  return 0.5 * log(static_cast<double>(rows));
}

// Rows since a symbol came: 1, 2, 3-4, 5-8, ..., and more than 64.
inline constexpr int kAges = 8;

// Of one symbol. Where a stay is cut off by the end of the series, or by a missing row, no leaving is seen.
struct Stays {
  std::array<double, kAges> left{}, stayed{};  // rows of this age after which it left or stayed
  double count = 0, rows = 0, logs = 0;        // stays that were left: how many, their rows, sum of log rows

  double all_left() const;
  double all_stayed() const;
  // Log evidence that the chance to leave depends on age, against one chance for all (uniform priors).
  double ageing() const;
  // What a chance of its own explains of one age beyond that of all, in nats; negative where it is the lower.
  double own_chance(int age) const;
};

// codes: the symbols of rows, 0 ... stays.size() - 1; -1: missing.
void find_stays(std::span<const std::int64_t> codes, std::span<Stays> stays);

}  // namespace occam
