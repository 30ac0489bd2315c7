#include "occam/check/missed/atoms_apart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/data/atoms.hpp"

namespace occam {
namespace {

bool has_more_than(const std::vector<float>& sorted, std::size_t few) {
  std::size_t count = 0;
  for (auto at = sorted.begin(); at != sorted.end() && count <= few; ++count)
    at = std::upper_bound(at, sorted.end(), *at);
  return count > few;
}

}  // namespace

AtomsApart::AtomsApart(Ragged<const float> data, std::size_t few, std::int64_t time) {
  std::vector<float> values;
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    values.clear();
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x)) values.push_back(x);
    }
    std::sort(values.begin(), values.end());
    if (c == time || !has_more_than(values, few)) continue;
    if (std::vector<float> atoms = find_atoms(values); !atoms.empty())
      columns_.push_back({c, std::move(atoms)});
  }
}

std::vector<std::string> AtomsApart::names(std::vector<std::string> of_data) const {
  for (const Column& column : columns_) {
    const std::string name = of_data[static_cast<std::size_t>(column.of)];
    of_data[static_cast<std::size_t>(column.of)] =
        fmt::format("({} but for {:.4g})", name, fmt::join(column.atoms, " and "));
    for (const float atom : column.atoms) of_data.push_back(fmt::format("({} = {:.4g})", name, atom));
  }
  return of_data;
}

Matrix<const float> AtomsApart::rows(Matrix<const float> of_data, std::vector<float>& room) const {
  if (!any()) return of_data;
  std::int64_t width = of_data.columns;
  for (const Column& column : columns_) width += static_cast<std::int64_t>(column.atoms.size());
  room.resize(static_cast<std::size_t>(of_data.rows * width));
  const Matrix<float> out{room.data(), of_data.rows, width, width};
  for (std::int64_t r = 0; r < of_data.rows; ++r) {
    float* to = std::copy_n(of_data.row(r), of_data.columns, out.row(r));
    for (const Column& column : columns_) {
      const float x = of_data.row(r)[column.of];
      for (const float atom : column.atoms) {
        *to++ = std::isnan(x) ? NAN : x == atom ? 1.0F : 0.0F;
        if (x == atom) out.row(r)[column.of] = NAN;
      }
    }
  }
  return out;
}

}  // namespace occam
