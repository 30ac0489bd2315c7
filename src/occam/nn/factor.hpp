// What mean products say of a data set once its columns explain each other: the Cholesky factor L of
// M + I/n, M the mean over n observations of u u', with the logarithms of its diagonal. L_jj is the spread of
// u_j that the columns before it leave unexplained, L_jp what they explain: what the evidence of linear and
// Gaussian models is made of, and what layers come near only slowly. The unit matrix stands for a prior worth
// one observation; its scale is that of u, which is learned.
// Element (a, b), a >= b, of M and L is at pair_at(a, b); several blocks lie side by side.
//
// Gains: n times the logarithm of how much less of u_i is left once column j explains its part, too: the
// statistic of a likelihood ratio test, of size 1 where j explains nothing, whatever n. Tamed by a logarithm,
// and small at first, since most are beside the point. Element (i, j), i > j, is at gain_at(i, j).
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
OCCAM_BOTH constexpr int gain_at(int i, int j) {
  return i * (i - 1) / 2 + j;
}
// How many gains a block of k columns has.
OCCAM_BOTH constexpr int gain_columns(int k) {
  return k * (k - 1) / 2;
}

// Less than this share of a column left unexplained is rounding: it counts as so much, and explains nothing
// of the columns behind it. (Dividing by it, one column after the other, would blow rounding up without
// bounds.)
inline constexpr double kLeastLeft = 1e-5;
// Gains up to about this are nearly as they are, larger ones grow with their logarithm.
inline constexpr double kTameGain = 8;
inline constexpr double kGainWeight = 0.25;

// One caller: what a loop looks like where no others share it.
struct OneCaller {
  OCCAM_BOTH int rank() const { return 0; }
  OCCAM_BOTH int size() const { return 1; }
  OCCAM_BOTH void wait() const {}
};

OCCAM_BOTH inline double choose(bool first, double a, double b) {
  return first ? a : b;
}

#include "occam/nn/factor_block.inc"

// Of all data sets: moments and out (sets, blocks * pairs), gains (sets, blocks * gain_columns; data null:
// not wanted), n their sizes by their offsets.
template <class T>
void factor(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
            Matrix<T> out, Matrix<T> gains, Workspace& workspace);
// d_moments is added to; d_gains as gains.
template <class T>
void factor_back(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
                 Matrix<const T> out, Matrix<const T> d_out, Matrix<const T> d_gains, Matrix<T> d_moments,
                 Workspace& workspace);

}  // namespace occam
