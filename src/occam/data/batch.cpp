#include "occam/data/batch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace occam {

std::span<const double> Batch::parameters(std::int64_t b) const {
  return {parameters_.data() + b * P_, static_cast<std::size_t>(P_)};
}

void Batch::reset(std::int64_t columns, std::int64_t parameters, std::int64_t models) {
  D_ = columns;
  P_ = parameters;
  offsets_.assign(1, 0);
  models_.clear();
  sizes_.clear();
  parameters_.clear();
  failed_.assign(static_cast<std::size_t>(models), 0);
}

std::int64_t Batch::append(std::int32_t model, std::int64_t size, std::int64_t rows) {
  const std::int64_t b = this->size();
  offsets_.push_back(offsets_.back() + rows);
  models_.push_back(model);
  sizes_.push_back(size);
  parameters_.resize(parameters_.size() + static_cast<std::size_t>(P_),
                     std::numeric_limits<double>::quiet_NaN());
  const auto needed = static_cast<std::size_t>(offsets_.back() * D_);
  if (needed > data_.size()) data_.resize(std::max(needed, 2 * data_.size()));
  return b;
}

std::span<float> Batch::mutable_data(std::int64_t b) {
  return {data_.data() + offsets_[b] * D_, static_cast<std::size_t>((offsets_[b + 1] - offsets_[b]) * D_)};
}

std::span<double> Batch::mutable_parameters(std::int64_t b) {
  return {parameters_.data() + b * P_, static_cast<std::size_t>(P_)};
}

void Batch::shrink(std::span<const std::int64_t> rows) {
  std::int64_t to = 0;
  for (std::int64_t b = 0; b < size(); ++b) {
    const std::int64_t from = offsets_[b];
    if (from != to) {
      std::memmove(data_.data() + to * D_, data_.data() + from * D_,
                   static_cast<std::size_t>(rows[b] * D_) * sizeof(float));
    }
    offsets_[b] = to;
    to += rows[b];
  }
  offsets_.back() = to;
}

void gather(const Batch& from, std::span<const std::int64_t> rows, std::int64_t models, Batch& to) {
  to.reset(from.columns(), from.parameters_per_data_set(), models);
  for (const std::int64_t row : rows) to.append(from.models()[row], from.sizes()[row], from[row].n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto b = static_cast<std::int64_t>(i);
    const auto values = from[rows[i]].values();
    std::copy(values.begin(), values.end(), to.mutable_data(b).begin());
    const auto theta = from.parameters(rows[i]);
    std::copy(theta.begin(), theta.end(), to.mutable_parameters(b).begin());
  }
}

}  // namespace occam
