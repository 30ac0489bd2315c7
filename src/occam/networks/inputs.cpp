#include "occam/networks/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"
#include "occam/data/orders.hpp"
#include "occam/data/series.hpp"

namespace occam {
namespace {

// What is measured from 0 on reaches so many times as far above its middle as below.
constexpr double kLeaning = 1.5;

const std::vector<std::string>& transformation_names() {
  static const std::vector<std::string> names = {"none", "log", "asinh"};
  return names;
}

bool long_tailed(const std::vector<float>& sorted) {
  const double low = quantile_of(sorted, 0.05);
  const double high = quantile_of(sorted, 0.95);
  const double reach = std::max(sorted.back() - high, low - sorted.front());
  return reach > (sorted.front() < 0 ? kVeryLongTail : kLongTail) * (high - low);
}

// The different values, if they are few.
std::vector<float> few_levels(const std::vector<float>& sorted) {
  std::vector<float> levels;
  for (const float x : sorted) {
    if (!levels.empty() && x == levels.back()) continue;
    if (levels.size() == kFewLevels) return {};
    levels.push_back(x);
  }
  return levels;
}

// The typical distance from the centre, of the values that have one at all: many may be equal (zeros).
double typical_distance(const std::vector<float>& sorted, double centre, double q) {
  std::vector<float> distances;
  for (const float x : sorted) {
    if (x != centre) distances.push_back(static_cast<float>(std::abs(x - centre)));
  }
  if (distances.empty()) return 1;
  std::sort(distances.begin(), distances.end());
  return quantile_of(distances, q);
}

// Values in order.
void choose_transformation(const std::vector<float>& sorted, ColumnInput& input) {
  if (sorted.empty() || !(long_tailed(sorted) || over_orders(sorted))) return;
  if (sorted.front() > 0) {
    // What is below all that was simulated is taken for a little less than the least.
    input.transformation = Transformation::log;
    input.centre = sorted.front() / 16;
    return;
  }
  input.transformation = Transformation::asinh;
  input.centre = sorted.front() == 0 ? 0 : quantile_of(sorted, 0.5);
  input.width = typical_distance(sorted, input.centre, sorted.front() == 0 ? 0.1 : 0.5);
}

// A time column has no atoms: 0 is when series begin.
ColumnInput learn_input(std::vector<float>& values, bool is_time) {
  ColumnInput input;
  std::sort(values.begin(), values.end());
  input.levels = few_levels(values);
  if (!input.levels.empty()) {
    input.stays = input.levels.size() > 1;
    if (input.levels.size() < 3) input.levels.clear();
    return input;
  }
  if (values.empty()) return input;
  input.local = true;
  if (!is_time) input.atoms = find_atoms(values);
  input.stays = !input.atoms.empty();
  std::erase_if(values, [&](float x) { return input.is_atom(x); });
  choose_transformation(values, input);
  return input;
}

// A duration, an amount, a concentration: no counts, nothing below 0, and most of it nearer to that end than
// to the other, which is not so of a temperature or a heart rate. Values in order.
bool is_measure(const std::vector<float>& sorted) {
  if (sorted.empty() || sorted.front() < 0) return false;
  const double middle = quantile_of(sorted, 0.5);
  return quantile_of(sorted, 0.95) - middle > kLeaning * (middle - quantile_of(sorted, 0.05)) &&
         std::any_of(sorted.begin(), sorted.end(), [](float x) { return x != std::floor(x); });
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

double ColumnInput::operator()(double x) const {
  switch (transformation) {
    case Transformation::log:
      return std::log(std::max(x, centre));
    case Transformation::asinh:
      return std::asinh((x - centre) / width);
    case Transformation::none:
      break;
  }
  return x;
}

double ColumnInput::inverse(double y) const {
  switch (transformation) {
    case Transformation::log:
      return std::exp(y);
    case Transformation::asinh:
      return centre + width * std::sinh(y);
    case Transformation::none:
      break;
  }
  return y;
}

std::string ColumnInput::text() const {
  std::string text = transformation == Transformation::log ? "logarithm"
                     : transformation == Transformation::asinh
                         ? fmt::format("asinh around {:.4g} in units of {:.4g}", centre, width)
                         : "as it is";
  if (local) text += ", and relative to its data set";
  if (waves > 0) text += fmt::format(", and as waves of {} lengths", waves);
  if (!levels.empty()) text += fmt::format(", and an indicator for each of {} values", levels.size());
  if (!atoms.empty())
    text += fmt::format(", but for {:.4g}, with an indicator of its own", fmt::join(atoms, " and "));
  if (stays) text += ", and how long it stays";
  if (ends) text += ", and how far from the least and the largest of its data set";
  return text;
}

ColumnInput learn_transformation(std::vector<float> values) {
  ColumnInput input;
  std::sort(values.begin(), values.end());
  choose_transformation(values, input);
  return input;
}

std::vector<ColumnInput> learn_inputs(Ragged<const float> data, bool ordered, std::int64_t waves) {
  const std::int64_t time = ordered ? find_time(data).column : -1;
  std::vector<ColumnInput> inputs;
  std::vector<float> values;
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    values.clear();
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x)) values.push_back(x);
    }
    inputs.push_back(learn_input(values, c == time));
    // Of other series the course counts, of these the shape of each row's distribution may as well.
    inputs.back().ends = inputs.back().local && (!ordered || (c != time && is_measure(values)));
  }
  const auto wavy =
      std::count_if(inputs.begin(), inputs.end(), [](const auto& input) { return input.local; });
  for (ColumnInput& input : inputs) {
    input.ends = input.ends && wavy <= kMostWavyColumns;
    if (input.ends) input.waves = waves;
    input.stays = input.stays && ordered;
  }
  return inputs;
}

nlohmann::json inputs_json(const std::vector<ColumnInput>& inputs) {
  auto list = nlohmann::json::array();
  for (const ColumnInput& input : inputs) {
    list.push_back(
        {{"transformation", transformation_names()[static_cast<std::size_t>(input.transformation)]},
         {"centre", input.centre},
         {"width", input.width},
         {"local", input.local},
         {"levels", input.levels},
         {"waves", input.waves},
         {"stays", input.stays},
         {"atoms", input.atoms},
         {"ends", input.ends}});
  }
  return list;
}

std::vector<ColumnInput> inputs_from_json(const nlohmann::json& json) {
  std::vector<ColumnInput> inputs;
  for (const nlohmann::json& entry : json) {
    ColumnInput input;
    const auto& names = transformation_names();
    const auto name = entry.at("transformation").get<std::string>();
    const auto found = std::find(names.begin(), names.end(), name);
    input.transformation = static_cast<Transformation>(found - names.begin());
    input.centre = entry.at("centre").get<double>();
    input.width = entry.at("width").get<double>();
    input.local = entry.at("local").get<bool>();
    input.levels = entry.at("levels").get<std::vector<float>>();
    if (entry.contains("waves")) input.waves = whole_number(entry.at("waves"));
    input.stays = entry.value("stays", false);
    input.atoms = entry.value("atoms", std::vector<float>{});
    input.ends = entry.value("ends", false);
    const bool finite = all_finite(input.levels) && all_finite(input.atoms);
    if (found == names.end() || !std::isfinite(input.centre) || !std::isfinite(input.width) ||
        input.width <= 0 || (input.transformation == Transformation::log && input.centre <= 0) ||
        input.levels.size() > kFewLevels || input.atoms.size() > kMostAtoms || !finite || input.waves < 0 ||
        input.waves > kMostWaves || (input.ends && !input.local)) {
      throw Error(ErrorKind::bad_config, "network: how its columns are read is not usable");
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace occam
