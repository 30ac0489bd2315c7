// Recovery on fresh simulations: how often the network's best model is the true one, its log-loss, and, where
// the problem knows its exact posterior, the distance from it in nats beside the best possible figures.
//   KL = mean over data sets of sum_j p_exact_j log(p_exact_j / p_network_j)
#pragma once

#include <cstdint>
#include <optional>

#include "occam/compare/comparator.hpp"
#include "occam/simulate/reference_table.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {

struct Recovery {
  std::int64_t data_sets = 0;
  double accuracy = 0;
  double log_loss = 0;
  struct Exact {
    double accuracy = 0;  // of the exact posterior, on the same data sets
    double log_loss = 0;
    double kl = 0;     // nats
    double kl_se = 0;  // its standard error
  };
  std::optional<Exact> exact;
};

// On `data_sets` simulations of the test stream, all of size n or of the problem's own sizes.
Recovery measure_recovery(Comparator& comparator, const Problem& problem, std::uint64_t seed,
                          std::int64_t data_sets, std::optional<std::int64_t> n, ThreadPool& pool);

// On the data sets of a table: all, or only those that training set aside.
Recovery measure_recovery(Comparator& comparator, const Problem& problem, const ReferenceTable& table,
                          bool held_out_only, ThreadPool& pool);

}  // namespace occam
