// The raw values, row by row: no information is lost, but distances between long series are large whatever
// the model. Data sets must have as many rows as the observed one.
#include <algorithm>

#include <fmt/format.h>

#include "occam/abc/summary.hpp"
#include "occam/core/error.hpp"

namespace occam {
namespace {

struct ValuesOptions {
  std::string columns;
  bool sorted = false;
};

Fields fields(ValuesOptions& o) {
  return {field("columns", o.columns, "columns to take, such as z,y").by_default("all"),
          field("sorted", o.sorted, "sort every column, for observations in any order")};
}

class ValuesSummary : public PlainSummary {
 public:
  ValuesSummary(const ValuesOptions& options, const SummaryContext& context)
      : columns_(column_indices(context.problem, options.columns)),
        rows_(context.observed.n),
        sorted_(options.sorted) {
    for (const std::int64_t d : columns_) {
      for (std::int64_t row = 0; row < rows_; ++row) {
        names_.push_back(
            fmt::format("{} {}", context.problem.columns()[static_cast<std::size_t>(d)].name, row));
      }
    }
  }

  std::vector<std::string> names() const override { return names_; }

 protected:
  void of_one(DataView data, std::span<float> out) const override {
    if (data.n != rows_) {
      throw Error(ErrorKind::usage,
                  "summary 'values' needs data sets of one size, but {} rows were observed and {} "
                  "simulated; take another, such as --summary quantiles",
                  rows_, data.n);
    }
    auto at = out.begin();
    for (const std::int64_t d : columns_) {
      const auto begin = at;
      for (std::int64_t row = 0; row < rows_; ++row) *at++ = data.at(row, d);
      if (sorted_) std::sort(begin, at);
    }
  }

 private:
  std::vector<std::int64_t> columns_;
  std::int64_t rows_;
  bool sorted_;
  std::vector<std::string> names_;
};

}  // namespace

void register_values_summary(Registry<SummaryKind>& registry) {
  registry.add("values", make_summary_kind<ValuesSummary, ValuesOptions>(
                             "the raw values; needs data sets of one size"));
}

}  // namespace occam
