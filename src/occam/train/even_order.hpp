// An order of the data sets of a batch in which halves, quarters, ... sixteenths of it have about the same
// number of observations. Ranks and threads get such parts, and wait for the one that has most. The order
// depends on the sizes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/data/batch.hpp"

namespace occam {

class EvenOrder {
 public:
  void apply(Batch& batch);

 private:
  static constexpr std::size_t kParts = 16;

  std::vector<std::int64_t> by_size_, order_;
  std::vector<std::vector<std::int64_t>> parts_;
  Batch arranged_;
};

}  // namespace occam
