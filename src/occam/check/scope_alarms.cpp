// False alarms of the scope test: how often data sets that a model did make are called foreign, by model and
// by size. If the test keeps its promise, no more often than the level says; with discrete data, where many
// data sets look the same, less often.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

constexpr std::array<double, 2> kLevels = {0.05, 0.01};
// The p-values are ranks among so many simulations; that makes rates differ from their levels, too.
constexpr double kCalibration = 400;

struct Count {
  double alarms = 0;
  double data_sets = 0;
  double rate() const { return data_sets > 0 ? alarms / data_sets : 0; }
};

class ScopeAlarms final : public Measurement {
 public:
  explicit ScopeAlarms(const CheckContext& context)
      : context_(context), by_model_(static_cast<std::size_t>(context.layout.J())) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const auto at = static_cast<std::size_t>(b);
      const double p = block.rows.scope_p[at];
      p_.push_back(p);
      if (context_.layout.has_n) n_.push_back(block.rows.n[at]);
      Count& model = by_model_[block.truth(b)];
      model.data_sets += 1;
      model.alarms += p <= kLevels[0] ? 1 : 0;
    }
  }

  Finding finish() override {
    Finding finding{"scope", "Scope test: false alarms", {}, {}, {}, {}};
    finding.text =
        "The scope test calls a data set foreign when few simulated ones look as foreign. These data sets "
        "were all made by the models, so every alarm is a false one; at level 0.05 there should be one in "
        "twenty, for every model and every size.";
    for (const double level : kLevels) {
      const auto alarms =
          static_cast<double>(std::count_if(p_.begin(), p_.end(), [&](double p) { return p <= level; }));
      const Interval interval = wilson(alarms, static_cast<double>(p_.size()));
      finding.metrics.push_back(metric(fmt::format("scope_alarms_{:02.0f}", 100 * level),
                                       fmt::format("share of data sets called foreign at level {}", level),
                                       alarms / static_cast<double>(p_.size()), interval.lower,
                                       interval.upper));
    }
    add_table(finding);
    judge(finding);
    return finding;
  }

 private:
  static std::vector<Cell> row(const std::string& kind, const std::string& group, const Count& count) {
    const Interval interval = wilson(count.alarms, count.data_sets);
    return {kind,         group,          static_cast<std::int64_t>(count.data_sets),
            count.rate(), interval.lower, interval.upper,
            kLevels[0]};
  }

  void add_table(Finding& finding) const {
    Table table{"scope_alarms",
                "False alarms by model and by size, level 0.05",
                {"by", "group", "data_sets", "rate", "lower", "upper", "level"},
                {}};
    if (context_.layout.J() <= kManyModels) {
      for (std::size_t j = 0; j < by_model_.size(); ++j)
        if (by_model_[j].data_sets > 0)
          table.rows.push_back(row("model", context_.layout.model_names[j], by_model_[j]));
    }
    if (!n_.empty()) {
      const SizeBands bands(n_, 8);
      std::vector<Count> counts(bands.count());
      for (std::size_t i = 0; i < n_.size(); ++i) {
        Count& count = counts[bands(n_[i])];
        count.data_sets += 1;
        count.alarms += p_[i] <= kLevels[0] ? 1 : 0;
      }
      for (std::size_t band = 0; band < bands.count(); ++band) {
        const std::string name = bands.lower(band) == bands.upper(band)
                                     ? fmt::format("N = {}", bands.lower(band))
                                     : fmt::format("N {} to {}", bands.lower(band), bands.upper(band));
        table.rows.push_back(row("size", name, counts[band]));
      }
    }
    auto y = vega_field("group", "nominal", "");
    y["sort"] = nullptr;
    const auto x = vega_field("rate", "quantitative", "share called foreign");
    finding.figures.push_back(
        {table.name,
         "False alarms by model and by size",
         "Dots with 95 % intervals; the dashed line is the level. Dots to its right: the test cries wolf "
         "more often than it says, for that model or that size.",
         "Rate of false alarms of the scope test for each model and each band of sizes.",
         table.name,
         {{"layer",
           {{{"mark", "rule"},
             {"encoding",
              {{"y", y},
               {"x", vega_field("lower", "quantitative", "share called foreign")},
               {"x2", {{"field", "upper"}}}}}},
            {{"mark", {{"type", "point"}, {"filled", true}}},
             {"encoding",
              {{"y", y},
               {"x", x},
               {"tooltip",
                vega_tooltips({{"group", "group"}, {"data_sets", "data sets"}, {"rate", "share"}})}}}},
            {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}}},
             {"encoding",
              {{"x", {{"field", "level"}, {"type", "quantitative"}, {"aggregate", "mean"}}}}}}}}}});
    finding.tables.push_back(std::move(table));
  }

  // Over all data sets and per model: the test is broken if alarms come more often than chance in both
  // allows.
  void judge(Finding& finding) const {
    Count all;
    for (const Count& count : by_model_) {
      all.data_sets += count.data_sets;
      all.alarms += count.alarms;
    }
    const double level = kLevels[0];
    // Over all data sets many windows of the calibration average out.
    const double se = std::sqrt(level * (1 - level) * (1 / all.data_sets + 1 / (10 * kCalibration)));
    const double z = (all.rate() - level) / se;
    const bool beyond = z > normal_quantile(1 - context_.level);
    Judgement judgement;
    judgement.severity =
        beyond ? (all.rate() > 2 * level ? Severity::serious : Severity::warning) : Severity::fine;
    judgement.text =
        fmt::format("At level {} the scope test calls {} of the data sets foreign that the models made.",
                    level, shown_number(all.rate()));
    if (beyond) {
      judgement.advice =
          "Its p-values are too small. Was the network file made with another version of the simulator? "
          "Rebuild the reference with `occam scope`.";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  std::vector<double> p_;
  std::vector<std::int64_t> n_;
  std::vector<Count> by_model_;
};

}  // namespace

void register_scope_alarms(Registry<Diagnostic>& registry) {
  registry.add("scope_alarms", {"How often does the scope test call simulated data foreign?", 1,
                                [](const CheckContext& context) -> std::unique_ptr<Measurement> {
                                  if (!context.layout.has_scope) return nullptr;
                                  return std::make_unique<ScopeAlarms>(context);
                                }});
}

}  // namespace occam
