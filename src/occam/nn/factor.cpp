#include "occam/nn/factor.hpp"

namespace occam {

template <class T>
void factor(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
            Matrix<T> out, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  auto* const l = workspace.take<double>(k * (k + 1) / 2);
  for (std::int64_t set = 0; set < moments.rows; ++set) {
    const auto n = static_cast<double>(offsets[set + 1] - offsets[set]);
    for (std::int64_t h = 0; h < blocks; ++h) {
      factor_block(OneCaller{}, static_cast<int>(k), static_cast<int>(blocks), moments.row(set) + h, n, l,
                   out.row(set) + h);
    }
  }
}

template <class T>
void factor_back(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
                 Matrix<const T> out, Matrix<const T> d_out, Matrix<T> d_moments, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  auto* const d = workspace.take<double>(k * (k + 1) / 2);
  for (std::int64_t set = 0; set < moments.rows; ++set) {
    const auto n = static_cast<double>(offsets[set + 1] - offsets[set]);
    for (std::int64_t h = 0; h < blocks; ++h) {
      factor_block_back(OneCaller{}, static_cast<int>(k), static_cast<int>(blocks), moments.row(set) + h, n,
                        out.row(set) + h, d_out.row(set) + h, d, d_moments.row(set) + h);
    }
  }
}

template void factor(std::int64_t, std::int64_t, Matrix<const float>, const std::int64_t*, Matrix<float>,
                     Workspace&);
template void factor(std::int64_t, std::int64_t, Matrix<const double>, const std::int64_t*, Matrix<double>,
                     Workspace&);
template void factor_back(std::int64_t, std::int64_t, Matrix<const float>, const std::int64_t*,
                          Matrix<const float>, Matrix<const float>, Matrix<float>, Workspace&);
template void factor_back(std::int64_t, std::int64_t, Matrix<const double>, const std::int64_t*,
                          Matrix<const double>, Matrix<const double>, Matrix<double>, Workspace&);

}  // namespace occam
