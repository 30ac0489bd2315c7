// Truncated normal draws: rejection from the normal, a uniform or a shifted exponential, whichever accepts
// most (Robert 1995, doi:10.1007/BF00143942), so that bounds a hundred standard deviations out are no slower.
#include "occam/simulate/prior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfLog2Pi = 0.91893853320467274178;

constexpr std::array<PriorSignature, 12> kSignatures = {{
    {PriorKind::fixed, "fixed", "value", 1, "this value, not free; a plain number means the same"},
    {PriorKind::uniform, "uniform", "low, high", 2, "equal density between low and high"},
    {PriorKind::normal, "normal", "mean, sd", 2, "Gaussian with standard deviation sd"},
    {PriorKind::truncated_normal, "truncated_normal", "mean, sd, low, high", 4,
     "Gaussian cut to low..high; mean and sd are those before the cut; bounds may be inf"},
    {PriorKind::half_normal, "half_normal", "sd", 1, "absolute value of a Gaussian around 0"},
    {PriorKind::lognormal, "lognormal", "log_mean, log_sd", 2, "its natural logarithm is Gaussian"},
    {PriorKind::exponential, "exponential", "rate", 1, "mean 1 / rate"},
    {PriorKind::gamma, "gamma", "shape, scale", 2, "mean shape * scale"},
    {PriorKind::inverse_gamma, "inverse_gamma", "shape, scale", 2, "scale divided by a gamma(shape, 1)"},
    {PriorKind::beta, "beta", "a, b", 2, "on 0..1 with mean a / (a + b)"},
    {PriorKind::discrete_uniform, "discrete_uniform", "low, high", 2, "integers low..high, equally likely"},
    {PriorKind::log_uniform, "log_uniform", "low, high", 2,
     "its logarithm is uniform: equal probability for every order of magnitude; low above 0"},
}};

const PriorSignature& signature_of(PriorKind kind) {
  return kSignatures[static_cast<std::size_t>(kind)];
}

// log(b / a), 0 < a < b, also where they are neighbours or a world apart.
double log_ratio(double a, double b) {
  return 0.5 * b < a ? std::log1p((b - a) / a) : std::log(b) - std::log(a);
}

// Standard normal between a and b, 0 <= a < b.
double sample_right_tail(Rng& rng, double a, double b) {
  const double root = std::sqrt(a * a + 4.0);
  const double rate = 0.5 * (a + root);
  const double wide = 2.0 / (a + root) * std::exp(0.5 - a / (a + root));  // a^2 - a root = -4a / (a + root)
  if (b - a > wide) {
    for (;;) {  // shifted exponential with the rate that accepts most
      const double z = a + rng.exponential() / rate;
      const double off = z - rate;
      if (z <= b && rng.uniform() < std::exp(-0.5 * off * off)) return z;
    }
  }
  for (;;) {  // so narrow that a uniform accepts more
    const double z = rng.uniform(a, b);
    if (rng.uniform() < std::exp(0.5 * (a - z) * (a + z))) return z;
  }
}

// Standard normal between a and b, a < b, either infinite.
double sample_between(Rng& rng, double a, double b) {
  if (a >= 0.0) return sample_right_tail(rng, a, b);
  if (b <= 0.0) return -sample_right_tail(rng, -b, -a);
  if (b - a > std::sqrt(2.0 * std::numbers::pi)) {
    for (;;) {
      const double z = rng.normal();
      if (z >= a && z <= b) return z;
    }
  }
  for (;;) {
    const double z = rng.uniform(a, b);
    if (rng.uniform() < std::exp(-0.5 * z * z)) return z;
  }
}

