// Accuracy: how often the most probable model is the true one; overall, by true model, by size. Beside it
// stands what the predictions themselves expect, the mean of their largest probability. Overall interval:
// bootstrap; shares of few data sets: Wilson.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

class Accuracy final : public Measurement {
 public:
  explicit Accuracy(const CheckContext& context)
      : context_(context), by_model_(static_cast<std::size_t>(context.layout.J())) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const auto best = static_cast<std::size_t>(block.best[static_cast<std::size_t>(b)]);
      const bool right = best == block.truth(b);
      correct_.push_back(right ? 1.0 : 0.0);
      largest_.push_back(block.p(b)[best]);
      if (context_.layout.has_n) n_.push_back(block.rows.n[static_cast<std::size_t>(b)]);
      Group& group = by_model_[block.truth(b)];
      ++group.count;
      group.correct += right ? 1 : 0;
    }
  }

  Finding finish() override {
    Finding finding{"accuracy", "Accuracy", {}, {}, {}, {}};
    const auto K = static_cast<double>(correct_.size());
    double correct = 0;
    double claimed = 0;
    for (const double right : correct_) correct += right;
    for (const double p : largest_) claimed += p;
    const Interval interval =
        bootstrap_means(correct_, 1, context_.options.replicates, context_.seed).front();
    finding.metrics = {metric("accuracy", "share of data sets whose most probable model is the true one",
                              correct / K, interval.lower, interval.upper),
                       metric("accuracy_claimed",
                              "mean largest probability: the accuracy the predictions expect", claimed / K),
                       metric("chance", "accuracy of always naming the most frequent model", chance())};
    by_model(finding);
    if (!n_.empty()) by_size(finding);
    judge(correct, finding);
    return finding;
  }

 private:
  struct Group {
    double count = 0;
    double correct = 0;
    double claimed = 0;
  };

  double chance() const {
    double most = 0;
    for (const Group& group : by_model_) most = std::max(most, group.count);
    return most / static_cast<double>(correct_.size());
  }

  void by_model(Finding& finding) const {
    Table table{"accuracy_by_model",
                "Accuracy by true model",
                {"model", "data_sets", "accuracy", "lower", "upper"},
                {}};
    for (std::size_t j = 0; j < by_model_.size(); ++j) {
      const Group& group = by_model_[j];
      if (group.count == 0) continue;
      const std::string& name = context_.layout.model_names[j];
      const Interval interval = wilson(group.correct, group.count);
      const double share = group.correct / group.count;
      table.rows.push_back(
          {name, static_cast<std::int64_t>(group.count), share, interval.lower, interval.upper});
      if (context_.layout.J() <= kManyModels) {
        finding.metrics.push_back(metric("accuracy_" + name, "accuracy where " + name + " is true", share,
                                         interval.lower, interval.upper));
      }
    }
    finding.tables.push_back(std::move(table));
  }

  void by_size(Finding& finding) const {
    const SizeBands bands(n_);
    std::vector<Group> groups(bands.count());
    for (std::size_t i = 0; i < n_.size(); ++i) {
      Group& group = groups[bands(n_[i])];
      ++group.count;
      group.correct += correct_[i];
      group.claimed += largest_[i];
    }
    Table table{"accuracy_by_n",
                "Accuracy by size",
                {"n", "n_from", "n_to", "data_sets", "accuracy", "lower", "upper", "claimed"},
                {}};
    for (std::size_t band = 0; band < groups.size(); ++band) {
      const Group& group = groups[band];
      const Interval interval = wilson(group.correct, group.count);
      table.rows.push_back({0.5 * static_cast<double>(bands.lower(band) + bands.upper(band)),
                            bands.lower(band), bands.upper(band), static_cast<std::int64_t>(group.count),
                            group.correct / group.count, interval.lower, interval.upper,
                            group.claimed / group.count});
    }
    finding.tables.push_back(std::move(table));
    using nlohmann::json;
    const json x = vega_field("n", "quantitative", "N, middle of the band");
    json y = vega_field("accuracy", "quantitative", "accuracy");
    y["scale"] = {{"domain", {0, 1}}};
    json claimed = y;
    claimed["field"] = "claimed";
    const json tooltips = vega_tooltips({{"n_from", "N from"},
                                         {"n_to", "N to"},
                                         {"data_sets", "data sets"},
                                         {"accuracy", "accuracy"},
                                         {"lower", "lower"},
                                         {"upper", "upper"},
                                         {"claimed", "expected by the predictions"}});
    json specification = vega_curve(x, y, "lower", "upper", tooltips);
    specification["layer"].push_back({{"mark", {{"type", "line"}, {"strokeDash", {4, 4}}}},
                                      {"encoding", {{"x", x}, {"y", claimed}, {"tooltip", tooltips}}}});
    finding.figures.push_back(
        {"accuracy_by_n", "Accuracy by size",
         "Solid line: how often the most probable model is the true one, with its 95 % interval. Dashed "
         "line: how often the predictions expect to be right. A dashed line above the band claims too much.",
         "Accuracy, and the accuracy that the predictions expect, against the size N of a data set.",
         "accuracy_by_n", specification});
  }

  // Not a test: data that say nothing leave even the exact posterior at chance.
  void judge(double correct, Finding& finding) const {
    const auto K = static_cast<double>(correct_.size());
    const double accuracy = correct / K;
    const double spread = std::sqrt(chance() * (1 - chance()) / K);
    Judgement judgement;
    judgement.text =
        fmt::format("The most probable model is the true one in {} of the data sets (chance: {}).",
                    shown_number(accuracy), shown_number(chance()));
    if (!(accuracy > chance() + normal_quantile(1 - context_.level) * spread)) {
      judgement.severity = Severity::note;
      judgement.text = fmt::format("The accuracy, {}, is not above chance, {}.", shown_number(accuracy),
                                   shown_number(chance()));
      judgement.advice =
          "Either data of these sizes cannot tell the models apart, or the network has learned nothing: "
          "train longer, or look at larger sizes (--n).";
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  std::vector<Group> by_model_;
  std::vector<double> correct_;
  std::vector<double> largest_;
  std::vector<std::int64_t> n_;
};

}  // namespace

void register_accuracy(Registry<Diagnostic>& registry) {
  registry.add("accuracy", {"How often is the most probable model the true one?", 0,
                            [](const CheckContext& context) { return std::make_unique<Accuracy>(context); }});
}

}  // namespace occam
