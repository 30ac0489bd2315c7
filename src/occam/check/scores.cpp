// Proper scores (Gneiting & Raftery 2007), which only the true posterior minimises in expectation:
//   log-loss   mean of -log p_true                    [nats]
//   Brier      mean of sum_j (p_j - [j is true])^2     (Brier 1950; 0 to 2)
// Test: if the predictions are right, the expected log-loss is their mean entropy.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

class ProperScores final : public Measurement {
 public:
  explicit ProperScores(const CheckContext& context)
      : context_(context), replicate_loss_(static_cast<std::size_t>(context.options.replicates), 0.0) {}

  void add(const Block& block) override {
    const auto J = static_cast<std::size_t>(block.J);
    std::vector<double> loss(J);
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const std::span<const double> p = block.p(b);
      double squares = 0;
      for (std::size_t j = 0; j < J; ++j) {
        loss[j] = -std::log(std::max(p[j], kSmallestProbability));
        entropy_ += p[j] * loss[j];
        squares += p[j] * p[j];
      }
      const std::size_t truth = block.truth(b);
      impossible_ += p[truth] < kSmallestProbability ? 1 : 0;
      values_.push_back(loss[truth]);
      values_.push_back(squares - 2 * p[truth] + 1);
      if (context_.layout.has_n) n_.push_back(block.rows.n[static_cast<std::size_t>(b)]);
      const std::span<const std::int32_t> drawn = block.drawn_of(b);
      for (std::size_t r = 0; r < drawn.size(); ++r) {
        replicate_loss_[r] += loss[static_cast<std::size_t>(drawn[r])];
      }
    }
  }

  Finding finish() override {
    Finding finding{"scores", "Proper scores", {}, {}, {}, {}};
    const auto K = static_cast<double>(values_.size() / 2);
    double loss = 0;
    double brier = 0;
    for (std::size_t i = 0; i < values_.size(); i += 2) {
      loss += values_[i];
      brier += values_[i + 1];
    }
    loss /= K;
    brier /= K;
    const std::vector<Interval> intervals =
        bootstrap_means(values_, 2, context_.options.replicates, context_.seed);
    for (double& sum : replicate_loss_) sum /= K;
    const NullDistribution expected(replicate_loss_);
    const double entropy = entropy_ / K;
    const Interval range = expected.central95();
    finding.metrics = {
        metric("log_loss", "mean of -log p of the true model [nats]", loss, intervals[0].lower,
               intervals[0].upper),
        metric("log_loss_expected", "the log-loss that the predictions themselves expect: their mean entropy",
               entropy, range.lower, range.upper),
        metric("brier", "mean squared distance between p and the truth, summed over models (0 to 2)", brier,
               intervals[1].lower, intervals[1].upper),
        metric("impossible", "data sets whose true model was given probability zero",
               static_cast<double>(impossible_))};
    if (!n_.empty()) by_size(finding);
    judge(loss, entropy, expected, finding);
    return finding;
  }

 private:
  void by_size(Finding& finding) const {
    const SizeBands bands(n_);
    std::vector<Mean> loss(bands.count());
    std::vector<Mean> brier(bands.count());
    for (std::size_t i = 0; i < n_.size(); ++i) {
      loss[bands(n_[i])].add(values_[2 * i]);
      brier[bands(n_[i])].add(values_[2 * i + 1]);
    }
    Table table{"scores_by_n",
                "Log-loss and Brier score by size",
                {"n", "n_from", "n_to", "data_sets", "log_loss", "lower", "upper", "brier", "brier_se"},
                {}};
    for (std::size_t band = 0; band < bands.count(); ++band) {
      const double half = loss[band].count() > 1 ? 1.96 * loss[band].se() : 0;
      table.rows.push_back({0.5 * static_cast<double>(bands.lower(band) + bands.upper(band)),
                            bands.lower(band), bands.upper(band), loss[band].count(), loss[band].value(),
                            loss[band].value() - half, loss[band].value() + half, brier[band].value(),
                            brier[band].count() > 1 ? brier[band].se() : 0.0});
    }
    finding.tables.push_back(std::move(table));
    const auto tooltips = vega_tooltips({{"n_from", "N from"},
                                         {"n_to", "N to"},
                                         {"data_sets", "data sets"},
                                         {"log_loss", "log-loss"},
                                         {"brier", "Brier score"}});
    finding.figures.push_back(
        {"log_loss_by_n", "Log-loss by size",
         fmt::format("How surprised the predictions are by the true model, in nats, with a 95 % interval; "
                     "less is better, and {} is chance for {} models of equal probability. It should fall as "
                     "data sets grow.",
                     shown_number(std::log(static_cast<double>(context_.layout.J()))), context_.layout.J()),
         "Mean log-loss against the size N of a data set.", "scores_by_n",
         vega_curve(vega_field("n", "quantitative", "N, middle of the band"),
                    vega_field("log_loss", "quantitative", "log-loss [nats]"), "lower", "upper", tooltips)});
  }

  void judge(double loss, double entropy, const NullDistribution& expected, Finding& finding) const {
    if (impossible_ > 0) {
      finding.judgements.push_back(
          {Severity::serious,
           fmt::format("{} data sets came from a model that was given probability zero.", impossible_),
           "No data can be impossible under the model that made them: the predictions are wrong, or labels "
           "are mixed up."});
    }
    const double limit = context_.options.loss_limit;
    const double chance = expected.limit(context_.level) - entropy;
    const double excess = loss - entropy;
    Judgement judgement;
    judgement.severity = severity_of(excess, limit, excess > chance + 1e-12);
    judgement.text = fmt::format(
        "The log-loss is {} nats; the predictions themselves expect {}. Up to {} more could be chance; "
        "the limit is {}.",
        shown_number(loss), shown_number(entropy), shown_number(chance), shown_number(limit));
    if (judgement.severity == Severity::fine) {
      judgement.text += resolution_text(chance, limit);
    } else {
      judgement.advice =
          "The predictions claim to know more than they do. Train longer or with a larger network";
      judgement.advice += context_.layout.has_u
                              ? "; with lambda > 0 some of this is the price of the second loss term."
                              : ".";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  std::vector<double> values_;  // (K, 2) log-loss and Brier score of each data set
  std::vector<std::int64_t> n_;
  std::vector<double> replicate_loss_;  // (R)
  double entropy_ = 0;
  std::int64_t impossible_ = 0;
};

}  // namespace

void register_scores(Registry<Diagnostic>& registry) {
  registry.add("scores",
               {"How surprising is the true model to the predictions, and should it be?", 1,
                [](const CheckContext& context) { return std::make_unique<ProperScores>(context); }});
}

}  // namespace occam
