// The logarithm of a product of positive numbers, without one for each.
#pragma once

#include <cmath>

namespace occam {

class LogProduct {
 public:
  void multiply(double x) {
    product_ *= x;
    if (product_ > 1e200 || product_ < 1e-200) fold();
  }
  double log() {
    fold();
    return log_;
  }

 private:
  void fold() {
    log_ += std::log(product_);
    product_ = 1;
  }
  double product_ = 1, log_ = 0;
};

}  // namespace occam
