// Quantiles of every column at k / (count + 1), k = 1..count, by linear interpolation between the sorted
// values. Blind to dependence between columns and to order.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/abc/summary.hpp"

namespace occam {
namespace {

struct QuantilesOptions {
  std::string columns;
  std::int64_t count = 9;
};

Fields fields(QuantilesOptions& o) {
  return {field("columns", o.columns, "columns to take").by_default("all"),
          field("count", o.count, "quantiles of each, evenly spread").at_least(1).at_most(1000)};
}

class QuantilesSummary : public PlainSummary {
 public:
  QuantilesSummary(const QuantilesOptions& options, const SummaryContext& context)
      : columns_(column_indices(context.problem, options.columns)), count_(options.count) {
    for (const std::int64_t d : columns_) {
      for (std::int64_t k = 1; k <= count_; ++k) {
        names_.push_back(fmt::format("{:.3g} % quantile of {}", 100.0 * part(k),
                                     context.problem.columns()[static_cast<std::size_t>(d)].name));
      }
    }
  }

  std::vector<std::string> names() const override { return names_; }

 protected:
  void of_one(DataView data, std::span<float> out) const override {
    std::vector<float> values(static_cast<std::size_t>(data.n));
    auto at = out.begin();
    for (const std::int64_t d : columns_) {
      for (std::int64_t row = 0; row < data.n; ++row) values[static_cast<std::size_t>(row)] = data.at(row, d);
      std::sort(values.begin(), values.end());
      for (std::int64_t k = 1; k <= count_; ++k) *at++ = between(values, part(k));
    }
  }

 private:
  double part(std::int64_t k) const { return static_cast<double>(k) / static_cast<double>(count_ + 1); }

  static float between(const std::vector<float>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, sorted.size() - 1);
    return static_cast<float>(sorted[low] + (place - std::floor(place)) * (sorted[high] - sorted[low]));
  }

  std::vector<std::int64_t> columns_;
  std::int64_t count_;
  std::vector<std::string> names_;
};

}  // namespace

void register_quantiles_summary(Registry<SummaryKind>& registry) {
  registry.add("quantiles",
               make_summary_kind<QuantilesSummary, QuantilesOptions>("quantiles of every column"));
}

}  // namespace occam
