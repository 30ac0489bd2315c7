#include "occam/report/comparison_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "occam/core/version.hpp"
#include "occam/report/comparison_figures.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr std::int64_t kBars = 40;    // data sets drawn one by one
constexpr std::int64_t kModels = 30;  // models shown of very many
// A Dirichlet density beyond this sum is narrower than a tile of the figure, and its numbers would overflow.
constexpr double kLargestSum = 1e5;

std::size_t strength(double log_bayes_factor) {
  std::size_t index = 0;
  while (index < kStrengthLimits.size() && log_bayes_factor >= kStrengthLimits[index]) ++index;
  return index;
}

// "1 data set", "7 data sets".
std::string data_sets(std::int64_t count) {
  return fmt::format("{} data set{}", count, count == 1 ? "" : "s");
}

// A table built column by column: to add one is to add an entry.
struct TableColumn {
  std::string name;
  ColumnView view;
  std::function<Cell(std::int64_t row)> cell;
};

void fill(Table& table, const std::vector<TableColumn>& columns, std::int64_t rows) {
  for (const TableColumn& column : columns) {
    table.columns.push_back(column.name);
    table.view.push_back(column.view);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const TableColumn& column : columns) cells.push_back(column.cell(row));
  }
}

std::string some_rows(std::int64_t shown, std::int64_t all, const char* where) {
  return shown < all ? fmt::format("The first {} of {}; {}", shown, data_sets(all), where) : "";
}

// What is missing is an empty text on a page.
Cell cell_of(const AnswerCell& cell) {
  return std::visit(
      [](const auto& value) -> Cell {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return std::string();
        } else {
          return value;
        }
      },
      cell);
}

}  // namespace

std::string bayes_factor_words(double log_bayes_factor) {
  return kStrengths[strength(log_bayes_factor)];
}

// The most probable models of a data set, and what follows from the first two.
struct ComparisonReport::Answer {
  std::vector<double> p;            // (J)
  std::vector<std::int64_t> order;  // models, the most probable first
  bool has_runner_up = false;       // false when the model prior leaves one model only
  double log_bf = std::numeric_limits<double>::quiet_NaN();  // of the best against the runner-up
};

ComparisonReport::ComparisonReport(const NetworkFile& file, ModelPosterior empty)
    : file_(file),
      kept_(std::move(empty)),
      best_(static_cast<std::size_t>(kept_.J())),
      sum_p_(static_cast<std::size_t>(kept_.J())),
      strengths_(kStrengths.size()) {}

ComparisonReport::Answer ComparisonReport::answer(std::int64_t b) const {
  Answer result;
  result.p = kept_.probabilities(b);
  const std::vector<double> log_p = kept_.log_probabilities(b);
  result.order.resize(result.p.size());
  std::iota(result.order.begin(), result.order.end(), 0);
  std::stable_sort(result.order.begin(), result.order.end(), [&](std::int64_t i, std::int64_t j) {
    return log_p[static_cast<std::size_t>(i)] > log_p[static_cast<std::size_t>(j)];
  });
  result.has_runner_up = std::isfinite(log_p[static_cast<std::size_t>(result.order[1])]);
  if (result.has_runner_up) result.log_bf = kept_.log_bayes_factor(b, result.order[0], result.order[1]);
  return result;
}

