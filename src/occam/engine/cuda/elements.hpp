// What kernels compute of one element of a matrix, shared with the plain device of the tests.
#pragma once

#include "occam/data/extremes.hpp"
#include "occam/data/stays.hpp"
#include "occam/engine/cuda/program.hpp"
#include "occam/nn/factor.hpp"

namespace occam::gpu {

// Values further out than this many standard deviations count as so many (as in networks/network).
constexpr double kFarthest = 10;
constexpr double kLargest = 1e6;
// A data set whose values differ by less than so much of themselves counts as constant.
constexpr double kLeastSpread = 1e-12;

OCCAM_BOTH inline double within(double x, double bound) {
  return x < -bound ? -bound : x > bound ? bound : x;
}

// As in networks/inputs.
OCCAM_BOTH inline double tamed(double z, double plain_within) {
  const double beyond = fabs(z) - plain_within;
  return plain_within > 0 && beyond > 0 ? copysign(plain_within + log1p(beyond), z) : z;
}

// A column of a data set relative to mean and spread of its own, and where it begins and ends.
struct OwnScale {
  double mean = 0, factor = 0;
  double low = 0, high = 0, count = 0;
};

OCCAM_BOTH inline OwnScale own_scale(double mean, double squares, double count) {
  const double sd = count > 0 ? sqrt(squares / count) : 0;
  return {mean, sd > kLeastSpread * fabs(mean) ? 1 / sd : 0, 0, 0, count};
}

// As write_waves (networks/inputs).
OCCAM_BOTH inline void enter_waves(float z, int waves, float* out) {
  const float angle = z * 0.785398163f;  // a quarter of pi
  float sine = sinf(angle), cosine = cosf(angle);
  for (int k = 0; k < waves; ++k) {
    out[2 * k] = sine;
    out[2 * k + 1] = cosine;
    const float twice = 2 * sine * cosine;
    cosine = 1 - 2 * sine * sine;
    sine = twice;
  }
}

// Whether a value is one that is read as if it were missing, or is.
OCCAM_BOTH inline bool unread(const ColumnPlan& plan, float x) {
  for (int k = 0; k < plan.atoms; ++k) {
    if (x == plan.atom[k]) return true;
  }
  return isnan(x);
}

// How long a column has had the value of row r (in a series that begins with row `first`).
OCCAM_BOTH inline float enter_age(const float* raw, int channels, int column, int r, int first) {
  const float* x = raw + static_cast<std::int64_t>(r) * channels + column;
  return static_cast<float>(age_input(rows_here(x, channels, r - first)));
}

OCCAM_BOTH inline double standardised(const ColumnPlan& plan, double x) {
  return tamed((transformed(plan.transformation, plan.centre, plan.width, x) - plan.mean) * plan.factor,
               plan.plain_within);
}

// The ends of a data set, and how far a value is from them (networks/input_rows).
OCCAM_BOTH inline void enter_ends(const ColumnPlan& plan, float x, bool missing, const OwnScale& own,
                                  float* out) {
  const bool any = own.count > 0;
  out[0] = any ? static_cast<float>(within(standardised(plan, own.low), kFarthest)) : 0.0f;
  out[1] = any ? static_cast<float>(within(standardised(plan, own.high), kFarthest)) : 0.0f;
  out[2] = missing ? 0.0f : static_cast<float>(from_end(x - own.low, own.mean - own.low, own.count));
  out[3] = missing ? 0.0f : static_cast<float>(from_end(own.high - x, own.high - own.mean, own.count));
}

// All that a network reads of one value itself.
OCCAM_BOTH inline void enter(const ColumnPlan& plan, int column, float x, const OwnScale& own, float* out) {
  const bool missing = unread(plan, x);
  const double z = missing ? 0 : standardised(plan, x);
  out[column] = static_cast<float>(within(z, kLargest));
  if (plan.mask_at >= 0) out[plan.mask_at] = isnan(x) ? 1.0f : 0.0f;
  if (plan.local_at >= 0) {
    out[plan.local_at] = missing ? 0.0f : static_cast<float>(within((x - own.mean) * own.factor, kFarthest));
  }
  if (plan.ends_at >= 0) enter_ends(plan, x, missing, own, out + plan.ends_at);
  if (plan.waves > 0) enter_waves(static_cast<float>(within(z, kFarthest)), plan.waves, out + plan.waves_at);
  for (int k = 0; k < plan.levels; ++k) out[plan.levels_at + k] = x == plan.level[k] ? 1.0f : 0.0f;
  for (int k = 0; k < plan.atoms; ++k) out[plan.atoms_at + k] = x == plan.atom[k] ? 1.0f : 0.0f;
}

// An observation within its data set.
struct Place {
  int row, set, first, n;
};

OCCAM_BOTH inline float attention_weight(const PoolView& v, Place at, int c) {
  const std::int64_t of_set = static_cast<std::int64_t>(at.set) * v.stride + c;
  return quick_exp(v.score[static_cast<std::int64_t>(at.row) * v.stride + c] - v.top[of_set]) *
         v.inverse[of_set];
}

OCCAM_BOTH inline float pooled_gradient(const PoolView& v, Place at, int c) {
  const float* d = v.d_pooled + static_cast<std::int64_t>(at.set) * v.pooled_stride;
  switch (v.pooling) {
    case Pooling::mean:
      return d[c] / static_cast<float>(at.n);
    case Pooling::sum:
      return d[c] * v.sum_scale;
    case Pooling::mean_sum:
      return d[c] / static_cast<float>(at.n) + d[v.width + c] * v.sum_scale;
    case Pooling::max:
      return v.largest[static_cast<std::int64_t>(at.set) * v.stride + c] == at.row - at.first ? d[c] : 0.0f;
    case Pooling::attention:
      return attention_weight(v, at, c) * d[c];
  }
  return 0;
}

OCCAM_BOTH inline float pool_gradient(const PoolView& v, Place at, int c) {
  const float more = v.more == nullptr ? 0 : v.more[static_cast<std::int64_t>(at.row) * v.stride + c];
  return pooled_gradient(v, at, c) + more;
}

// The mean of one column over the rows of a label, and behind the last one how many they are.
OCCAM_BOTH inline float label_mean(const LabelView& v, const LabelRows& labels, int label, int c) {
  const int n = labels.count(label);
  if (c == v.width) return static_cast<float>(log(static_cast<double>(n)) - kUsualLogCount);
  float sum = 0;
  for (int i = labels.first[label]; i < labels.first[label + 1]; ++i)
    sum += v.e[static_cast<std::int64_t>(labels.rows[i]) * v.stride + c];
  return sum / static_cast<float>(n);
}
OCCAM_BOTH inline float label_gradient(const LabelView& v, const LabelRows& labels, int row, int c) {
  const int label = labels.of_row[row];
  return v.d_means[static_cast<std::int64_t>(label) * v.mean_stride + c] /
         static_cast<float>(labels.count(label));
}
// The same, at its place.
OCCAM_BOTH inline void write_label_mean(const LabelView& v, const LabelRows& labels, int label, int c) {
  v.means[static_cast<std::int64_t>(label) * v.mean_stride + c] = label_mean(v, labels, label, c);
}
OCCAM_BOTH inline void write_label_gradient(const LabelView& v, const LabelRows& labels, int row, int c) {
  float& to = v.back[static_cast<std::int64_t>(row) * v.stride + c];
  to = (v.adds ? to : 0) + label_gradient(v, labels, row, c);
}

OCCAM_BOTH inline float score_gradient(const PoolView& v, Place at, int c) {
  const std::int64_t of_set = static_cast<std::int64_t>(at.set) * v.pooled_stride + c;
  const float e = v.e[static_cast<std::int64_t>(at.row) * v.stride + c];
  return attention_weight(v, at, c) * (e - v.pooled[of_set]) * v.d_pooled[of_set];
}

OCCAM_BOTH inline float moments_gradient(const PoolView& v, Place at, int column) {
  const int block = column / v.moments, a = column % v.moments;
  const float* d =
      v.d_pooled + static_cast<std::int64_t>(at.set) * v.pooled_stride + v.moments_at() + block * v.pairs();
  const float* u = v.factors + static_cast<std::int64_t>(at.row) * v.moments_stride + block * v.moments;
  float sum = d[pair_at(a, a)] * u[a];  // once more: the square of a has its slope twice
  for (int b = 0; b < v.moments; ++b) sum += d[pair_at(a, b)] * u[b];
  return sum / static_cast<float>(at.n);
}

// Where the moments, the factors and the gains of one block of a data set are.
struct FactorPlace {
  std::int64_t moments, factors, gains, scratch;
};
OCCAM_BOTH inline FactorPlace factor_place(const FactorView& v, int set, int block) {
  const PoolView& pool = v.pool;
  const int at = block * pool.pairs();
  return {static_cast<std::int64_t>(set) * pool.pooled_stride + pool.moments_at() + at,
          static_cast<std::int64_t>(set) * v.stride + at,
          static_cast<std::int64_t>(set) * v.gain_stride + block * gain_columns(pool.moments),
          static_cast<std::int64_t>(set) * pool.moment_blocks * pool.pairs() + at};
}

// The factor of one block of the moments of a data set of n, and the way back.
template <class Group>
OCCAM_BOTH void factor_of_set(const Group& group, const FactorView& v, int set, int block, int n) {
  const FactorPlace at = factor_place(v, set, block);
  factor_block(group, v.pool.moments, v.pool.pooled + at.moments, static_cast<double>(n),
               v.scratch + at.scratch, v.out + at.factors);
  if (v.gains == nullptr) return;
  gain_block(group, v.pool.moments, v.out + at.factors, static_cast<double>(n), v.gains + at.gains);
}
template <class Group>
OCCAM_BOTH void factor_of_set_back(const Group& group, const FactorView& v, int set, int block, int n) {
  const FactorPlace at = factor_place(v, set, block);
  const bool gained = v.gains != nullptr;
  factor_block_back(group, v.pool.moments, v.pool.pooled + at.moments, static_cast<double>(n),
                    v.out + at.factors, v.d_out + at.factors, gained ? v.d_gains + at.gains : nullptr,
                    v.scratch + at.scratch, gained ? v.left + at.scratch : nullptr, v.d_pooled + at.moments);
}

// The size of a data set in units of the typical one.
OCCAM_BOTH inline float growth(const PoolView& v, int n) {
  return static_cast<float>(n) * v.sum_scale;
}

// What an op adds to its products at one element, but for the bias.
OCCAM_BOTH inline float added(const Op& op, Place at, int c) {
  switch (op.add) {
    case Add::set_row:
      return op.from[static_cast<std::int64_t>(at.set) * padded16(op.columns) + c];
    case Add::pool:
      return pool_gradient(op.pool, at, c);
    case Add::score:
      return score_gradient(op.pool, at, c);
    case Add::moments:
      return moments_gradient(op.pool, at, c);
    case Add::grown:
      return growth(op.pool, at.n) * op.from[static_cast<std::int64_t>(at.row) * padded16(op.columns) + c];
    case Add::windows:  // sequence_elements.hpp
    case Add::thinned:
    case Add::none:
      break;
  }
  return 0;
}

// Of what is told of N: a pooling, or an LSTM.
template <class View>
OCCAM_BOTH float log_n_input(const View& v, int n) {
  return static_cast<float>((log(static_cast<double>(n)) - v.log_n_mean) / v.log_n_scale);
}

// The gradient of one parameter's estimate.
OCCAM_BOTH inline float parameter_gradient(double weight, float predicted, float target, float present) {
  return isnan(target) ? 0.0f : static_cast<float>(2 * weight * (predicted - target) / present);
}

// The factor that brings a gradient to the largest norm allowed.
OCCAM_BOTH inline float clip_factor(double clip, double squared_norm) {
  const double norm = sqrt(squared_norm);
  return static_cast<float>(clip > 0 && norm > clip ? clip / norm : 1.0);
}

// Of the iteration of Newton and Schulz (nn/muon).
constexpr int kMuonIterations = 5;
constexpr float kMuonKeep = 0.95f;
constexpr double kMuonLeastSquares = 1e-24;
OCCAM_BOTH inline float muon_mixed(float gram, float square, bool diagonal) {
  return (diagonal ? 3.4445f : 0.0f) - 4.7750f * gram + 2.0315f * square;
}

}  // namespace occam::gpu
