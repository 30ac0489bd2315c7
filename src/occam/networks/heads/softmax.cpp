// The softmax head: p = softmax(f), trained by cross entropy. The same layers as the evidential head.
#include "occam/networks/head.hpp"

namespace occam {
namespace {

template <class T>
class SoftmaxHead final : public PlainHead<T> {
 public:
  SoftmaxHead(const NoHeadOptions&, HeadPlan<T>& plan) : PlainHead<T>(plan, true) {}
};

}  // namespace

void register_softmax(Registry<HeadKind>& registry) {
  registry.add("softmax", make_head_kind<SoftmaxHead, NoHeadOptions>("probabilities, by cross entropy"));
}

}  // namespace occam
