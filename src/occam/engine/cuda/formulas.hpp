// The mathematics of the device: what a kernel computes of single numbers, and of one data set's outputs.
// Compiled for the device and for the host, where the tests hold it against the library's own.
#pragma once

#include <cmath>
#include <cstdint>

#include "occam/core/both.hpp"
#include "occam/networks/inputs.hpp"
#include "occam/nn/activation.hpp"
#include "occam/nn/loss.hpp"

namespace occam::gpu {

// e^x to about six digits: where a result is rounded to less in any case.
OCCAM_BOTH inline float quick_exp(float x) {
#ifdef __CUDA_ARCH__
  return __expf(x);
#else
  return std::exp(x);
#endif
}

OCCAM_BOTH inline float activate(Activation activation, float x) {
  return activation == Activation::elu && x <= 0 ? quick_exp(x) - 1 : x;
}

// Of the activation, from its output.
OCCAM_BOTH inline float slope(Activation activation, float y) {
  return activation == Activation::elu && y <= 0 ? y + 1 : 1.0f;
}

OCCAM_BOTH inline double transformed(Transformation transformation, double centre, double width, double x) {
  switch (transformation) {
    case Transformation::log:
      return log(x > centre ? x : centre);
    case Transformation::asinh:
      return asinh((x - centre) / width);
    case Transformation::none:
      break;
  }
  return x;
}

// For x >= 1: a recurrence up to where the asymptotic series is exact to double.
constexpr double kSeriesFrom = 12;

OCCAM_BOTH inline double digamma(double x) {
  double below = 0;
  for (; x < kSeriesFrom; x += 1) below += 1 / x;
  const double i = 1 / x, q = i * i;
  const double series =
      q * (1.0 / 12 -
           q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q * (1.0 / 132 - q * (691.0 / 32760))))));
  return log(x) - i / 2 - series - below;
}

OCCAM_BOTH inline double trigamma(double x) {
  double below = 0;
  for (; x < kSeriesFrom; x += 1) below += 1 / (x * x);
  const double i = 1 / x, q = i * i;
  const double series =
      i * q *
      (1.0 / 6 - q * (1.0 / 30 - q * (1.0 / 42 - q * (1.0 / 30 - q * (5.0 / 66 - q * (691.0 / 2730))))));
  return i + q / 2 + series + below;
}

OCCAM_BOTH inline double softplus(double x) {
  return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

OCCAM_BOTH inline double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

OCCAM_BOTH inline double log_concentration(Link link, double f) {
  if (link == Link::exp) return softplus(f);
  if (link == Link::softplus) return log1p(softplus(f));
  return log1p(f > 0 ? f : 0);
}

// d log alpha / d f.
OCCAM_BOTH inline double log_slope(Link link, double f) {
  if (link == Link::exp) return sigmoid(f);
  if (link == Link::softplus) return sigmoid(f) / (1 + softplus(f));
  return f > 0 ? 1 / (1 + f) : 0;
}

// As in nn/loss: beyond it nothing changes.
constexpr double kLargestLogAlpha = 27;

OCCAM_BOTH inline double bounded_alpha(Link link, double f) {
  const double log_alpha = log_concentration(link, f);
  return exp(log_alpha < kLargestLogAlpha ? log_alpha : kLargestLogAlpha);
}

// The factor of keep_moving (nn/loss).
OCCAM_BOTH inline double moving_factor(double f) {
  if (f >= -1) return 1;
  const double factor = exp(-1 - f);
  return factor < 1e4 ? factor : 1e4;
}

// A single caller: what a loop over the models of a data set looks like where no others share it.
struct Alone {
  OCCAM_BOTH int rank() const { return 0; }
  OCCAM_BOTH int size() const { return 1; }
  OCCAM_BOTH double sum(double x) const { return x; }
  OCCAM_BOTH double most(double x) const { return x; }
};

// log sum exp of what `value(j)` gives.
template <class Group, class Value>
OCCAM_BOTH double log_sum(const Group& group, int J, const Value& value) {
  double top = -INFINITY, sum = 0;
  for (int j = group.rank(); j < J; j += group.size()) top = fmax(top, value(j));
  top = group.most(top);
  for (int j = group.rank(); j < J; j += group.size()) sum += exp(value(j) - top);
  return top + log(group.sum(sum));
}

// The evidential loss of one data set with its gradient, as nn/loss has it, keep_moving included. The members
// of a group take every size-th model each.
template <class Group>
OCCAM_BOTH double evidential(const Group& group, Link link, double lambda, const float* f, int J, int truth,
                             float* d_f) {
  const double total_log = log_sum(group, J, [=](int j) { return log_concentration(link, f[j]); });
  double loss = total_log - log_concentration(link, f[truth]);
  double total = 0, kl = 0, shared = 0;
  if (lambda != 0) {
    for (int j = group.rank(); j < J; j += group.size()) total += j == truth ? 1 : bounded_alpha(link, f[j]);
    total = group.sum(total);
    const double psi_total = digamma(total);
    for (int j = group.rank(); j < J; j += group.size()) {
      const double a = j == truth ? 1 : bounded_alpha(link, f[j]);
      if (a != 1) kl += (a - 1) * (digamma(a) - psi_total) - lgamma(a);
    }
    kl = group.sum(kl) + lgamma(total) - lgamma(static_cast<double>(J));
    shared = trigamma(total) * (total - J);
    loss += lambda * kl;
  }
  for (int j = group.rank(); j < J; j += group.size()) {
    const double p = exp(log_concentration(link, f[j]) - total_log);
    double d = (p - (j == truth ? 1 : 0)) * log_slope(link, f[j]);
    if (lambda != 0 && j != truth) {
      const double a = bounded_alpha(link, f[j]);
      d += lambda * ((a - 1) * trigamma(a) - shared) * a * log_slope(link, f[j]);
    }
    d_f[j] = static_cast<float>(d * moving_factor(f[j]));
  }
  return loss;
}

// Cross entropy and its gradient.
template <class Group>
OCCAM_BOTH double cross_entropy(const Group& group, const float* f, int J, int truth, float* d_f) {
  const double total = log_sum(group, J, [=](int j) { return static_cast<double>(f[j]); });
  for (int j = group.rank(); j < J; j += group.size()) {
    d_f[j] = static_cast<float>(exp(f[j] - total) - (j == truth ? 1 : 0));
  }
  return total - f[truth];
}

// One weight's step of Adam; rate and root hold the corrections of the first steps.
OCCAM_BOTH inline void adam_step(float gradient, float rate, float root, float& m, float& v, float& weight) {
  constexpr float b1 = 0.9f, b2 = 0.999f;
  m = b1 * m + (1 - b1) * gradient;
  v = b2 * v + (1 - b2) * gradient * gradient;
  weight -= rate * m / (sqrtf(v) * root + 1e-8f);
}

}  // namespace occam::gpu
