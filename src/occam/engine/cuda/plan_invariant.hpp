// Programs of invariant modules (networks/invariant.hpp): those of set networks, and the windows of sequence
// networks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "occam/engine/cuda/plan_builder.hpp"
#include "occam/networks/invariant.hpp"

namespace occam::gpu {

struct Invariant {
  std::vector<Layer> embed, score, after;
  std::optional<Layer> score_out, factors, input_factors;
  Value x;
  std::vector<Value> embedded, scored, afterwards;
  Value scores, factor_values, pooled, d_pooled;
  PoolView view;
};

class InvariantBuilder : protected ProgramBuilder {
 public:
  using ProgramBuilder::ProgramBuilder;

 protected:
  ~InvariantBuilder() = default;

  // Widths are those of the tensors.
  Invariant make_invariant(const std::string& name, const Value& x, const InvariantOptions& o, bool log_n);
  void make_factors(const Invariant& part, const InvariantOptions& o);
  void read_back(const Invariant& part);

  void forward_rows(Invariant& part, int x);
  void backward_sets(Invariant& part, int d, const Value& d_top);
  std::vector<Source> backward_rows(Invariant& part, bool further);
  void factor(std::vector<Launch>& launches, LaunchKind kind);

  Value factors_, gains_;  // of the one module that has such

 private:
  FactorView factor_;
};

}  // namespace occam::gpu
