// Losses and the Dirichlet output. All in double: a loss is a few numbers per data set.
//
//   alpha_j = 1 + exp(f_j) | 1 + softplus(f_j) | 1 + relu(f_j),  p = alpha / sum(alpha),  u = J / sum(alpha)
//   loss = -log p_true + lambda KL[Dir(a~) || Dir(1)],  a~ = alpha with the true model's concentration set to
//   1 KL = sum_j (a~_j - 1)(psi(a~_j) - psi(a~_0)) + lnG(a~_0) - sum_j lnG(a~_j) - lnG(J)
//
// Concentrations are kept as logarithms: with many models they must grow by many orders of magnitude.
// Source: Radev et al., Amortized Bayesian Model Comparison with Evidential Deep Learning, and Sensoy et al.
// 2018.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

enum class Link { exp, softplus, relu };

inline const std::vector<std::string>& link_names() {
  static const std::vector<std::string> names = {"exp", "softplus", "relu"};
  return names;
}

// log alpha_j for every output f_j.
void log_concentrations(Link link, std::span<const double> f, std::span<double> log_alpha);

// log_p = log_alpha - log sum exp(log_alpha); returns that log sum (of the concentrations).
double log_softmax(std::span<const double> log_alpha, std::span<double> log_p);

// -log softmax(f)[truth]; d_f gets the gradient.
double softmax_loss(std::span<const double> f, std::int64_t truth, std::span<double> d_f);

struct EvidentialTerms {
  double log_loss;  // -log p_true
  double kl;        // of the flattened Dirichlet from the flat one, not yet times lambda
};

// The loss of one data set and the gradient of log_loss + lambda kl with respect to f. `scratch` holds 3 J.
EvidentialTerms evidential_loss(Link link, double lambda, std::span<const double> f, std::int64_t truth,
                                std::span<double> d_f, std::span<double> scratch);

// KL[N(mu, exp(log_var)) || N(0, 1)] summed over the dimensions; gradients are set.
double gaussian_kl(std::span<const double> mu, std::span<const double> log_var, std::span<double> d_mu,
                   std::span<double> d_log_var);

// Squared maximum mean discrepancy (V-statistic) between rows of z and of g, both (count, dim), for the
// kernel k(a, b) = sum_s exp(-|a - b|^2 / (2 s)); d_z gets the gradient.
double mmd(std::span<const double> z, std::span<const double> g, std::int64_t dim,
           std::span<const double> scales, std::span<double> d_z);

// The same between what rows of z (at least two) were drawn from and N(0, I), without bias: z in pairs of
// different rows (U-statistic), and what concerns N(0, I) exactly (Rustamov, Closed-form expressions for
// maximum mean discrepancy, arXiv:1901.03227):
//   E k(z, g) = sum_s (s / (s + 1))^(dim / 2) exp(-|z|^2 / (2 (s + 1))),  E k(g, g') = sum_s (s / (s +
//   2))^(dim / 2)
// May be negative.
double mmd_from_normal(std::span<const double> z, std::int64_t dim, std::span<const double> scales,
                       std::span<double> d_z);

// Evidence that is nearly zero hardly moves with f: where all models have lost theirs the answer is the
// prior, and no gradient would ever lead away from it. So f moves there as it does at -1: gradients d of
// lower f are multiplied, each by a positive factor, which changes neither their sign nor where they vanish.
void keep_moving(std::span<const double> f, std::span<double> d);

}  // namespace occam
