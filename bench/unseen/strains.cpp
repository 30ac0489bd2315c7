// Lines through zero, as losses are taken against colonies without the drug; nobody knows which strain a
// colony is of. Exact: quadrature over noise and growth, a slope being conjugate, or over both slopes and the
// noise.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double dose = out.design(i, "dose");
    const double slope = p["slope"] + (p.is("two") && rng.bernoulli(p["quarters"] / 4) ? p["gap"] : 0);
    const double sd = p["noise"] * (p.is("widening") ? 1 + p["growth"] * dose : 1);
    out(i, "loss") = static_cast<float>(slope * dose + sd * rng.normal());
  }
  return true;
}

namespace {

// A line whose noise grows; slopes are taken about the mean of their prior.
double one_line(const occam::Data& data, double log_noise, double growth) {
  Sums<1> sums;
  double log_sd = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, 0), sd = 1 + growth * x;
    sums.add({x / sd}, (data(i, 1) - x) / sd);
    log_sd += std::log(sd);
  }
  return log_normal(log_noise, -0.7, 0.4) - log_sd + sums.evidence(std::exp(log_noise), {0.7});
}

}  // namespace

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("one")) {
    return log_integral_around<1>({-0.7}, [&](std::array<double, 1> x) { return one_line(data, x[0], 0); });
  }
  if (p.is("widening")) {
    return log_integral_around<2>({-0.7, 0}, [&](std::array<double, 2> x) {
      return log_gamma_log(x[1], 2, 0.5) + one_line(data, x[0], std::exp(x[1]));
    });
  }
  const double n = static_cast<double>(data.n());
  // About the mean of both slopes by their shares, which data tell best.
  LogSum sum;
  for (const double share : {0.25, 0.5, 0.75}) {
    sum.add(-std::log(3.0) +
            log_integral_around<3>(
                {1.5, 0, -0.7},
                [&](std::array<double, 3> x) {
                  const double gap = std::exp(x[1]), slope = x[0] - share * gap, precision = std::exp(-x[2]);
                  double l = log_normal(slope, 1, 0.7) + log_gamma_log(x[1], 4, 0.3) +
                             log_normal(x[2], -0.7, 0.4) - n * (x[2] + 0.5 * std::log(2 * kPi));
                  double product = 1;
                  for (long i = 0; i < data.n(); ++i) {
                    const double dose = data(i, 0), above = precision * gap * dose;
                    const double z = precision * (data(i, 1) - slope * dose), other = z - above;
                    const bool nearer = z * z < other * other;
                    l -= 0.5 * (nearer ? z * z : other * other);
                    const double ratio =
                        std::exp(-std::abs(above * (z - 0.5 * above)));  // of the farther line to the nearer
                    product *= nearer ? 1 - share + share * ratio : share + (1 - share) * ratio;
                    if (product < 1e-200) {
                      l += std::log(product);
                      product = 1;
                    }
                  }
                  return l + std::log(product);
                },
                0.7));
  }
  return sum.value();
}
