// The distribution of N, the number of observations in a data set: fixed(n), uniform(low, high) or
// log_uniform(low, high), all over integers. Log-uniform: P(n) = log((n + 1) / n) / log((high + 1) / low).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "occam/core/rng.hpp"

namespace occam {

class SizeDistribution {
 public:
  enum class Kind { fixed, uniform, log_uniform };

  // The largest N that is taken for meant.
  static constexpr std::int64_t kLargest = 100'000'000;

  // Each throws Error(bad_config) unless 1 <= low <= high <= kLargest.
  static SizeDistribution fixed(std::int64_t n);
  static SizeDistribution uniform(std::int64_t low, std::int64_t high);
  static SizeDistribution log_uniform(std::int64_t low, std::int64_t high);

  // Reads "uniform(1, 100)", or a plain integer as fixed.
  static SizeDistribution parse(std::string_view text);
  // Reads back as the same distribution; a fixed size is its plain number.
  std::string text() const;

  Kind kind() const { return kind_; }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  std::int64_t sample(Rng& rng) const;

  bool operator==(const SizeDistribution&) const = default;

 private:
  SizeDistribution(Kind kind, std::int64_t low, std::int64_t high);

  Kind kind_;
  std::int64_t low_;
  std::int64_t high_;
};

}  // namespace occam
