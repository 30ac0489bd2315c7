#include "occam/study/answer_curves.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/study/experiment.hpp"

namespace occam {

using nlohmann::json;

AnswerCurves::AnswerCurves(std::string name, std::string title, std::string x)
    : x_(std::move(x)), finding_{name, std::move(title), {}, {}, {}, {}} {
  means_ = {name,
            "What the networks say",
            {"network", "at", "data_sets", "quantity", "mean", "lower", "upper"},
            {}};
  chosen_ = {name + "_chosen", "Models chosen", {"network", "at", "model", "share"}, {}};
}

void AnswerCurves::add(const std::string& network, const std::string& label, double at,
                       const AnswerMeans& means, const std::vector<std::string>& models) {
  const auto put = [&](const char* quantity, const char* title, const Mean& mean) {
    if (mean.count() == 0) return;
    const double half = mean.count() > 1 ? 1.96 * mean.se() : 0;
    const double lower = std::max(0.0, mean.value() - half);
    const double upper = std::min(1.0, mean.value() + half);
    finding_.metrics.push_back(metric(metric_name(network, quantity, at),
                                      fmt::format("mean {}, {}, {} = {}", title, label, x_, number_text(at)),
                                      mean.value(), lower, upper));
    means_.rows.push_back({label, at, mean.count(), title, mean.value(), lower, upper});
  };
  put("u", "u", means.u);
  put("largest_p", "largest p", means.largest);
  put("entropy", "entropy / log J", means.entropy);
  put("noticed", "out of scope", means.caught);
  for (std::size_t j = 0; j < models.size(); ++j) {
    chosen_.rows.push_back({label, at, models[j], means.chosen[j]});
    finding_.metrics.push_back(metric(metric_name(network, "chosen_" + models[j], at),
                                      fmt::format("share of data sets for which {} chooses {}, {} = {}",
                                                  label, models[j], x_, number_text(at)),
                                      means.chosen[j]));
  }
}

Figure AnswerCurves::mean_figure() const {
  const json x = vega_field("at", "quantitative", x_);
  json y = vega_field("mean", "quantitative", "mean");
  y["scale"] = {{"domain", {0, 1}}};
  const json color = vega_field("quantity", "nominal", "quantity");
  json dash = color;
  dash["legend"] = nullptr;
  return {
      means_.name,
      finding_.title,
      "Means over data sets. With lambda = 0, u is not determined by the loss; with lambda > 0 it is a "
      "function of p. The share out of scope is that of the scope test, at level 0.05.",
      fmt::format("Mean u, largest p and entropy against {}.", x_),
      means_.name,
      {{"mark", {{"type", "line"}, {"point", true}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color", color},
         {"shape", color},
         {"strokeDash", dash},
         {"tooltip",
          vega_tooltips({{"network", "network"}, {"at", x_}, {"quantity", "quantity"}, {"mean", "mean"}})}}}},
      "network"};
}

Figure AnswerCurves::chosen_figure() const {
  const json x = vega_field("at", "quantitative", x_);
  json y = vega_field("share", "quantitative", "share of the data sets");
  y["scale"] = {{"domain", {0, 1}}};
  const json color = vega_field("model", "nominal", "model");
  return {chosen_.name,
          finding_.title + ": models chosen",
          "Which model is the most probable one.",
          fmt::format("Share of data sets assigned to each model against {}.", x_),
          chosen_.name,
          {{"mark", {{"type", "line"}, {"point", true}}},
           {"encoding",
            {{"x", x},
             {"y", y},
             {"color", color},
             {"shape", color},
             {"tooltip",
              vega_tooltips({{"network", "network"}, {"at", x_}, {"model", "model"}, {"share", "share"}})}}}},
          "network"};
}

Finding AnswerCurves::finding(std::string text) {
  finding_.text = std::move(text);
  finding_.figures = {mean_figure(), chosen_figure()};
  finding_.tables = {std::move(means_), std::move(chosen_)};
  return std::move(finding_);
}

}  // namespace occam
