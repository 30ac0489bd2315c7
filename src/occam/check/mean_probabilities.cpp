// Occam's razor at work: the mean posterior probability of every model (columns) for data of each true model
// (rows). Data from a simple model are also made by the larger ones that contain it, yet the simple one gets
// the higher probability. With many models: the true one and its strongest rival.
#include <algorithm>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"

namespace occam {
namespace {

class MeanProbabilities final : public Measurement {
 public:
  explicit MeanProbabilities(const CheckContext& context)
      : names_(context.layout.model_names), J_(names_.size()), sums_(J_ * J_, 0.0), counts_(J_, 0.0) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      double* sums = sums_.data() + block.truth(b) * J_;
      const std::span<const double> p = block.p(b);
      for (std::size_t j = 0; j < J_; ++j) sums[j] += p[j];
      ++counts_[block.truth(b)];
    }
  }

  Finding finish() override {
    Finding finding{"mean_probabilities", "Mean probabilities by true model", {}, {}, {}, {}};
    double of_truth = 0;
    double count = 0;
    std::size_t hardest = 0;
    for (std::size_t i = 0; i < J_; ++i) {
      of_truth += sums_[i * J_ + i];
      count += counts_[i];
      if (counts_[i] > 0 && (counts_[hardest] == 0 || mean(i, i) < mean(hardest, hardest))) hardest = i;
    }
    finding.metrics = {metric("mean_p_true", "mean probability of the true model", of_truth / count)};
    if (static_cast<std::int64_t>(J_) <= kManyModels) {
      add_matrix(finding);
    } else {
      add_rivals(finding);
    }
    Judgement judgement;
    judgement.text =
        fmt::format("The true model gets {} on average; hardest to recognise is {}, with {}.",
                    shown_number(of_truth / count), names_[hardest], shown_number(mean(hardest, hardest)));
    finding.judgements.push_back(std::move(judgement));
    return finding;
  }

 private:
  double mean(std::size_t truth, std::size_t j) const {
    return counts_[truth] > 0 ? sums_[truth * J_ + j] / counts_[truth] : 0.0;
  }

  void add_matrix(Finding& finding) const {
    Table table{"mean_probabilities",
                "Mean probability of each model, by true model",
                {"true_model", "model", "mean_p"},
                {}};
    for (std::size_t i = 0; i < J_; ++i) {
      for (std::size_t j = 0; j < J_; ++j) table.rows.push_back({names_[i], names_[j], mean(i, j)});
      if (counts_[i] == 0) continue;
      finding.metrics.push_back(metric("mean_p_" + names_[i],
                                       "mean probability of " + names_[i] + " where it is true", mean(i, i)));
    }
    finding.tables.push_back(std::move(table));
    using nlohmann::json;
    json x = vega_field("model", "nominal", "model");
    json y = vega_field("true_model", "nominal", "true model");
    x["sort"] = y["sort"] = nullptr;
    json color = vega_field("mean_p", "quantitative", "mean p");
    color["scale"] = {{"domain", {0, 1}}, {"scheme", "blues"}};
    finding.figures.push_back(
        {"mean_probabilities",
         "Mean probabilities by true model",
         "Each row is a true model: the mean posterior probability of every model for its data. Where models "
         "contain each other, data of the simplest still favour it: the larger ones spread their predictions "
         "over more data.",
         "For each true model, the mean posterior probability of every model.",
         "mean_probabilities",
         {{"encoding", {{"x", x}, {"y", y}}},
          {"layer",
           {{{"mark", {{"type", "rect"}}},
             {"encoding",
              {{"color", color},
               {"tooltip",
                vega_tooltips({{"true_model", "true model"}, {"model", "model"}, {"mean_p", "mean p"}})}}}},
            {{"mark", {{"type", "text"}}},
             {"encoding",
              {{"text", {{"field", "mean_p"}, {"type", "quantitative"}, {"format", ".2f"}}},
               {"color",
                {{"condition", {{"test", "datum.mean_p > 0.5"}, {"value", "white"}}},
                 {"value", "black"}}}}}}}}}});
  }

  void add_rivals(Finding& finding) const {
    Table table{"mean_probabilities",
                "Mean probability of the true model and of its strongest rival",
                {"true_model", "data_sets", "mean_p", "rival", "rival_mean_p"},
                {}};
    for (std::size_t i = 0; i < J_; ++i) {
      if (counts_[i] == 0) continue;
      std::size_t rival = i == 0 ? 1 : 0;
      for (std::size_t j = 0; j < J_; ++j) {
        if (j != i && mean(i, j) > mean(i, rival)) rival = j;
      }
      table.rows.push_back(
          {names_[i], static_cast<std::int64_t>(counts_[i]), mean(i, i), names_[rival], mean(i, rival)});
    }
    finding.tables.push_back(std::move(table));
  }

  std::vector<std::string> names_;
  std::size_t J_;
  std::vector<double> sums_;    // (J, J)
  std::vector<double> counts_;  // (J)
};

}  // namespace

void register_mean_probabilities(Registry<Diagnostic>& registry) {
  registry.add("mean_probabilities",
               {"Which probabilities do data of each model lead to?", 0,
                [](const CheckContext& context) { return std::make_unique<MeanProbabilities>(context); }});
}

}  // namespace occam
