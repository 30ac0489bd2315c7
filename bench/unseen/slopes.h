// Lines of several people: what is known of level and slope from weighted sums, with one after the other integrated out.
#pragma once

#include <cmath>

// X' P X, X' P y and y' P y of predictors 1 and day, P the precision of noise; less what was integrated out.
struct Information {
  double xx[2][2] = {}, xy[2] = {}, yy = 0, log_det = 0;

  void add(double weight, double one, double day, double y) {
    const double x[] = {one, day};
    for (int i = 0; i < 2; ++i) {
      xy[i] += weight * x[i] * y;
      for (int j = 0; j < 2; ++j) xx[i][j] += weight * x[i] * x[j];
    }
    yy += weight * y * y;
  }
  void add(const Information& other) {
    for (int i = 0; i < 2; ++i) {
      xy[i] += other.xy[i];
      for (int j = 0; j < 2; ++j) xx[i][j] += other.xx[i][j];
    }
    yy += other.yy;
    log_det += other.log_det;
  }
  // Coefficient k, of mean 0 and this standard deviation, drawn for these rows.
  void take(int k, double sd) {
    if (sd <= 0) return;
    const double whole = 1 + sd * sd * xx[k][k], share = sd * sd / whole;
    const double of_y = xy[k], of_x[] = {xx[0][k], xx[1][k]};
    log_det += std::log(whole);
    yy -= share * of_y * of_y;
    for (int i = 0; i < 2; ++i) {
      xy[i] -= share * of_x[i] * of_y;
      for (int j = 0; j < 2; ++j) xx[i][j] -= share * of_x[i] * of_x[j];
    }
  }
};
