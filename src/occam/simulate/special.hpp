// Special functions for densities and evidences. All are safe to call from many threads (std::lgamma is not).
#pragma once

namespace occam {

double log_gamma(double x);           // x > 0
double log_beta(double a, double b);  // log B(a, b), accurate when one argument is much larger
double log_normal_cdf(double z);      // log Phi(z), accurate in the far left tail
// log(Phi(high) - Phi(low)), accurate in both tails; low < high, either may be infinite.
double log_normal_interval(double low, double high);
double log_add(double a, double b);  // log(exp(a) + exp(b)); -infinity is allowed

}  // namespace occam