void ComparisonReport::add(const ModelPosterior& answers, const AnswerExtras& extras) {
  std::vector<double> log_alpha(static_cast<std::size_t>(answers.J()));
  for (std::int64_t b = 0; b < answers.size(); ++b) {
    for (std::int64_t j = 0; j < answers.J(); ++j) {
      log_alpha[static_cast<std::size_t>(j)] = answers.log_alpha(b, j);
    }
    // The row is added even where it will not be kept: all that is counted is derived from it.
    kept_.add(answers.id(b), answers.n(b), log_alpha, answers.flag(b), answers.members(b),
              answers.sample_spread(b));
    const std::int64_t row = kept_.size() - 1;
    const Answer derived = answer(row);
    const auto best = static_cast<std::size_t>(derived.order[0]);
    ++count_;
    ++best_[best];
    const auto at = static_cast<std::size_t>(b);
    decided_ += extras.verdicts[at].verdict == VerdictKind::decided ? 1 : 0;
    out_of_scope_ += extras.verdicts[at].verdict == VerdictKind::out_of_scope ? 1 : 0;
    has_scope_ = has_scope_ || !extras.scope.empty();
    if (!extras.scope.empty() && extras.verdicts[at].verdict != VerdictKind::outside_training)
      scope_p_.push_back(extras.scope[at].p);
    flags_.add(file_, answers, b);
    sum_u_ += kept_.uncertainty(row);
    if (derived.has_runner_up) ++strengths_[strength(derived.log_bf)];
    for (std::size_t j = 0; j < sum_p_.size(); ++j) sum_p_[j] += derived.p[j];
    if (kept_.size() > kMostRows) {
      kept_.remove_last();
      continue;
    }
    extras_.verdicts.push_back(extras.verdicts[at]);
    if (!extras.scope.empty()) extras_.scope.push_back(extras.scope[at]);
    if (!extras.notes.empty()) extras_.notes.push_back(extras.notes[at]);
  }
}

// Ids as given; one that came before (the same subject in two files) gets a number.
std::vector<std::string> ComparisonReport::unique_ids() const {
  std::map<std::string, int> seen;
  std::vector<std::string> ids;
  for (std::int64_t b = 0; b < kept_.size(); ++b) {
    const int times = ++seen[kept_.id(b)];
    ids.push_back(times == 1 ? kept_.id(b) : fmt::format("{} ({})", kept_.id(b), times));
  }
  return ids;
}

std::vector<std::int64_t> ComparisonReport::models_by_mean() const {
  std::vector<std::int64_t> order(sum_p_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return sum_p_[static_cast<std::size_t>(i)] > sum_p_[static_cast<std::size_t>(j)];
  });
  return order;
}

// With lambda 0 the loss does not depend on the sum of alpha, so training leaves it where it happens to be.
bool ComparisonReport::u_is_identified() const {
  if (!kept_.has_concentrations()) return false;
  const json options = file_.record.value("options", json::object());
  return options.contains("lambda") && options["lambda"].is_number() && options["lambda"].get<double>() > 0;
}

