// What a statistician would compute first of a data set, for the head to read beside what the body has
// learned: means, spreads, shapes, correlations and partial correlations, and for ordered data
// autoregressions, trends and changes. They carry no weights and no gradient. Products over observations or
// over columns, which layers learn slowly, are there from the first step.
//   base channels: columns as they enter the network, or their indicators; NaN where a value is missing
//   evidence grows with sqrt(n) times a correlation, so both are given
#pragma once

#include <cstdint>
#include <vector>

#include "occam/data/matrix.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

// One base channel.
struct BaseChannel {
  std::int64_t column = 0;   // of the data
  bool many_values = false;  // has a spread and a shape worth looking at
};

class Statistics {
 public:
  Statistics() = default;
  Statistics(std::vector<BaseChannel> base, bool ordered);

  std::int64_t size() const { return size_; }
  std::int64_t base_channels() const { return static_cast<std::int64_t>(base_.size()); }

  // Of one data set: its base channels (n, base_channels()) and its values as they are (n, D). out (size()):
  // all finite.
  void of(Matrix<const double> base, Matrix<const float> raw, double* out, Workspace& workspace) const;

 private:
  std::vector<BaseChannel> base_;
  bool ordered_ = false;
  std::int64_t size_ = 0;
};

}  // namespace occam
