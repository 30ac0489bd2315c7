// Regression on none, one or all of eight predictors. Exact: conjugate, and a sum over the one.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double b[8] = {};
  if (p.is("one")) b[static_cast<int>(p["which"]) - 1] = p["b"];
  if (p.is("all")) {
    const char* names[] = {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"};
    for (int k = 0; k < 8; ++k) b[k] = p[names[k]];
  }
  const double sigma = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    double y = rng.normal();
    for (int k = 0; k < 8; ++k) {
      out(i, k) = rng.normal();
      y += b[k] * out(i, k);
    }
    out(i, 8) = sigma * y;
  }
  return true;
}

double regression_on(std::vector<int> columns, double sd, const occam::Data& data) {
  Regression regression(std::vector<double>(columns.size(), 0.0), std::vector<double>(columns.size(), sd));
  for (long i = 0; i < data.n(); ++i) {
    std::vector<double> x;
    for (const int column : columns) x.push_back(data(i, column));
    regression.add(x, data(i, 8));
  }
  return regression.with_variance_prior(3, 2);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("none")) return regression_on({}, 1, data);
  if (p.is("all")) return regression_on({0, 1, 2, 3, 4, 5, 6, 7}, 0.25, data);
  LogSum sum;
  for (int k = 0; k < 8; ++k) sum.add(std::log(0.125) + regression_on({k}, 0.7, data));
  return sum.value();
}
