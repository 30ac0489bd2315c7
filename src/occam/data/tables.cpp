#include "occam/data/tables.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

// In this share of all data sets two columns have to depend on each other, by so many nats.
constexpr double kShareTabled = 0.03, kClearlyDependent = 4;
constexpr std::size_t kCells = kMostCategories * kMostCategories * kMostCategories;

// log Gamma(1 + count): most counts are small.
double log_factorial(std::int32_t count) {
  static const std::array<double, 1024> table = [] {
    std::array<double, 1024> values{};
    for (std::size_t i = 1; i < values.size(); ++i)
      values[i] = values[i - 1] + std::log(static_cast<double>(i));
    return values;
  }();
  const auto i = static_cast<std::size_t>(count);
  return i < table.size() ? table[i] : std::lgamma(1.0 + count);
}

// log probability of values in so many categories with these counts, given that all shares are equally
// probable.
double log_evidence(std::span<const std::int32_t> counts) {
  std::int32_t n = 0;
  double sum = 0;
  for (const std::int32_t count : counts) {
    n += count;
    sum += log_factorial(count);
  }
  if (n == 0) return 0;
  const auto K = static_cast<std::int32_t>(counts.size());
  return sum + log_factorial(K - 1) - log_factorial(n + K - 1);
}

// Counts of what two or three columns are together; the last of them varies fastest.
class Table {
 public:
  Table(std::size_t first, std::size_t second, std::size_t third) : a_(first), b_(second), c_(third) {}

  std::int32_t& at(std::size_t a, std::size_t b, std::size_t c) { return counts_[(a * b_ + b) * c_ + c]; }

  // What is gained by letting shares of the last depend on the first, beside the second.
  double gain() const {
    double sum = 0;
    std::array<std::int32_t, kMostCategories> without{};
    for (std::size_t b = 0; b < b_; ++b) {
      std::fill(without.begin(), without.end(), 0);
      for (std::size_t a = 0; a < a_; ++a) {
        const auto cells = std::span(counts_).subspan((a * b_ + b) * c_, c_);
        sum += log_evidence(cells);
        for (std::size_t c = 0; c < c_; ++c) without[c] += cells[c];
      }
      sum -= log_evidence(std::span(without).first(c_));
    }
    return sum;
  }

 private:
  std::size_t a_, b_, c_;
  std::array<std::int32_t, kCells> counts_{};
};

std::size_t size(std::int64_t categories) {
  return static_cast<std::size_t>(std::max<std::int64_t>(categories, 1));
}

}  // namespace

std::size_t table_pairs(std::size_t columns) {
  return columns * (columns - 1) / 2;
}
std::size_t table_triples(std::size_t columns) {
  return columns < 3 || columns > kMostTabledThree ? 0 : table_pairs(columns) * (columns - 2);
}

void table_evidences(std::span<const std::int32_t> codes, std::span<const std::int64_t> categories,
                     std::span<double> out) {
  const std::size_t K = categories.size(), n = codes.size() / std::max<std::size_t>(K, 1);
  const auto code = [&](std::size_t column, std::size_t row) { return codes[column * n + row]; };
  const auto gain = [&](std::size_t a, std::size_t b, std::size_t beside) {  // beside == K: nothing
    Table table(size(categories[a]), beside == K ? 1 : size(categories[beside]), size(categories[b]));
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t one = code(a, i), other = code(b, i), third = beside == K ? 0 : code(beside, i);
      if (one < 0 || other < 0 || third < 0) continue;
      ++table.at(static_cast<std::size_t>(one), static_cast<std::size_t>(third),
                 static_cast<std::size_t>(other));
    }
    return table.gain();
  };
  std::size_t at = 0;
  for (std::size_t a = 0; a < K; ++a) {
    for (std::size_t b = a + 1; b < K; ++b) out[at++] = gain(a, b, K);
  }
  if (table_triples(K) == 0) return;
  for (std::size_t a = 0; a < K; ++a) {
    for (std::size_t b = a + 1; b < K; ++b) {
      for (std::size_t beside = 0; beside < K; ++beside) {
        if (beside != a && beside != b) out[at++] = gain(a, b, beside);
      }
    }
  }
}

std::int64_t categories_of(Matrix<const float> rows, std::int64_t column, std::int64_t most,
                           std::span<std::int32_t> codes) {
  std::array<float, kMostCategories> values{};
  std::int64_t count = 0;
  const auto place_of = [&](float x) { return std::lower_bound(values.begin(), values.begin() + count, x); };
  for (std::int64_t i = 0; i < rows.rows && count < most; ++i) {
    const float x = rows.row(i)[column];
    const auto place = place_of(x), end = values.begin() + count;
    if (std::isnan(x) || (place != end && *place == x)) continue;
    std::move_backward(place, end, end + 1);
    *place = x;
    ++count;
  }
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const float x = rows.row(i)[column];
    const auto place = std::isnan(x) ? values.begin() + count : place_of(x);
    const bool known = place != values.begin() + count && *place == x;
    codes[static_cast<std::size_t>(i)] = known ? static_cast<std::int32_t>(place - values.begin()) : -1;
  }
  return count;
}

std::vector<std::int64_t> find_tabled(Ragged<const float> data) {
  std::vector<std::int64_t> columns;
  std::vector<std::int32_t> codes;
  for (std::int64_t c = 0; c < data.x.columns && columns.size() < kMostTabled; ++c) {
    const Matrix<const float> all = data.x.rows_from(0, data.offsets[data.sets]);
    codes.resize(static_cast<std::size_t>(all.rows));
    const std::int64_t categories = categories_of(all, c, kMostCategories, codes);
    const bool few = std::none_of(codes.begin(), codes.end(), [&](const std::int32_t& code) {
      return code < 0 && !std::isnan(all.row(&code - codes.data())[c]);
    });
    if (few && categories > 1) columns.push_back(c);
  }
  if (columns.size() < 2) return {};
  double clear = 0;
  for (std::int64_t set = 0; set < data.sets; ++set) {
    const Matrix<const float> rows = data.x.rows_from(data.offsets[set], data.size(set));
    const auto n = static_cast<std::size_t>(rows.rows);
    codes.resize(columns.size() * n);
    std::vector<std::int64_t> categories;
    for (std::size_t k = 0; k < columns.size(); ++k)
      categories.push_back(
          categories_of(rows, columns[k], kMostCategories, std::span(codes).subspan(k * n, n)));
    std::vector<double> evidences(table_pairs(columns.size()) + table_triples(columns.size()));
    table_evidences(codes, categories, evidences);
    clear += *std::max_element(evidences.begin(), evidences.end()) >= kClearlyDependent;
  }
  return clear >= kShareTabled * static_cast<double>(data.sets) ? columns : std::vector<std::int64_t>{};
}

}  // namespace occam
