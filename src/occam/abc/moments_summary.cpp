// Mean, standard deviation, skewness and excess kurtosis of every column, up to `order` of them; with order 2
// or more also the correlations between columns. A column that does not vary has 0 for all but its mean.
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "occam/abc/summary.hpp"

namespace occam {
namespace {

constexpr std::string_view kMomentNames[] = {"mean", "standard deviation", "skewness", "excess kurtosis"};

struct MomentsOptions {
  std::string columns;
  std::int64_t order = 2;
};

Fields fields(MomentsOptions& o) {
  return {field("columns", o.columns, "columns to take").by_default("all"),
          field("order", o.order,
                "1: means; 2: and standard deviations and correlations; 3: and skewness; 4: and kurtosis")
              .at_least(1)
              .at_most(4)};
}

class MomentsSummary : public PlainSummary {
 public:
  MomentsSummary(const MomentsOptions& options, const SummaryContext& context)
      : columns_(column_indices(context.problem, options.columns)), order_(options.order) {
    const auto name = [&](std::int64_t d) {
      return context.problem.columns()[static_cast<std::size_t>(d)].name;
    };
    for (const std::int64_t d : columns_) {
      for (std::int64_t k = 0; k < order_; ++k)
        names_.push_back(fmt::format("{} of {}", kMomentNames[k], name(d)));
    }
    for (std::size_t i = 0; order_ > 1 && i < columns_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        names_.push_back(fmt::format("correlation of {} and {}", name(columns_[j]), name(columns_[i])));
      }
    }
  }

  std::vector<std::string> names() const override { return names_; }

 protected:
  void of_one(DataView data, std::span<float> out) const override {
    std::vector<double> means, spreads;
    auto at = out.begin();
    for (const std::int64_t d : columns_) {
      double sum = 0;
      for (std::int64_t row = 0; row < data.n; ++row) sum += data.at(row, d);
      const double mean = sum / static_cast<double>(data.n);
      const double variance = order_ > 1 ? central(data, d, mean, 2) : 0;
      means.push_back(mean);
      spreads.push_back(std::sqrt(variance));
      *at++ = static_cast<float>(mean);
      if (order_ > 1) *at++ = static_cast<float>(spreads.back());
      if (order_ > 2) *at++ = ratio(central(data, d, mean, 3), variance * spreads.back());
      if (order_ > 3) *at++ = variance > 0 ? ratio(central(data, d, mean, 4), variance * variance) - 3 : 0;
    }
    for (std::size_t i = 0; order_ > 1 && i < columns_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double product = 0;
        for (std::int64_t row = 0; row < data.n; ++row)
          product += (data.at(row, columns_[i]) - means[i]) * (data.at(row, columns_[j]) - means[j]);
        *at++ = ratio(product / static_cast<double>(data.n), spreads[i] * spreads[j]);
      }
    }
  }

 private:
  static float ratio(double top, double bottom) {
    return bottom > 0 ? static_cast<float>(top / bottom) : 0.0f;
  }

  static double central(DataView data, std::int64_t d, double mean, int power) {
    double sum = 0;
    for (std::int64_t row = 0; row < data.n; ++row) {
      const double off = data.at(row, d) - mean;
      sum += power == 2 ? off * off : power == 3 ? off * off * off : off * off * off * off;
    }
    return sum / static_cast<double>(data.n);
  }

  std::vector<std::int64_t> columns_;
  std::int64_t order_;
  std::vector<std::string> names_;
};

}  // namespace

void register_moments_summary(Registry<SummaryKind>& registry) {
  registry.add("moments", make_summary_kind<MomentsSummary, MomentsOptions>(
                              "mean, spread and higher moments of every column, and correlations"));
}

}  // namespace occam
