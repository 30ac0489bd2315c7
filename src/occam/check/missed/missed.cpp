#include "occam/check/missed/missed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "occam/check/missed/rich_statistics.hpp"
#include "occam/check/missed/second_learner.hpp"
#include "occam/check/statistics.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

constexpr std::int64_t kChunk = 500;     // data sets simulated at a time
constexpr double kMostValues = 2e7;      // in all data sets together
constexpr double kMostStatistics = 2e7;  // of all data sets together
constexpr std::int64_t kLookedAt = 100;  // data sets that tell how large they are
constexpr std::size_t kShown = 12;       // statistics in the table
constexpr std::size_t kNamed = 3;        // statistics in the judgement

// The problem with a size drawn for every data set: sizes shared by many would make their gains depend on
// each other.
Problem with_own_sizes(const Problem& problem) {
  ProblemSpec spec = problem.spec();
  spec.one_n_per_batch = false;
  return Problem(std::move(spec));
}

// Data sets of the simulator, or rows of a table in an order that says nothing.
class Supply {
 public:
  Supply(const Problem& problem, const MissedRequest& request, ThreadPool& pool)
      : problem_(problem), request_(request), pool_(pool) {
    if (request.table == nullptr) {
      simulator_.emplace(with_own_sizes(problem), request.seed, Purpose::missed);
      return;
    }
    rows_.assign(request.table_rows.begin(), request.table_rows.end());
    Rng rng(request.seed, Purpose::missed, 0);  // nothing is simulated, so no data set has it
    for (std::size_t i = rows_.size(); i > 1; --i) {
      std::swap(rows_[i - 1],
                rows_[static_cast<std::size_t>(rng.uniform_int(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

  void fill(std::int64_t first, std::int64_t count, Batch& batch) {
    if (simulator_) {
      simulator_->simulate_range(first, count, pool_, batch);
    } else {
      gather(*request_.table,
             std::span(rows_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
             problem_.J(), batch);
    }
  }

 private:
  const Problem& problem_;
  const MissedRequest& request_;
  ThreadPool& pool_;
  std::optional<Simulator> simulator_;
  std::vector<std::int64_t> rows_;
};

RichStatistics learn_statistics(const Problem& problem, const Batch& batch) {
  std::vector<std::string> names;
  std::vector<bool> design;
  for (const Column& column : problem.columns()) {
    names.push_back(column.name);
    design.push_back(column.given());
  }
  return RichStatistics::learn(batch.view(), names, problem.ordered(), design,
                               label_groups(problem.columns()));
}

// With many models, their probabilities are no statistics of their own: there would be little else.
bool shows_models(std::int64_t models) {
  return models <= kManyModels;
}

// What the network says comes first among the statistics, then those of the data.
std::vector<std::string> statistic_names(const NetworkFile& file, const RichStatistics& rich) {
  std::vector<std::string> names;
  if (shows_models(file.config.models)) {
    for (const std::string& model : file.model_names) {
      names.push_back(fmt::format("the network's own log probability of {}", model));
    }
  }
  names.emplace_back("the model that the network favours");
  names.emplace_back("the network's largest probability");
  names.insert(names.end(), rich.names().begin(), rich.names().end());
  return names;
}

void add_block(Comparator& comparator, const Batch& batch, const RichStatistics& rich, ThreadPool& pool,
               SecondLearnerInput& input, Missed& missed) {
  const auto J = static_cast<std::size_t>(input.J);
  const Ragged<const float> data = batch.view();
  ModelPosterior answers = comparator.empty_posterior();
  comparator.add_answers(std::vector<std::string>(static_cast<std::size_t>(batch.size())), data,
                         comparator.outputs(data), answers, nullptr);
  require_numbers(answers);
  const auto before = static_cast<std::size_t>(input.size());
  const auto F = static_cast<std::size_t>(input.statistics);
  input.values.resize((before + static_cast<std::size_t>(batch.size())) * F);
  input.log_p.resize((before + static_cast<std::size_t>(batch.size())) * J);
  pool.for_each(batch.size(), [&](std::int64_t b, int) {
    const std::size_t at = before + static_cast<std::size_t>(b);
    const std::vector<double> p = answers.probabilities(b);
    float* values = input.values.data() + at * F;
    for (std::size_t j = 0; j < J; ++j) {
      const double log_p = std::log(std::max(p[j], kSmallestProbability));
      input.log_p[at * J + j] = log_p;
      if (shows_models(input.J)) *values++ = static_cast<float>(log_p);
    }
    const auto best = std::max_element(p.begin(), p.end());
    *values++ = static_cast<float>(best - p.begin());
    *values++ = static_cast<float>(*best);
    rich.of(data.x.rows_from(data.offsets[b], data.size(b)), {values, static_cast<std::size_t>(rich.size())});
  });
  input.truth.insert(input.truth.end(), batch.models().begin(), batch.models().end());
  missed.n.insert(missed.n.end(), batch.sizes().begin(), batch.sizes().end());
}

double mean_loss(const SecondLearnerInput& input) {
  double sum = 0;
  for (std::size_t b = 0; b < input.truth.size(); ++b) {
    sum -= input.log_p[b * static_cast<std::size_t>(input.J) + static_cast<std::size_t>(input.truth[b])];
  }
  return sum / static_cast<double>(input.size());
}

std::vector<std::pair<std::string, double>> closest(const std::vector<std::string>& names,
                                                    const std::vector<double>& explains) {
  // Of those that say the same but for a percent, the first: simple statistics come before others.
  const auto in_percent = [](const auto& one) { return std::round(100 * one.second); };
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (explains[i] > 0) result.emplace_back(names[i], explains[i]);
  }
  std::stable_sort(result.begin(), result.end(),
                   [&](const auto& a, const auto& b) { return in_percent(a) > in_percent(b); });
  result.resize(std::min(result.size(), kShown));
  return result;
}

}  // namespace

double Missed::estimate() const {
  return std::accumulate(gain.begin(), gain.end(), 0.0) / static_cast<double>(gain.size());
}

double Missed::se() const {
  Mean mean;
  for (const double one : gain) mean.add(one);
  return mean.se();
}

double Missed::bound(double level) const {
  return std::max(0.0, estimate() - normal_quantile(1 - level) * se());
}

std::int64_t missed_data_sets(const Problem& problem, const MissedRequest& request, ThreadPool& pool) {
  std::int64_t count = request.data_sets;
  if (request.table != nullptr) count = std::min(count, static_cast<std::int64_t>(request.table_rows.size()));
  if (count < kFewestToLearn) return 0;
  Batch first;
  Supply(problem, request, pool).fill(0, std::min<std::int64_t>(count, kLookedAt), first);
  const double each = static_cast<double>(first.rows() * first.columns()) / static_cast<double>(first.size());
  const auto statistics = static_cast<double>(learn_statistics(problem, first).size());
  const auto most =
      static_cast<std::int64_t>(std::min(kMostValues / std::max(1.0, each), kMostStatistics / statistics));
  return std::min(count, std::max(most, kFewestToLearn));
}

Missed measure_missed(Comparator& comparator, const Problem& problem, const MissedRequest& request,
                      ThreadPool& pool, const std::function<void(std::int64_t)>& done) {
  const std::int64_t count = missed_data_sets(problem, request, pool);
  if (count == 0) {
    throw Error(ErrorKind::usage, "what a network missed takes at least {} data sets to see", kFewestToLearn);
  }
  const NetworkFile& file = comparator.file();
  Supply supply(problem, request, pool);
  Batch batch;
  supply.fill(0, std::min(kChunk, count), batch);
  const RichStatistics rich = learn_statistics(problem, batch);
  Missed missed;
  SecondLearnerInput input;
  input.J = problem.J();
  const std::vector<std::string> names = statistic_names(file, rich);
  input.statistics = static_cast<std::int64_t>(names.size());
  for (std::int64_t first = 0; first < count; first += kChunk) {
    if (first > 0) supply.fill(first, std::min(kChunk, count - first), batch);
    add_block(comparator, batch, rich, pool, input, missed);
    done(std::min(first + kChunk, count));
  }
  missed.log_loss = mean_loss(input);
  SecondOpinion opinion = second_opinion(input, request.seed, pool, [&] { done(count); });
  missed.gain = std::move(opinion.gain);
  missed.statistics = closest(names, opinion.explains);
  return missed;
}

namespace {

void add_sizes(const Missed& missed, Finding& finding) {
  const SizeBands bands(missed.n);
  std::vector<Mean> means(bands.count());
  for (std::size_t i = 0; i < missed.n.size(); ++i) means[bands(missed.n[i])].add(missed.gain[i]);
  Table table{"missed_by_n",
              "What a second learner gains over the network, by size",
              {"n", "n_from", "n_to", "data_sets", "gain", "lower", "upper"},
              {}};
  for (std::size_t band = 0; band < bands.count(); ++band) {
    const double half = means[band].count() > 1 ? 1.96 * means[band].se() : 0;
    table.rows.push_back({0.5 * static_cast<double>(bands.lower(band) + bands.upper(band)), bands.lower(band),
                          bands.upper(band), means[band].count(), means[band].value(),
                          means[band].value() - half, means[band].value() + half});
  }
  finding.figures.push_back({table.name, "What was missed, by size",
                             "Mean gain in log-loss of a second learner over the network, in nats, with its "
                             "95 % interval. Above zero, "
                             "the network left evidence unused in data sets of that size; at zero or below, "
                             "the second learner found "
                             "none.",
                             "Gain of a second learner over the network against the size N of a data set.",
                             table.name,
                             vega_curve(vega_field("n", "quantitative", "N, middle of the band"),
                                        vega_field("gain", "quantitative", "gain [nats]"), "lower", "upper",
                                        vega_tooltips({{"n_from", "N from"},
                                                       {"n_to", "N to"},
                                                       {"data_sets", "data sets"},
                                                       {"gain", "gain [nats]"}}))});
  finding.tables.push_back(std::move(table));
}

void add_statistics(const Missed& missed, Finding& finding) {
  if (missed.statistics.empty()) return;
  Table table{
      "missed_statistics",
      "Statistics that the corrections go along with",
      {"statistic", "explains"},
      {},
      "How much of what the second learner changed in the probabilities goes along with each statistic "
      "alone. Statistics that say much the same stand beside each other, so the parts do not add up."};
  for (const auto& [name, part] : missed.statistics) table.rows.push_back({name, part});
  auto y = vega_field("statistic", "nominal", "");
  y["sort"] = nullptr;
  y["axis"] = {{"labelLimit", 420}};
  finding.figures.push_back(
      {table.name,
       "Statistics that the corrections go along with",
       table.note,
       "Parts of the corrections of a second learner that single statistics explain.",
       table.name,
       {{"mark", "bar"},
        {"encoding",
         {{"y", y},
          {"x", vega_field("explains", "quantitative", "part of the corrections explained")},
          {"tooltip", vega_tooltips({{"statistic", "statistic"}, {"explains", "part explained"}})}}}}});
  finding.tables.push_back(std::move(table));
}

std::string named_statistics(const Missed& missed) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, missed.statistics.size()); ++i) {
    text += (i == 0 ? "" : "; ") + missed.statistics[i].first;
  }
  return text;
}

Judgement judged(const Missed& missed, const KnownGap& known, double limit, double level) {
  Judgement judgement;
  const double bound = missed.bound();
  const bool found = missed.bound(level) > kNegligible;
  judgement.severity = severity_of(bound, limit, found);
  if (found) {
    judgement.text = fmt::format(
        "The network leaves at least {} nats of the evidence in the data unused (limit {}): a second learner "
        "that "
        "looks at plain statistics did better on data sets it had not seen. Its corrections go along most "
        "with: "
        "{}.",
        shown_number(bound), shown_number(limit), named_statistics(missed));
    judgement.advice =
        "Answers may be calibrated and yet less certain, or other, than the data allow. Train longer or with "
        "a "
        "larger network, or give it such a statistic as a column of the data.";
    if (known.training_gain > 0) {
      judgement.advice +=
          fmt::format(" Twice the training is expected to gain {} nats.", shown_number(known.training_gain));
    }
  } else {
    judgement.text = fmt::format(
        "A second learner that looks at plain statistics found no evidence that the network left unused{}.",
        resolution_text(normal_quantile(1 - level) * missed.se(), limit));
  }
  if (known.kl >= 0)
    judgement.text +=
        fmt::format(" The exact posterior is known: {} nats are missed.", shown_number(known.kl));
  return judgement;
}

}  // namespace

Finding missed_finding(const Missed& missed, const KnownGap& known, double limit, double level) {
  Finding finding{"missed", "What was missed", {}, {}, {}, {}};
  finding.text =
      "Does the network use all that the data say? Calibration cannot tell: always naming the model prior is "
      "calibrated. Here a second learner starts from the network's probabilities, sees plain statistics of "
      "the "
      "data, learns on one half of fresh simulations and is judged on the other. What it gains, the network "
      "missed; there may be more that neither found.";
  const double estimate = missed.estimate();
  const double half = 1.96 * missed.se();
  finding.metrics = {
      metric("missed_bound", "evidence that the network leaves unused, at least (97.5 % sure) [nats]",
             missed.bound()),
      metric("missed_estimate", "gain of a second learner over the network [nats]", estimate, estimate - half,
             estimate + half),
      metric("missed_share", "that gain as a part of the network's log-loss",
             missed.log_loss > 0 ? estimate / missed.log_loss : 0),
      metric("missed_data_sets", "data sets it was learned and judged on",
             static_cast<double>(missed.gain.size()))};
  if (known.training_gain >= 0) {
    finding.metrics.push_back(
        metric("training_gain", "what twice the training is expected to gain [nats]", known.training_gain));
  }
  add_sizes(missed, finding);
  add_statistics(missed, finding);
  finding.judgements.push_back(judged(missed, known, limit, level));
  return finding;
}

}  // namespace occam
