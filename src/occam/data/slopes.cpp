#include "occam/data/slopes.hpp"

#include <cmath>

namespace occam {

double SlopesBetween::any() const {
  return log_mean_exp(spreads);
}

SlopesBetween slopes_between(std::span<const std::int32_t> groups, std::span<const double> x,
                             std::span<const double> y, std::span<LineSums> labels) {
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (groups[i] >= 0 && !std::isnan(x[i]) && !std::isnan(y[i]))
        use(x[i], y[i], labels[static_cast<std::size_t>(groups[i])]);
    }
  };
  double n = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0;
  each([&](double a, double b, LineSums&) {
    ++n;
    mean_x += a;
    mean_y += b;
  });
  if (n < 3) return {};
  mean_x /= n;
  mean_y /= n;
  each([&](double a, double b, LineSums&) {
    xx += (a - mean_x) * (a - mean_x);
    yy += (b - mean_y) * (b - mean_y);
  });
  if (!(xx > 0) || !(yy > 0) || !std::isfinite(xx + yy)) return {};
  const double factor = std::sqrt(n / xx);
  std::fill(labels.begin(), labels.end(), LineSums{});
  each([&](double a, double b, LineSums& own) { own.add(1, 1, factor * (a - mean_x), b - mean_y); });
  const LineEvidence plain = line_evidence(labels, 0, n, yy);
  SlopesBetween result;
  result.same = plain.line - plain.level;
  for (std::size_t k = 0; k < kSpreadsBetween.size(); ++k)
    result.spreads[k] = line_evidence(labels, kSpreadsBetween[k], n, yy).line - plain.level;
  return result;
}

}  // namespace occam
