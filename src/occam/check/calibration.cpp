// Calibration: of the data sets for which a model was given probability .8, is it true in 80 %? One curve per
// model (that model against the rest) and one for the most probable model, whichever it is. Probabilities are
// put into equal bins (a, b]; the first holds 0. Two summaries, often mixed up under one name:
//   ece                   sum over bins of count / K * |share true - mean p|   (Naeini 2015; Guo et al. 2017)
//   calibration_error     mean over the bins that hold anything of |share true - mean p|, unweighted
// Both are above zero for perfect predictions, because counts are finite; what to expect stands beside them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

// Models with a curve of their own in the figure: the worst ones.
constexpr std::size_t kShownCurves = 9;

struct Errors {
  double weighted = 0;    // ece
  double unweighted = 0;  // calibration_error
};

class Calibration final : public Measurement {
 public:
  explicit Calibration(const CheckContext& context)
      : context_(context),
        bins_(static_cast<std::size_t>(context.options.bins)),
        curves_(static_cast<std::size_t>(context.layout.J()) + 1),
        replicates_(static_cast<std::size_t>(context.options.replicates)),
        cells_(curves_ * bins_),
        replicate_hits_(replicates_ * curves_ * bins_, 0) {}

  void add(const Block& block) override {
    const auto J = static_cast<std::size_t>(block.J);
    std::vector<std::size_t> cell(J);
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const std::span<const double> p = block.p(b);
      for (std::size_t j = 0; j < J; ++j) {
        cell[j] = j * bins_ + bin_of(p[j]);
        add_to(cells_[cell[j]], p[j]);
      }
      const auto best = static_cast<std::size_t>(block.best[static_cast<std::size_t>(b)]);
      const std::size_t top = J * bins_ + bin_of(p[best]);
      add_to(cells_[top], p[best]);
      const std::size_t truth = block.truth(b);
      ++cells_[cell[truth]].hits;
      if (truth == best) ++cells_[top].hits;
      const std::span<const std::int32_t> drawn = block.drawn_of(b);
      std::int32_t* hits = replicate_hits_.data();
      for (const std::int32_t model : drawn) {
        ++hits[cell[static_cast<std::size_t>(model)]];
        if (static_cast<std::size_t>(model) == best) ++hits[top];
        hits += cells_.size();
      }
      ++count_;
    }
  }

  Finding finish() override {
    Finding finding{"calibration", "Calibration", {}, {}, {}, {}};
    measure();
    const std::size_t J = curves_ - 1;
    add_metrics(finding, J);
    add_model_table(finding, J);
    add_curves(finding, J);
    judge_top(finding, J);
    judge_models(finding, J);
    return finding;
  }

 private:
  struct Bin {
    double count = 0;
    double hits = 0;
    double sum_p = 0;
  };

  std::size_t bin_of(double p) const {
    if (!(p > 0)) return 0;  // what is not a number has no bin of its own
    const double at = std::ceil(p * static_cast<double>(bins_)) - 1;
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(bins_ - 1)));
  }
  static void add_to(Bin& cell, double p) {
    ++cell.count;
    cell.sum_p += p;
  }

  template <class Hits>
  Errors errors(std::size_t curve, Hits&& hits) const {
    Errors result;
    double used = 0;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const Bin& cell = cells_[curve * bins_ + bin];
      if (cell.count == 0) continue;
      const double off = std::fabs(hits(curve * bins_ + bin) - cell.sum_p);
      result.weighted += off / count_;
      result.unweighted += off / cell.count;
      ++used;
    }
    result.unweighted /= used;
    return result;
  }

  // The errors of every curve: observed, and of each replicate.
  void measure() {
    for (std::size_t curve = 0; curve < curves_; ++curve) {
      observed_.push_back(errors(curve, [&](std::size_t cell) { return cells_[cell].hits; }));
    }
    replicated_.resize(replicates_ * curves_);
    for (std::size_t r = 0; r < replicates_; ++r) {
      const std::int32_t* hits = replicate_hits_.data() + r * cells_.size();
      for (std::size_t curve = 0; curve < curves_; ++curve) {
        replicated_[r * curves_ + curve] =
            errors(curve, [&](std::size_t cell) { return static_cast<double>(hits[cell]); });
      }
    }
    for (std::size_t curve = 0; curve < curves_; ++curve) expected_.push_back(expected_errors(curve));
  }

  Errors expected_errors(std::size_t curve) const {
    Errors sum;
    for (std::size_t r = 0; r < replicates_; ++r) {
      sum.weighted += replicated_[r * curves_ + curve].weighted / static_cast<double>(replicates_);
      sum.unweighted += replicated_[r * curves_ + curve].unweighted / static_cast<double>(replicates_);
    }
    return sum;
  }

  // A statistic of the errors of the models' own curves, over the replicates.
  template <class Statistic>
  NullDistribution null(Statistic&& statistic) const {
    std::vector<double> values;
    for (std::size_t r = 0; r < replicates_; ++r) {
      values.push_back(statistic(std::span<const Errors>(replicated_.data() + r * curves_, curves_)));
    }
    return NullDistribution(std::move(values));
  }

  void add_metrics(Finding& finding, std::size_t J) const {
    const auto mean = [J](double Errors::*part) {
      return [J, part](std::span<const Errors> all) {
        double sum = 0;
        for (std::size_t j = 0; j < J; ++j) sum += all[j].*part;
        return sum / static_cast<double>(J);
      };
    };
    const auto top = [J](double Errors::*part) {
      return [J, part](std::span<const Errors> all) { return all[J].*part; };
    };
    const auto add = [&](const std::string& name, const std::string& meaning, const auto& statistic) {
      const NullDistribution expected = null(statistic);
      const Interval range = expected.central95();
      finding.metrics.push_back(metric(name, meaning, statistic(observed_)));
      finding.metrics.push_back(metric(name + "_expected",
                                       "the same for perfect calibration and these counts", expected.mean(),
                                       range.lower, range.upper));
    };
    add("ece_top", "expected calibration error of the most probable model, bins weighted by count",
        top(&Errors::weighted));
    add("ece", "mean over models of the expected calibration error, bins weighted by count",
        mean(&Errors::weighted));
    add("calibration_error",
        "mean over models of the calibration error with all bins that hold anything weighted alike",
        mean(&Errors::unweighted));
    if (static_cast<std::int64_t>(J) > kManyModels) return;
    for (std::size_t j = 0; j < J; ++j) {
      const std::string& name = context_.layout.model_names[j];
      finding.metrics.push_back(metric("ece_" + name, "ece of " + name, observed_[j].weighted));
      finding.metrics.push_back(
          metric("calibration_error_" + name, "calibration_error of " + name, observed_[j].unweighted));
    }
  }

  void add_model_table(Finding& finding, std::size_t J) const {
    Table table{"calibration_by_model",
                "Calibration errors by model",
                {"model", "ece", "ece_expected", "calibration_error", "calibration_error_expected"},
                {}};
    for (std::size_t j = 0; j < J; ++j) {
      table.rows.push_back({context_.layout.model_names[j], observed_[j].weighted, expected_[j].weighted,
                            observed_[j].unweighted, expected_[j].unweighted});
    }
    finding.tables.push_back(std::move(table));
  }

  void add_curves(Finding& finding, std::size_t J) const {
    std::vector<std::size_t> order(J);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool all = J <= kShownCurves;
    if (!all) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return observed_[a].weighted - expected_[a].weighted > observed_[b].weighted - expected_[b].weighted;
      });
      order.resize(kShownCurves);
    }
    Table table{"calibration",
                "Calibration curves",
                {"curve", "bin_from", "bin_to", "data_sets", "mean_p", "share_true", "lower", "upper",
                 "chance_lower", "chance_upper"},
                {}};
    add_curve(table, "most probable model", J);
    for (const std::size_t j : order) add_curve(table, context_.layout.model_names[j], j);
    finding.tables.push_back(std::move(table));
    finding.figures.push_back(
        {"calibration", "Calibration curves",
         fmt::format(
             "Points: among the data sets of a bin, how often the model was true, with a 95 % interval. "
             "The grey band is where 95 % of the points would lie if the predictions were right; its "
             "middle is the diagonal. Points below the band claim too much, points above it too "
             "little.{}",
             all ? ""
                 : fmt::format(" Of {} models, the {} with the largest errors are shown.", J, kShownCurves)),
         "For each model, the share of data sets in which it was true against the probability it was given.",
         "calibration", specification()});
  }

  void add_curve(Table& table, const std::string& name, std::size_t curve) const {
    std::vector<double> shares(replicates_);
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const std::size_t at = curve * bins_ + bin;
      const Bin& cell = cells_[at];
      if (cell.count == 0) continue;
      for (std::size_t r = 0; r < replicates_; ++r) {
        shares[r] = static_cast<double>(replicate_hits_[r * cells_.size() + at]) / cell.count;
      }
      const Interval chance{quantile(shares, 0.025), quantile(shares, 0.975)};
      const Interval interval = wilson(cell.hits, cell.count);
      const auto width = static_cast<double>(bins_);
      table.rows.push_back({name, static_cast<double>(bin) / width, static_cast<double>(bin + 1) / width,
                            static_cast<std::int64_t>(cell.count), cell.sum_p / cell.count,
                            cell.hits / cell.count, interval.lower, interval.upper, chance.lower,
                            chance.upper});
    }
  }

  static nlohmann::json specification() {
    using nlohmann::json;
    json x = vega_field("mean_p", "quantitative", "mean probability");
    json y = vega_field("share_true", "quantitative", "share true");
    x["scale"] = y["scale"] = {{"domain", {0, 1}}};
    const auto part = [&](const char* field) {
      json other = y;
      other["field"] = field;
      return other;
    };
    const json band = {
        {"mark", {{"type", "area"}, {"color", "#888888"}, {"opacity", 0.3}}},
        {"encoding", {{"x", x}, {"y", part("chance_lower")}, {"y2", {{"field", "chance_upper"}}}}}};
    const json diagonal = {{"mark", {{"type", "line"}, {"strokeDash", {4, 4}}, {"color", "#666666"}}},
                           {"encoding", {{"x", x}, {"y", part("mean_p")}}}};
    const json bars = {{"mark", {{"type", "rule"}}},
                       {"encoding", {{"x", x}, {"y", part("lower")}, {"y2", {{"field", "upper"}}}}}};
    const json points = {{"mark", {{"type", "line"}, {"point", true}}},
                         {"encoding",
                          {{"x", x},
                           {"y", y},
                           {"tooltip", vega_tooltips({{"curve", "model"},
                                                      {"bin_from", "bin from"},
                                                      {"bin_to", "bin to"},
                                                      {"data_sets", "data sets"},
                                                      {"mean_p", "mean probability"},
                                                      {"share_true", "share true"},
                                                      {"chance_lower", "chance from"},
                                                      {"chance_upper", "chance to"}})}}}};
    return {{"facet", {{"field", "curve"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}}},
            {"columns", 3},
            {"spec", {{"width", 180}, {"height", 180}, {"layer", {band, diagonal, bars, points}}}}};
  }

  void judge_top(Finding& finding, std::size_t J) const {
    const NullDistribution expected = null([J](std::span<const Errors> all) { return all[J].weighted; });
    judge(finding, "The calibration error of the most probable model (ece_top)", observed_[J].weighted,
          expected.mean(), expected.limit(context_.level));
  }

  void judge_models(Finding& finding, std::size_t J) const {
    std::size_t worst = 0;
    const auto excess = [&](std::span<const Errors> all, std::size_t j) {
      return all[j].weighted - expected_[j].weighted;
    };
    const auto largest = [&](std::span<const Errors> all) {
      double most = excess(all, 0);
      for (std::size_t j = 1; j < J; ++j) most = std::max(most, excess(all, j));
      return most;
    };
    for (std::size_t j = 1; j < J; ++j) {
      if (excess(observed_, j) > excess(observed_, worst)) worst = j;
    }
    const NullDistribution chance = null(largest);
    judge(finding,
          fmt::format("The calibration error of model {}, the largest, compared to what chance gives (ece)",
                      context_.layout.model_names[worst]),
          observed_[worst].weighted, expected_[worst].weighted,
          expected_[worst].weighted + chance.limit(context_.level));
  }

  void judge(Finding& finding, const std::string& what, double found, double expected, double chance) const {
    const double limit = context_.options.calibration_limit;
    Judgement judgement;
    judgement.severity = severity_of(found - expected, limit, found > chance + 1e-12);
    judgement.text = fmt::format(
        "{} is {}. Perfect calibration would give {}, by chance up to {}; the limit is {} above what is "
        "expected.",
        what, shown_number(found), shown_number(expected), shown_number(chance), shown_number(limit));
    if (judgement.severity == Severity::fine) {
      judgement.text += resolution_text(chance - expected, limit);
    } else if (judgement.severity == Severity::note) {
      judgement.advice = "Real, but small: conclusions that hang on a few hundredths of p are not safe.";
    } else {
      judgement.advice =
          "Look at the curves: below the diagonal p claims too much. Train longer; "
          "unless they are so already, tell the network N (log_n), and train with ";
      judgement.advice += context_.layout.has_u ? "lambda 0: a larger lambda costs calibration."
                                                : "a smaller penalty (lambda, latent_weight), which costs "
                                                  "calibration.";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  std::size_t bins_;
  std::size_t curves_;  // one per model, then that of the most probable one
  std::size_t replicates_;
  std::vector<Bin> cells_;                    // (curves, bins)
  std::vector<std::int32_t> replicate_hits_;  // (R, curves, bins)
  double count_ = 0;
  std::vector<Errors> observed_, expected_;  // (curves)
  std::vector<Errors> replicated_;           // (R, curves)
};

}  // namespace

void register_calibration(Registry<Diagnostic>& registry) {
  registry.add("calibration",
               {"Is a model that was given probability .8 true in 80 % of the cases?", 2,
                [](const CheckContext& context) { return std::make_unique<Calibration>(context); }});
}

}  // namespace occam
