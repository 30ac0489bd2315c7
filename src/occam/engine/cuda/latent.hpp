// Latent variables of data sets, z = mu + exp(log_var / 2) eps, and the penalties that keep them near N(0,
// I), as in networks/heads: that of each data set by itself (vae), or of all of a bundle together (mmd-vae).
// Shared with the plain device of the tests.
#pragma once

#include "occam/engine/cuda/program.hpp"

namespace occam::gpu {

// exp(log_var / 2), or 0 where nothing is drawn: then z = mu.
OCCAM_BOTH inline float latent_spread(const LatentView& v, int set, int c) {
  return v.noisy ? expf(v.latent[static_cast<std::int64_t>(set) * v.stride + v.latents + c] / 2) : 0.0f;
}

OCCAM_BOTH inline void draw_latent(const LatentView& v, const Feed& feed, int set, int c) {
  float z = v.latent[static_cast<std::int64_t>(set) * v.stride + c];
  if (v.noisy) z += latent_spread(v, set, c) * noise_of(feed, set, c);
  v.z[static_cast<std::int64_t>(set) * v.z_stride + c] = z;
}

// From the gradient of one z, and those of the penalty, to those of its mu and log_var.
OCCAM_BOTH inline void latent_gradient(const LatentView& v, const Feed& feed, int set, int c, double d_z,
                                       double d_mu, double d_log_var) {
  const float d = v.d_z[static_cast<std::int64_t>(set) * v.z_stride + c] + static_cast<float>(d_z);
  float* const out = v.d_latent + static_cast<std::int64_t>(set) * v.stride;
  out[c] = d + static_cast<float>(d_mu);
  out[v.latents + c] =
      d * noise_of(feed, set, c) * latent_spread(v, set, c) / 2 + static_cast<float>(d_log_var);
}

// The way back of one data set under the Kullback-Leibler term (nn/loss: gaussian_kl).
OCCAM_BOTH inline void kl_back(const LatentView& v, const Feed& feed, int set) {
  const float* const mu = v.latent + static_cast<std::int64_t>(set) * v.stride;
  double kl = 0;
  for (int c = 0; c < v.latents; ++c) {
    const double m = mu[c], log_var = mu[v.latents + c], variance = exp(log_var);
    kl += 0.5 * (variance + m * m - 1 - log_var);
    latent_gradient(v, feed, set, c, 0, v.weight * m, v.weight * 0.5 * (variance - 1));
  }
  v.losses[set] += v.weight * kl;
}

// Squared widths of the kernel: those of heads/mmd_vae.
constexpr int kMmdScales = 5;
OCCAM_BOTH constexpr double mmd_scale(int i) {
  return static_cast<double>(1 << i);
}

// What one row of z has to do with N(0, I) and with the other rows of its bundle (nn/loss: mmd_from_normal).
// Sets its gradient, d (L), and returns its share of the value; pairs count for the later row of the two.
OCCAM_BOTH inline double mmd_of_row(const LatentView& v, int row, int first, int last, double* d) {
  const int L = v.latents;
  const double rows = last - first, half = 0.5 * L;
  const double per_pair = 2 / (rows * (rows - 1)), per_row = -2 / rows;
  const float* const x = v.z + static_cast<std::int64_t>(row) * v.z_stride;
  double square = 0, value = 0, shrink = 0;
  for (int c = 0; c < L; ++c) square += static_cast<double>(x[c]) * x[c];
  for (int i = 0; i < kMmdScales; ++i) {
    const double s = mmd_scale(i);
    const double term = per_row * pow(s / (s + 1), half) * exp(-square / (2 * (s + 1)));
    value += term;
    shrink -= term / (s + 1);
  }
  for (int c = 0; c < L; ++c) d[c] = shrink * x[c];
  for (int other = first; other < last; ++other) {
    if (other == row) continue;
    const float* const y = v.z + static_cast<std::int64_t>(other) * v.z_stride;
    double distance = 0, kernel = 0, slope = 0;
    for (int c = 0; c < L; ++c) {
      const double apart = static_cast<double>(x[c]) - y[c];
      distance += apart * apart;
    }
    for (int i = 0; i < kMmdScales; ++i) {
      const double s = mmd_scale(i), e = exp(-distance / (2 * s));
      kernel += e;
      slope -= e / (2 * s);
    }
    if (other < row) value += per_pair * kernel;
    for (int c = 0; c < L; ++c) d[c] += per_pair * slope * 2 * (static_cast<double>(x[c]) - y[c]);
  }
  return value;
}

// The way back of data sets first .. last - 1, a bundle. The members of a group take every size-th of them;
// all have to come here.
template <class Group>
OCCAM_BOTH void latent_back(const Group& group, const LatentView& v, const Feed& feed, int first, int last) {
  if (!v.mmd) {
    for (int set = first + group.rank(); set < last; set += group.size()) kl_back(v, feed, set);
    return;
  }
  const int L = v.latents, sets = last - first;
  double value = 0;
  for (int i = 0; i < kMmdScales && group.rank() == 0; ++i) {
    value += pow(mmd_scale(i) / (mmd_scale(i) + 2), 0.5 * L);
  }
  for (int set = first + group.rank(); set < last; set += group.size()) {
    double* const d = v.scratch + static_cast<std::int64_t>(set) * L;
    if (sets > 1) value += mmd_of_row(v, set, first, last, d);
    // Every data set carries the whole value; one alone has none.
    for (int c = 0; c < L; ++c) latent_gradient(v, feed, set, c, sets > 1 ? v.weight * sets * d[c] : 0, 0, 0);
  }
  value = group.sum(value);
  for (int set = first + group.rank(); set < last && sets > 1; set += group.size()) {
    v.losses[set] += v.weight * value;
  }
}

}  // namespace occam::gpu
