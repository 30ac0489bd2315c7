#include "occam/compare/comparator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "occam/core/error.hpp"

namespace occam {
namespace {

double log_of_sum(std::span<const double> terms) {
  const double top = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

// The mixture of K members with log concentrations (K, J), which become log p; their number is not one.
void mix(std::span<double> members, std::size_t J, double* mixture) {
  const std::size_t K = members.size() / J;
  double concentration = 0;
  for (std::size_t k = 0; k < K; ++k) {
    const auto row = members.subspan(k * J, J);
    const double total = log_of_sum(row);
    for (double& value : row) value -= total;
    concentration += total / static_cast<double>(K);
  }
  std::vector<double> column(K);
  for (std::size_t j = 0; j < J; ++j) {
    for (std::size_t k = 0; k < K; ++k) column[k] = members[k * J + j];
    mixture[j] = log_of_sum(column) - std::log(static_cast<double>(K)) + concentration;
  }
}

}  // namespace

Comparator::Comparator(NetworkFile file, ThreadPool& pool)
    : file_(std::move(file)),
      pool_(pool),
      network_(std::make_unique<Network<float>>(file_.config)),
      runner_(std::make_unique<BatchGradient<float>>(*network_, pool)) {}

std::string Comparator::flag(Matrix<const float> rows) const {
  if (std::string doubt = file_.doubt(); !doubt.empty()) return doubt;
  if (rows.rows > file_.largest_n) return fmt::format("n above trained range ({})", file_.largest_n);
  if (rows.rows < file_.smallest_n) return fmt::format("n below trained range ({})", file_.smallest_n);
  return file_.design.foreign(rows);
}

void Comparator::require_estimates() const {
  if (file_.config.parameters > 0) return;
  throw Error(ErrorKind::usage,
              "this network was trained without parameter estimates (--parameter-weight 0)");
}

NetworkOutputs Comparator::outputs(Ragged<const float> data) {
  const auto J = static_cast<std::size_t>(file_.config.models);
  const auto P = static_cast<std::size_t>(file_.config.parameters);
  const auto S = static_cast<std::size_t>(summary_width());
  const auto K = file_.members.size();
  const auto sets = static_cast<std::size_t>(data.sets);
  NetworkOutputs out;
  out.log_alpha.resize(sets * J);
  out.theta.assign(sets * P, 0.0);
  out.summary.resize(sets * S);
  if (K > 1) out.members.resize(sets * K * J);
  if (K == 1 && file_.config.head_kind().samples) out.spread.resize(sets * J);
  for (std::size_t k = 0; k < K; ++k) {
    runner_->answer(file_.members[k].data(), data, std::numeric_limits<std::int64_t>::max(),
                    [&](std::int64_t first, const Network<float>::Tape& tape, const HeadAnswer& answer) {
                      std::vector<double> f(J);
                      for (std::int64_t b = 0; b < tape.models.rows; ++b) {
                        const auto at = static_cast<std::size_t>(first + b);
                        double* log_alpha =
                            K == 1 ? out.log_alpha.data() + at * J : out.members.data() + (at * K + k) * J;
                        if (answer.log_p.data != nullptr) {
                          std::copy_n(answer.log_p.row(b), J, log_alpha);
                        } else {
                          std::copy_n(tape.models.row(b), J, f.begin());
                          log_concentrations(file_.link, f, {log_alpha, J});
                        }
                        if (!out.spread.empty())
                          std::copy_n(answer.spread.row(b), J, out.spread.data() + at * J);
                        for (std::size_t p = 0; p < P; ++p) {
                          const double estimate = file_.parameter_estimate(p, tape.parameters.row(b)[p]);
                          out.theta[at * P + p] += estimate / static_cast<double>(K);
                        }
                        if (k == 0)
                          std::copy_n(tape.summary.row(b), S,
                                      out.summary.begin() + static_cast<std::ptrdiff_t>(at * S));
                      }
                    });
  }
  for (std::size_t at = 0; K > 1 && at < sets; ++at) {
    mix({out.members.data() + at * K * J, K * J}, J, out.log_alpha.data() + at * J);
  }
  return out;
}

void Comparator::compare(const std::vector<std::string>& ids, Ragged<const float> data,
                         ModelPosterior& answers, ParameterEstimates* estimates) {
  if (estimates != nullptr) require_estimates();
  add_answers(ids, data, outputs(data), answers, estimates);
}

void Comparator::add_answers(const std::vector<std::string>& ids, Ragged<const float> data,
                             const NetworkOutputs& outputs, ModelPosterior& answers,
                             ParameterEstimates* estimates) const {
  const auto J = static_cast<std::size_t>(file_.config.models);
  const auto P = static_cast<std::size_t>(file_.config.parameters);
  const std::size_t members = outputs.members.empty() ? 0 : file_.members.size() * J;
  const std::size_t spreads = outputs.spread.empty() ? 0 : J;
  for (std::int64_t b = 0; b < data.sets; ++b) {
    const auto at = static_cast<std::size_t>(b);
    answers.add(ids[at], data.size(b), {outputs.log_alpha.data() + at * J, J},
                flag(data.x.rows_from(data.offsets[b], data.size(b))),
                {outputs.members.data() + at * members, members},
                {outputs.spread.data() + at * spreads, spreads});
    if (estimates == nullptr) continue;
    const auto& mask = file_.parameter_mask[static_cast<std::size_t>(answers.best(answers.size() - 1))];
    for (std::size_t p = 0; p < P; ++p) {
      estimates->values.push_back(mask[p] != 0 ? outputs.theta[at * P + p] : NAN);
    }
  }
  if (estimates != nullptr) estimates->names = file_.parameter_names;
}

}  // namespace occam