Table ComparisonReport::answers_table() const {
  Table table;
  table.name = "answers";
  table.title = "Answers";
  table.open = true;
  table.note = some_rows(kept_.size(), count_, "-o FILE.csv writes all of them.");
  const auto ids = unique_ids();
  const auto& names = kept_.model_names();
  std::vector<Answer> derived;
  for (std::int64_t b = 0; b < kept_.size(); ++b) derived.push_back(answer(b));
  const auto of = [&](std::int64_t b) -> const Answer& { return derived[static_cast<std::size_t>(b)]; };
  const auto name_at = [&](std::int64_t b, std::size_t place) {
    return names[static_cast<std::size_t>(of(b).order[place])];
  };
  const auto p_of = [&](std::int64_t b, std::int64_t j) { return of(b).p[static_cast<std::size_t>(j)]; };

  // As in files of answers.
  const auto shared = [&](const char* name, bool share = false) -> TableColumn {
    const AnswerColumn& column = answer_column(name);
    return {name, {column.heading, column.meaning, share}, [this, &column](std::int64_t b) {
              return cell_of(column.cell(AnswerRow(kept_, extras_, b), 0));
            }};
  };
  std::vector<TableColumn> columns = {
      {"dataset", {"Data set", "", false}, [&](std::int64_t b) { return ids[static_cast<std::size_t>(b)]; }},
      shared("n"),
      shared("verdict"),
      shared("best")};
  if (kept_.J() <= kColours) {
    for (std::int64_t j = 0; j < kept_.J(); ++j) {
      const std::string& name = names[static_cast<std::size_t>(j)];
      columns.push_back({"p_" + name,
                         {"p " + name, "posterior probability of the model", true},
                         [&p_of, j](std::int64_t b) { return p_of(b, j); }});
    }
  } else {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      if (place > 0) {
        columns.push_back({fmt::format("model_{}", place + 1),
                           {place == 1 ? "Second" : "Third", "", false},
                           [&name_at, place](std::int64_t b) { return name_at(b, place); }});
      }
      columns.push_back({fmt::format("p_{}", place + 1),
                         {"p", "posterior probability of the model to the left", true},
                         [&of, &p_of, place](std::int64_t b) { return p_of(b, of(b).order[place]); }});
    }
  }
  const bool ensemble = file_.members.size() > 1;
  if (ensemble || file_.config.head_kind().samples) {
    columns.push_back({"spread",
                       {"+-",
                        ensemble ? "how much the networks of the ensemble differ about the best model"
                                 : "how much the samples of the network differ about the best model",
                        true},
                       [&](std::int64_t b) { return kept_.spread(b, of(b).order[0]); }});
  }
  if (!extras_.scope.empty()) columns.push_back(shared("scope_p", true));
  columns.push_back({"log_bf",
                     {"ln BF", "natural log Bayes factor of the best model against the runner-up", false},
                     [&](std::int64_t b) { return of(b).log_bf; }});
  columns.push_back(
      {"strength",
       {"Strength", "the Bayes factor in words (Kass and Raftery 1995)", false},
       [&](std::int64_t b) -> Cell { return of(b).has_runner_up ? bayes_factor_words(of(b).log_bf) : ""; }});
  if (kept_.has_concentrations()) {
    columns.push_back(
        {"u",
         {"u", u_is_identified() ? "a function of p; see below" : "not identified; see below", false},
         [&](std::int64_t b) { return kept_.uncertainty(b); }});
  }
  columns.push_back(shared("flag"));
  columns.push_back(shared("note"));
  columns.push_back(shared("explanation"));
  fill(table, columns, kept_.size());
  return table;
}

// One row per bar: every model where colours tell them apart, otherwise the most probable and all others.
Table ComparisonReport::probabilities_table() const {
  Table table;
  table.name = "probabilities";
  table.title = "Posterior probabilities behind the figure";
  table.columns = {"dataset", "model", "place", "position", "p"};
  if (kept_.has_concentrations()) table.columns.push_back("u");
  table.note = some_rows(std::min(kBars, kept_.size()), count_, "the table of answers has more.");
  const auto ids = unique_ids();
  const auto J = static_cast<std::size_t>(kept_.J());
  for (std::int64_t b = 0; b < std::min(kBars, kept_.size()); ++b) {
    const Answer derived = answer(b);
    const std::string& id = ids[static_cast<std::size_t>(b)];
    const auto add = [&](const std::string& model, const std::string& place, std::size_t position, double p) {
      table.rows.push_back({id, model, place, static_cast<std::int64_t>(position), p});
      if (kept_.has_concentrations()) table.rows.back().emplace_back(kept_.uncertainty(b));
    };
    double rest = 1;
    for (std::size_t at = 0; at < std::min<std::size_t>(J, J <= kColours ? J : kPlaces); ++at) {
      const auto j = static_cast<std::size_t>(derived.order[at]);
      const bool coloured = J <= kColours;
      add(kept_.model_names()[j], at < kPlaces ? kPlaceNames[at] : kOthers, coloured ? j : at, derived.p[j]);
      rest -= derived.p[j];
    }
    if (J > kColours) add(kOthers, kOthers, kPlaces, std::max(0.0, rest));
  }
  return table;
}

