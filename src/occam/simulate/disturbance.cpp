#include "occam/simulate/disturbance.hpp"

#include <algorithm>
#include <cmath>

#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"
#include "occam/core/suggest.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

const Disturbance* find(const std::vector<Disturbance>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Disturbance& known) { return known.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// One for each model: families of the same problem may go about it in their own ways.
std::vector<Disturbance> of_models(const Problem& problem, const DisturbanceRequest& request) {
  std::vector<Disturbance> result;
  const Family* last = nullptr;
  for (const Model& model : problem.models()) {
    if (&model.family() == last) {
      result.push_back(result.back());
      continue;
    }
    last = &model.family();
    const std::vector<Disturbance> known = last->disturbances();
    const Disturbance* found = find(known, request.name);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Disturbance& one : disturbances(problem)) names.push_back(one.name);
      throw Error(ErrorKind::usage, "problem '{}' has no disturbance '{}'{}", problem.name(), request.name,
                  names.empty() ? "" : did_you_mean(request.name, names));
    }
    result.push_back(*found);
  }
  return result;
}

}  // namespace

DisturbanceRequest DisturbanceRequest::parse(std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view number = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  DisturbanceRequest request{std::string(text.substr(0, equals)), 0};
  const auto [end, status] = from_chars(number.data(), number.data() + number.size(), request.strength);
  if (number.empty() || status != std::errc{} || end != number.data() + number.size() ||
      !std::isfinite(request.strength)) {
    throw Error(ErrorKind::usage, "'{}' is not NAME=STRENGTH, such as shift=2", text);
  }
  return request;
}

std::vector<Disturbance> disturbances(const Problem& problem) {
  std::vector<Disturbance> shared = problem.models().front().family().disturbances();
  const Family* last = &problem.models().front().family();
  for (const Model& model : problem.models()) {
    if (&model.family() == last) continue;
    last = &model.family();
    const std::vector<Disturbance> others = last->disturbances();
    std::erase_if(shared, [&](const Disturbance& one) { return find(others, one.name) == nullptr; });
  }
  return shared;
}

Problem replaced_problem(const Problem& problem, const DisturbanceRequest& request) {
  const std::vector<Disturbance> used = of_models(problem, request);
  if (std::none_of(used.begin(), used.end(), [](const Disturbance& one) { return bool(one.replace); })) {
    return problem;
  }
  ProblemSpec spec = problem.spec();
  spec.models.clear();
  try {
    for (std::size_t j = 0; j < used.size(); ++j) {
      const Model& model = problem.models()[j];
      spec.models.push_back(used[j].replace ? used[j].replace(model, request.strength) : model);
    }
    return Problem(std::move(spec));
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "disturbance {}={}: {}", request.name, request.strength, error.what());
  }
}

void transform_batch(const Problem& problem, const DisturbanceRequest& request, std::uint64_t seed,
                     std::int64_t first, ThreadPool& pool, Batch& batch) {
  const std::vector<Disturbance> used = of_models(problem, request);
  if (std::any_of(used.begin(), used.end(), [&](const Disturbance& one) {
        return one.transform && (request.strength < 0 || !std::isfinite(request.strength));
      })) {
    throw Error(ErrorKind::usage, "disturbance {}={}: its strength is at least 0", request.name,
                request.strength);
  }
  pool.for_each(batch.size(), [&](std::int64_t b, int) {
    const Disturbance& one = used[static_cast<std::size_t>(batch.models()[b])];
    if (!one.transform || request.strength == 0) return;
    Rng rng(seed, Purpose::disturb, static_cast<std::uint64_t>(first + b));
    const std::span<float> data = batch.mutable_data(b);
    one.transform(request.strength, rng,
                  {data.data(), static_cast<std::int64_t>(data.size()) / batch.columns(), batch.columns()});
  });
}

void disturb(const Problem& problem, const DisturbanceRequest& request, const DisturbedRange& range,
             ThreadPool& pool, Batch& out) {
  SimulatorOptions options;
  options.n = range.n;
  options.model = range.model;
  options.complete = true;
  Simulator simulator(replaced_problem(problem, request), range.seed, range.purpose, options);
  simulator.simulate_range(range.first, range.count, pool, out);
  transform_batch(problem, request, range.seed, range.first, pool, out);
  lose_values(problem, range.seed, range.purpose, range.first, out);
}

Batch disturb(const Problem& problem, const DisturbanceRequest& request, const DisturbedRange& range,
              ThreadPool& pool) {
  Batch out;
  disturb(problem, request, range, pool, out);
  return out;
}

Model with_priors(const Model& model, const std::vector<std::pair<std::string, Prior>>& priors) {
  Model::NamedPriors all;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    all.emplace_back(model.parameters()[i].name, model.priors()[i]);
    for (const auto& [name, prior] : priors) {
      if (name == all.back().first) all.back().second = prior;
    }
  }
  return Model(model.name(), model.shared_family(), all);
}

}  // namespace occam
