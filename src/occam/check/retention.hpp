// Retention: what growing a network did to what it knew before. Fresh data sets from the models that both
// networks know, answered by both, each restricted to those models: accuracy and log-loss before and after,
// and the distance from the exact posterior where it is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "occam/compare/comparator.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct Retention {
  struct Figures {
    double accuracy = 0;
    double log_loss = 0;       // nats
    std::optional<double> kl;  // from the exact posterior, nats
  };
  std::vector<std::string> models;
  std::int64_t data_sets = 0;
  Figures before, after;
};

// Nothing where the networks share fewer than two models. `problem` is the one that `after` was trained on;
// data sets come from its test stream.
std::optional<Retention> measure_retention(Comparator& before, Comparator& after, const Problem& problem,
                                           std::uint64_t seed, std::int64_t data_sets, ThreadPool& pool);

}  // namespace occam