Finding ComparisonReport::answers() const {
  Finding finding;
  finding.name = "answers";
  finding.title = "Answers, data set by data set";
  finding.text =
      "p is the probability of each model given the data, under the model prior at the end of this page, "
      "provided that one of the models made the data. Whether any of them did, p cannot say: the "
      "probabilities always sum to one.";
  finding.metrics = {
      {"data_sets", "data sets compared", static_cast<double>(count_)},
      {"decided", "data sets whose verdict is `decided`", static_cast<double>(decided_)},
      {"flagged", "data sets whose answers should not be trusted", static_cast<double>(flags_.count())}};
  finding.judgements.push_back(
      {Severity::note,
       fmt::format("{} of {} {} decided.", decided_, data_sets(count_), decided_ == 1 ? "is" : "are"), ""});
  for (const std::string& cause : flags_.sentences(file_, data_sets(count_))) {
    finding.judgements.push_back(
        {Severity::warning, cause + ".",
         "Do not trust those answers, whose column Flag says what is unlike; train a "
         "network whose problem covers such data."});
  }
  finding.tables = {answers_table(), probabilities_table()};
  const bool few = kept_.J() <= kColours;
  finding.figures.push_back(
      {"probabilities", "Posterior probabilities",
       fmt::format("One bar per data set, cut into the probabilities of {}. A bar of one colour is a clear "
                   "answer; one cut into equal parts says that the data do not tell the models apart.{}{}",
                   few ? "the models" : "its three most probable models and all others together",
                   u_is_identified() ? " The diamond is u, which says no more than p does (see below)." : "",
                   kept_.size() > kBars ? fmt::format(" The first {} data sets.", kBars) : ""),
       fmt::format(
           "Stacked bars of the posterior model probabilities of {}; the table of answers holds the numbers.",
           data_sets(std::min(kBars, kept_.size()))),
       "probabilities",
       probabilities_specification(kept_.model_names(), u_is_identified(), kept_.has_concentrations())});
  return finding;
}

Finding ComparisonReport::models() const {
  Finding finding;
  finding.name = "models";
  finding.title = "Models across data sets";
  finding.text =
      "How the data sets divide among the models. Each data set was judged by itself: these are summaries, "
      "not a Bayes factor of the group, for which the models would have to say what data sets share.";
  const auto order = models_by_mean();
  const auto shown = std::min<std::int64_t>(kModels, kept_.J());
  Table table;
  table.name = "models";
  table.title = "Models across data sets";
  table.note =
      shown < kept_.J() ? fmt::format("The {} models with the largest means, of {}.", shown, kept_.J()) : "";
  const auto model = [&](std::int64_t row) {
    return static_cast<std::size_t>(order[static_cast<std::size_t>(row)]);
  };
  fill(table,
       {{"model", {"Model", "", false}, [&](std::int64_t row) { return kept_.model_names()[model(row)]; }},
        {"best",
         {"Best in", "data sets in which it is the most probable", false},
         [&](std::int64_t row) { return best_[model(row)]; }},
        {"mean_p",
         {"Mean p", "mean of its probabilities over data sets", true},
         [&](std::int64_t row) { return sum_p_[model(row)] / static_cast<double>(count_); }},
        {"prior",
         {"Model prior", "", true},
         [&](std::int64_t row) { return kept_.model_prior()[model(row)]; }}},
       shown);
  finding.figures.push_back(
      {"models", "Mean posterior probability of each model",
       "The longer the bar, the more probable the model is in an average data set. The tick is its model "
       "prior, where all bars would end if the data said nothing.",
       fmt::format("Bars of the mean posterior probability of {} models; the largest is that of {}.", shown,
                   kept_.model_names()[model(0)]),
       "models", models_specification()});
  finding.tables.push_back(std::move(table));
  return finding;
}

