#include "occam/compare/model_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "occam/compare/log_sum.hpp"
#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"
#include "occam/core/suggest.hpp"

namespace occam {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace

ModelPosterior::ModelPosterior(std::vector<std::string> model_names, std::vector<double> trained_prior,
                               bool has_concentrations)
    : names_(std::move(model_names)),
      trained_prior_(std::move(trained_prior)),
      prior_(trained_prior_),
      has_concentrations_(has_concentrations) {}

void ModelPosterior::add(std::string id, std::int64_t n, std::span<const double> log_alpha, std::string flag,
                         std::span<const double> members, std::span<const double> spread) {
  if (static_cast<std::int64_t>(log_alpha.size()) != J()) {
    throw Error(ErrorKind::internal, "{} concentrations for {} models", log_alpha.size(), J());
  }
  const auto K = static_cast<std::int64_t>(members.size()) / J();
  if (!ids_.empty() && K != K_) throw Error(ErrorKind::internal, "{} members after {}", K, K_);
  K_ = K;
  if (!ids_.empty() && spread.empty() != sample_spread_.empty()) {
    throw Error(ErrorKind::internal, "some answers have a spread over samples, others not");
  }
  sample_spread_.insert(sample_spread_.end(), spread.begin(), spread.end());
  members_.insert(members_.end(), members.begin(), members.end());
  ids_.push_back(std::move(id));
  n_.push_back(n);
  flags_.push_back(std::move(flag));
  log_alpha_.insert(log_alpha_.end(), log_alpha.begin(), log_alpha.end());
}

void ModelPosterior::remove_last() {
  ids_.pop_back();
  n_.pop_back();
  flags_.pop_back();
  log_alpha_.resize(log_alpha_.size() - names_.size());
  if (!sample_spread_.empty()) sample_spread_.resize(sample_spread_.size() - names_.size());
  members_.resize(members_.size() - static_cast<std::size_t>(K_) * names_.size());
}

void ModelPosterior::add_mean(const ModelPosterior& other, std::int64_t first, std::int64_t last) {
  const auto n = static_cast<double>(last - first);
  std::vector<double> mean(names_.size(), 0.0);
  double log_sum = 0;
  for (std::int64_t b = first; b < last; ++b) {
    const LogSum total(other.log_alphas(b));
    log_sum += total.whole() / n;
    for (std::int64_t j = 0; j < J(); ++j)
      mean[static_cast<std::size_t>(j)] += std::exp(total.share(other.log_alpha(b, j))) / n;
  }
  for (double& p : mean) p = std::log(p) + log_sum;
  if (last - first == 1) {
    for (std::int64_t j = 0; j < J(); ++j) mean[static_cast<std::size_t>(j)] = other.log_alpha(first, j);
  }
  const bool single = last - first == 1;
  add(other.id(first), other.n(first), mean, other.flag(first),
      single ? other.members(first) : std::span<const double>(),
      single ? other.sample_spread(first) : std::span<const double>());
}

ModelPosterior ModelPosterior::with_model_prior(std::vector<double> prior) const {
  if (prior.size() != names_.size()) {
    throw Error(ErrorKind::usage, "the model prior has {} entries for {} models", prior.size(),
                names_.size());
  }
  double sum = 0;
  for (std::size_t j = 0; j < prior.size(); ++j) {
    if (!(prior[j] >= 0))
      throw Error(ErrorKind::usage, "the prior probability of '{}' is {}", names_[j], prior[j]);
    if (prior[j] > 0 && trained_prior_[j] == 0) {
      throw Error(ErrorKind::usage, "model '{}' had no weight in training, so it cannot get any now",
                  names_[j]);
    }
    sum += prior[j];
  }
  if (std::abs(sum - 1) > 1e-6) throw Error(ErrorKind::usage, "the model prior sums to {}, not to 1", sum);
  ModelPosterior result = *this;
  result.prior_ = std::move(prior);
  return result;
}

double ModelPosterior::log_alpha(std::int64_t b, std::int64_t j) const {
  return log_alpha_[static_cast<std::size_t>(b * J() + j)];
}

double ModelPosterior::log_weight(std::int64_t b, std::int64_t j) const {
  const auto i = static_cast<std::size_t>(j);
  if (prior_[i] == 0) return kMinusInfinity;
  return log_alpha(b, j) + std::log(prior_[i] / trained_prior_[i]);
}

std::vector<double> ModelPosterior::log_probabilities(std::int64_t b) const {
  std::vector<double> result;
  for (std::int64_t k = 0; k < J(); ++k) result.push_back(log_weight(b, k));
  const LogSum total(result);
  for (double& value : result) value = total.share(value);
  return result;
}

std::vector<double> ModelPosterior::probabilities(std::int64_t b) const {
  std::vector<double> result = log_probabilities(b);
  for (double& value : result) value = std::exp(value);
  return result;
}

std::int64_t ModelPosterior::best(std::int64_t b) const {
  std::int64_t best = 0;
  for (std::int64_t j = 1; j < J(); ++j) {
    if (log_weight(b, j) > log_weight(b, best)) best = j;
  }
  return best;
}

double ModelPosterior::log_bayes_factor(std::int64_t b, std::int64_t i, std::int64_t j) const {
  const auto evidence = [&](std::int64_t k) {
    return log_alpha(b, k) - std::log(trained_prior_[static_cast<std::size_t>(k)]);
  };
  return i == j ? 0 : evidence(i) - evidence(j);
}

double ModelPosterior::uncertainty(std::int64_t b) const {
  if (!has_concentrations_) return std::numeric_limits<double>::quiet_NaN();
  return std::exp(std::log(static_cast<double>(J())) - LogSum(log_alphas(b)).whole());
}

std::vector<double> ModelPosterior::member_probabilities(std::int64_t b, std::int64_t k) const {
  std::vector<double> p;
  for (std::int64_t j = 0; j < J(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    p.push_back(prior_[i] == 0 ? kMinusInfinity
                               : members_[static_cast<std::size_t>((b * K_ + k) * J() + j)] +
                                     std::log(prior_[i] / trained_prior_[i]));
  }
  const LogSum total(p);
  for (double& value : p) value = std::exp(total.share(value));
  return p;
}

double ModelPosterior::spread(std::int64_t b, std::int64_t j) const {
  if (K_ < 2 && !sample_spread_.empty()) {
    return prior_ == trained_prior_ ? sample_spread_[static_cast<std::size_t>(b * J() + j)]
                                    : std::numeric_limits<double>::quiet_NaN();
  }
  if (K_ < 2) return 0;
  double sum = 0;
  double squares = 0;
  for (std::int64_t k = 0; k < K_; ++k) {
    const double p = member_probabilities(b, k)[static_cast<std::size_t>(j)];
    sum += p;
    squares += p * p;
  }
  const auto K = static_cast<double>(K_);
  return std::sqrt(std::max(0.0, squares - sum * sum / K) / (K - 1));
}

double ModelPosterior::agreement(std::int64_t b) const {
  if (K_ < 2) return 1;
  std::int64_t same = 0;
  for (std::int64_t k = 0; k < K_; ++k) {
    const auto p = member_probabilities(b, k);
    same += std::max_element(p.begin(), p.end()) - p.begin() == best(b) ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(K_);
}

namespace {

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::vector<double> parse_model_prior(const std::string& text, const std::vector<std::string>& model_names) {
  std::vector<double> prior(model_names.size(), 0.0);
  std::vector<bool> seen(model_names.size(), false);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const auto equals = item.find('=');
    double value = 0;
    const std::string_view number =
        equals == std::string_view::npos ? "" : without_blanks(item.substr(equals + 1));
    const auto [end, status] = from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || status != std::errc{} || end != number.data() + number.size()) {
      throw Error(ErrorKind::usage, "model prior: '{}' is not MODEL=PROBABILITY", item);
    }
    const std::string_view name = without_blanks(item.substr(0, equals));
    std::size_t j = 0;
    while (j < model_names.size() && model_names[j] != name) ++j;
    if (j == model_names.size()) {
      throw Error(ErrorKind::usage, "model prior: unknown model '{}'{}", name,
                  did_you_mean(name, model_names));
    }
    if (seen[j]) throw Error(ErrorKind::usage, "model prior: '{}' is given twice", name);
    seen[j] = true;
    prior[j] = value;
  }
  return prior;
}

}  // namespace occam
