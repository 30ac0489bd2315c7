// The MMD-VAE head: latent variables whose distribution over *all* data sets is kept near N(0, I), by the
// penalty weight * MMD^2. It is estimated within each bundle of data sets without bias: pairs of different
// data sets, and exact terms for N(0, I). What a bundle holds follows from the sizes of the data sets alone,
// not from threads. (A mean over blocks of a batch is unbiased, too: Zaremba et al. 2013, B-tests.)
// Source: Zhao, Song & Ermon, InfoVAE (arXiv:1706.02262). There z is compared with samples of N(0, I).
#include "occam/networks/heads/latent_head.hpp"
#include "occam/nn/loss.hpp"

namespace occam {
namespace {

// Squared widths of the kernel: the squared distance between two samples of N(0, I) in 5 dimensions is 10 on
// average.
constexpr double kMmdScales[] = {1, 2, 4, 8, 16};
// Six pairs in a bundle. Fewer vary more, larger bundles leave the cache.
constexpr std::int64_t kFewestSets = 4;

template <class T>
class MmdVaeHead final : public LatentHead<T> {
 public:
  using LatentHead<T>::LatentHead;
  std::int64_t fewest_sets() const override { return kFewestSets; }

 private:
  void penalise(const LatentPenalty<T>& penalty, Workspace& workspace) const override {
    const std::int64_t sets = penalty.z.rows;
    const std::int64_t L = penalty.z.columns;
    if (sets < 2) return;
    const auto size = static_cast<std::size_t>(sets * L);
    const std::span<double> z(workspace.take<double>(sets * L), size),
        d_z(workspace.take<double>(sets * L), size);
    for (std::int64_t b = 0; b < sets; ++b) std::copy_n(penalty.z.row(b), L, z.begin() + b * L);
    const double value = this->weight() * mmd_from_normal(z, L, kMmdScales, d_z);
    const double each = this->weight() * static_cast<double>(sets);  // every data set carries the whole value
    for (std::int64_t b = 0; b < sets; ++b) {
      penalty.value[b] = value;
      for (std::int64_t c = 0; c < L; ++c) {
        penalty.d_z.row(b)[c] = static_cast<T>(each * d_z[static_cast<std::size_t>(b * L + c)]);
      }
    }
  }
};

}  // namespace

void register_mmd_vae(Registry<HeadKind>& registry) {
  registry.add("mmd-vae", make_head_kind<MmdVaeHead, LatentOptions>(
                              "probabilities from latent variables kept near N(0, I) by their maximum mean "
                              "discrepancy from it"));
}

}  // namespace occam
