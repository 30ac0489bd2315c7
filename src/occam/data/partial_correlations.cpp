#include "occam/data/partial_correlations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace occam {
namespace {

// What is left of a variance of 1, below which a column is a sum of others.
constexpr double kNothingLeft = 1e-9;

using Square = std::array<double, kMostCorrelated * kMostCorrelated>;

// What the given columns leave of the covariances of all others.
void remove(std::uint32_t given, int columns, Square& c) {
  for (int k = 0; k < columns; ++k) {
    if ((given >> k & 1) == 0) continue;
    const double pivot = c[static_cast<std::size_t>(k * columns + k)];
    if (pivot < kNothingLeft) continue;
    for (int i = 0; i < columns; ++i) {
      if (i == k) continue;
      const double factor = c[static_cast<std::size_t>(i * columns + k)] / pivot;
      for (int j = 0; j < columns; ++j) {
        if (j != k)
          c[static_cast<std::size_t>(i * columns + j)] -=
              factor * c[static_cast<std::size_t>(k * columns + j)];
      }
    }
    for (int i = 0; i < columns; ++i) {
      c[static_cast<std::size_t>(i * columns + k)] = c[static_cast<std::size_t>(k * columns + i)] = 0;
    }
  }
}

double correlation(const Square& c, int columns, int a, int b) {
  const double va = c[static_cast<std::size_t>(a * columns + a)];
  const double vb = c[static_cast<std::size_t>(b * columns + b)];
  if (va < kNothingLeft || vb < kNothingLeft) return 0;
  return std::clamp(c[static_cast<std::size_t>(a * columns + b)] / std::sqrt(va * vb), -1.0, 1.0);
}

}  // namespace

std::vector<PartialCorrelation> partial_correlations(int columns, int first_aside, std::size_t most) {
  std::vector<PartialCorrelation> list;
  if (columns < 2 || columns > kMostCorrelated) return list;
  const int others = columns - 2;
  for (int i = 0; i <= others; ++i) {
    const int size = i % 2 == 0 ? i / 2 : others - i / 2;  // 0, all, 1, all but one, 2, ...
    std::vector<PartialCorrelation> more;
    for (std::uint32_t given = 0; given < 1u << columns; ++given) {
      if (std::popcount(given) != size) continue;
      for (int a = 0; a < std::min(columns, first_aside); ++a) {
        for (int b = a + 1; b < columns; ++b) {
          if ((given >> a & 1) == 0 && (given >> b & 1) == 0) more.push_back({a, b, given});
        }
      }
    }
    if (list.size() + more.size() > most) break;
    list.insert(list.end(), more.begin(), more.end());
  }
  return list;
}

void partial_correlations_of(std::span<const PartialCorrelation> list, int columns,
                             std::span<const double> correlations, std::span<double> out) {
  Square left{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    // Those given the same stand together.
    if (i == 0 || list[i].given != list[i - 1].given) {
      std::copy(correlations.begin(), correlations.end(), left.begin());
      remove(list[i].given, columns, left);
    }
    out[i] = correlation(left, columns, list[i].a, list[i].b);
  }
}

}  // namespace occam
