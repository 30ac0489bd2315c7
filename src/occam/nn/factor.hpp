// What mean products say of a data set once its columns explain each other: the Cholesky factor L of
// M + I/n, M the mean over n observations of u u', with the logarithms of its diagonal. L_jj is the spread of
// u_j that the columns before it leave unexplained, L_jp what they explain: what the evidence of linear and
// Gaussian models is made of, and what layers come near only slowly. The unit matrix stands for a prior worth
// one observation; its scale is that of u, which is learned.
// Element (a, b), a >= b, of M and L is at pair_at(a, b); several blocks lie side by side.
#pragma once

#include <cmath>
#include <cstdint>

#include "occam/core/both.hpp"
#include "occam/data/matrix.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

OCCAM_BOTH constexpr int pair_at(int a, int b) {
  return a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
}

// Less than this share of a column left unexplained is rounding: it counts as so much, and explains nothing
// of the columns behind it. (Dividing by it, one column after the other, would blow rounding up without
// bounds.)
inline constexpr double kLeastLeft = 1e-5;

// One caller: what a loop looks like where no others share it.
struct OneCaller {
  OCCAM_BOTH int rank() const { return 0; }
  OCCAM_BOTH int size() const { return 1; }
  OCCAM_BOTH void wait() const {}
};

// Of one block; `l` (pairs) is scratch. The members of a group share the rows.
template <class Group, class T>
OCCAM_BOTH void factor_block(const Group& group, int k, const T* mean, double n, double* l, T* out) {
  for (int j = 0; j < k; ++j) {
    double* const row = l + pair_at(j, 0);
    const double whole = static_cast<double>(mean[pair_at(j, j)]) + 1 / n;
    for (int i = j + group.rank(); i < k; i += group.size()) {
      const double* const other = l + pair_at(i, 0);
      double sum = i == j ? whole : static_cast<double>(mean[pair_at(i, j)]);
      for (int p = 0; p < j; ++p) sum -= other[p] * row[p];
      l[pair_at(i, j)] = sum;
    }
    group.wait();
    const double left = row[j], least = kLeastLeft * whole;
    const bool rounding = left < least;
    const double root = sqrt(rounding ? least : left);
    group.wait();
    for (int i = j + group.rank(); i < k; i += group.size()) {
      const double value = i == j ? root : rounding ? 0 : l[pair_at(i, j)] / root;
      l[pair_at(i, j)] = value;
      out[pair_at(i, j)] = static_cast<T>(i == j ? log(root) : value);
    }
    group.wait();
  }
}

// From the gradient of `out` to that of `mean`, which is added to; `d` (pairs) scratch.
template <class Group, class T>
OCCAM_BOTH void factor_block_back(const Group& group, int k, const T* mean, double n, const T* out,
                                  const T* d_out, double* d, T* d_mean) {
  const auto factor = [=](int a, int b) { return static_cast<double>(out[pair_at(a, b)]); };
  for (int i = group.rank(); i < k; i += group.size()) {
    for (int j = 0; j < i; ++j) d[pair_at(i, j)] = static_cast<double>(d_out[pair_at(i, j)]);
    d[pair_at(i, i)] = static_cast<double>(d_out[pair_at(i, i)]) * exp(-factor(i, i));
  }
  group.wait();
  for (int j = k - 1; j >= 0; --j) {
    const double root = exp(factor(j, j));
    const double whole = static_cast<double>(mean[pair_at(j, j)]) + 1 / n;
    const bool rounding = root * root < 1.001 * kLeastLeft * whole;
    for (int i = j + 1 + group.rank(); i < k; i += group.size())
      d[pair_at(i, j)] = rounding ? 0 : d[pair_at(i, j)] / root;
    group.wait();
    double of_pivot = d[pair_at(j, j)];
    for (int i = j + 1; i < k; ++i) of_pivot -= d[pair_at(i, j)] * factor(i, j);
    of_pivot = rounding ? 0 : of_pivot / (2 * root);
    group.wait();
    for (int p = group.rank(); p < j; p += group.size()) d[pair_at(j, p)] -= 2 * of_pivot * factor(j, p);
    for (int i = j + 1; i < k; ++i) {
      const double g = d[pair_at(i, j)];
      for (int p = group.rank(); p < j; p += group.size()) {
        d[pair_at(j, p)] -= g * factor(i, p);
        d[pair_at(i, p)] -= g * factor(j, p);
      }
    }
    if (group.rank() == 0) d[pair_at(j, j)] = of_pivot;
    group.wait();
  }
  for (int t = group.rank(); t < k * (k + 1) / 2; t += group.size()) d_mean[t] += static_cast<T>(d[t]);
}

// Of all data sets: moments and out (sets, blocks * pairs), n their sizes by their offsets.
template <class T>
void factor(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
            Matrix<T> out, Workspace& workspace);
// d_moments is added to.
template <class T>
void factor_back(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
                 Matrix<const T> out, Matrix<const T> d_out, Matrix<T> d_moments, Workspace& workspace);

}  // namespace occam
