// Columns of few values beside each other: whether what one of them is depends on another, and on another
// beside a third.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

inline constexpr std::size_t kMostTabled = 8;       // columns, two by two
inline constexpr std::size_t kMostTabledThree = 5;  // and three by three
inline constexpr std::int64_t kMostCategories = 8;  // values of each

// Columns that take at most kMostCategories values in simulated data sets, where some pair of them clearly
// depends on each other in a share of these; the first kMostTabled.
std::vector<std::int64_t> find_tabled(Ragged<const float> data);

// How many pairs, and pairs beside a third column, so many columns have.
std::size_t table_pairs(std::size_t columns);
std::size_t table_triples(std::size_t columns);

// For each pair of columns by how much the second's values are more probable where their shares may depend on
// the first; for each pair and third column, the same beside the third. Log evidences, all shares equally
// probable beforehand. `codes`: of each column one after the other, from 0 on, -1: missing; `categories` of
// each.
void table_evidences(std::span<const std::int32_t> codes, std::span<const std::int64_t> categories,
                     std::span<double> out);

// Codes of a column in a data set: its values in their order. Returns how many there are, at most `most`: the
// others are missing.
std::int64_t categories_of(Matrix<const float> rows, std::int64_t column, std::int64_t most,
                           std::span<std::int32_t> codes);

}  // namespace occam
