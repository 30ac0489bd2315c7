// The evidential head: outputs f become concentrations of a Dirichlet distribution over model probabilities
// (nn/loss.hpp has link and loss). Nothing stands between summary and outputs.
// Source: Radev et al. 2021, Amortized Bayesian Model Comparison with Evidential Deep Learning.
#include "occam/networks/head.hpp"

namespace occam {
namespace {

template <class T>
class EvidentialHead final : public PlainHead<T> {
 public:
  EvidentialHead(const NoHeadOptions&, HeadPlan<T>& plan) : PlainHead<T>(plan, true) {}
  // Which probabilities the outputs stand for is said by the link.
  HeadAnswer answer(const T*, const HeadTape<T>&, std::int64_t, Workspace&) const override { return {}; }
};

}  // namespace

void register_evidential(Registry<HeadKind>& registry) {
  HeadKind kind = make_head_kind<EvidentialHead, NoHeadOptions>("concentrations of a Dirichlet distribution");
  kind.concentrations = true;
  registry.add(kDefaultHead, std::move(kind));
}

}  // namespace occam
