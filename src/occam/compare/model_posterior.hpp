// ModelPosterior: the answer for many data sets. Holds what the network said (logarithms of the
// concentrations) and under which model prior it was trained; probabilities, Bayes factors and the answer
// under another model prior are derived, in logarithms so that overwhelming evidence does not overflow.
//   p_j = alpha_j / sum(alpha);  under prior q' instead of q:  p'_j proportional to p_j q'_j / q_j
//   log BF(j : k) = log(p_j / p_k) - log(q_j / q_k), free of the model prior;  u = J / sum(alpha)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

class ModelPosterior {
 public:
  ModelPosterior(std::vector<std::string> model_names, std::vector<double> trained_prior);

  void add(std::string id, std::int64_t n, std::span<const double> log_alpha, std::string flag = "");
  void remove_last();

  // The same data under another model prior; zero leaves a model out. Error(usage) unless it has J entries,
  // none negative, summing to one within 1e-6, and no weight on a model whose trained prior was zero.
  ModelPosterior with_model_prior(std::vector<double> prior) const;

  std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t J() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& model_names() const { return names_; }
  const std::vector<double>& model_prior() const { return prior_; }

  const std::string& id(std::int64_t b) const { return ids_[static_cast<std::size_t>(b)]; }
  std::int64_t n(std::int64_t b) const { return n_[static_cast<std::size_t>(b)]; }
  // Why the answer may not be trusted ("n above trained range"), or empty.
  const std::string& flag(std::int64_t b) const { return flags_[static_cast<std::size_t>(b)]; }

  double log_alpha(std::int64_t b, std::int64_t j) const;
  std::vector<double> log_probabilities(std::int64_t b) const;  // (J), -inf where the model prior is zero
  std::vector<double> probabilities(std::int64_t b) const;      // (J)
  std::int64_t best(std::int64_t b) const;  // the most probable model, the first of equals
  double log_bayes_factor(std::int64_t b, std::int64_t i, std::int64_t j) const;
  double uncertainty(std::int64_t b) const;

 private:
  double log_weight(std::int64_t b, std::int64_t j) const;

  std::vector<std::string> names_;
  std::vector<double> trained_prior_, prior_;
  std::vector<std::string> ids_, flags_;
  std::vector<std::int64_t> n_;
  std::vector<double> log_alpha_;  // (size, J)
};

// "a=0.2,b=0.8" for the named models; those not named get zero. Error(usage) that suggests the nearest name.
std::vector<double> parse_model_prior(const std::string& text, const std::vector<std::string>& model_names);

}  // namespace occam
