#include "occam/networks/input_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "occam/core/vector_math.hpp"
#include "occam/data/extremes.hpp"
#include "occam/data/stays.hpp"
#include "occam/networks/network.hpp"

namespace occam {
namespace {

// A data set whose values differ by less than so much of themselves counts as constant.
constexpr double kLeastSpread = 1e-12;

// use(row, its data set) for some rows, in order.
template <class Use>
void each_row(const std::int64_t* offsets, std::int64_t sets, std::int64_t first, std::int64_t count,
              const Use& use) {
  std::int64_t set = std::upper_bound(offsets, offsets + sets, first) - offsets - 1;
  for (std::int64_t r = first; r < first + count; ++r) {
    while (r >= offsets[set + 1]) ++set;
    use(r, set);
  }
}

}  // namespace

void standardise(const NetworkConfig& config, Matrix<const float> data, Matrix<double> z) {
  const Standardisation& s = config.standardisation;
  for (std::int64_t c = 0; c < config.channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const double mean = s.mean[at];
    const double factor = 1 / s.scale[at];
    if (config.inputs.empty() ||
        (config.inputs[at].transformation == Transformation::none && config.inputs[at].atoms.empty())) {
      for (std::int64_t r = 0; r < data.rows; ++r) {
        z.row(r)[c] = tamed((static_cast<double>(data.row(r)[c]) - mean) * factor, s.plain_within);
      }
      continue;
    }
    const ColumnInput& input = config.inputs[at];
    for (std::int64_t r = 0; r < data.rows; ++r) {
      const float x = data.row(r)[c];
      z.row(r)[c] =
          std::isnan(x) || input.is_atom(x) ? NAN : tamed((input(x) - mean) * factor, s.plain_within);
    }
  }
}

template <class T>
InputRows<T>::InputRows(const NetworkConfig& config, Ragged<const float> data, Workspace& workspace)
    : config_(&config), data_(data) {
  const auto& inputs = config.inputs;
  if (std::none_of(inputs.begin(), inputs.end(), [](const ColumnInput& input) { return input.local; }))
    return;
  scales_ = workspace.take<OwnScale>(data.sets * config.channels);
  for (std::int64_t c = 0; c < config.channels; ++c) {
    if (!inputs[static_cast<std::size_t>(c)].local) continue;
    for (std::int64_t set = 0; set < data.sets; ++set) scales_[set * config.channels + c] = own_scale(set, c);
  }
}

template <class T>
std::int64_t InputRows<T>::width(const NetworkConfig& config) {
  std::int64_t width = config.channels + static_cast<std::int64_t>(config.missing.size());
  for (const ColumnInput& column : config.inputs) width += column.channels() - 1;
  return width;
}

template <class T>
std::int64_t InputRows<T>::longest() const {
  std::int64_t most = 0;
  for (std::int64_t set = 0; set < sets(); ++set) most = std::max(most, size(set));
  return most;
}

template <class T>
typename InputRows<T>::OwnScale InputRows<T>::own_scale(std::int64_t set, std::int64_t column) const {
  const std::int64_t first = data_.offsets[set];
  const std::int64_t last = data_.offsets[set + 1];
  const ColumnInput& input = config_->inputs[static_cast<std::size_t>(column)];
  const auto each = [&](const auto& use) {
    for (std::int64_t r = first; r < last; ++r) {
      const float x = data_.x.row(r)[column];
      if (!std::isnan(x) && !input.is_atom(x)) use(x);
    }
  };
  double sum = 0, squares = 0, count = 0, low = INFINITY, high = -INFINITY;
  each([&](double x) {
    sum += x;
    low = std::min(low, x);
    high = std::max(high, x);
    ++count;
  });
  const double mean = count > 0 ? sum / count : 0;
  each([&](double x) { squares += (x - mean) * (x - mean); });
  const double sd = count > 0 ? std::sqrt(squares / count) : 0;
  // Values that differ by no more than their rounding are constant.
  return {mean, sd > kLeastSpread * std::abs(mean) ? 1 / sd : 0, low, high, count};
}

// One column as it is, relative to mean and spread of its own data set.
template <class T>
void InputRows<T>::write_relative(std::int64_t column, std::int64_t first, std::int64_t count, T* out) const {
  const ColumnInput& input = config_->inputs[static_cast<std::size_t>(column)];
  const std::int64_t stride = width(*config_);
  each_row(data_.offsets, data_.sets, first, count, [&](std::int64_t r, std::int64_t set) {
    const OwnScale& scale = scales_[set * config_->channels + column];
    const float raw = data_.x.row(r)[column];
    const double x = (raw - scale.mean) * scale.factor;
    const bool read = !std::isnan(x) && !input.is_atom(raw);
    *out = read ? static_cast<T>(std::clamp(x, -kFarthestInput, kFarthestInput)) : T{0};
    out += stride;
  });
}

// The least and the largest of one column in its own data set, and how far a row is from them.
template <class T>
void InputRows<T>::write_ends(std::int64_t column, std::int64_t first, std::int64_t count, T* out,
                              Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  // The logarithms of all rows at once; those of missing values are not read.
  const std::span<double> to_low(workspace.take<double>(count), static_cast<std::size_t>(count));
  const std::span<double> to_high(workspace.take<double>(count), static_cast<std::size_t>(count));
  each_row(data_.offsets, data_.sets, first, count, [&](std::int64_t r, std::int64_t set) {
    const OwnScale& own = scales_[set * config_->channels + column];
    const double x = data_.x.row(r)[column];
    const auto i = static_cast<std::size_t>(r - first);
    to_low[i] = x >= own.low ? share_from_end(x - own.low, own.mean - own.low, own.count) : 1;
    to_high[i] = x <= own.high ? share_from_end(own.high - x, own.high - own.mean, own.count) : 1;
  });
  take_logs(to_low);
  take_logs(to_high);
  const auto at = static_cast<std::size_t>(column);
  const ColumnInput& input = config_->inputs[at];
  const Standardisation& s = config_->standardisation;
  const auto standard = [&](double x) {
    const double z = tamed((input(x) - s.mean[at]) / s.scale[at], s.plain_within);
    return static_cast<T>(std::clamp(z, -kFarthestInput, kFarthestInput));
  };
  const std::int64_t stride = width(*config_);
  std::int64_t before = -1;
  T low{0}, high{0};
  each_row(data_.offsets, data_.sets, first, count, [&](std::int64_t r, std::int64_t set) {
    const OwnScale& own = scales_[set * config_->channels + column];
    if (set != std::exchange(before, set)) {
      low = own.count > 0 ? standard(own.low) : T{0};
      high = own.count > 0 ? standard(own.high) : T{0};
    }
    const float x = data_.x.row(r)[column];
    const bool read = !std::isnan(x) && !input.is_atom(x);
    out[0] = low;
    out[1] = high;
    const auto i = static_cast<std::size_t>(r - first);
    out[2] = read ? static_cast<T>(0.5 * to_low[i]) : T{0};
    out[3] = read ? static_cast<T>(0.5 * to_high[i]) : T{0};
    out += stride;
  });
}

// How long one column has had the value of a row.
template <class T>
void InputRows<T>::write_stays(std::int64_t column, std::int64_t first, std::int64_t count, T* out) const {
  const std::int64_t stride = width(*config_);
  int age = 0;
  each_row(data_.offsets, data_.sets, first, count, [&](std::int64_t r, std::int64_t set) {
    const float* x = data_.x.row(r) + column;
    const std::int64_t earlier = r - data_.offsets[set];
    const bool follows = r > first && earlier > 0 && x[0] == *(x - data_.x.stride);
    age = follows ? std::min(age + 1, kLongestStay) : rows_here(x, data_.x.stride, earlier);
    *out = static_cast<T>(age_input(age));
    out += stride;
  });
}

template <class T>
Matrix<const T> InputRows<T>::rows(std::int64_t first, std::int64_t count, Workspace& workspace) const {
  const std::int64_t width = InputRows::width(*config_);
  const Matrix<T> out{workspace.take<T>(count * width), count, width, width};
  const Workspace::Scope scope(workspace);
  const Matrix<const float> data = data_.x.rows_from(first, count);
  const Matrix<double> z = workspace.matrix<double>(count, config_->channels);
  standardise(*config_, data, z);
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::int64_t c = 0; c < config_->channels; ++c) {
      const double value = z.row(r)[c];
      out.row(r)[c] =
          std::isnan(value) ? T{0} : static_cast<T>(std::clamp(value, -kLargestInput, kLargestInput));
    }
  }
  std::int64_t at = config_->channels;
  for (const std::int64_t c : config_->missing) {
    for (std::int64_t r = 0; r < count; ++r) out.row(r)[at] = std::isnan(data.row(r)[c]) ? T{1} : T{0};
    ++at;
  }
  for (std::size_t c = 0; c < config_->inputs.size(); ++c) {
    const ColumnInput& column = config_->inputs[c];
    if (column.local) write_relative(static_cast<std::int64_t>(c), first, count, out.data + at++);
    for (std::int64_t r = 0; column.waves > 0 && r < count; ++r) {
      const double value =
          std::isnan(z.row(r)[c]) ? 0 : std::clamp(z.row(r)[c], -kFarthestInput, kFarthestInput);
      write_waves(static_cast<T>(value), column.waves, out.row(r) + at);
    }
    at += 2 * column.waves;
    for (const auto* marked : {&column.levels, &column.atoms}) {
      for (const float value : *marked) {
        for (std::int64_t r = 0; r < count; ++r) out.row(r)[at] = data.row(r)[c] == value ? T{1} : T{0};
        ++at;
      }
    }
    if (column.stays) write_stays(static_cast<std::int64_t>(c), first, count, out.data + at++);
    if (column.ends) write_ends(static_cast<std::int64_t>(c), first, count, out.data + at, workspace);
    at += column.ends ? kEndChannels : 0;
  }
  return out;
}

template class InputRows<float>;
template class InputRows<double>;

}  // namespace occam
