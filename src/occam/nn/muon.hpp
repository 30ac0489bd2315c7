// Muon (Jordan et al. 2024): the momentum of every weight matrix is replaced by the nearest orthogonal matrix
// before it is applied, so that all directions are learned at one speed, however badly scaled the inputs are.
// Biases and very small matrices are left to Adam. A step has about the root mean square of one of Adam's
// (Liu et al. 2025), so that one learning rate serves both; less where a layer has many inputs.
// Each matrix is updated by one thread: the result does not depend on how many there are.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/nn/parameters.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

// A weight matrix (inputs, outputs) that Muon updates, in the flat vectors.
struct MuonPlace {
  std::int64_t first, rows, columns;

  double length() const;  // of a step, in all directions, at a rate of 1
};
std::vector<MuonPlace> muon_places(const ParameterLayout& layout);

template <class T>
class Muon {
 public:
  explicit Muon(const ParameterLayout& layout) : matrices_(muon_places(layout)) {}

  std::int64_t matrices() const { return static_cast<std::int64_t>(matrices_.size()); }
  // From any thread, with a workspace of its own, each matrix once a step. All three are flat vectors of the
  // layout; the gradient of the matrix is zero afterwards, so that whatever updates the rest leaves it alone.
  void update(std::int64_t matrix, double learning_rate, T* gradient, T* momentum, T* weights,
              Workspace& workspace) const;

 private:
  std::vector<MuonPlace> matrices_;
};

}  // namespace occam
