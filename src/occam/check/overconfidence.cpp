// Overconfidence: among the data sets whose largest probability is at least .95, the most probable model has
// to be the true one in at least 95 %.
//   overconfidence = max(0, .95 - accuracy among those);   gap = mean largest probability - accuracy, over
//   all
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

class Overconfidence final : public Measurement {
 public:
  explicit Overconfidence(const CheckContext& context)
      : context_(context),
        replicate_hits_(static_cast<std::size_t>(context.options.replicates), 0.0),
        replicate_confident_(replicate_hits_) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const std::int32_t best = block.best[static_cast<std::size_t>(b)];
      const double largest = block.p(b)[static_cast<std::size_t>(best)];
      const bool sure = largest >= context_.options.confident;
      const bool right = block.rows.truth[static_cast<std::size_t>(b)] == best;
      ++count_;
      claimed_ += largest;
      hits_ += right ? 1 : 0;
      confident_ += sure ? 1 : 0;
      confident_claimed_ += sure ? largest : 0;
      confident_hits_ += sure && right ? 1 : 0;
      const std::span<const std::int32_t> drawn = block.drawn_of(b);
      for (std::size_t r = 0; r < drawn.size(); ++r) {
        const double hit = drawn[r] == best ? 1 : 0;
        replicate_hits_[r] += hit;
        if (sure) replicate_confident_[r] += hit;
      }
    }
  }

  Finding finish() override {
    Finding finding{"overconfidence", "Overconfidence", {}, {}, {}, {}};
    const double accuracy = confident_ > 0 ? confident_hits_ / confident_ : NAN;
    const double over = confident_ > 0 ? std::max(0.0, context_.options.confident - accuracy) : 0;
    const Interval interval = wilson(confident_hits_, confident_);
    const double gap = (claimed_ - hits_) / count_;
    const NullDistribution chance_gap = gap_distribution();
    const Interval range = chance_gap.central95();
    finding.metrics = {
        metric("overconfidence",
               fmt::format("max(0, {0} - accuracy among data sets whose largest p is at least {0})",
                           context_.options.confident),
               over),
        metric("confident_share", "share of data sets with such a largest p", confident_ / count_),
        metric("confidence_gap", "mean largest p minus accuracy; the interval is what chance gives", gap,
               range.lower, range.upper)};
    if (confident_ > 0) {
      finding.metrics.push_back(
          metric("confident_accuracy", "accuracy among them", accuracy, interval.lower, interval.upper));
    }
    judge_confident(over, accuracy, finding);
    judge_gap(gap, chance_gap, finding);
    return finding;
  }

 private:
  NullDistribution gap_distribution() const {
    std::vector<double> gaps;
    for (const double hits : replicate_hits_) gaps.push_back((claimed_ - hits) / count_);
    return NullDistribution(std::move(gaps));
  }

  void judge_confident(double over, double accuracy, Finding& finding) const {
    Judgement judgement;
    if (confident_ == 0) {
      judgement.text = fmt::format("No data set was given a largest probability of {} or more.",
                                   context_.options.confident);
      finding.judgements.push_back(std::move(judgement));
      return;
    }
    std::vector<double> values;
    for (const double hits : replicate_confident_) values.push_back((confident_claimed_ - hits) / confident_);
    const NullDistribution missing(std::move(values));
    const double found = confident_claimed_ / confident_ - accuracy;
    const double limit = context_.options.overconfidence_limit;
    const bool beyond = over > 0 && found > missing.limit(context_.level) + 1e-12;
    judgement.severity = severity_of(over, limit, beyond);
    judgement.text = fmt::format(
        "Of {} data sets with a largest probability of at least {}, it was right in {}; overconfidence is "
        "{}, the limit {}.",
        static_cast<std::int64_t>(confident_), context_.options.confident, shown_number(accuracy),
        shown_number(over), shown_number(limit));
    if (judgement.severity != Severity::fine) {
      judgement.advice = "High probabilities claim too much: do not take p > .95 at its word. Train longer.";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  // Too sure or not sure enough, on the whole: two sides.
  void judge_gap(double gap, const NullDistribution& chance, Finding& finding) const {
    const double limit = context_.options.calibration_limit;
    const double reach = normal_quantile(1 - context_.level / 2) * chance.sd();
    Judgement judgement;
    judgement.severity = severity_of(std::fabs(gap), limit, std::fabs(gap) > reach + 1e-12);
    judgement.text = fmt::format(
        "The largest probability is {} on average, the accuracy {}: a gap of {}. Up to {} either way could "
        "be chance; the limit is {}.",
        shown_number(claimed_ / count_), shown_number(hits_ / count_), shown_number(gap), shown_number(reach),
        shown_number(limit));
    if (judgement.severity == Severity::fine) {
      judgement.text += resolution_text(reach, limit);
    } else {
      const char* unsure = context_.layout.has_u
                               ? "The predictions are less sure than they could be: train longer, or with "
                                 "lambda 0, if it is not."
                               : "The predictions are less sure than they could be: train longer, or with a "
                                 "smaller penalty (lambda, or the latent_weight of a variational head).";
      judgement.advice = gap > 0 ? "The predictions are too sure of themselves. Train longer." : unsure;
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  double count_ = 0, claimed_ = 0, hits_ = 0;
  double confident_ = 0, confident_claimed_ = 0, confident_hits_ = 0;
  std::vector<double> replicate_hits_, replicate_confident_;  // (R)
};

}  // namespace

void register_overconfidence(Registry<Diagnostic>& registry) {
  registry.add("overconfidence",
               {"Are probabilities above .95 as good as they claim?", 2,
                [](const CheckContext& context) { return std::make_unique<Overconfidence>(context); }});
}

}  // namespace occam
