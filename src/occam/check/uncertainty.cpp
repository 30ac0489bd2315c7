// The uncertainty u = J / sum(alpha) by size. It is a function of p where lambda > 0 and whatever training
// left where lambda = 0; the text of the figure says so. No judgement follows from it.
#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/statistics.hpp"

namespace occam {
namespace {

class Uncertainty final : public Measurement {
 public:
  explicit Uncertainty(const CheckContext& context) : context_(context) {}

  void add(const Block& block) override {
    for (std::int64_t b = 0; b < block.size(); ++b) {
      const auto at = static_cast<std::size_t>(b);
      u_.push_back(block.rows.u[at]);
      if (context_.layout.has_n) n_.push_back(block.rows.n[at]);
      (block.rows.truth[at] == block.best[at] ? right_ : wrong_).add(block.rows.u[at]);
      all_.add(block.rows.u[at]);
    }
  }

  Finding finish() override {
    Finding finding{"uncertainty", "Uncertainty u", {}, {}, {}, {}};
    finding.metrics = {metric("u", "mean of u = J / sum(alpha)", all_.value())};
    if (right_.count() > 0) {
      finding.metrics.push_back(
          metric("u_right", "its mean where the most probable model is true", right_.value()));
    }
    if (wrong_.count() > 0) {
      finding.metrics.push_back(metric("u_wrong", "its mean where it is not", wrong_.value()));
    }
    if (!n_.empty()) by_size(finding);
    return finding;
  }

 private:
  void by_size(Finding& finding) const {
    const SizeBands bands(n_);
    std::vector<std::vector<double>> values(bands.count());
    for (std::size_t i = 0; i < n_.size(); ++i) values[bands(n_[i])].push_back(u_[i]);
    Table table{"uncertainty_by_n",
                "Uncertainty u by size",
                {"n", "n_from", "n_to", "data_sets", "u", "lower", "upper"},
                {}};
    for (std::size_t band = 0; band < bands.count(); ++band) {
      Mean mean;
      for (const double u : values[band]) mean.add(u);
      table.rows.push_back({0.5 * static_cast<double>(bands.lower(band) + bands.upper(band)),
                            bands.lower(band), bands.upper(band), mean.count(), mean.value(),
                            quantile(values[band], 0.05), quantile(values[band], 0.95)});
    }
    finding.tables.push_back(std::move(table));
    auto y = vega_field("u", "quantitative", "u");
    y["scale"] = {{"domain", {0, 1}}};
    finding.figures.push_back(
        {"uncertainty_by_n", "Uncertainty u by size",
         "Mean of u with the range of nine data sets in ten. Read it with care: trained with lambda = 0, u "
         "is not determined by the loss and means nothing; with lambda > 0 it is a function of p, so that "
         "data which fit no model look the same as data which all models explain equally well. A small u is "
         "no proof of a good fit.",
         "Mean uncertainty u against the size N of a data set.", "uncertainty_by_n",
         vega_curve(vega_field("n", "quantitative", "N, middle of the band"), y, "lower", "upper",
                    vega_tooltips({{"n_from", "N from"},
                                   {"n_to", "N to"},
                                   {"data_sets", "data sets"},
                                   {"u", "mean u"},
                                   {"lower", "5 %"},
                                   {"upper", "95 %"}}))});
  }

  CheckContext context_;
  std::vector<double> u_;
  std::vector<std::int64_t> n_;
  Mean all_, right_, wrong_;
};

}  // namespace

void register_uncertainty(Registry<Diagnostic>& registry) {
  registry.add("uncertainty", {"How does u change with the size of a data set?", 0,
                               [](const CheckContext& context) -> std::unique_ptr<Measurement> {
                                 if (!context.layout.has_u) return nullptr;
                                 return std::make_unique<Uncertainty>(context);
                               }});
}

}  // namespace occam
