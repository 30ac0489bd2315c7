// Distance from the exact posterior q, where it is known:
//   KL = mean over data sets of sum_j q_j log(q_j / p_j)   [nats],
// beside the best possible accuracy and log-loss on the same data sets, and true against estimated log Bayes
// factors: of the first model against the second where there are two, else of the two that q favours most.
// Where q itself does not fit the data (evidence_fit.hpp), it is q that is wrong.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/evidence_fit.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

constexpr std::size_t kPoints = 1000;  // in the figure of Bayes factors
constexpr double kLargestLog = 30;     // beyond this they all say the same
// That an exact posterior without fault is said not to fit. Outside the allowed false alarms, which are about
// predictions, and far below them.
constexpr double kMisfitLevel = 1e-6;

class Exact final : public Measurement {
 public:
  explicit Exact(const CheckContext& context)
      : context_(context), fit_(static_cast<std::size_t>(context.layout.J())) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const std::span<const double> p = block.p(b);
      const std::span<const double> q = block.exact(b);
      const double kl = divergence(q, p);
      kl_.add(kl);
      each_.push_back(kl);
      const std::int64_t n = context_.layout.has_n ? block.rows.n[static_cast<std::size_t>(b)] : 0;
      n_.push_back(n);
      const std::size_t truth = block.truth(b);
      const auto best = static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
      accuracy_.add(best == truth ? 1 : 0);
      loss_.add(-log_of(q[truth]));
      fit_.add(q, truth);
      accuracy_lost_.add(
          (best == truth ? 1 : 0) -
          (static_cast<std::size_t>(block.best[static_cast<std::size_t>(b)]) == truth ? 1 : 0));
      loss_added_.add(log_of(q[truth]) - log_of(p[truth]));
      add_bayes_factor(q, p, n);
    }
  }

  Finding finish() override {
    Finding finding{"exact", "Distance from the exact posterior", {}, {}, {}, {}};
    const auto with_se = [](std::string name, std::string meaning, const Mean& mean) {
      const double half = mean.count() > 1 ? 1.96 * mean.se() : 0;
      return metric(std::move(name), std::move(meaning), mean.value(), mean.value() - half,
                    mean.value() + half);
    };
    finding.metrics = {
        with_se("kl", "mean KL divergence from the exact posterior [nats]", kl_),
        metric("kl_se", "its standard error", kl_.count() > 1 ? kl_.se() : 0),
        with_se("best_accuracy", "accuracy of the exact posterior on the same data sets", accuracy_),
        with_se("best_log_loss", "log-loss of the exact posterior on the same data sets [nats]", loss_),
        with_se("accuracy_lost", "best accuracy minus accuracy, data set by data set", accuracy_lost_),
        with_se("log_loss_added", "log-loss minus best log-loss, data set by data set [nats]", loss_added_)};
    if (context_.layout.has_n) by_size(finding);
    bayes_factors(finding);
    if (fit_.excess(kMisfitLevel) > 1) {
      misfit(finding);
    } else {
      judge(finding);
    }
    return finding;
  }

 private:
  static double log_of(double p) { return std::log(std::max(p, kSmallestProbability)); }

  void add_bayes_factor(std::span<const double> q, std::span<const double> p, std::int64_t n) {
    if (points_.size() == kPoints) return;
    std::size_t first = 0;
    std::size_t second = 1;
    if (q.size() > 2) {
      for (std::size_t j = 0; j < q.size(); ++j) {
        if (q[j] > q[first]) first = j;
      }
      second = first == 0 ? 1 : 0;
      for (std::size_t j = 0; j < q.size(); ++j) {
        if (j != first && q[j] > q[second]) second = j;
      }
    }
    const std::vector<double>& prior = context_.layout.model_prior;
    const double odds = prior.empty() ? 0 : std::log(prior[first] / prior[second]);
    const auto factor = [&](std::span<const double> of) {
      return std::clamp(log_of(of[first]) - log_of(of[second]) - odds, -kLargestLog, kLargestLog);
    };
    points_.push_back({n, context_.layout.model_names[first] + " : " + context_.layout.model_names[second],
                       factor(q), factor(p)});
  }

  void by_size(Finding& finding) const {
    const SizeBands bands(n_);
    std::vector<Mean> kl(bands.count());
    for (std::size_t i = 0; i < n_.size(); ++i) kl[bands(n_[i])].add(each_[i]);
    Table table{"kl_by_n",
                "Distance from the exact posterior by size",
                {"n", "n_from", "n_to", "data_sets", "kl", "se", "lower", "upper"},
                {}};
    for (std::size_t band = 0; band < bands.count(); ++band) {
      const double se = kl[band].count() > 1 ? kl[band].se() : 0;
      table.rows.push_back({0.5 * static_cast<double>(bands.lower(band) + bands.upper(band)),
                            bands.lower(band), bands.upper(band), kl[band].count(), kl[band].value(), se,
                            kl[band].value() - 1.96 * se, kl[band].value() + 1.96 * se});
    }
    finding.tables.push_back(std::move(table));
    finding.figures.push_back(
        {"kl_by_n", "Distance from the exact posterior by size",
         fmt::format(
             "Mean Kullback-Leibler divergence of the predictions from the exact posterior, in nats, with "
             "its 95 % interval. Below {} it does not matter for conclusions.",
             shown_number(context_.options.kl_limit)),
         "Mean divergence from the exact posterior against the size N of a data set.", "kl_by_n",
         vega_curve(vega_field("n", "quantitative", "N, middle of the band"),
                    vega_field("kl", "quantitative", "KL [nats]"), "lower", "upper",
                    vega_tooltips({{"n_from", "N from"},
                                   {"n_to", "N to"},
                                   {"data_sets", "data sets"},
                                   {"kl", "KL [nats]"},
                                   {"se", "standard error"}}))});
  }

  void bayes_factors(Finding& finding) const {
    Table table{
        "bayes_factors", "True and estimated log Bayes factors", {"n", "models", "exact", "estimated"}, {}};
    for (const Point& point : points_) {
      table.rows.push_back({point.n, point.models, point.exact, point.estimated});
    }
    finding.tables.push_back(std::move(table));
    using nlohmann::json;
    const json x = vega_field("exact", "quantitative", "exact log Bayes factor");
    const json y = vega_field("estimated", "quantitative", "estimated log Bayes factor");
    json diagonal = y;
    diagonal["field"] = "exact";
    finding.figures.push_back(
        {"bayes_factors",
         "True and estimated log Bayes factors",
         fmt::format(
             "One point per data set (the first {}): {}. On the dashed line the estimate is exact. Values "
             "beyond {} are shown as {}.",
             points_.size(),
             context_.layout.J() == 2 ? "the first model against the second"
                                      : "the two models that the exact posterior favours most",
             kLargestLog, kLargestLog),
         "Estimated against exact natural log Bayes factors, one point per data set.",
         "bayes_factors",
         {{"layer",
           {{{"mark", {{"type", "line"}, {"strokeDash", {4, 4}}, {"color", "#666666"}}},
             {"encoding", {{"x", x}, {"y", diagonal}}}},
            {{"mark", {{"type", "point"}, {"filled", true}, {"size", 12}, {"opacity", 0.5}}},
             {"encoding",
              {{"x", x},
               {"y", y},
               {"tooltip", vega_tooltips({{"models", "models"},
                                          {"n", "N"},
                                          {"exact", "exact"},
                                          {"estimated", "estimated"}})}}}}}}}});
  }

  // The exact posterior itself has KL 0 whatever the chance, so this cannot raise a false alarm.
  void judge(Finding& finding) const {
    const double limit = context_.options.kl_limit;
    Judgement judgement;
    judgement.severity = kl_.value() > limit ? severity_of(kl_.value(), limit, true) : Severity::fine;
    judgement.text = fmt::format(
        "The predictions are {:.2g} nats from the exact posterior (limit {}). Best possible: accuracy "
        "{}, log-loss {}.",
        kl_.value(), shown_number(limit), shown_number(accuracy_.value()), shown_number(loss_.value()));
    if (judgement.severity != Severity::fine) {
      judgement.advice = "Train longer or with a larger network; see which sizes are worst.";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  // What is called exact is not: then the distance from it says nothing.
  void misfit(Finding& finding) const {
    const std::size_t model = fit_.worst_model();
    Judgement judgement;
    judgement.severity = Severity::warning;
    judgement.text = fmt::format(
        "The posterior that is called exact does not fit the data sets: as if their true models were not "
        "drawn "
        "from it (log-loss minus entropy: z = {:.1f}; share of {}: z = {:.1f}). The distance of {:.2g} nats "
        "from it says nothing.",
        fit_.loss_z(), context_.layout.model_names[model], fit_.share_z(model), kl_.value());
    judgement.advice =
        "A log_evidence() of your own does not fit your simulator or the priors of your problem file: they "
        "must "
        "say the same.";
    finding.judgements.push_back(std::move(judgement));
  }

  struct Point {
    std::int64_t n;
    std::string models;
    double exact;
    double estimated;
  };

  CheckContext context_;
  EvidenceFit fit_;
  std::vector<double> each_;  // KL of each data set
  std::vector<std::int64_t> n_;
  std::vector<Point> points_;
  Mean kl_, accuracy_, loss_, accuracy_lost_, loss_added_;
};

}  // namespace

void register_exact(Registry<Diagnostic>& registry) {
  registry.add("exact", {"How far are the predictions from the exact posterior?", 0,
                         [](const CheckContext& context) -> std::unique_ptr<Measurement> {
                           if (!context.layout.has_exact) return nullptr;
                           return std::make_unique<Exact>(context);
                         }});
}

}  // namespace occam