Finding ComparisonReport::bayes_factors() const {
  Finding finding;
  finding.name = "bayes-factors";
  finding.title = "Bayes factors against the runner-up";
  finding.text =
      "How much better the most probable model predicted the data than the next, whatever the model prior. "
      "The words are those of Kass and Raftery (1995, J. Am. Stat. Assoc. 90, 773): a convention for 2 ln BF "
      "of 0, 2, 6 and 10, not a property of the data. \"Bare mention\" stands for \"not worth more than a "
      "bare mention\".";
  Table table;
  table.name = "bayes-factors";
  table.title = "Bayes factors behind the figure";
  const auto ids = unique_ids();
  const auto shown = std::min(kBars, kept_.size());
  table.note = some_rows(shown, count_, "the table of answers has more.");
  std::vector<Answer> derived;
  for (std::int64_t b = 0; b < shown; ++b) derived.push_back(answer(b));
  const auto of = [&](std::int64_t b) -> const Answer& { return derived[static_cast<std::size_t>(b)]; };
  const auto name = [&](std::int64_t j) { return kept_.model_names()[static_cast<std::size_t>(j)]; };
  fill(
      table,
      {{"dataset", {"Data set", "", false}, [&](std::int64_t b) { return ids[static_cast<std::size_t>(b)]; }},
       {"best", {"Best", "", false}, [&](std::int64_t b) { return name(of(b).order[0]); }},
       {"runner_up",
        {"Runner-up", "", false},
        [&](std::int64_t b) { return of(b).has_runner_up ? name(of(b).order[1]) : ""; }},
       {"log_bf", {"ln BF", "", false}, [&](std::int64_t b) { return of(b).log_bf; }},
       {"bf", {"BF", "", false}, [&](std::int64_t b) { return std::exp(of(b).log_bf); }},
       {"strength",
        {"Strength", "", false},
        [&](std::int64_t b) { return of(b).has_runner_up ? bayes_factor_words(of(b).log_bf) : ""; }}},
      shown);
  Table counts;
  counts.name = "strengths";
  counts.title = "Strength of evidence in all data sets";
  const std::size_t first = strengths_[0] > 0 ? 0 : 1;
  constexpr std::array<const char*, 5> kLimits = {"below 1", "1 to 2.7", "2.7 to 20", "20 to 150",
                                                  "above 150"};
  fill(counts,
       {{"strength",
         {"Strength", "", false},
         [&](std::int64_t i) { return kStrengths[first + static_cast<std::size_t>(i)]; }},
        {"bf",
         {"BF", "Bayes factor", false},
         [&](std::int64_t i) { return kLimits[first + static_cast<std::size_t>(i)]; }},
        {"data_sets",
         {"Data sets", "", false},
         [&](std::int64_t i) { return strengths_[first + static_cast<std::size_t>(i)]; }}},
       static_cast<std::int64_t>(kStrengths.size() - first));
  if (count_ <= kBars) {
    finding.figures.push_back(
        {"bayes-factors", "Evidence for the best model over the runner-up",
         "One dot per data set; the further right, the stronger the evidence. 3 means that the data are "
         "about twenty times more probable under the best model. Values beyond 10 are drawn at the edge.",
         fmt::format("Dots of the log Bayes factors of {}, over bands named by strength.", data_sets(shown)),
         "bayes-factors", factors_specification(table)});
  } else {
    finding.figures.push_back({"strengths", "Strength of evidence for the best model over the runner-up",
                               "How many data sets give evidence of each strength.",
                               "Bars: the number of data sets by strength of evidence.", "strengths",
                               strengths_specification()});
  }
  finding.tables = {std::move(counts), std::move(table)};
  return finding;
}

