// The sum of the gradients of groups of data sets, over threads and ranks, always in the same order: a binary
// tree over the groups whose nodes begin at multiples of their size, 1, 2, 4, ... (the last are cut off). The
// tree depends on the number of groups alone. A rank adds up the nodes that it has all groups of; each then
// adds up the rest of the tree for a row of the weights, and passes the result to all.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/parallel/thread_pool.hpp"

namespace occam {

// Groups first..last-1 of the tree.
struct SumNode {
  std::int64_t first, last;
  bool operator==(const SumNode&) const = default;
};
// Where a node of more than one group is cut in two.
std::int64_t middle(SumNode node);
// The fewest nodes below `node` that make up groups first..last-1, in order.
void cover(SumNode node, std::int64_t first, std::int64_t last, std::vector<SumNode>& out);

template <class T>
class GradientSum {
 public:
  explicit GradientSum(ThreadPool& pool) : pool_(pool) {}

  // The first of the groups that a rank has to make.
  std::int64_t first_group(std::int64_t groups, std::int64_t rank) const {
    return part(groups, rank, pool_.ranks().size());
  }

  // gradient = scale * sum of sums[0..groups-1]. Of these, only those of this rank are looked at; they are
  // changed.
  void add(std::vector<std::vector<T>>& sums, std::int64_t groups, T scale, std::vector<T>& gradient);

  // Of the gradient.
  double squared_norm() const { return squared_norm_; }

 private:
  // The weights that a chunk begins with; the chunk that a rank begins with.
  std::int64_t weight_of(std::int64_t chunk) const;
  std::int64_t chunk_of(std::int64_t rank) const;
  // Adds up a node over some weights, into the memory of its first group.
  void add_up(SumNode node, std::int64_t first, std::int64_t count) const;
  void take_own(std::vector<std::vector<T>>& sums, std::int64_t groups);
  void exchange();
  void share(std::vector<T>& gradient);

  ThreadPool& pool_;
  std::int64_t size_ = 0, chunks_ = 0;  // of weights
  std::vector<T*> sums_;                // (groups) where the sum of a node lies, by its first group
  std::vector<std::int64_t> ready_;     // (groups) the end of the node whose sum is there
  std::vector<double> norms_;           // (chunks)
  double squared_norm_ = 0;
  // With ranks: the nodes of each, what goes to the others, and what comes from them.
  std::vector<std::vector<SumNode>> nodes_;
  std::vector<T> outgoing_, incoming_;
};

}  // namespace occam
