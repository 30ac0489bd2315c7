// Calibration under all conditions: predictions that are right on the whole may be wrong for small data sets,
// for unbalanced designs or where many values are missing. In bands of the size, of what describes the
// design and of the shares of missing values:
//   gap = mean largest probability - accuracy,
// which is zero but for chance where the predictions are right. Of all bands the one is judged whose gap is
// farthest beyond chance.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"
#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr std::size_t kBands = 5;
constexpr double kFewest = 50;  // data sets, for a band to be judged

struct Band {
  std::string condition, range;
  double from = 0, to = 0;
  double count = 0, claimed = 0, hits = 0;
  double variance = 0, third = 0;  // central moments of the sum of hits, if the predictions are right
  Mean kl;

  void add(double largest, bool right) {
    ++count;
    claimed += largest;
    hits += right ? 1 : 0;
    variance += largest * (1 - largest);
    third += largest * (1 - largest) * (1 - 2 * largest);
  }
  double gap() const { return (claimed - hits) / count; }
  // How large a gap chance gives with probability `level` at most, on the side of this one: the normal
  // quantile corrected for skewness (Cornish & Fisher 1938).
  double reach(double level) const {
    if (variance <= 0) return 0;
    const double z = normal_quantile(1 - level);
    const double skewness = third / std::pow(variance, 1.5) * (gap() > 0 ? -1 : 1);
    const double corrected = std::max(z, z + (z * z - 1) * skewness / 6);
    return corrected * std::sqrt(variance) / count;
  }
};

class Conditions final : public Measurement {
 public:
  explicit Conditions(const CheckContext& context)
      : context_(context), values_((context.layout.has_n ? 1 : 0) + context.layout.conditions.size()) {}

