// ModelPosterior: the answer for many data sets. Holds what the network said (logarithms of the
// concentrations) and under which model prior it was trained; probabilities, Bayes factors and the answer
// under another model prior are derived, in logarithms so that overwhelming evidence does not overflow.
//   p_j = alpha_j / sum(alpha);  under prior q' instead of q:  p'_j proportional to p_j q'_j / q_j
//   log BF(j : k) = log(p_j / p_k) - log(q_j / q_k), free of the model prior;  u = J / sum(alpha)
// Networks without an evidential head give p alone: then log p stands where log alpha would, alpha and u do
// not exist, and all else is as above. Where such a network answers by the mean over samples, their spread is
// kept.
// Of an ensemble the answer is the mixture of its members (alpha: their mean p times the geometric mean of
// their sums), and the members' own probabilities tell how much they differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

class ModelPosterior {
 public:
  ModelPosterior(std::vector<std::string> model_names, std::vector<double> trained_prior,
                 bool has_concentrations = true);

  // `members`: log p of each member of an ensemble under the trained prior, (K, J), or empty. `spread`: of p
  // over samples under that prior, (J), or empty.
  void add(std::string id, std::int64_t n, std::span<const double> log_alpha, std::string flag = "",
           std::span<const double> members = {}, std::span<const double> spread = {});
  void remove_last();
  // Appends the mean over answers first..last-1 of another, which are of one data set in several orders: mean
  // p, and the geometric mean of the sums of alpha. A single one is taken as it is.
  void add_mean(const ModelPosterior& other, std::int64_t first, std::int64_t last);

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

  // Whether alpha and u exist.
  bool has_concentrations() const { return has_concentrations_; }
  // log p, without them.
  double log_alpha(std::int64_t b, std::int64_t j) const;
  // What the members of an ensemble said, as in add().
  std::span<const double> members(std::int64_t b) const {
    return {members_.data() + b * K_ * J(), static_cast<std::size_t>(K_ * J())};
  }
  std::vector<double> log_probabilities(std::int64_t b) const;  // (J), -inf where the model prior is zero
  std::vector<double> probabilities(std::int64_t b) const;      // (J)
  std::int64_t best(std::int64_t b) const;  // the most probable model, the first of equals
  double log_bayes_factor(std::int64_t b, std::int64_t i, std::int64_t j) const;
  double uncertainty(std::int64_t b) const;  // NaN without concentrations
  // Of an ensemble: standard deviation of the members' probabilities of model j, and the share of members
  // whose most probable model is that of the mixture. 0 and 1 for a single network, unless it answers by
  // samples: then the standard deviation over those, which is not known (NaN) under another model prior.
  double spread(std::int64_t b, std::int64_t j) const;
  // As given to add(), whatever the model prior.
  std::span<const double> sample_spread(std::int64_t b) const {
    return {sample_spread_.data() + (sample_spread_.empty() ? 0 : b * J()),
            sample_spread_.empty() ? 0 : names_.size()};
  }
  double agreement(std::int64_t b) const;

 private:
  std::span<const double> log_alphas(std::int64_t b) const {
    return {log_alpha_.data() + b * J(), names_.size()};
  }
  double log_weight(std::int64_t b, std::int64_t j) const;
  std::vector<double> member_probabilities(std::int64_t b, std::int64_t k) const;

  std::vector<std::string> names_;
  std::vector<double> trained_prior_, prior_;
  std::vector<std::string> ids_, flags_;
  std::vector<std::int64_t> n_;
  std::vector<double> log_alpha_;  // (size, J)
  std::vector<double> members_;    // (size, K, J) log p under the trained prior
  std::int64_t K_ = 0;
  std::vector<double> sample_spread_;  // (size, J) or empty
  bool has_concentrations_;
};

// "a=0.2,b=0.8" for the named models; those not named get zero. Error(usage) that suggests the nearest name.
std::vector<double> parse_model_prior(const std::string& text, const std::vector<std::string>& model_names);

}  // namespace occam
