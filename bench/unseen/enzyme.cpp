// Michaelis and Menten, or a line through zero. Exact: quadrature over two or three parameters within the
// bounds of their priors; the slope, or the largest rate, from the sums of a regression.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double c = out.design(i, "concentration");
    const double mean = p.has("slope") ? p["slope"] * c : p["largest"] * c / (p["half"] + c);
    out(i, "rate") = mean + p["noise"] * rng.normal();
  }
  return true;
}

namespace {

struct Line {  // y on x, through zero
  double xx = 0, xy = 0, yy = 0, n = 0;
  void add(double x, double y) { xx += x * x, xy += x * y, yy += y * y, ++n; }
  double squares(double b) const { return std::max(0.0, yy - 2 * b * xy + b * b * xx); }
};

// Over b with log b uniform from low to high, where the integrand is not vanishing.
double over_slope(const Line& line, double low, double high, double sigma) {
  const double middle = line.xy / line.xx, best = std::clamp(middle, low, high);
  const double reach = std::sqrt((best - middle) * (best - middle) + 90 * sigma * sigma / line.xx);
  const double from = std::log(std::max(low, middle - reach)), to = std::log(std::min(high, middle + reach));
  return log_integral(from, to, 6 * FINE,
                      [&](double log_b) { return -0.5 * line.squares(std::exp(log_b)) / (sigma * sigma); }) -
         std::log(std::log(high / low)) - line.n * (std::log(sigma) + 0.5 * std::log(2 * kPi));
}

double over_noise(const Line& line, double low, double high) {
  return log_integral(0, std::log(50.0), 6 * FINE,
                      [&](double log_sigma) { return over_slope(line, low, high, std::exp(log_sigma)); }) -
         std::log(std::log(50.0));
}

Line with_half(const occam::Data& data, double half) {
  Line line;
  for (long i = 0; i < data.n(); ++i) {
    const double c = data(i, "concentration");
    line.add(half < 0 ? c : c / (half + c), data(i, "rate"));
  }
  return line;
}

// How well a value of `half` can do at most, up to a constant.
double profile(const Line& line) {
  const double b = std::clamp(line.xy / line.xx, 50.0, 500.0);
  return -0.5 * line.n * std::log(line.squares(b) / line.n + 0.3);
}

}  // namespace

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("proportional")) return over_noise(with_half(data, -1), 10, 1000);
  constexpr int kPlaces = 400;
  const double low = std::log(0.005), width = -low;
  std::vector<double> there(kPlaces + 1);
  for (int i = 0; i <= kPlaces; ++i)
    there[static_cast<std::size_t>(i)] = profile(with_half(data, std::exp(low + width * i / kPlaces)));
  const double best = *std::max_element(there.begin(), there.end());
  int first = 0, last = kPlaces;
  while (there[static_cast<std::size_t>(first)] < best - 40) ++first;
  while (there[static_cast<std::size_t>(last)] < best - 40) --last;
  const double from = low + width * std::max(0, first - 1) / kPlaces;
  const double to = low + width * std::min(kPlaces, last + 1) / kPlaces;
  return log_integral(
             from, to, 16 * FINE,
             [&](double log_half) { return over_noise(with_half(data, std::exp(log_half)), 50, 500); }) -
         std::log(width);
}
