#include "occam/check/evidence_fit.hpp"

#include <algorithm>
#include <cmath>

#include "occam/check/statistics.hpp"

namespace occam {

void CentredSum::add(double value, double variance, double third_moment) {
  sum_ += value;
  variance_ += variance;
  third_ += third_moment;
}

double CentredSum::z() const {
  if (variance_ > 0) return sum_ / std::sqrt(variance_);
  return std::fabs(sum_) > 1e-6 ? std::copysign(1e9, sum_) : 0.0;  // what cannot vary does
}

double CentredSum::excess(double level) const {
  const double reach = normal_quantile(1 - level / 2);
  const double skewness = variance_ > 0 ? third_ / std::pow(variance_, 1.5) : 0.0;
  const double shift = (reach * reach - 1) * skewness / 6;
  // Skewness shortens one tail; the limit there is not trusted below two thirds of the normal one.
  const double limit = std::max(reach + (z() > 0 ? shift : -shift), reach * 2 / 3);
  return std::fabs(z()) / limit;
}

void EvidenceFit::add(std::span<const double> q, std::size_t truth) {
  // Of a probability that underflowed nothing is known but that it is tiny.
  const auto surprise = [](double p) { return -std::log(std::max(p, 1e-300)); };
  double entropy = 0, variance = 0, third = 0;
  for (const double p : q) entropy += p * surprise(p);
  for (const double p : q) {
    const double off = surprise(p) - entropy;
    variance += p * off * off;
    third += p * off * off * off;
  }
  loss_.add(surprise(q[truth]) - entropy, variance, third);
  for (std::size_t j = 0; j < q.size(); ++j) {
    const double spread = q[j] * (1 - q[j]);
    shares_[j].add((j == truth ? 1 : 0) - q[j], spread, spread * (1 - 2 * q[j]));
  }
}

double EvidenceFit::excess(double level) const {
  const double each = level / static_cast<double>(1 + shares_.size());
  double largest = loss_.excess(each);
  for (const CentredSum& one : shares_) largest = std::max(largest, one.excess(each));
  return largest;
}

std::size_t EvidenceFit::worst_model() const {
  const auto found = std::max_element(
      shares_.begin(), shares_.end(),
      [](const CentredSum& a, const CentredSum& b) { return std::fabs(a.z()) < std::fabs(b.z()); });
  return static_cast<std::size_t>(found - shares_.begin());
}

}  // namespace occam
