#include "occam/pipeline/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/data/labels.hpp"

namespace occam {
namespace {

AnswerShape shape(const Comparator& comparator, const ComparisonOptions& options) {
  AnswerShape shape(comparator.file(), options.parameters, options.summary ? comparator.summary_width() : 0);
  shape.sequential = options.sequential.has_value();
  return shape;
}

}  // namespace

std::vector<std::string> left_out_of_group(const Answered& answered) {
  std::vector<std::string> why;
  for (const DataSetVerdict& one : answered.extras.verdicts) {
    const bool foreign =
        one.verdict == VerdictKind::out_of_scope || one.verdict == VerdictKind::outside_training;
    why.emplace_back(foreign ? word(one.verdict) : "");
  }
  return why;
}

Comparison::Comparison(NetworkFile file, ComparisonOptions options, ThreadPool& pool)
    : options_(std::move(options)),
      comparator_(std::move(file), pool, options_.device),
      scope_(scope_of(comparator_.file())),
      ranges_(comparator_.file()),
      columns_(shape(comparator_, options_)) {
  if (!options_.model_prior.empty()) {
    prior_ = parse_model_prior(options_.model_prior, this->file().model_names);
    comparator_.empty_posterior().with_model_prior(prior_);
  }
  if (options_.parameters && options_.sequential)
    throw Error(ErrorKind::usage,
                "estimates of parameters are of whole data sets, not of sequential answers");
  if (options_.parameters) comparator_.require_estimates();
  if (options_.sequential) check_sequential(*options_.sequential, this->file().ordered);
}

ModelPosterior Comparison::empty_answers() const {
  const ModelPosterior empty = comparator_.empty_posterior();
  return prior_.empty() ? empty : empty.with_model_prior(prior_);
}

ObservedOptions Comparison::reading() const {
  ObservedOptions reading;
  reading.columns = file().columns;
  reading.may_miss = file().config.missing;
  reading.labels = file().labels;
  const std::vector<bool> design = file().design.is_design(static_cast<std::int64_t>(reading.columns.size()));
  for (std::size_t c = 0; c < design.size(); ++c) {
    if (design[c]) reading.given.push_back(static_cast<std::int64_t>(c));
  }
  return reading;
}

Answered Comparison::judge(const std::vector<std::string>& ids, Ragged<const float> data) {
  Answered result{comparator_.empty_posterior(), {}};
  AnswerExtras& extras = result.extras;
  NetworkOutputs outputs = comparator_.outputs(data);
  comparator_.add_answers(ids, data, outputs, result.answers,
                          options_.parameters ? &extras.estimates : nullptr);
  if (scope_) extras.scope = judge_scope(*scope_, comparator_, data, outputs);
  extras.summary = std::move(outputs.summary);
  if (!prior_.empty()) result.answers = result.answers.with_model_prior(prior_);
  extras.verdicts = verdicts_on(result.answers, extras, options_.verdict);
  return result;
}

Answered Comparison::answer(const ObservedSets& sets) {
  const NumberedLabels numbered(sets.data, file().labels);
  Answered answered = judge(sets.ids, numbered.view());
  answered.extras.notes = ranges_.add(sets.ids, numbered.view());
  for (std::size_t b = 0; b < sets.ids.size(); ++b) {
    const auto add = [&note = answered.extras.notes[b]](const std::string& text) {
      if (!text.empty()) note += (note.empty() ? "" : "; ") + text;
    };
    if (sets.dropped[b] > 0)
      add(fmt::format("{} row{} with missing values left out", sets.dropped[b],
                      sets.dropped[b] == 1 ? "" : "s"));
    add(file().caution);
  }
  for (std::int64_t b = 0; b < answered.answers.size(); ++b) count(answered, b);
  answered_ += answered.answers.size();
  return answered;
}

void Comparison::count(const Answered& answered, std::int64_t b) {
  flags_.add(file(), answered.answers, b);
  const auto at = static_cast<std::size_t>(b);
  const VerdictKind verdict = answered.extras.verdicts[at].verdict;
  if (!answered.extras.scope.empty() && answered.answers.flag(b).empty() &&
      verdict == VerdictKind::outside_training)
    lonely_ += answered.extras.scope[at].lonely_design ? 1 : 0;
  // What the network was not trained for, it calls neither foreign nor usual.
  if (answered.extras.scope.empty() || verdict == VerdictKind::outside_training) return;
  scope_p_.push_back(answered.extras.scope[at].p);
  out_of_scope_ += verdict == VerdictKind::out_of_scope ? 1 : 0;
}

Answered Comparison::course(const ObservedSets& sets, std::int64_t b, const Answered& whole) {
  SequentialOptions options = options_.sequential.value();
  const std::int64_t N = sets.data.size(b);
  options.sizes = sequential_sizes(N, options.sizes);
  std::erase_if(options.sizes, [&](std::int64_t k) { return k < comparator_.shortest() && k < N; });
  const std::int64_t item = answered_ - whole.answers.size() + b;
  const Prefixes prefixes(sets.data.x.rows_from(sets.data.offsets[b], N), item, options);
  const std::vector<Prefix>& list = prefixes.list();
  const auto at = static_cast<std::size_t>(b);
  const NumberedLabels numbered(prefixes.view(), file().labels);
  const Answered all = judge(std::vector<std::string>(list.size(), sets.ids[at]), numbered.view());
  Answered course{empty_answers(), {}};
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && list[end].k == list[i].k) ++end;
    const bool last = end == list.size();
    course.answers.add_mean(last ? whole.answers : all.answers, last ? b : static_cast<std::int64_t>(i),
                            last ? b + 1 : static_cast<std::int64_t>(end));
    const AnswerExtras& from = last ? whole.extras : all.extras;
    const std::size_t place = last ? at : i;
    if (!from.scope.empty()) course.extras.scope.push_back(from.scope[place]);
    const auto S = static_cast<std::ptrdiff_t>(comparator_.summary_width());
    const auto first = from.summary.begin() + static_cast<std::ptrdiff_t>(place) * S;
    course.extras.summary.insert(course.extras.summary.end(), first, first + S);
    course.extras.notes.push_back(last ? whole.extras.notes[at] : "");
    i = end;
  }
  course.extras.verdicts = verdicts_on(course.answers, course.extras, options_.verdict);
  return course;
}

