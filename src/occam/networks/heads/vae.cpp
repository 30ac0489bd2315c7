// The VAE head: latent variables under the penalty weight * KL[q(z | x) || N(0, I)], data set by data set.
// Source: Kingma & Welling 2014, Auto-Encoding Variational Bayes; for classification as an information
// bottleneck Alemi et al. 2017, Deep Variational Information Bottleneck. There p averages over z; here, as in
// Radev et al. 2021, it is that of the latent mean.
#include "occam/networks/heads/latent_head.hpp"
#include "occam/nn/loss.hpp"

namespace occam {
namespace {

template <class T>
class VaeHead final : public LatentHead<T> {
 public:
  using LatentHead<T>::LatentHead;

 private:
  void penalise(const LatentPenalty<T>& penalty, Workspace& workspace) const override {
    const std::int64_t L = penalty.mu.columns;
    double* memory = workspace.take<double>(4 * L);
    const auto part = [&](std::int64_t i) {
      return std::span<double>(memory + i * L, static_cast<std::size_t>(L));
    };
    const auto mu = part(0), log_var = part(1), d_mu = part(2), d_log_var = part(3);
    for (std::int64_t b = 0; b < penalty.mu.rows; ++b) {
      std::copy_n(penalty.mu.row(b), L, mu.begin());
      std::copy_n(penalty.log_var.row(b), L, log_var.begin());
      penalty.value[b] = this->weight() * gaussian_kl(mu, log_var, d_mu, d_log_var);
      for (std::int64_t c = 0; c < L; ++c) {
        penalty.d_mu.row(b)[c] = static_cast<T>(this->weight() * d_mu[static_cast<std::size_t>(c)]);
        penalty.d_log_var.row(b)[c] = static_cast<T>(this->weight() * d_log_var[static_cast<std::size_t>(c)]);
      }
    }
  }
};

}  // namespace

void register_vae(Registry<HeadKind>& registry) {
  registry.add("vae",
               make_head_kind<VaeHead, LatentOptions>(
                   "probabilities from latent variables kept near N(0, I) by a Kullback-Leibler term"));
}

}  // namespace occam