Finding ComparisonReport::scope() const {
  Finding finding;
  finding.name = "scope";
  finding.title = "Could any of the models have produced these data?";
  finding.text =
      "Scope p says how often data sets simulated from the models, of the same size, look at least as "
      "foreign as the one observed. If the models are right, it is spread evenly between 0 and 1, and falls "
      "below 0.01 once in a hundred data sets. Where it is small, no model made such data, and the "
      "probabilities above mean little.";
  finding.metrics = {
      {"out_of_scope", "data sets whose verdict is `out-of-scope`", static_cast<double>(out_of_scope_)}};
  constexpr std::int64_t kBins = 20;
  const auto judged = static_cast<std::int64_t>(scope_p_.size());
  Table table;
  table.name = "scope";
  table.title = "Data sets by scope p";
  table.columns = {"from", "to", "data_sets", "expected"};
  std::vector<std::int64_t> counts(kBins);
  for (const double p : scope_p_) ++counts[static_cast<std::size_t>(std::min(p * kBins, kBins - 1.0))];
  for (std::int64_t bin = 0; bin < kBins; ++bin) {
    table.rows.push_back({static_cast<double>(bin) / kBins, static_cast<double>(bin + 1) / kBins,
                          counts[static_cast<std::size_t>(bin)],
                          static_cast<double>(scope_p_.size()) / kBins});
  }
  finding.figures.push_back(
      {"scope", "Data sets by scope p",
       "If the models are right, all bars are about as high as the line. A high bar at the left: more data "
       "sets look foreign than chance explains.",
       fmt::format("Histogram of scope p over {}; {} are out of scope.", data_sets(judged), out_of_scope_),
       "scope", scope_specification()});
  finding.tables = {std::move(table)};
  const auto found = benjamini_hochberg(scope_p_, 0.05);
  const auto kept = std::count(found.begin(), found.end(), true);
  if (judged > 0 && out_of_scope_ == 0) {
    finding.judgements = {
        {Severity::fine,
         judged < count_ ? "No data set that can be judged is out of scope." : "No data set is out of scope.",
         ""}};
  } else if (judged > 0) {
    finding.judgements = {
        {kept > 0 ? Severity::warning : Severity::note,
         fmt::format(
             "{} of {}{} {} out of scope. {} of all count as foreign when at most 5 % of those may be "
             "false (Benjamini-Hochberg).",
             out_of_scope_, data_sets(judged), judged < count_ ? " that can be judged" : "",
             out_of_scope_ == 1 ? "is" : "are", kept),
         "Look at what stands out, in the last column of the table of answers, before believing any model."}};
  }
  if (judged < count_) {
    finding.judgements.push_back(
        {Severity::warning,
         fmt::format("{} of {} could not be judged: the network was not trained for such data.",
                     count_ - judged, data_sets(count_)),
         "Their verdict is `outside-training`; they are not among the bars. What is unlike is said in the "
         "last column of the table of answers."});
  }
  return finding;
}

Finding ComparisonReport::no_concentrations() const {
  Finding finding;
  finding.name = "uncertainty";
  finding.title = "Why there is no u";
  finding.text = fmt::format(
      "This network has the head `{}`: it gives probabilities, but no concentrations alpha, and so no u. "
      "Probabilities and Bayes factors mean what they mean for any other network.",
      file_.config.options.head);
  if (file_.config.head_kind().samples && file_.members.size() == 1) {
    finding.text +=
        " Each probability is the mean over samples of the network, and the column +- their standard "
        "deviation under the model prior of the training: how far this network is unsure of its own answer, "
        "not whether any model fits.";
  }
  finding.judgements = {{Severity::note, "alpha and u are not defined for this network.", ""}};
  return finding;
}

