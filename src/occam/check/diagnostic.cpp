#include "occam/check/diagnostic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

using nlohmann::json;

// Draws R models from p, which need not sum to one exactly.
void draw_models(std::span<const double> p, Rng& rng, std::vector<double>& up_to,
                 std::span<std::int32_t> out) {
  up_to.resize(p.size());
  double sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) up_to[j] = sum += p[j];
  const double scale = sum * 0x1p-32;
  for (std::int32_t& model : out) {
    const double target = (static_cast<double>(rng.bits32()) + 0.5) * scale;
    std::size_t j = 0;
    if (p.size() <= 8) {
      while (j + 1 < p.size() && up_to[j] <= target) ++j;
    } else {
      j = static_cast<std::size_t>(std::upper_bound(up_to.begin(), up_to.end() - 1, target) - up_to.begin());
    }
    model = static_cast<std::int32_t>(j);
  }
}

}  // namespace

Fields fields(CheckOptions& o) {
  return {
      field("bins", o.bins, "bins of a calibration curve").at_least(2).at_most(1000),
      field("replicates", o.replicates, "bootstrap samples, and replicates that tell chance from fault")
          .at_least(50)
          .at_most(100000),
      field("confident", o.confident, "a largest probability from here on counts as confident")
          .above(0)
          .at_most(1),
      field("false_alarm", o.false_alarm,
            "probability that faultless predictions are called anything but fine")
          .above(0)
          .at_most(0.5),
      field("calibration_limit", o.calibration_limit,
            "calibration error beyond what chance explains that is a warning")
          .above(0),
      field("overconfidence_limit", o.overconfidence_limit, "overconfidence that is a warning").above(0),
      field("share_limit", o.share_limit,
            "difference between a model's mean probability and its share of the data sets that is a warning")
          .above(0),
      field("loss_limit", o.loss_limit, "log-loss beyond what the predictions themselves expect [nats]")
          .above(0),
      field("kl_limit", o.kl_limit, "distance from the exact posterior that is a warning [nats]").above(0),
      field("missed_limit", o.missed_limit, "evidence left unused that is a warning [nats]").above(0)};
}

const Registry<Diagnostic>& diagnostics() {
  static const Registry<Diagnostic> all = [] {
    Registry<Diagnostic> registry("diagnostic");
    register_diagnostics(registry);
    return registry;
  }();
  return all;
}

double test_level(const CheckOptions& options, std::int64_t streams, std::int64_t further) {
  std::int64_t tests = 0;
  for (const std::string& name : diagnostics().names()) tests += diagnostics().at(name).tests;
  return options.false_alarm / static_cast<double>(tests * streams + further);
}

Checker::Checker(PredictionLayout layout, const CheckOptions& options, std::uint64_t seed,
                 std::optional<double> level) {
  context_.layout = std::move(layout);
  context_.options = options;
  context_.seed = seed;
  context_.level = level.value_or(test_level(options, 1, 0));
  for (const std::string& name : diagnostics().names()) {
    if (auto measurement = diagnostics().at(name).make(context_)) {
      measurements_.push_back(std::move(measurement));
    }
  }
}

void Checker::add(const Predictions& predictions, ThreadPool& pool) {
  const std::int64_t B = predictions.size();
  const std::int64_t J = context_.layout.J();
  const std::int64_t R = context_.options.replicates;
  best_.resize(static_cast<std::size_t>(B));
  drawn_.resize(static_cast<std::size_t>(B * R));
  const Block block{predictions, J, R, best_, drawn_};
  std::vector<std::vector<double>> scratch(static_cast<std::size_t>(pool.threads()));
  pool.for_each(B, [&](std::int64_t b, int worker) {
    const std::span<const double> p = block.p(b);
    best_[static_cast<std::size_t>(b)] =
        static_cast<std::int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
    Rng rng(context_.seed, Purpose::replicate, static_cast<std::uint64_t>(count_ + b));
    draw_models(p, rng, scratch[static_cast<std::size_t>(worker)],
                {drawn_.data() + b * R, static_cast<std::size_t>(R)});
  });
  // Measurements are independent of each other, and each sees the rows in order.
  pool.for_each(static_cast<std::int64_t>(measurements_.size()),
                [&](std::int64_t i, int) { measurements_[static_cast<std::size_t>(i)]->add(block); });
  count_ += B;
}

std::vector<Finding> Checker::finish() {
  if (count_ == 0) throw Error(ErrorKind::bad_data, "there are no predictions to check");
  std::vector<Finding> findings;
  for (const auto& measurement : measurements_) {
    Finding& finding = findings.emplace_back(measurement->finish());
    if (finding.text.empty()) finding.text = diagnostics().at(finding.name, ErrorKind::internal).help;
  }
  return findings;
}

Severity severity_of(double excess, double limit, bool beyond_chance) {
  if (!beyond_chance) return Severity::fine;
  if (excess <= limit) return Severity::note;
  return excess <= 4 * limit ? Severity::warning : Severity::serious;
}

std::string resolution_text(double unnoticed, double limit) {
  if (!(unnoticed > limit)) return "";
  return fmt::format(" (with so few data sets, less than {} would go unnoticed)", shown_number(unnoticed));
}

std::string shown_number(double value) {
  return std::fabs(value) < 0.00005 ? "0" : fmt::format("{:.{}f}", value, std::fabs(value) < 0.1 ? 4 : 3);
}

Metric metric(std::string name, std::string meaning, double value) {
  return {std::move(name), std::move(meaning), value};
}

Metric metric(std::string name, std::string meaning, double value, double lower, double upper) {
  return {std::move(name), std::move(meaning), value, lower, upper};
}

json vega_field(const std::string& field, const std::string& type, const std::string& title) {
  return {{"field", field}, {"type", type}, {"title", title}};
}

json vega_tooltips(const std::vector<std::pair<std::string, std::string>>& fields_and_titles) {
  json list = json::array();
  for (const auto& [field, title] : fields_and_titles) list.push_back({{"field", field}, {"title", title}});
  return list;
}

json vega_curve(const json& x, const json& y, const std::string& lower, const std::string& upper,
                const json& tooltips) {
  json low = y;
  low["field"] = lower;
  return {{"layer",
           {{{"mark", {{"type", "area"}, {"opacity", 0.2}}},
             {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", upper}}}}}},
            {{"mark", {{"type", "line"}, {"point", true}}},
             {"encoding", {{"x", x}, {"y", y}, {"tooltip", tooltips}}}}}}};
}

}  // namespace occam
