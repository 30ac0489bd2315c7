#include "occam/simulate/size_distribution.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/simulate/call_text.hpp"

namespace occam {
namespace {

constexpr std::string_view kExpectedSize =
    "expected an integer, uniform(low, high) or log_uniform(low, high)";

std::int64_t whole_size(double value, std::string_view text) {
  if (value != std::floor(value) || !(std::fabs(value) < 1e18)) {
    throw Error(ErrorKind::bad_config, "n = '{}': {} is not an integer; {}", text, value, kExpectedSize);
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

SizeDistribution::SizeDistribution(Kind kind, std::int64_t low, std::int64_t high)
    : kind_(kind), low_(low), high_(high) {
  if (low < 1)
    throw Error(ErrorKind::bad_config, "n = '{}': a data set needs at least 1 observation", text());
  if (low > high) throw Error(ErrorKind::bad_config, "n = '{}': low must not be above high", text());
  if (high > kLargest)
    throw Error(ErrorKind::bad_config, "n = '{}': at most {} are possible", text(), kLargest);
}

SizeDistribution SizeDistribution::fixed(std::int64_t n) {
  return {Kind::fixed, n, n};
}
SizeDistribution SizeDistribution::uniform(std::int64_t low, std::int64_t high) {
  return {Kind::uniform, low, high};
}
SizeDistribution SizeDistribution::log_uniform(std::int64_t low, std::int64_t high) {
  return {Kind::log_uniform, low, high};
}

SizeDistribution SizeDistribution::parse(std::string_view text) {
  const CallText call = parse_call(text);
  const auto argument = [&](std::size_t i) { return whole_size(call.arguments[i], text); };
  const auto must_have = [&](std::size_t count) {
    if (call.arguments.size() != count) {
      throw Error(ErrorKind::bad_config, "n = '{}': {} argument{} given; {}", text, call.arguments.size(),
                  call.arguments.size() == 1 ? "" : "s", kExpectedSize);
    }
  };
  if (call.name.empty() || call.name == "fixed") {
    must_have(1);
    return fixed(argument(0));
  }
  if (call.name != "uniform" && call.name != "log_uniform") {
    throw Error(ErrorKind::bad_config, "n = '{}': unknown distribution '{}'{}", text, call.name,
                did_you_mean(call.name, {"fixed", "uniform", "log_uniform"}));
  }
  must_have(2);
  return call.name == "uniform" ? uniform(argument(0), argument(1)) : log_uniform(argument(0), argument(1));
}

std::string SizeDistribution::text() const {
  switch (kind_) {
    case Kind::fixed:
      return fmt::format("{}", low_);
    case Kind::uniform:
      return fmt::format("uniform({}, {})", low_, high_);
    case Kind::log_uniform:
      return fmt::format("log_uniform({}, {})", low_, high_);
  }
  return {};
}

std::int64_t SizeDistribution::sample(Rng& rng) const {
  switch (kind_) {
    case Kind::fixed:
      return low_;
    case Kind::uniform:
      return rng.uniform_int(low_, high_);
    case Kind::log_uniform: {
      const double low = static_cast<double>(low_);
      const double n = low * std::exp(rng.uniform() * std::log((static_cast<double>(high_) + 1.0) / low));
      return std::clamp(static_cast<std::int64_t>(n), low_, high_);
    }
  }
  throw Error(ErrorKind::internal, "size distribution of unknown kind");
}

}  // namespace occam