Finding ComparisonReport::uncertainty() const {
  if (!kept_.has_concentrations()) return no_concentrations();
  Finding finding;
  finding.name = "uncertainty";
  finding.title = "What u says, and what it does not";
  finding.metrics = {{"mean_u", "mean of u = J / sum(alpha)", sum_u_ / static_cast<double>(count_)}};
  if (u_is_identified()) {
    finding.text =
        "This network was trained with a penalty (lambda > 0) that pulls the concentrations of wrong models "
        "towards 1. Its u depends on the data only through p: models that are equally probable give u near "
        "1, and so do data that fit nothing. The penalty also makes p less extreme than it should be.";
    finding.judgements = {
        {Severity::note, "u is a function of p here; a small u is no proof that a model fits.", ""}};
  } else {
    finding.text =
        "This network was trained with lambda 0. The loss then depends on the concentrations alpha only "
        "through p, so their sum, and with it u, is whatever training happened to leave.";
    finding.judgements = {{Severity::note, "u is not identified for this network: do not interpret it.", ""}};
  }
  if (kept_.J() != 3) return finding;
  Table table;
  table.name = "concentrations";
  table.title = "Concentrations behind the figure";
  const auto ids = unique_ids();
  const auto sum = [&](std::int64_t b) { return 3 / kept_.uncertainty(b); };
  std::vector<TableColumn> columns = {
      {"dataset", {"Data set", "", false}, [&](std::int64_t b) { return ids[static_cast<std::size_t>(b)]; }}};
  ModelPosterior trained = kept_.with_model_prior(file_.model_prior);
  std::vector<std::vector<double>> p;
  for (std::int64_t b = 0; b < kept_.size(); ++b) p.push_back(trained.probabilities(b));
  for (std::size_t j = 0; j < 3; ++j) {
    const std::string& model = kept_.model_names()[j];
    columns.push_back(
        {fmt::format("alpha_{}", j + 1), {"alpha " + model, "", false}, [&sum, &p, j](std::int64_t b) {
           return std::max(1.0, p[static_cast<std::size_t>(b)][j] * std::min(sum(b), kLargestSum));
         }});
  }
  for (std::size_t j = 0; j < 3; ++j) {
    columns.push_back({fmt::format("p_{}", j + 1),
                       {"p " + kept_.model_names()[j], "", true},
                       [&p, j](std::int64_t b) { return p[static_cast<std::size_t>(b)][j]; }});
  }
  fill(table, columns, kept_.size());
  table.note = fmt::format("alpha is scaled down where it sums to more than {:.0f}.", kLargestSum);
  finding.tables.push_back(std::move(table));
  finding.figures.push_back(
      {"simplex", "The Dirichlet distribution over the three models",
       "Each corner is certainty of one model; the middle is undecided. The circle is p, under the model "
       "prior of the training; the shade is the density of the Dirichlet distribution of which p is the "
       "mean. Its width is u by another name: read it as you read u.",
       "A triangle with the density of the Dirichlet distribution of the data set chosen and its mean.",
       "concentrations", simplex_specification(kept_.model_names()), "dataset"});
  return finding;
}

Report ComparisonReport::report(std::vector<std::pair<std::string, std::string>> origin) const {
  Report report;
  const auto J = kept_.J();
  report.title = fmt::format("{}: {} compared", file_.problem_name, data_sets(count_));
  const auto top = static_cast<std::size_t>(models_by_mean()[0]);
  report.summary = fmt::format(
      "Posterior probabilities of {} models for {}. The most probable on average is {} (mean p {:.2f}, best "
      "in {} of {}).",
      J, data_sets(count_), kept_.model_names()[top], sum_p_[top] / static_cast<double>(count_), best_[top],
      count_);
  report.findings.push_back(answers());
  if (count_ > 1) report.findings.push_back(models());
  if (has_scope_) report.findings.push_back(scope());
  report.findings.push_back(bayes_factors());
  report.findings.push_back(uncertainty());

  report.provenance = std::move(origin);
  const auto add = [&](const char* key, const std::string& text) {
    report.provenance.emplace_back(key, text);
  };
  add("problem", fmt::format("{} (fingerprint {})", file_.problem_name, file_.fingerprint));
  std::string prior;
  for (std::int64_t j = 0; j < std::min(J, kModels); ++j) {
    prior += fmt::format("{}{} {:.4g}", j == 0 ? "" : ", ", kept_.model_names()[static_cast<std::size_t>(j)],
                         kept_.model_prior()[static_cast<std::size_t>(j)]);
  }
  if (J > kModels) prior += ", ...";
  add("model prior",
      prior + (kept_.model_prior() == file_.model_prior ? " (as trained)" : " (changed after training)"));
  const json& record = file_.record;
  add("training", fmt::format("{} steps, seed {}, validation loss {:.4f} nats, observations {} to {}, by {}",
                              record.value("steps", std::int64_t{0}), record.value("seed", std::uint64_t{0}),
                              record.value("validation_loss", NAN), file_.smallest_n, file_.largest_n,
                              record.value("program", "an unknown program")));
  const json options = record.value("options", json::object());
  if (!kept_.has_concentrations()) {
    add("head", file_.config.options.head);
  } else if (options.contains("lambda")) {
    add("lambda", options["lambda"].dump());
  }
  add("program", fmt::format("occam {}", kVersion));
  return report;
}

}  // namespace occam
