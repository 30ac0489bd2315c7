#include "occam/compare/comparator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "occam/compare/log_sum.hpp"
#include "occam/core/error.hpp"

namespace occam {
namespace {

// The mixture of K members with log concentrations (K, J), which become log p; their number is not one.
void mix(std::span<double> members, std::size_t J, double* mixture) {
  const std::size_t K = members.size() / J;
  double concentration = 0;
  for (std::size_t k = 0; k < K; ++k) {
    const auto row = members.subspan(k * J, J);
    const LogSum total(row);
    for (double& value : row) value = total.share(value);
    concentration += total.whole() / static_cast<double>(K);
  }
  std::vector<double> column(K);
  for (std::size_t j = 0; j < J; ++j) {
    for (std::size_t k = 0; k < K; ++k) column[k] = members[k * J + j];
    mixture[j] = LogSum(column).whole() - std::log(static_cast<double>(K)) + concentration;
  }
}

}  // namespace

Comparator::Comparator(NetworkFile file, ThreadPool& pool, const std::string& device)
    : file_(std::move(file)),
      pool_(pool),
      network_(std::make_unique<Network<float>>(file_.config)),
      engine_(make_engine(device, file_.config, pool)) {}

std::string Comparator::flag(Matrix<const float> rows) const {
  if (std::string doubt = file_.doubt(); !doubt.empty()) return doubt;
  if (rows.rows > file_.largest_n) return fmt::format("n above trained range ({})", file_.largest_n);
  if (rows.rows < file_.smallest_n) return fmt::format("n below trained range ({})", file_.smallest_n);
  return file_.design.foreign(rows, columns_in(file_.labels));
}

void Comparator::require_estimates() const {
  if (file_.config.parameters > 0) return;
  throw Error(ErrorKind::usage,
              "this network was trained without parameter estimates (--parameter-weight 0)");
}

NetworkOutputs Comparator::outputs(Ragged<const float> data) {
  const auto J = static_cast<std::size_t>(file_.config.models);
  const auto P = static_cast<std::size_t>(file_.config.parameters);
  const auto K = file_.members.size();
  const auto sets = static_cast<std::size_t>(data.sets);
  NetworkOutputs out;
  out.log_alpha.resize(sets * J);
  out.theta.assign(sets * P, 0.0);
  if (K > 1) out.members.resize(sets * K * J);
  if (K == 1 && file_.config.head_kind().samples) out.spread.resize(sets * J);
  NetworkAnswers answers;
  for (std::size_t k = 0; k < K; ++k) {
    engine_->answer(file_.members[k], data, std::numeric_limits<std::int64_t>::max(), answers);
    add_member(k, data.sets, answers, out);
    if (k == 0) out.summary = std::move(answers.summary);
    if (!out.spread.empty()) out.spread = std::move(answers.spread);
  }
  for (std::size_t at = 0; K > 1 && at < sets; ++at) {
    mix({out.members.data() + at * K * J, K * J}, J, out.log_alpha.data() + at * J);
  }
  return out;
}

void Comparator::add_member(std::size_t k, std::int64_t sets, const NetworkAnswers& answers,
                            NetworkOutputs& out) const {
  const auto J = static_cast<std::size_t>(file_.config.models);
  const auto P = static_cast<std::size_t>(file_.config.parameters);
  const std::size_t K = file_.members.size();
  const auto one = [&](std::size_t at, std::vector<double>& f) {
    double* log_alpha = K == 1 ? out.log_alpha.data() + at * J : out.members.data() + (at * K + k) * J;
    if (!answers.log_p.empty()) {
      std::copy_n(answers.log_p.data() + at * J, J, log_alpha);
    } else {
      f.assign(answers.models.begin() + static_cast<std::ptrdiff_t>(at * J),
               answers.models.begin() + static_cast<std::ptrdiff_t>((at + 1) * J));
      log_concentrations(file_.link, f, {log_alpha, J});
    }
    for (std::size_t p = 0; p < P; ++p) {
      out.theta[at * P + p] +=
          file_.parameter_estimate(p, answers.parameters[at * P + p]) / static_cast<double>(K);
    }
  };
  constexpr std::int64_t kBlock = 256;
  pool_.for_each((sets + kBlock - 1) / kBlock, [&](std::int64_t block, int) {
    std::vector<double> f;
    const std::int64_t end = std::min(sets, (block + 1) * kBlock);
    for (std::int64_t at = block * kBlock; at < end; ++at) one(static_cast<std::size_t>(at), f);
  });
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
    const std::span<const double> log_alpha(outputs.log_alpha.data() + at * J, J);
    std::string why = flag(data.x.rows_from(data.offsets[b], data.size(b)));
    if (why.empty() && !usable_answer(log_alpha)) why = "the network's answer is not a usable number";
    answers.add(ids[at], data.size(b), log_alpha, std::move(why),
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
