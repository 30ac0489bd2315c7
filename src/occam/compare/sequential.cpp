#include "occam/compare/sequential.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"
#include "occam/io/shown.hpp"

namespace occam {

void check_sequential(const SequentialOptions& options, bool ordered) {
  std::int64_t before = 0;
  for (const std::int64_t size : options.sizes) {
    if (size <= before) {
      throw Error(ErrorKind::usage, "sizes of prefixes must rise from at least 1, but {} follows {}", size,
                  before);
    }
    before = size;
  }
  if (options.orders < 0 || options.orders > kMostOrders) {
    throw Error(ErrorKind::usage,
                "{} random orders were asked for; 0 (the order of the file) to {} are possible",
                options.orders, kMostOrders);
  }
  if (ordered && options.orders > 0) {
    throw Error(ErrorKind::usage,
                "the observations of these models are series, whose order matters: random orders are for "
                "exchangeable observations. Leave them out to see the prefixes in the order of the file");
  }
}

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin < text.size() || (begin > 0 && begin == text.size());) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    std::int64_t size = 0;
    const auto [stop, status] = std::from_chars(item.data(), item.data() + item.size(), size);
    if (status != std::errc{} || stop != item.data() + item.size() || size < 1) {
      throw Error(ErrorKind::usage, "'{}' is not a number of observations; sizes are given as in 10,20,50",
                  shown(item));
    }
    sizes.push_back(size);
    begin = end + 1;
  }
  std::sort(sizes.begin(), sizes.end());
  const auto twice = std::adjacent_find(sizes.begin(), sizes.end());
  if (twice != sizes.end())
    throw Error(ErrorKind::usage, "size {} is given twice in '{}'", *twice, shown(text));
  return sizes;
}

std::vector<std::int64_t> sequential_sizes(std::int64_t N, const std::vector<std::int64_t>& asked) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : asked) {
    if (size < N) sizes.push_back(size);
  }
  for (std::int64_t size = 1; asked.empty() && size < N; size *= 2) sizes.push_back(size);
  sizes.push_back(N);
  return sizes;
}

std::vector<std::int64_t> random_order(std::int64_t N, std::uint64_t seed, std::int64_t item,
                                       std::int64_t order) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(N));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  Rng rng(seed, Purpose::order, static_cast<std::uint64_t>(item * kMostOrders + order));
  for (std::int64_t i = N - 1; i > 0; --i) {
    std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(rng.uniform_int(0, i))]);
  }
  return rows;
}

Prefixes::Prefixes(Matrix<const float> observations, std::int64_t item, const SequentialOptions& options)
    : columns_(observations.columns) {
  const std::int64_t N = observations.rows;
  std::vector<std::int64_t> as_in_file(static_cast<std::size_t>(N));
  std::iota(as_in_file.begin(), as_in_file.end(), std::int64_t{0});
  std::vector<std::vector<std::int64_t>> orders;
  for (std::int64_t order = 0; order < options.orders; ++order) {
    orders.push_back(random_order(N, options.seed, item, order));
  }
  if (orders.empty()) orders.push_back(as_in_file);
  for (const std::int64_t k : sequential_sizes(N, options.sizes)) {
    if (k == N) {
      add(observations, as_in_file, {k, 0});  // all orders hold the same observations
      continue;
    }
    for (std::size_t order = 0; order < orders.size(); ++order) {
      add(observations, orders[order], {k, static_cast<std::int64_t>(order)});
    }
  }
}

void Prefixes::add(Matrix<const float> observations, const std::vector<std::int64_t>& rows, Prefix prefix) {
  for (std::int64_t i = 0; i < prefix.k; ++i) {
    const float* row = observations.row(rows[static_cast<std::size_t>(i)]);
    values_.insert(values_.end(), row, row + columns_);
  }
  offsets_.push_back(offsets_.back() + prefix.k);
  list_.push_back(prefix);
}

Ragged<const float> Prefixes::view() const {
  return {{values_.data(), offsets_.back(), columns_, columns_},
          offsets_.data(),
          static_cast<std::int64_t>(list_.size())};
}

}  // namespace occam
