#include "occam/compare/comparator.hpp"

#include <algorithm>
#include <cmath>

#include "occam/core/error.hpp"

namespace occam {

Comparator::Comparator(NetworkFile file, ThreadPool& pool)
    : file_(std::move(file)),
      network_(std::make_unique<Network<float>>(file_.config)),
      runner_(std::make_unique<BatchGradient<float>>(*network_, pool)) {}

std::string Comparator::flag(std::int64_t n) const {
  if (n > file_.largest_n) return fmt::format("n above trained range ({})", file_.largest_n);
  if (n < file_.smallest_n) return fmt::format("n below trained range ({})", file_.smallest_n);
  return "";
}

void Comparator::compare(const std::vector<std::string>& ids, Ragged<const float> data,
                         ModelPosterior& answers, ParameterEstimates* estimates) {
  const auto J = static_cast<std::size_t>(file_.config.models);
  const auto P = static_cast<std::size_t>(file_.config.parameters);
  if (estimates != nullptr && P == 0) {
    throw Error(ErrorKind::usage,
                "this network was trained without parameter estimates (--parameter-weight 0)");
  }
  std::vector<double> log_alpha(J * static_cast<std::size_t>(data.sets));
  std::vector<double> theta(P * static_cast<std::size_t>(data.sets));
  runner_->forward(file_.weights.data(), data, [&](std::int64_t first, const Network<float>::Tape& tape) {
    std::vector<double> f(J);
    for (std::int64_t b = 0; b < tape.models.rows; ++b) {
      std::copy_n(tape.models.row(b), J, f.begin());
      const auto at = static_cast<std::size_t>(first + b);
      log_concentrations(file_.link, f, {log_alpha.data() + at * J, J});
      for (std::size_t p = 0; p < P; ++p) {
        theta[at * P + p] = file_.parameter_mean[p] + file_.parameter_scale[p] * tape.parameters.row(b)[p];
      }
    }
  });
  for (std::int64_t b = 0; b < data.sets; ++b) {
    const auto at = static_cast<std::size_t>(b);
    answers.add(ids[at], data.size(b), {log_alpha.data() + at * J, J}, flag(data.size(b)));
    if (estimates == nullptr) continue;
    const auto& mask = file_.parameter_mask[static_cast<std::size_t>(answers.best(answers.size() - 1))];
    for (std::size_t p = 0; p < P; ++p) estimates->values.push_back(mask[p] != 0 ? theta[at * P + p] : NAN);
  }
  if (estimates != nullptr) estimates->names = file_.parameter_names;
}

}  // namespace occam