// Mean and standard deviation of a standard normal between a and b, by Simpson's rule where the density is
// not negligible: the textbook differences of distribution functions cancel in the tails.
std::array<double, 2> moments_between(double a, double b) {
  if (b <= 0.0) {
    const auto [mean, sd] = moments_between(-b, -a);
    return {-mean, sd};
  }
  const double peak = std::max(a, 0.0);
  const double reach = std::sqrt(peak * peak + 80.0) - peak;  // the density has fallen by exp(-40)
  const double low = std::max(a, peak - reach);
  const double high = std::min(b, peak + reach);
  constexpr int kCells = 2000;
  const double h = (high - low) / kCells;
  std::array<double, 3> sums{};  // of (z - peak)^k
  for (int i = 0; i <= kCells; ++i) {
    const double y = low - peak + i * h;
    const double weight = (i == 0 || i == kCells ? 1.0
                           : i % 2 == 1          ? 4.0
                                                 : 2.0) *
                          std::exp(-y * (peak + 0.5 * y));
    sums[0] += weight;
    sums[1] += weight * y;
    sums[2] += weight * y * y;
  }
  const double mean = sums[1] / sums[0];
  return {peak + mean, std::sqrt(std::max(0.0, sums[2] / sums[0] - mean * mean))};
}

}  // namespace

Prior::Prior(PriorKind kind, std::array<double, 4> arguments) : kind_(kind), arguments_(arguments) {
  for (double& argument : arguments_) argument += 0.0;  // -0 becomes 0: equal priors have equal text
  check();
}

Prior Prior::fixed(double value) {
  return {PriorKind::fixed, {value}};
}
Prior Prior::uniform(double low, double high) {
  return {PriorKind::uniform, {low, high}};
}
Prior Prior::normal(double mean, double sd) {
  return {PriorKind::normal, {mean, sd}};
}
Prior Prior::truncated_normal(double mean, double sd, double low, double high) {
  return {PriorKind::truncated_normal, {mean, sd, low, high}};
}
Prior Prior::half_normal(double sd) {
  return {PriorKind::half_normal, {sd}};
}
Prior Prior::lognormal(double log_mean, double log_sd) {
  return {PriorKind::lognormal, {log_mean, log_sd}};
}
Prior Prior::exponential(double rate) {
  return {PriorKind::exponential, {rate}};
}
Prior Prior::gamma(double shape, double scale) {
  return {PriorKind::gamma, {shape, scale}};
}
Prior Prior::inverse_gamma(double shape, double scale) {
  return {PriorKind::inverse_gamma, {shape, scale}};
}
Prior Prior::beta(double a, double b) {
  return {PriorKind::beta, {a, b}};
}
Prior Prior::discrete_uniform(double low, double high) {
  return {PriorKind::discrete_uniform, {low, high}};
}
Prior Prior::log_uniform(double low, double high) {
  return {PriorKind::log_uniform, {low, high}};
}

void Prior::check() const {
  const auto must = [&](bool ok, std::string_view expected) {
    if (!ok) throw Error(ErrorKind::bad_config, "'{}': {}", text(), expected);
  };
  const auto [a, b, c, d] = arguments_;
  const bool bounds_may_be_infinite = kind_ == PriorKind::truncated_normal;
  for (int i = 0; i < signature_of(kind_).count; ++i) {
    const bool free_end = bounds_may_be_infinite && i >= 2 && !std::isnan(argument(i));
    must(free_end || std::isfinite(argument(i)), "arguments must be finite numbers");
  }
  switch (kind_) {
    case PriorKind::fixed:
      break;
    case PriorKind::uniform:
      must(a < b, "low must be below high");
      must(std::isfinite(b - a), "low and high are too far apart");
      break;
    case PriorKind::normal:
      must(b > 0.0, "sd must be above 0");
      break;
    case PriorKind::truncated_normal:
      must(b > 0.0, "sd must be above 0");
      must(c < d, "low must be below high");
      must(std::isfinite(log_normal_interval((c - a) / b, (d - a) / b)),
           "no probability is left between the bounds");
      break;
    case PriorKind::half_normal:
      must(a > 0.0, "sd must be above 0");
      break;
    case PriorKind::lognormal:
      must(b > 0.0, "log_sd must be above 0");
      break;
    case PriorKind::exponential:
      must(a > 0.0, "rate must be above 0");
      break;
    case PriorKind::gamma:
    case PriorKind::inverse_gamma:
      must(a > 0.0, "shape must be above 0");
      must(b > 0.0, "scale must be above 0");
      break;
    case PriorKind::beta:
      must(a > 0.0 && b > 0.0, "a and b must be above 0");
      break;
    case PriorKind::discrete_uniform:
      must(a == std::floor(a) && b == std::floor(b), "low and high must be integers");
      must(std::fabs(a) <= 0x1p53 && std::fabs(b) <= 0x1p53, "low and high must lie within 2^53");
      must(a < b, "low must be below high");
      break;
    case PriorKind::log_uniform:
      must(a > 0.0, "low must be above 0");
      must(a < b, "low must be below high");
      break;
  }
}

