// How the columns of data become what a body reads. Learned from simulations and stored with the network:
//   1. every column goes through a transformation that keeps its order and tames its range;
//   2. the result is standardised over all simulations, and what lies far beyond them brought nearer;
//   3. a column with many values comes a second time, untransformed, relative to mean and spread of its own
//      data set, so that its shape is seen whatever its unit, offset or scale, and where there are few such
//      columns as waves of several lengths, so that fine structure is seen, with the least and the largest
//      value of the data set and the distance from these (data/extremes); a column with a few values comes as
//      indicators, and in series with the rows since its value came;
//   4. a value that rows of a column with many values have again and again (no rain, below the limit of
//      detection, the end of a scale) is marked by an indicator and otherwise read as if it were missing:
//      what is said of all other values is said without it.
// Without any of it (files from before there was such) columns are standardised as they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/data/atoms.hpp"
#include "occam/data/matrix.hpp"

namespace occam {

enum class Transformation {
  none,
  log,    // log(max(x, centre)): positive values over orders of magnitude
  asinh,  // asinh((x - centre) / width): linear near the centre, logarithmic far from it
};

inline constexpr std::int64_t kEndChannels =
    4;  // the least, the largest, the way to the one and to the other

// How many labels a data set has, and how many rows one of them, is told by the logarithm, less this.
inline constexpr double kUsualLogCount = 2;

struct ColumnInput {
  Transformation transformation = Transformation::none;
  double centre = 0;
  double width = 1;
  bool local = false;         // also relative to its own data set
  std::vector<float> levels;  // an indicator for each of these values
  std::int64_t waves = 0;     // also sine and cosine of the standardised value, of so many lengths
  bool stays = false;         // also how long the value has been there (data/stays)
  std::vector<float> atoms;   // values with an indicator each that are otherwise read as if missing
  bool ends = false;          // also the least and the largest of its data set, and how far it is from them

  std::int64_t channels() const {
    return 1 + (local ? 1 : 0) + static_cast<std::int64_t>(levels.size() + atoms.size()) + 2 * waves +
           (stays ? 1 : 0) + (ends ? kEndChannels : 0);
  }
  bool is_atom(float x) const { return std::find(atoms.begin(), atoms.end(), x) != atoms.end(); }
  double operator()(double x) const;
  double inverse(double y) const;
  // "log", "asinh around 3.2 in units of 0.5"
  std::string text() const;

  bool operator==(const ColumnInput&) const = default;
};

// The rule. A column of at most kFewLevels values has indicators where they are more than two. Any other is
// left as it is while its extremes lie within so many times the range that holds nine tenths of its values:
// kLongTail, or kVeryLongTail where some are negative, since sums of squares and products of such columns are
// often what evidence is made of, and a network finds them slowly in what is bent. Beyond, and where it is
// spread over orders of magnitude (data/orders), a column is taken by its logarithm where it is positive
// throughout, else by asinh.
inline constexpr std::size_t kFewLevels = 8;
inline constexpr double kLongTail = 2;
inline constexpr double kVeryLongTail = 20;
// Columns with many values have waves where at most so many columns have them.
inline constexpr std::int64_t kMostWavyColumns = 3;
inline constexpr std::int64_t kWaves = 4;
inline constexpr std::int64_t kMoreWaves = 6;  // where models are many
inline constexpr std::int64_t kMostWaves = 16;

// For every column of these data sets. Missing values (NaN) are left out. Ordered data have waves and ends of
// measures alone (continuous, never negative, skewed): elsewhere a value has its meaning beside its
// neighbours. What has few values is told apart by how long they stay.
std::vector<ColumnInput> learn_inputs(Ragged<const float> data, bool ordered = false,
                                      std::int64_t waves = kWaves);
// The transformation alone, by the same rule.
ColumnInput learn_transformation(std::vector<float> values);

// Whatever a simulator may do once in ten thousand data sets, such as a series that explodes: what is further
// out than all that is usual must not shake the weights. Keeps the order, and what is within as it is.
inline constexpr double kPlainWithin = 16;  // standard deviations
inline double tamed(double z, double plain_within) {
  const double beyond = std::abs(z) - plain_within;
  return plain_within > 0 && beyond > 0 ? std::copysign(plain_within + std::log1p(beyond), z) : z;
}

// Sine and cosine of waves whose length halves from one to the next; the first is 8 standard deviations long.
template <class T>
void write_waves(T z, std::int64_t waves, T* out) {
  const T angle = z * static_cast<T>(std::numbers::pi / 4);
  T sine = std::sin(angle);
  T cosine = std::cos(angle);
  for (std::int64_t k = 0; k < waves; ++k) {
    *out++ = sine;
    *out++ = cosine;
    const T twice = 2 * sine * cosine;
    cosine = 1 - 2 * sine * sine;
    sine = twice;
  }
}

nlohmann::json inputs_json(const std::vector<ColumnInput>& inputs);
// Throws nlohmann::json::exception or Error(bad_config).
std::vector<ColumnInput> inputs_from_json(const nlohmann::json& json);

}  // namespace occam
