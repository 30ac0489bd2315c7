// Confusion matrix: which model was most probable (columns) for data sets of each true model (rows). Rows sum
// to one. With many models, the most confused pairs instead of the matrix.
#include <algorithm>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

constexpr std::size_t kPairs = 50;       // in the table of confused pairs
constexpr std::size_t kShownPairs = 20;  // in its figure

class Confusion final : public Measurement {
 public:
  explicit Confusion(const CheckContext& context)
      : names_(context.layout.model_names), J_(names_.size()), counts_(J_ * J_, 0), of_model_(J_, 0) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      ++counts_[block.truth(b) * J_ + static_cast<std::size_t>(block.best[static_cast<std::size_t>(b)])];
      ++of_model_[block.truth(b)];
    }
  }

  Finding finish() override {
    Finding finding{"confusion", "Confusion", {}, {}, {}, {}};
    const std::vector<Pair> pairs = confused_pairs();
    if (static_cast<std::int64_t>(J_) <= kManyModels) {
      add_matrix(finding);
    } else {
      add_pairs(finding, pairs);
    }
    Judgement judgement;
    judgement.text =
        pairs.empty()
            ? "No data set was assigned to another model than its own."
            : fmt::format("Most often confused: {} taken for {}, in {} of its data sets.",
                          names_[pairs[0].truth], names_[pairs[0].chosen], shown_number(pairs[0].share));
    finding.judgements.push_back(std::move(judgement));
    return finding;
  }

 private:
  struct Pair {
    std::size_t truth;
    std::size_t chosen;
    std::int64_t count;
    double share;
  };

  double share(std::size_t truth, std::size_t chosen) const {
    return of_model_[truth] == 0
               ? 0.0
               : static_cast<double>(counts_[truth * J_ + chosen]) / static_cast<double>(of_model_[truth]);
  }

  // Pairs of different models, most confused first.
  std::vector<Pair> confused_pairs() const {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < J_; ++i) {
      for (std::size_t j = 0; j < J_; ++j) {
        if (i != j && counts_[i * J_ + j] > 0) pairs.push_back({i, j, counts_[i * J_ + j], share(i, j)});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return a.share != b.share ? a.share > b.share : a.count > b.count;
    });
    return pairs;
  }

  void add_matrix(Finding& finding) const {
    Table table{"confusion", "Confusion matrix", {"true_model", "chosen", "data_sets", "share"}, {}};
    for (std::size_t i = 0; i < J_; ++i) {
      for (std::size_t j = 0; j < J_; ++j) {
        table.rows.push_back({names_[i], names_[j], counts_[i * J_ + j], share(i, j)});
      }
    }
    finding.tables.push_back(std::move(table));
    using nlohmann::json;
    json x = vega_field("chosen", "nominal", "most probable model");
    json y = vega_field("true_model", "nominal", "true model");
    x["sort"] = y["sort"] = nullptr;
    json color = vega_field("share", "quantitative", "share");
    color["scale"] = {{"domain", {0, 1}}, {"scheme", "blues"}};
    const json tooltips = vega_tooltips({{"true_model", "true model"},
                                         {"chosen", "most probable"},
                                         {"data_sets", "data sets"},
                                         {"share", "share"}});
    const json text_color = {{"condition", {{"test", "datum.share > 0.5"}, {"value", "white"}}},
                             {"value", "black"}};
    json text = {{"field", "share"}, {"type", "quantitative"}, {"format", ".2f"}};
    finding.figures.push_back(
        {"confusion",
         "Confusion matrix",
         "Each row is a true model: how its data sets were assigned. The diagonal is the accuracy by model; "
         "models that make similar data are confused however good the network is.",
         "For each true model, the share of its data sets assigned to each model.",
         "confusion",
         {{"encoding", {{"x", x}, {"y", y}}},
          {"layer",
           {{{"mark", {{"type", "rect"}}}, {"encoding", {{"color", color}, {"tooltip", tooltips}}}},
            {{"mark", {{"type", "text"}}}, {"encoding", {{"text", text}, {"color", text_color}}}}}}}});
  }

  void add_pairs(Finding& finding, const std::vector<Pair>& pairs) const {
    Table table{"confused_pairs",
                fmt::format("The {} most confused pairs of models", kPairs),
                {"pair", "true_model", "chosen", "data_sets", "share"},
                {}};
    for (std::size_t i = 0; i < std::min(kPairs, pairs.size()); ++i) {
      const Pair& pair = pairs[i];
      table.rows.push_back({fmt::format("{} taken for {}", names_[pair.truth], names_[pair.chosen]),
                            names_[pair.truth], names_[pair.chosen], pair.count, pair.share});
    }
    finding.tables.push_back(std::move(table));
    using nlohmann::json;
    json y = vega_field("pair", "nominal", "pair");
    y["sort"] = nullptr;
    finding.figures.push_back(
        {"confused_pairs",
         "Most confused pairs",
         fmt::format("Of {} models, the pairs most often confused: which share of the data sets of the first "
                     "was assigned to the second. With few data sets per model these shares are rough.",
                     J_),
         "The most confused pairs of models with the share of data sets confused.",
         "confused_pairs",
         {{"transform",
           {{{"window", {{{"op", "row_number"}, {"as", "row"}}}}},
            {{"filter", fmt::format("datum.row <= {}", kShownPairs)}}}},
          {"mark", {{"type", "bar"}}},
          {"encoding",
           {{"y", y},
            {"x", vega_field("share", "quantitative", "share of the data sets")},
            {"tooltip",
             vega_tooltips({{"pair", "pair"}, {"data_sets", "data sets"}, {"share", "share"}})}}}}});
  }

  std::vector<std::string> names_;
  std::size_t J_;
  std::vector<std::int64_t> counts_;    // (J, J)
  std::vector<std::int64_t> of_model_;  // (J)
};

}  // namespace

void register_confusion(Registry<Diagnostic>& registry) {
  registry.add("confusion", {"Which models are taken for which?", 0, [](const CheckContext& context) {
                               return std::make_unique<Confusion>(context);
                             }});
}

}  // namespace occam
