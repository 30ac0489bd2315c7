#include "occam/train/column_ranges.hpp"

#include <algorithm>
#include <cmath>

namespace occam {

std::vector<ColumnRange> column_ranges(const std::vector<const Batch*>& batches) {
  std::vector<ColumnRange> ranges;
  const std::int64_t D = batches.front()->columns();
  std::vector<float> values;
  for (std::int64_t d = 0; d < D; ++d) {
    values.clear();
    for (const Batch* batch : batches) {
      const auto data = batch->data();
      for (auto at = static_cast<std::size_t>(d); at < data.size(); at += static_cast<std::size_t>(D)) {
        if (!std::isnan(data[at])) values.push_back(data[at]);
      }
    }
    if (batches.front()->rows() == 0) return {};
    if (values.empty()) values.push_back(0);  // a column of which nothing is ever there
    const auto quantile = [&](double q) {
      const auto at = static_cast<std::ptrdiff_t>(std::lround(q * static_cast<double>(values.size() - 1)));
      std::nth_element(values.begin(), values.begin() + at, values.end());
      return static_cast<double>(values[static_cast<std::size_t>(at)]);
    };
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    const auto ends = std::pair<double, double>(*smallest, *largest);
    ranges.push_back({ends.first, ends.second, quantile(0.001), quantile(0.999)});
  }
  return ranges;
}

std::vector<std::int64_t> whole_columns(const std::vector<const Batch*>& batches) {
  std::vector<std::int64_t> whole;
  const std::int64_t D = batches.front()->columns();
  const auto step = static_cast<std::size_t>(D);
  for (std::int64_t d = 0; d < D; ++d) {
    bool any = false, all = true;
    for (const Batch* batch : batches) {
      const auto data = batch->data();
      for (auto at = static_cast<std::size_t>(d); all && at < data.size(); at += step) {
        if (std::isnan(data[at])) continue;
        any = true;
        all = data[at] == std::floor(data[at]);
      }
    }
    if (any && all) whole.push_back(d);
  }
  return whole;
}

}  // namespace occam
