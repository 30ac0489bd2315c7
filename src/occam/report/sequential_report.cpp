#include "occam/report/sequential_report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace occam {
namespace {

using nlohmann::json;

json sequential_specification() {
  json x = {{"field", "k"}, {"type", "quantitative"}, {"title", "observations"}};
  x["scale"] = {{"type", "log"}, {"nice", false}};
  json y = {{"field", "p"}, {"type", "quantitative"}, {"title", "posterior probability"}};
  y["scale"] = {{"domain", {0, 1}}};
  json colour = {{"field", "model"}, {"type", "nominal"}, {"sort", nullptr}};
  colour["legend"] = {{"orient", "top"}, {"title", nullptr}};
  return {{"mark", {{"type", "line"}, {"point", true}, {"tooltip", true}}},
          {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}};
}

}  // namespace

void SequentialReport::add(const ModelPosterior& answers, double settled_above) {
  Course course;
  std::int64_t before = -1;
  for (std::int64_t i = 0; i < answers.size(); ++i) {
    const std::int64_t best = answers.best(i);
    const std::vector<double> p = answers.probabilities(i);
    const bool decided = p[static_cast<std::size_t>(best)] > settled_above;
    if (before >= 0 && best != before) ++course.flips;
    if (!decided || (before >= 0 && best != before)) course.settled = 0;
    if (decided && course.settled == 0) course.settled = answers.n(i);
    before = best;
    course.id = answers.id(i);
    course.observed = answers.n(i);
    course.best = answers.model_names()[static_cast<std::size_t>(best)];
    if (static_cast<std::int64_t>(courses_.size()) >= kMostSets) continue;
    for (std::size_t j = 0; j < p.size(); ++j)
      table_.rows.push_back({answers.id(i), answers.n(i), answers.model_names()[j], p[j]});
  }
  courses_.push_back(std::move(course));
}

Finding SequentialReport::finding() const {
  Finding finding;
  finding.name = "sequential";
  finding.title = "Evidence as observations come in";
  finding.text =
      "The probabilities of the models after so many observations. A question is settled from the size on at "
      "which one model stays decided to the end; looking often and stopping when it suits does not bias "
      "posterior probabilities, but what looks settled may still turn.";
  Table settled;
  settled.name = "settled";
  settled.title = "When each question was settled";
  settled.columns = {"dataset", "n", "best", "settled_at", "flips"};
  settled.view = {{"Data set", "", false},
                  {"n", "observations", false},
                  {"Best", "the most probable model at the end", false},
                  {"Settled at", "observations from which on it stayed decided; empty: never", false},
                  {"Flips", "how often the most probable model changed on the way", false}};
  settled.open = true;
  std::int64_t count = 0;
  for (const Course& course : courses_) {
    count += course.settled > 0 ? 1 : 0;
    const Cell at = course.settled > 0 ? Cell(course.settled) : Cell(std::string());
    settled.rows.push_back({course.id, course.observed, course.best, at, course.flips});
  }
  finding.metrics = {
      {"settled", "data sets whose question was settled by the end", static_cast<double>(count)}};
  finding.judgements = {{Severity::note,
                         fmt::format("{} of {} data set{} settled by their last observation.", count,
                                     courses_.size(), courses_.size() == 1 ? " was" : "s were"),
                         ""}};
  finding.figures.push_back({"sequential", "Probabilities over the number of observations",
                             "One line per model; the last point is the answer for the whole data set.",
                             "Lines of the posterior model probabilities over the number of observations.",
                             "sequential", sequential_specification(), "dataset"});
  finding.tables = {std::move(settled), table_};
  if (static_cast<std::int64_t>(courses_.size()) > kMostSets) {
    finding.tables.back().note = fmt::format("The first {} of {} data sets; -o FILE.csv writes all of them.",
                                             kMostSets, courses_.size());
  }
  return finding;
}

}  // namespace occam
