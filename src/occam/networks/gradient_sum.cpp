#include "occam/networks/gradient_sum.hpp"

#include <algorithm>
#include <bit>

#include "occam/nn/adam.hpp"

namespace occam {

std::int64_t middle(SumNode node) {
  const auto groups = static_cast<std::uint64_t>(node.last - node.first);
  return node.first + static_cast<std::int64_t>(std::bit_floor(groups - 1));
}

void cover(SumNode node, std::int64_t first, std::int64_t last, std::vector<SumNode>& out) {
  if (last <= node.first || node.last <= first) return;
  if (first <= node.first && node.last <= last) {
    out.push_back(node);
    return;
  }
  cover({node.first, middle(node)}, first, last, out);
  cover({middle(node), node.last}, first, last, out);
}

template <class T>
std::int64_t GradientSum<T>::weight_of(std::int64_t chunk) const {
  return std::min(chunk * Adam<T>::kChunk, size_);
}

template <class T>
std::int64_t GradientSum<T>::chunk_of(std::int64_t rank) const {
  return part(chunks_, rank, pool_.ranks().size());
}

template <class T>
void GradientSum<T>::add(std::vector<std::vector<T>>& sums, std::int64_t groups, T scale,
                         std::vector<T>& gradient) {
  size_ = static_cast<std::int64_t>(gradient.size());
  chunks_ = (size_ + Adam<T>::kChunk - 1) / Adam<T>::kChunk;
  norms_.resize(static_cast<std::size_t>(chunks_));
  sums_.resize(static_cast<std::size_t>(groups));
  ready_.resize(static_cast<std::size_t>(groups));
  take_own(sums, groups);
  Communicator& ranks = pool_.ranks();
  if (!ranks.is_alone()) exchange();
  const std::int64_t begin = chunk_of(ranks.rank());
  const std::int64_t place = ranks.is_alone() ? 0 : weight_of(begin);  // of the first weight in sums_
  pool_.for_each(chunk_of(ranks.rank() + 1) - begin, [&](std::int64_t i, int) {
    const std::int64_t first = weight_of(begin + i);
    const std::int64_t count = weight_of(begin + i + 1) - first;
    add_up({0, groups}, first - place, count);
    const T* __restrict in = sums_[0] + first - place;
    T* __restrict out = gradient.data() + first;
    double norm = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = in[k] * scale;
      norm += static_cast<double>(out[k]) * static_cast<double>(out[k]);
    }
    norms_[static_cast<std::size_t>(begin + i)] = norm;
  });
  if (!ranks.is_alone()) share(gradient);
  squared_norm_ = 0;
  for (const double norm : norms_) squared_norm_ += norm;
}

template <class T>
void GradientSum<T>::add_up(SumNode node, std::int64_t first, std::int64_t count) const {
  if (ready_[static_cast<std::size_t>(node.first)] == node.last) return;
  const std::int64_t cut = middle(node);
  add_up({node.first, cut}, first, count);
  add_up({cut, node.last}, first, count);
  T* __restrict to = sums_[static_cast<std::size_t>(node.first)] + first;
  const T* __restrict from = sums_[static_cast<std::size_t>(cut)] + first;
  for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
}

// The groups of this rank as they are; where there are others, with what has to go to them.
template <class T>
void GradientSum<T>::take_own(std::vector<std::vector<T>>& sums, std::int64_t groups) {
  for (std::int64_t group = 0; group < groups; ++group) {
    sums_[static_cast<std::size_t>(group)] = sums[static_cast<std::size_t>(group)].data();
    ready_[static_cast<std::size_t>(group)] = group + 1;
  }
  Communicator& ranks = pool_.ranks();
  if (ranks.is_alone()) return;
  nodes_.resize(static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    auto& nodes = nodes_[static_cast<std::size_t>(rank)];
    nodes.clear();
    cover({0, groups}, first_group(groups, rank), first_group(groups, rank + 1), nodes);
  }
  // To each rank go its weights of the first node, of the second, and so on.
  const auto& own = nodes_[static_cast<std::size_t>(ranks.rank())];
  const auto count = static_cast<std::int64_t>(own.size());
  outgoing_.resize(static_cast<std::size_t>(count * size_));
  pool_.for_each(ranks.size() * count, [&](std::int64_t item, int) {
    const std::int64_t rank = item / count;
    const SumNode node = own[static_cast<std::size_t>(item % count)];
    const std::int64_t first = weight_of(chunk_of(rank));
    const std::int64_t weights = weight_of(chunk_of(rank + 1)) - first;
    add_up(node, first, weights);
    std::copy_n(sums_[static_cast<std::size_t>(node.first)] + first, weights,
                outgoing_.data() + count * first + item % count * weights);
  });
}

// Afterwards the sums are those of all nodes, over the weights of this rank.
template <class T>
void GradientSum<T>::exchange() {
  Communicator& ranks = pool_.ranks();
  const std::int64_t weights = weight_of(chunk_of(ranks.rank() + 1)) - weight_of(chunk_of(ranks.rank()));
  const std::size_t own = nodes_[static_cast<std::size_t>(ranks.rank())].size();
  std::vector<std::int64_t> from_ends, to_ends;
  std::int64_t nodes = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    nodes += static_cast<std::int64_t>(nodes_[static_cast<std::size_t>(rank)].size());
    from_ends.push_back(static_cast<std::int64_t>(own) * weight_of(chunk_of(rank + 1)) * kBytes);
    to_ends.push_back(nodes * weights * kBytes);
  }
  incoming_.resize(static_cast<std::size_t>(nodes * weights));
  ranks.exchange(reinterpret_cast<const std::byte*>(outgoing_.data()), from_ends,
                 reinterpret_cast<std::byte*>(incoming_.data()), to_ends);
  T* at = incoming_.data();
  for (const auto& of_rank : nodes_) {
    for (const SumNode node : of_rank) {
      sums_[static_cast<std::size_t>(node.first)] = at;
      ready_[static_cast<std::size_t>(node.first)] = node.last;
      at += weights;
    }
  }
}

template <class T>
void GradientSum<T>::share(std::vector<T>& gradient) {
  std::vector<std::int64_t> weights, chunks;
  for (int rank = 0; rank < pool_.ranks().size(); ++rank) {
    chunks.push_back(chunk_of(rank + 1));
    weights.push_back(weight_of(chunks.back()));
  }
  pool_.ranks().complete_values(gradient, weights);
  pool_.ranks().complete_values(norms_, chunks);
}

template class GradientSum<float>;
template class GradientSum<double>;

}  // namespace occam
