// Prior of one parameter: a small value type with text such as "truncated_normal(1, 0.5, 0, inf)", which is
// how problem files write it. Arguments are in the unit of the parameter; normal and lognormal take a
// standard deviation, gamma a scale (mean shape * scale), inverse_gamma the scale b of b^a / G(a) x^(-a-1)
// exp(-b/x).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "occam/core/rng.hpp"

namespace occam {

enum class PriorKind : std::uint8_t {
  fixed,
  uniform,
  normal,
  truncated_normal,
  half_normal,
  lognormal,
  exponential,
  gamma,
  inverse_gamma,
  beta,
  discrete_uniform,
  log_uniform,
};

// One row of the table of priors, for help and docs.
struct PriorSignature {
  PriorKind kind;
  std::string_view name;       // "uniform"
  std::string_view arguments;  // "low, high"
  int count;                   // of arguments
  std::string_view meaning;    // one line
};

class Prior {
 public:
  Prior() = default;  // fixed(0)

  // Each throws Error(bad_config) when the arguments make no distribution (reversed bounds, negative scale,
  // ...).
  static Prior fixed(double value);
  static Prior uniform(double low, double high);
  static Prior normal(double mean, double sd);
  static Prior truncated_normal(double mean, double sd, double low, double high);  // bounds may be infinite
  static Prior half_normal(double sd);
  static Prior lognormal(double log_mean, double log_sd);
  static Prior exponential(double rate);
  static Prior gamma(double shape, double scale);
  static Prior inverse_gamma(double shape, double scale);
  static Prior beta(double a, double b);
  static Prior discrete_uniform(double low, double high);  // integers low..high
  static Prior log_uniform(double low, double high);       // its logarithm is uniform; 0 < low

  // Reads "uniform(0, 6)", or a plain number as fixed. Throws Error(bad_config) with the signature expected
  // or the nearest known name.
  static Prior parse(std::string_view text);
  // Reads back as the same prior; a fixed value is its plain number.
  std::string text() const;

  static std::span<const PriorSignature> signatures();

  PriorKind kind() const { return kind_; }
  bool is_fixed() const { return kind_ == PriorKind::fixed; }
  bool is_discrete() const { return is_fixed() || kind_ == PriorKind::discrete_uniform; }
  // The i-th argument, in the order of the signature.
  double argument(int i) const { return arguments_[static_cast<std::size_t>(i)]; }

  double sample(Rng& rng) const;
  // Natural log of the density (of the probability, where discrete); -infinity outside the support.
  double log_density(double x) const;
  // Ends of the support; may be infinite. The ends themselves may be drawn only where discrete or by
  // rounding.
  double lower() const;
  double upper() const;
  // Location and spread, always finite: the mean and standard deviation where they exist. Where they do not,
  // or overflow (inverse_gamma with shape <= 2, lognormal with a huge log_sd), both are the median and half
  // the distance between the 15.87 % and 84.13 % quantiles, which is one standard deviation for a normal.
  double mean() const;
  double sd() const;

  bool operator==(const Prior&) const = default;

 private:
  Prior(PriorKind kind, std::array<double, 4> arguments);
  void check() const;
  std::array<double, 2> location_and_spread() const;

  PriorKind kind_ = PriorKind::fixed;
  std::array<double, 4> arguments_{};
};

}  // namespace occam
