// Values of a sequence of events at equally spaced times  k end / points, k = 1..points: each is that of the
// last row at or before the time (of the first row, where there is none).
#include <algorithm>

#include <fmt/format.h>

#include "occam/abc/summary.hpp"
#include "occam/core/error.hpp"

namespace occam {
namespace {

struct TimeGridOptions {
  std::string columns;
  std::string time = "t";
  std::int64_t points = 20;
  double end = 0;
};

Fields fields(TimeGridOptions& o) {
  return {field("columns", o.columns, "columns to take").by_default("all but the time"),
          field("time", o.time, "the column that holds the time of a row"),
          field("points", o.points, "times to look at").at_least(1).at_most(100000),
          field("end", o.end, "the last of them").at_least(0).by_default("the last time observed")};
}

class TimeGridSummary : public PlainSummary {
 public:
  TimeGridSummary(const TimeGridOptions& options, const SummaryContext& context) {
    if (options.time.empty() || options.time.find(',') != std::string::npos) {
      throw Error(ErrorKind::usage, "summary 'time-grid': time={} is not one column", options.time);
    }
    time_ = column_indices(context.problem, options.time).front();
    columns_ = column_indices(context.problem, options.columns);
    if (options.columns.empty()) std::erase(columns_, time_);
    double end = options.end;
    for (std::int64_t row = 0; options.end == 0 && row < context.observed.n; ++row)
      end = std::max<double>(end, context.observed.at(row, time_));
    if (!(end > 0)) {
      throw Error(ErrorKind::usage,
                  "summary 'time-grid': no time above 0 was observed; say where to end, as in "
                  "\"time-grid end=0.1\"");
    }
    for (std::int64_t k = 1; k <= options.points; ++k)
      times_.push_back(end * static_cast<double>(k) / static_cast<double>(options.points));
    for (const std::int64_t d : columns_) {
      for (const double t : times_) {
        names_.push_back(
            fmt::format("{} at {:.4g}", context.problem.columns()[static_cast<std::size_t>(d)].name, t));
      }
    }
  }

  std::vector<std::string> names() const override { return names_; }

 protected:
  void of_one(DataView data, std::span<float> out) const override {
    const std::size_t K = times_.size();
    std::int64_t row = 0;
    for (std::size_t k = 0; k < K; ++k) {
      while (row + 1 < data.n && data.at(row + 1, time_) <= times_[k]) ++row;
      for (std::size_t c = 0; c < columns_.size(); ++c) out[c * K + k] = data.at(row, columns_[c]);
    }
  }

 private:
  std::int64_t time_ = 0;
  std::vector<std::int64_t> columns_;
  std::vector<double> times_;
  std::vector<std::string> names_;
};

}  // namespace

void register_time_grid_summary(Registry<SummaryKind>& registry) {
  registry.add("time-grid", make_summary_kind<TimeGridSummary, TimeGridOptions>(
                                "values of a sequence of events at equally spaced times"));
}

}  // namespace occam