  void add(const Block& block) override {
    const std::size_t C = context_.layout.conditions.size();
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const auto at = static_cast<std::size_t>(b);
      const std::int32_t best = block.best[at];
      largest_.push_back(block.p(b)[static_cast<std::size_t>(best)]);
      right_.push_back(block.rows.truth[at] == best);
      if (context_.layout.has_exact) kl_.push_back(divergence(block.exact(b), block.p(b)));
      std::size_t of = 0;
      if (context_.layout.has_n) values_[of++].push_back(static_cast<double>(block.rows.n[at]));
      for (std::size_t c = 0; c < C; ++c) values_[of + c].push_back(block.rows.conditions[C * at + c]);
    }
  }

  Finding finish() override {
    Finding finding{"conditions", "Calibration under all conditions", {}, {}, {}, {}};
    finding.text =
        "Calibration on the whole does not show that small data sets, some designs or data sets with many "
        "missing values are answered as well as others. Here the data sets are sorted into bands.";
    std::vector<Band> bands;
    for (std::size_t i = 0; i < values_.size(); ++i) sort_into_bands(i, bands);
    judge(bands, finding);
    add_table(bands, finding);
    return finding;
  }

 private:
  std::string name(std::size_t i) const {
    if (context_.layout.has_n) {
      if (i == 0) return "N";
      --i;
    }
    return context_.layout.conditions[i];
  }

  void sort_into_bands(std::size_t i, std::vector<Band>& bands) const {
    const std::vector<double>& values = values_[i];
    const Bands<double> ranges(values, kBands);
    if (ranges.count() < 2) return;  // the same for all data sets
    const std::size_t first = bands.size();
    for (std::size_t k = 0; k < ranges.count(); ++k) {
      Band band;
      band.condition = name(i);
      band.from = ranges.lower(k);
      band.to = ranges.upper(k);
      band.range = band.from == band.to ? fmt::format("{:.4g}", band.from)
                                        : fmt::format("{:.4g} to {:.4g}", band.from, band.to);
      bands.push_back(std::move(band));
    }
    for (std::size_t b = 0; b < values.size(); ++b) {
      Band& band = bands[first + ranges(values[b])];
      band.add(largest_[b], right_[b]);
      if (!kl_.empty()) band.kl.add(kl_[b]);
    }
  }

  // Two sides of every band.
  void judge(const std::vector<Band>& bands, Finding& finding) const {
    const auto usable = [](const Band& band) { return band.count >= kFewest; };
    const auto judged = static_cast<double>(std::count_if(bands.begin(), bands.end(), usable));
    Judgement judgement;
    if (judged == 0) {
      judgement.text = "The data sets are too few, or too much alike, to be sorted into bands.";
      finding.judgements.push_back(std::move(judgement));
      return;
    }
    const double level = context_.level / (2 * judged);
    const Band* worst = nullptr;
    double farthest = -INFINITY, unnoticed = 0;
    for (const Band& band : bands) {
      if (!usable(band)) continue;
      const double beyond = std::fabs(band.gap()) - band.reach(level);
      unnoticed = std::max(unnoticed, band.reach(level));
      if (beyond > farthest) {
        farthest = beyond;
        worst = &band;
      }
    }
    if (worst == nullptr) throw Error(ErrorKind::bad_data, "no band has a gap that is a number");
    const double limit = context_.options.calibration_limit;
    judgement.severity = severity_of(std::fabs(worst->gap()), limit, farthest > 1e-12);
    if (judgement.severity == Severity::fine) {
      judgement.text =
          fmt::format("In all {} bands of {} the accuracy is what the probabilities promise, up to chance{}.",
                      bands.size(), asked(), resolution_text(unnoticed, limit));
    } else {
      judgement.text = fmt::format(
          "For {} = {} the largest probability is {} on average, the accuracy {}: a gap of {}. Up to {} "
          "could be chance; the limit is {}.",
          worst->condition, worst->range, shown_number(worst->claimed / worst->count),
          shown_number(worst->hits / worst->count), shown_number(worst->gap()),
          shown_number(worst->reach(level)), shown_number(limit));
      judgement.advice =
          "Answers for such data sets are worse than the others. Train longer, or with more of them.";
    }
    finding.metrics = {
        metric("worst_condition_gap",
               "mean largest p minus accuracy in the band that is farthest beyond chance", worst->gap()),
        metric("condition_bands", "bands that the data sets were sorted into",
               static_cast<double>(bands.size()))};
    finding.judgements.push_back(std::move(judgement));
  }

  std::string asked() const {
    if (context_.layout.conditions.empty()) return "N";
    return context_.layout.has_n ? "N, designs and missing values" : "designs and missing values";
  }

  void add_table(const std::vector<Band>& bands, Finding& finding) const {
    Table table{
        "conditions",
        "Calibration in bands",
        {"condition", "band", "from", "to", "data_sets", "claimed", "accuracy", "gap", "lower", "upper"},
        {}};
    if (!kl_.empty()) table.columns.insert(table.columns.end(), {"kl", "kl_se"});
    for (const Band& band : bands) {
      if (band.count == 0) continue;
      const double half = 1.96 * std::sqrt(band.variance) / band.count;
      std::vector<Cell> row = {band.condition,
                               fmt::format("{} = {}", band.condition, band.range),
                               band.from,
                               band.to,
                               static_cast<std::int64_t>(band.count),
                               band.claimed / band.count,
                               band.hits / band.count,
                               band.gap(),
                               -half,
                               half};
      if (!kl_.empty()) row.insert(row.end(), {band.kl.value(), band.kl.count() > 1 ? band.kl.se() : 0});
      table.rows.push_back(std::move(row));
    }
    if (table.rows.empty()) return;
    auto y = vega_field("band", "nominal", "");
    y["sort"] = nullptr;
    finding.figures.push_back(
        {table.name,
         "Calibration in bands",
         "Dots are the mean largest probability minus the accuracy; right of zero the answers are too sure. "
         "Lines are where 95 % of the dots lie if nothing is wrong.",
         "Gap between claimed and actual accuracy for bands of sizes, designs and missing values.",
         table.name,
         {{"layer",
           {{{"mark", "rule"},
             {"encoding",
              {{"y", y},
               {"x", vega_field("lower", "quantitative", "largest probability minus accuracy")},
               {"x2", {{"field", "upper"}}}}}},
            {{"mark", {{"type", "point"}, {"filled", true}}},
             {"encoding",
              {{"y", y},
               {"x", vega_field("gap", "quantitative", "largest probability minus accuracy")},
               {"tooltip", vega_tooltips({{"band", "band"},
                                          {"data_sets", "data sets"},
                                          {"claimed", "mean largest probability"},
                                          {"accuracy", "accuracy"}})}}}}}}}});
    finding.tables.push_back(std::move(table));
  }

  CheckContext context_;
  std::vector<std::vector<double>> values_;  // of each condition, for each data set
  std::vector<double> largest_, kl_;
  std::vector<bool> right_;
};

}  // namespace

void register_conditions(Registry<Diagnostic>& registry) {
  registry.add("conditions", {"Are the predictions right for every size, design and share of missing values?",
                              1, [](const CheckContext& context) -> std::unique_ptr<Measurement> {
                                if (!context.layout.has_n && context.layout.conditions.empty())
                                  return nullptr;
                                return std::make_unique<Conditions>(context);
                              }});
}

}  // namespace occam
