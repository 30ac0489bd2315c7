#include "occam/data/returned.hpp"

#include <algorithm>
#include <cmath>

namespace occam {

ReturnedPairs returned_pairs(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                             std::span<std::int32_t> room) {
  const std::size_t n = from.size();
  ReturnedPairs result{room.first(n), room.subspan(n, n)};
  const std::span<std::int32_t> order = room.subspan(2 * n, n);
  std::size_t there = 0;
  for (std::size_t i = 0; i < n; ++i) {
    result.pair[i] = -1;
    result.back[i] = from[i] > to[i];
    if (from[i] >= 0 && to[i] >= 0 && from[i] != to[i]) order[there++] = static_cast<std::int32_t>(i);
  }
  const auto low = [&](std::int32_t i) {
    return std::min(from[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(i)]);
  };
  const auto high = [&](std::int32_t i) {
    return std::max(from[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(i)]);
  };
  const auto ordered = order.first(there);
  std::sort(ordered.begin(), ordered.end(), [&](std::int32_t a, std::int32_t b) {
    if (low(a) != low(b)) return low(a) < low(b);
    return high(a) != high(b) ? high(a) < high(b) : a < b;
  });
  for (std::size_t begin = 0, end = 0; begin < there; begin = end) {
    bool ways[2] = {};
    for (; end < there && low(ordered[end]) == low(ordered[begin]) &&
           high(ordered[end]) == high(ordered[begin]);
         ++end)
      ways[result.back[static_cast<std::size_t>(ordered[end])]] = true;
    if (!ways[0] || !ways[1]) continue;
    for (std::size_t k = begin; k < end; ++k)
      result.pair[static_cast<std::size_t>(ordered[k])] = static_cast<std::int32_t>(result.count);
    ++result.count;
  }
  return result;
}

double Returned::gain() const {
  return -0.5 * pairs * std::log1p(-std::min(correlation * correlation, 1 - 1e-9));
}

Returned returned(const ReturnedPairs& pairs, std::span<const double> values, std::span<double> room) {
  // Sums, and how many rows, of both ways of every pair; the mean is that of all rows.
  const auto sum = [&](std::size_t pair, std::size_t way) -> double& { return room[4 * pair + way]; };
  const auto rows = [&](std::size_t pair, std::size_t way) -> double& { return room[4 * pair + 2 + way]; };
  std::fill_n(room.begin(), 4 * pairs.count, 0.0);
  double mean = 0, n = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    mean += values[i];
    ++n;
    if (pairs.pair[i] < 0) continue;
    const auto pair = static_cast<std::size_t>(pairs.pair[i]), way = static_cast<std::size_t>(pairs.back[i]);
    sum(pair, way) += values[i];
    ++rows(pair, way);
  }
  Returned result;
  if (n == 0) return result;
  mean /= n;
  double products = 0, squares = 0;
  for (std::size_t pair = 0; pair < pairs.count; ++pair) {
    if (rows(pair, 0) == 0 || rows(pair, 1) == 0) continue;
    const double one = sum(pair, 0) / rows(pair, 0) - mean, other = sum(pair, 1) / rows(pair, 1) - mean;
    products += one * other;
    squares += 0.5 * (one * one + other * other);
    ++result.pairs;
  }
  if (squares > 0 && std::isfinite(squares)) result.correlation = products / squares;
  return result;
}

}  // namespace occam
