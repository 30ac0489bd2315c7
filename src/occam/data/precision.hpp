// Data are kept in single precision, which has seven digits: times of a clock that counts seconds since 1970
// come in steps of two minutes. Where what is left out is as large as what values tell, that has to be said.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

struct CoarseColumn {
  std::int64_t column = -1;
  double value = 0, step = 0;  // a typical large one, and how far the next one is from it
};

// Columns whose values, in most data sets, differ from each other by no more than some steps; also where they
// do not differ at all, and the differences must have been lost.
std::vector<CoarseColumn> coarse_columns(Ragged<const float> data);

}  // namespace occam