Prior Prior::parse(std::string_view text) {
  const CallText call = parse_call(text);
  if (call.name.empty()) return fixed(call.arguments.at(0));
  std::vector<std::string> names;
  for (const PriorSignature& signature : kSignatures) {
    names.emplace_back(signature.name);
    if (signature.name != call.name) continue;
    if (static_cast<int>(call.arguments.size()) != signature.count) {
      throw Error(ErrorKind::bad_config, "'{}': {} argument{} given, expected {}({})", text,
                  call.arguments.size(), call.arguments.size() == 1 ? "" : "s", signature.name,
                  signature.arguments);
    }
    std::array<double, 4> arguments{};
    std::copy(call.arguments.begin(), call.arguments.end(), arguments.begin());
    return {signature.kind, arguments};
  }
  throw Error(ErrorKind::bad_config, "'{}': unknown prior '{}'{}", text, call.name,
              did_you_mean(call.name, names));
}

std::string Prior::text() const {
  if (is_fixed()) return number_text(arguments_[0]);
  const PriorSignature& signature = signature_of(kind_);
  return call_text(signature.name, {arguments_.begin(), arguments_.begin() + signature.count});
}

std::span<const PriorSignature> Prior::signatures() {
  return kSignatures;
}

double Prior::sample(Rng& rng) const {
  const auto [a, b, c, d] = arguments_;
  switch (kind_) {
    case PriorKind::fixed:
      return a;
    case PriorKind::uniform:
      return rng.uniform(a, b);
    case PriorKind::normal:
      return a + b * rng.normal();
    case PriorKind::truncated_normal:  // clamped: a + b * z may round past a bound
      return std::clamp(a + b * sample_between(rng, (c - a) / b, (d - a) / b), c, d);
    case PriorKind::half_normal:
      return a * std::fabs(rng.normal());
    case PriorKind::lognormal:
      return std::exp(a + b * rng.normal());
    case PriorKind::exponential:
      return rng.exponential() / a;
    case PriorKind::gamma:
      return b * rng.gamma(a);
    case PriorKind::inverse_gamma:
      return b / rng.gamma(a);
    case PriorKind::beta:
      return rng.beta(a, b);
    case PriorKind::discrete_uniform:
      return static_cast<double>(rng.uniform_int(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    case PriorKind::log_uniform:  // clamped: it may round past a bound
      return std::clamp(std::exp(rng.uniform(std::log(a), std::log(b))), a, b);
  }
  throw Error(ErrorKind::internal, "prior of unknown kind");
}

double Prior::log_density(double x) const {
  if (!(x >= lower() && x <= upper())) return -kInfinity;
  const auto [a, b, c, d] = arguments_;
  const auto log_normal_density = [](double z) { return -0.5 * z * z - kHalfLog2Pi; };
  // (power) log(y), with 0 log(0) = 0: densities may be finite, zero or infinite at an end of their support.
  const auto power_log = [](double power, double y) { return power == 0.0 ? 0.0 : power * std::log(y); };
  switch (kind_) {
    case PriorKind::fixed:
      return 0.0;
    case PriorKind::uniform:
      return -std::log(b - a);
    case PriorKind::normal:
      return log_normal_density((x - a) / b) - std::log(b);
    case PriorKind::truncated_normal:
      return log_normal_density((x - a) / b) - std::log(b) - log_normal_interval((c - a) / b, (d - a) / b);
    case PriorKind::half_normal:
      return std::log(2.0) + log_normal_density(x / a) - std::log(a);
    case PriorKind::lognormal:
      if (x == 0.0) return -kInfinity;
      return log_normal_density((std::log(x) - a) / b) - std::log(b) - std::log(x);
    case PriorKind::exponential:
      return std::log(a) - a * x;
    case PriorKind::gamma:
      return power_log(a - 1.0, x / b) - x / b - log_gamma(a) - std::log(b);
    case PriorKind::inverse_gamma:
      if (x == 0.0) return -kInfinity;
      return (a + 1.0) * std::log(b / x) - b / x - log_gamma(a) - std::log(b);
    case PriorKind::beta:
      return power_log(a - 1.0, x) + (b == 1.0 ? 0.0 : (b - 1.0) * std::log1p(-x)) - log_beta(a, b);
    case PriorKind::discrete_uniform:
      return x == std::floor(x) ? -std::log(b - a + 1.0) : -kInfinity;
    case PriorKind::log_uniform:
      return -std::log(x) - std::log(log_ratio(a, b));
  }
  throw Error(ErrorKind::internal, "prior of unknown kind");
}

double Prior::lower() const {
  switch (kind_) {
    case PriorKind::fixed:
    case PriorKind::uniform:
    case PriorKind::discrete_uniform:
    case PriorKind::log_uniform:
      return arguments_[0];
    case PriorKind::truncated_normal:
      return arguments_[2];
    case PriorKind::normal:
      return -kInfinity;
    default:
      return 0.0;
  }
}

double Prior::upper() const {
  switch (kind_) {
    case PriorKind::fixed:
      return arguments_[0];
    case PriorKind::uniform:
    case PriorKind::discrete_uniform:
    case PriorKind::log_uniform:
      return arguments_[1];
    case PriorKind::truncated_normal:
      return arguments_[3];
    case PriorKind::beta:
      return 1.0;
    default:
      return kInfinity;
  }
}

std::array<double, 2> Prior::location_and_spread() const {
  const auto [a, b, c, d] = arguments_;
  switch (kind_) {
    case PriorKind::fixed:
      return {a, 0.0};
    case PriorKind::uniform:
      return {a + 0.5 * (b - a), (b - a) / std::sqrt(12.0)};
    case PriorKind::normal:
      return {a, b};
    case PriorKind::truncated_normal: {
      const auto [mean, sd] = moments_between((c - a) / b, (d - a) / b);
      return {a + b * mean, b * sd};
    }
    case PriorKind::half_normal:
      return {a * std::sqrt(2.0 / std::numbers::pi), a * std::sqrt(1.0 - 2.0 / std::numbers::pi)};
    case PriorKind::lognormal: {
      const double mean = std::exp(a + 0.5 * b * b);
      const double sd = mean * std::sqrt(std::expm1(b * b));
      if (std::isfinite(sd)) return {mean, sd};
      return {std::exp(a), std::min(std::exp(a) * std::sinh(b), std::numeric_limits<double>::max())};
    }
    case PriorKind::exponential:
      return {1.0 / a, 1.0 / a};
    case PriorKind::gamma:
      return {a * b, std::sqrt(a) * b};
    case PriorKind::inverse_gamma: {
      if (a > 2.0) return {b / (a - 1.0), b / ((a - 1.0) * std::sqrt(a - 2.0))};
      constexpr double kOneSigma = 0.15865525393145705;  // Phi(-1)
      const auto quantile = [a = a,
                             b = b](double p) {  // a tiny shape puts quantiles beyond the largest double
        const double y = boost::math::gamma_q_inv(a, p);
        return y > 0.0 ? std::min(b / y, std::numeric_limits<double>::max())
                       : std::numeric_limits<double>::max();
      };
      return {quantile(0.5), 0.5 * (quantile(1.0 - kOneSigma) - quantile(kOneSigma))};
    }
    case PriorKind::beta:
      return {a / (a + b), std::sqrt(a * b / (a + b + 1.0)) / (a + b)};
    case PriorKind::discrete_uniform:
      return {0.5 * (a + b), std::sqrt(((b - a + 1.0) * (b - a + 1.0) - 1.0) / 12.0)};
    case PriorKind::log_uniform: {
      // With h half the width of the logarithm: mean square / squared mean = h coth(h), 1 + h^2 / 3 near 0.
      const double h = 0.5 * log_ratio(a, b);
      const double mean = (b - a) / (2.0 * h);
      return {mean, mean * std::sqrt(h < 1e-3 ? h * h / 3.0 : h / std::tanh(h) - 1.0)};
    }
  }
  throw Error(ErrorKind::internal, "prior of unknown kind");
}

double Prior::mean() const {
  return location_and_spread()[0];
}
double Prior::sd() const {
  return location_and_spread()[1];
}

}  // namespace occam
