#include "occam/data/precision.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

// Steps in the spread of a data set below which they show.
constexpr double kFewSteps = 50;

double step_at(double x) {
  const auto value = static_cast<float>(x);
  return static_cast<double>(std::nextafter(value, INFINITY)) - static_cast<double>(value);
}

// Beyond this, not even whole numbers are kept apart: nobody means a value there to be the same in all rows.
constexpr double kHuge = 16777216;  // 2^24
// Data sets without any spread count, too, where so many have one of a few steps.
constexpr std::int64_t kOneIn = 10;

struct OneSet {
  double largest = 0, spread = 0, count = 0;
};

OneSet look(Matrix<const float> rows, std::int64_t column) {
  OneSet set;
  double sum = 0, squares = 0, &count = set.count;
  const auto each = [&](const auto& use) {
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      if (const double x = rows.row(r)[column]; !std::isnan(x)) use(x);
    }
  };
  each([&](double x) {
    sum += x;
    ++count;
    set.largest = std::max(set.largest, std::abs(x));
  });
  each([&](double x) { squares += (x - sum / count) * (x - sum / count); });
  if (count > 0) set.spread = std::sqrt(squares / count);
  return set;
}

bool is_coarse(const OneSet& set) {
  return set.spread > 0 && set.spread < kFewSteps * step_at(set.largest);
}

// Several values, and no difference between them: perhaps there was none, perhaps it was lost.
bool is_collapsed(const OneSet& set) {
  return set.spread == 0 && set.count > 1;
}

}  // namespace

std::vector<CoarseColumn> coarse_columns(Ragged<const float> data) {
  std::vector<CoarseColumn> found;
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    std::int64_t coarse = 0, collapsed = 0;
    std::vector<double> largest;
    for (std::int64_t set = 0; set < data.sets; ++set) {
      const OneSet one = look(data.x.rows_from(data.offsets[set], data.size(set)), c);
      const bool lost = is_collapsed(one) && one.largest > kHuge;
      coarse += is_coarse(one) || lost ? 1 : 0;
      collapsed += is_collapsed(one) && !lost ? 1 : 0;
      largest.push_back(one.largest);
    }
    if (kOneIn * coarse < data.sets || 2 * (coarse + collapsed) <= data.sets) continue;
    std::nth_element(largest.begin(), largest.begin() + std::ssize(largest) / 2, largest.end());
    const double typical = largest[largest.size() / 2];
    found.push_back({c, typical, step_at(typical)});
  }
  return found;
}

}  // namespace occam
