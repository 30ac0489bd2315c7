// Means over the rows of each label: a block for each in turn, a thread for each column.
#pragma once

#include "occam/engine/cuda/elements.hpp"

namespace occam::gpu {

inline constexpr int kLabelThreads = 128;

template <bool kBack>
__global__ void __launch_bounds__(kLabelThreads) label_kernel(LabelView v, Feed feed) {
  const LabelRows labels(feed, v.column);
  const int rows = rows_of(feed, false, kBack ? 0 : v.level), columns = v.width + (kBack ? 0 : 1);
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    for (int c = static_cast<int>(threadIdx.x); c < columns; c += kLabelThreads) {
      if constexpr (kBack) {
        write_label_gradient(v, labels, row, c);
      } else {
        write_label_mean(v, labels, row, c);
      }
    }
  }
}

}  // namespace occam::gpu
