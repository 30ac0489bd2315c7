// Evidence as data come in: which prefixes of a data set are asked about, and these prefixes as data sets for
// the Comparator. Sizes are 1, 2, 4, ... or those asked for, and always end with all N observations, which
// stand in the order of the file, so that their answer is that of `compare` to the bit. Before the end,
// exchangeable observations may come in random orders instead; series are always cut from their beginning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

struct SequentialOptions {
  std::vector<std::int64_t> sizes;  // rising; empty: 1, 2, 4, ...
  std::int64_t orders = 0;          // random orders to average over; 0: the order of the file
  std::uint64_t seed = 1;
};

inline constexpr std::int64_t kMostOrders = 65536;

// Error(usage) unless sizes rise from at least 1, and orders are 0..kMostOrders and 0 for series (`ordered`).
void check_sequential(const SequentialOptions& options, bool ordered);

// "10,20,50" in any order, each once; "" is empty, which stands for 1, 2, 4, ... Error(usage) for others.
std::vector<std::int64_t> parse_sizes(const std::string& text);

// Sizes at which a data set of N observations is looked at, rising: those of `asked` (empty: 1, 2, 4, ...)
// below N, and N.
std::vector<std::int64_t> sequential_sizes(std::int64_t N, const std::vector<std::int64_t>& asked);

// Row numbers 0..N-1 in the random order number `order` of data set number `item`, which depends on these and
// the seed alone.
std::vector<std::int64_t> random_order(std::int64_t N, std::uint64_t seed, std::int64_t item,
                                       std::int64_t order);

// One prefix: the first k observations in order number `order` (0 for the file's order and for k = N).
struct Prefix {
  std::int64_t k = 0;
  std::int64_t order = 0;
};

// All prefixes of one data set as data sets behind each other, by rising size, then order.
class Prefixes {
 public:
  // `observations`: the data set, (N, D), N >= 1. `item`: its number among all data sets.
  Prefixes(Matrix<const float> observations, std::int64_t item, const SequentialOptions& options);

  const std::vector<Prefix>& list() const { return list_; }  // one for each set of view()
  Ragged<const float> view() const;                          // valid as long as this

 private:
  void add(Matrix<const float> observations, const std::vector<std::int64_t>& rows, Prefix prefix);

  std::vector<Prefix> list_;
  std::vector<float> values_;  // (rows, columns)
  std::vector<std::int64_t> offsets_ = {0};
  std::int64_t columns_;
};

}  // namespace occam
