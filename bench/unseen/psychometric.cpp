// Answers to moving dots. Exact: quadrature over two or three parameters, from the counts at ten coherences.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double right = 0.5;
    if (!p.is("guessing")) right = logistic((out.design(i, "coherence") - p["bias"]) / p["width"]);
    if (p.is("lapsing")) right = p["lapses"] / 2 + (1 - p["lapses"]) * right;
    out(i, "right") = rng.bernoulli(right);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("guessing")) return -data.n() * std::log(2.0);
  std::vector<double> level, yes, no;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, "coherence");
    std::size_t k = 0;
    while (k < level.size() && level[k] != x) ++k;
    if (k == level.size()) {
      level.push_back(x);
      yes.push_back(0);
      no.push_back(0);
    }
    ++(data(i, "right") == 1 ? yes : no)[k];
  }
  const auto prior = [](double bias, double log_width) {
    return log_normal(bias, 0, 8) + log_normal(log_width, 2.3, 0.6);
  };
  // The bias in units of 8 %.
  if (p.is("logistic")) {
    return std::log(8.0) + log_integral_around<2>({0, 2.3}, [&](std::array<double, 2> x) {
             const double bias = 8 * x[0], slope = std::exp(-x[1]);
             double sum = prior(bias, x[1]);
             for (std::size_t k = 0; k < level.size(); ++k) {
               const double z = (level[k] - bias) * slope, log_no = -log1pexp(z);
               sum += yes[k] * (z + log_no) + no[k] * log_no;
             }
             return sum;
           });
  }
  return std::log(8.0) + log_integral_around<3>(
                             {0, 2.3, -2.2},
                             [&](std::array<double, 3> x) {
                               const double bias = 8 * x[0], slope = std::exp(-x[1]), lapses = logistic(x[2]);
                               double sum = prior(bias, x[1]) + log_beta_logit(x[2], 2, 18);
                               for (std::size_t k = 0; k < level.size(); ++k) {
                                 const double right =
                                     lapses / 2 + (1 - lapses) * logistic((level[k] - bias) * slope);
                                 sum += yes[k] * std::log(right) + no[k] * std::log1p(-right);
                               }
                               return sum;
                             },
                             0.5);
}
