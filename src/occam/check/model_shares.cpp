// Simulation-based calibration of model choice (Talts et al. 2018; Schad et al. 2022): averaged over data
// sets simulated under the model prior, the posterior probability of a model is its prior probability. Two
// comparisons: with the prior itself, and with the share of the data sets that did come from the model, which
// has the smaller error:
//   z_drawn = (mean p - share) / sqrt(sum p (1 - p) / K^2);   z_prior = (mean p - prior) / (sd(p) / sqrt(K))
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

constexpr std::size_t kShownModels = 30;

class ModelShares final : public Measurement {
 public:
  explicit ModelShares(const CheckContext& context)
      : context_(context),
        J_(static_cast<std::size_t>(context.layout.J())),
        p_(J_),
        variance_(J_, 0.0),
        drawn_(J_, 0.0),
        replicates_(static_cast<std::size_t>(context.options.replicates) * J_, 0) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const std::span<const double> p = block.p(b);
      for (std::size_t j = 0; j < J_; ++j) {
        p_[j].add(p[j]);
        variance_[j] += std::max(0.0, p[j] * (1 - p[j]));
      }
      ++drawn_[block.truth(b)];
      std::int32_t* counts = replicates_.data();
      for (const std::int32_t model : block.drawn_of(b)) {
        ++counts[model];
        counts += J_;
      }
    }
  }

  Finding finish() override {
    Finding finding{"model_shares", "Mean probability of each model", {}, {}, {}, {}};
    const auto K = static_cast<double>(p_.front().count());
    std::size_t worst = 0;
    std::vector<double> z(J_);
    for (std::size_t j = 0; j < J_; ++j) {
      z[j] = z_of(j, drawn_[j]);
      if (std::fabs(z[j]) > std::fabs(z[worst])) worst = j;
    }
    const double off = p_[worst].value() - drawn_[worst] / K;
    finding.metrics = {
        metric("largest_share_z", "largest |z| of mean p against the share of data sets, over models",
               std::fabs(z[worst])),
        metric("largest_share_error", "mean p minus the share of data sets, of that model", off)};
    add_table(finding, z);
    judge(finding, worst, z[worst], off);
    return finding;
  }

 private:
  double z_of(std::size_t j, double drawn) const {
    const double off = p_[j].value() * static_cast<double>(p_[j].count()) - drawn;
    return variance_[j] > 0 ? off / std::sqrt(variance_[j]) : (std::fabs(off) > 1e-9 ? INFINITY : 0.0);
  }

  void add_table(Finding& finding, const std::vector<double>& z) const {
    const std::vector<double>& prior = context_.layout.model_prior;
    const auto K = static_cast<double>(p_.front().count());
    Table table{"model_shares",
                "Mean probability and share of the data sets, by model",
                {"model", "mean_p", "lower", "upper", "share_drawn", "z_drawn"},
                {}};
    if (!prior.empty()) table.columns.insert(table.columns.end(), {"model_prior", "z_prior"});
    for (std::size_t j = 0; j < J_; ++j) {
      const double se = p_[j].count() > 1 ? p_[j].se() : 0;
      const double mean = p_[j].value();
      std::vector<Cell> row = {
          context_.layout.model_names[j],  mean,          std::max(0.0, mean - 1.96 * se),
          std::min(1.0, mean + 1.96 * se), drawn_[j] / K, z[j]};
      if (!prior.empty()) {
        row.emplace_back(prior[j]);
        row.emplace_back(se > 0 ? (mean - prior[j]) / se : 0.0);
      }
      table.rows.push_back(std::move(row));
    }
    const bool all = J_ <= kShownModels;
    if (!all) {
      // For the figure, the most deviating first; the table keeps all.
      std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
        return std::fabs(std::get<double>(a[5])) > std::fabs(std::get<double>(b[5]));
      });
    }
    using nlohmann::json;
    json y = vega_field("model", "nominal", "model");
    y["sort"] = nullptr;
    const auto x = [](const char* column) {
      json result = vega_field(column, "quantitative", "probability");
      result["scale"] = {{"zero", false}};
      return result;
    };
    const json tooltips = vega_tooltips({{"model", "model"},
                                         {"mean_p", "mean probability"},
                                         {"share_drawn", "share of the data sets"},
                                         {"z_drawn", "z"}});
    json specification = {
        {"layer",
         {{{"mark", {{"type", "rule"}}},
           {"encoding", {{"y", y}, {"x", x("lower")}, {"x2", {{"field", "upper"}}}}}},
          {{"mark", {{"type", "point"}, {"shape", "circle"}, {"filled", true}, {"size", 60}}},
           {"encoding", {{"y", y}, {"x", x("mean_p")}, {"tooltip", tooltips}}}},
          {{"mark", {{"type", "point"}, {"shape", "diamond"}, {"filled", false}, {"size", 120}}},
           {"encoding", {{"y", y}, {"x", x("share_drawn")}, {"tooltip", tooltips}}}}}}};
    if (!all) {
      specification["transform"] = {{{"window", {{{"op", "row_number"}, {"as", "row"}}}}},
                                    {{"filter", fmt::format("datum.row <= {}", kShownModels)}}};
    }
    finding.figures.push_back(
        {"model_shares", "Mean probability and share of the data sets",
         fmt::format("Dot with 95 % interval: mean posterior probability of a model over all data sets. Open "
                     "diamond: the share of the data sets that came from it. They agree if the predictions "
                     "favour no model.{}",
                     all ? "" : fmt::format(" The {} most deviating models are shown.", kShownModels)),
         "Mean posterior probability of each model beside the share of data sets simulated from it.",
         "model_shares", specification});
    finding.tables.push_back(std::move(table));
  }

  void judge(Finding& finding, std::size_t worst, double z, double off) const {
    std::vector<double> largest;
    for (std::size_t at = 0; at < replicates_.size(); at += J_) {
      double most = 0;
      for (std::size_t j = 0; j < J_; ++j) most = std::max(most, std::fabs(z_of(j, replicates_[at + j])));
      largest.push_back(most);
    }
    const NullDistribution chance(std::move(largest));
    const double limit = context_.options.share_limit;
    const double reach = chance.limit(context_.level);
    Judgement judgement;
    judgement.severity = severity_of(std::fabs(off), limit, std::fabs(z) > reach + 1e-9);
    judgement.text = fmt::format(
        "Model {} deviates most: mean probability minus share of the data sets is {} (z = {:.1f}; by chance "
        "up to {:.1f}). The limit is {}.",
        context_.layout.model_names[worst], shown_number(off), z, reach, shown_number(limit));
    if (judgement.severity != Severity::fine) {
      judgement.advice = fmt::format(
          "The predictions {} this model on the whole. Train longer; check that the model prior of the "
          "simulations is the one meant.",
          off > 0 ? "favour" : "neglect");
    }
    finding.judgements.push_back(std::move(judgement));
  }

  CheckContext context_;
  std::size_t J_;
  std::vector<Mean> p_;                   // (J)
  std::vector<double> variance_;          // (J) sum of p (1 - p)
  std::vector<double> drawn_;             // (J) data sets of each model
  std::vector<std::int32_t> replicates_;  // (R, J)
};

}  // namespace

void register_model_shares(Registry<Diagnostic>& registry) {
  registry.add("model_shares",
               {"Is the mean probability of each model its share of the data sets?", 1,
                [](const CheckContext& context) { return std::make_unique<ModelShares>(context); }});
}

}  // namespace occam
