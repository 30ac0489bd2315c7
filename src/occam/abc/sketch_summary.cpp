// The sketch that the scope test uses (scope/sketch.hpp): many plain statistics that fit the kind of data,
// exchangeable or in order. It learns from simulated data sets which columns take few values.
#include "occam/abc/summary.hpp"
#include "occam/scope/sketch.hpp"

namespace occam {
namespace {

struct SketchOptions {};

Fields fields(SketchOptions&) {
  return {};
}

class SketchSummary : public PlainSummary {
 public:
  SketchSummary(const SketchOptions&, const SummaryContext& context) {
    std::vector<std::string> columns;
    for (const Column& column : context.problem.columns()) columns.push_back(column.name);
    const Batch& batch = *context.simulated;
    sketch_ = Sketch::learn(batch.view(), columns, context.problem.ordered());
  }

  std::vector<std::string> names() const override { return sketch_.names(); }

 protected:
  void of_one(DataView data, std::span<float> out) const override {
    sketch_.of({data.data, data.n, data.D, data.D}, out);
  }

 private:
  Sketch sketch_;
};

}  // namespace

void register_sketch_summary(Registry<SummaryKind>& registry) {
  registry.add("sketch", make_summary_kind<SketchSummary, SketchOptions>(
                             "many plain statistics that fit the kind of data, as in the scope test", true));
}

}  // namespace occam
