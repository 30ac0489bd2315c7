// What kernels of sequence networks compute of one element, shared with the plain device of the tests.
#pragma once

#include "occam/engine/cuda/elements.hpp"

namespace occam::gpu {

// The data set that a row belongs to.
OCCAM_BOTH inline int set_at(const std::int32_t* offsets, int sets, int row) {
  int low = 0, high = sets - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (offsets[middle] <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Both ends of a convolution: where the rows of data sets begin.
struct WindowRows {
  WindowView view;
  const std::int32_t *in = nullptr, *out = nullptr;

  WindowRows() = default;
  OCCAM_BOTH WindowRows(const WindowView& of, const Feed& feed)
      : view(of), in(offsets_of(feed, of.from)), out(offsets_of(feed, of.level)) {}
};

// One number of the window that row `at` of the outputs looks at; zero behind the end of a short series.
OCCAM_BOTH inline float window_value(const WindowRows& w, Place at, int column) {
  const int tap = column / w.view.in;
  const int row = (at.row - at.first) * w.view.stride + tap;
  const int first = w.in[at.set];
  if (row >= w.in[at.set + 1] - first) return 0;
  return w.view.x[static_cast<std::int64_t>(first + row) * padded16(w.view.in) + column - tap * w.view.in];
}

// The gradient of one number of row `at` of the inputs, from all windows that look at it: calls
// add(number of d) for each.
template <class Add>
OCCAM_BOTH void each_window(const WindowRows& w, Place at, int column, const Add& add) {
  const int row = at.row - at.first;
  const int first = w.out[at.set], n = w.out[at.set + 1] - first;
  const int width = padded16(w.view.kernel * w.view.in);
  for (int tap = row % w.view.stride; tap < w.view.kernel && tap <= row; tap += w.view.stride) {
    const int window = (row - tap) / w.view.stride;
    if (window < n) add(static_cast<std::int64_t>(first + window) * width + tap * w.view.in + column);
  }
}

OCCAM_BOTH inline float window_gradient(const WindowRows& w, Place at, int column) {
  float sum = 0;
  each_window(w, at, column, [&](std::int64_t from) { sum += w.view.d[from]; });
  return sum;
}

// 1 / (1 + 2^x)
OCCAM_BOTH inline float falling_power(float x) {
#ifdef __CUDA_ARCH__
  // Two instructions that flush what is too small for the normal format, as the host does.
  float e, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + e));
  return y;
#else
  return 1 / (1 + std::exp2(x));
#endif
}

// What a sigmoid is the falling power of, for x = 1; a tanh is twice that of twice as much, less one.
inline constexpr float kSigmoidPower = -1.4426950408889634f, kTanhPower = 2 * kSigmoidPower;

OCCAM_BOTH inline float quick_sigmoid(float x) {
  return falling_power(kSigmoidPower * x);
}

OCCAM_BOTH inline float quick_tanh(float x) {
  return 2 * falling_power(kTanhPower * x) - 1;
}

// Of the four gates i, f, g, o the third is a tanh.
OCCAM_BOTH inline float gate_value(int gate, float input) {
  return gate == 2 ? quick_tanh(input) : quick_sigmoid(input);
}

// One unit at one step: what its gates were, and the memory after and before.
struct LstmUnit {
  float i, f, g, o, c, before;
};

// What gradients of a unit's memory and output are multiplied with on their way back.
struct LstmSlopes {
  float memory;   // from the output to the memory
  float gate[4];  // to the inputs of i, f and g from the memory, to that of o from the output
};

OCCAM_BOTH inline LstmSlopes lstm_slopes(const LstmUnit& u) {
  const float t = quick_tanh(u.c);
  return {u.o * (1 - t * t),
          {u.g * u.i * (1 - u.i), u.before * u.f * (1 - u.f), u.i * (1 - u.g * u.g), t * u.o * (1 - u.o)}};
}

struct LstmBack {
  float gate[4];  // gradients of the inputs of i, f, g, o
  float d_c;      // of the memory before
};

OCCAM_BOTH inline LstmBack lstm_unit_back(const LstmUnit& u, float d_h, float d_c) {
  const LstmSlopes slopes = lstm_slopes(u);
  d_c += d_h * slopes.memory;
  return {{d_c * slopes.gate[0], d_c * slopes.gate[1], d_c * slopes.gate[2], d_h * slopes.gate[3]},
          d_c * u.f};
}

}  // namespace occam::gpu
