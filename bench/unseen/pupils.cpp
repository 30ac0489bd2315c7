// Scores of 2 to 6 pupils in each of 3 to 8 classes, each of a pupil drawn anew. Exact: pupils are within
// classes, so that sums of their scores, then sums over classes, say all given both spreads, over which
// quadrature goes.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kClasses = 8, kPupils = 6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto classes = rng.integer(3, kClasses), pupils = rng.integer(2, kPupils);
  double of_class[kClasses] = {}, of_pupil[kClasses][kPupils] = {};
  for (std::size_t c = 0; c < kClasses; ++c) {
    of_class[c] = p.has("class_spread") ? p["class_spread"] * rng.normal() : 0;
    for (double& one : of_pupil[c]) one = p.has("pupil_spread") ? p["pupil_spread"] * rng.normal() : 0;
  }
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const auto c = rng.integer(1, classes), k = rng.integer(1, pupils);
    out(i, "class") = static_cast<float>(c);
    out(i, "pupil") = static_cast<float>(k);
    out(i, "score") =
        static_cast<float>(50 + sd * (p["level"] + of_class[c - 1] + of_pupil[c - 1][k - 1] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double count[kClasses][kPupils] = {}, sum[kClasses][kPupils] = {}, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const auto c = static_cast<std::size_t>(data(i, 0)) - 1, k = static_cast<std::size_t>(data(i, 1)) - 1;
    const double y = data(i, 2) - 50.0;
    ++count[c][k];
    sum[c][k] += y;
    squares += y * y;
  }
  // Effects of a group with this spread take their share of its sum, and of its weight.
  const auto with = [&](double classes, double pupils) {
    double left = squares, log_det = 0;
    const auto take = [&](double variance, double& weight, double& total) {
      const double shrink = 1 + variance * weight;
      left -= variance * total * total / shrink;
      log_det += std::log(shrink);
      weight /= shrink;
      total /= shrink;
    };
    double weight = 0, total = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      double class_weight = 0, class_total = 0;
      for (std::size_t k = 0; k < kPupils; ++k) {
        double own_weight = count[c][k], own_total = sum[c][k];
        take(pupils * pupils, own_weight, own_total);
        class_weight += own_weight;
        class_total += own_total;
      }
      take(classes * classes, class_weight, class_total);
      weight += class_weight;
      total += class_total;
    }
    take(4, weight, total);
    return -0.5 * log_det + log_variance_evidence(static_cast<double>(data.n()), left, 4, 300);
  };
  const auto over = [](auto f) {
    return log_integral(0, 4.2, 10 * FINE, [&](double s) { return log_half_normal(s, 0.7) + f(s); });
  };
  if (p.is("neither")) return with(0, 0);
  if (p.is("classes")) return over([&](double s) { return with(s, 0); });
  if (p.is("pupils")) return over([&](double t) { return with(0, t); });
  return over([&](double s) { return over([&](double t) { return with(s, t); }); });
}