// How many data sets no model can have made, also when the number of questions asked is taken into account.
void Comparison::warn_of_scope(std::vector<std::string>& warnings) const {
  constexpr double kFalseShare = 0.05;
  const double level = options_.verdict.scope_level;
  if (scope_->smallest_p() >= level) {
    warnings.push_back(
        fmt::format("--scope-level {} cannot be reached: the calibration of this network allows no p below "
                    "{:.2g} (train with a larger --scope-calibration)",
                    level, scope_->smallest_p()));
  }
  if (out_of_scope_ == 0) return;
  const std::vector<bool> found = benjamini_hochberg(scope_p_, kFalseShare);
  warnings.push_back(fmt::format(
      "{} of {} data sets{} are out of scope at level {} ({:.1f} expected if the models are right); {} "
      "when at most {:.0f} % of them may be false (Benjamini-Hochberg)",
      out_of_scope_, scope_p_.size(),
      static_cast<std::int64_t>(scope_p_.size()) == answered_ ? "" : " that can be judged", level,
      level * static_cast<double>(scope_p_.size()), std::count(found.begin(), found.end(), true),
      100 * kFalseShare));
}

std::vector<std::string> Comparison::warnings() const {
  std::vector<std::string> warnings;
  if (!file().caution.empty()) warnings.push_back(file().caution);
  if (scope_) warn_of_scope(warnings);
  for (const std::string& warning : ranges_.warnings()) warnings.push_back(warning);
  for (const std::string& cause : flags_.sentences(file(), fmt::format("{} data sets", answered_)))
    warnings.push_back(cause + "; do not trust their answers (column `flag` says why)");
  if (lonely_ > 0)
    warnings.push_back(fmt::format("{} of {} data sets cannot be judged: {} (column `flag`)", lonely_,
                                   answered_, kLonelyDesign));
  return warnings;
}

}  // namespace occam
