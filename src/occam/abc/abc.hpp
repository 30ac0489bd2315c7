// Approximate Bayesian computation for one data set: rejection, and sequential Monte Carlo over models and
// parameters (ABC-SMC; Toni et al. 2009, doi:10.1098/rsif.2008.0172; Toni & Stumpf 2010). A population is the
// first P candidates, in the order of their numbers, whose simulated data lie within epsilon of the observed
// ones; so neither the number of threads nor how many are simulated at a time matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "occam/abc/abc_options.hpp"
#include "occam/abc/proposal.hpp"
#include "occam/core/progress.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct AbcPopulation {
  double epsilon = 0;
  std::int64_t size = 0;         // particles
  std::int64_t simulations = 0;  // candidates up to the last accepted one
  double acceptance = 0;         // size / simulations
  double ess = 0;                // effective number of particles
  std::vector<double> p;         // (J)
};

struct AbcResult {
  std::vector<AbcPopulation> populations;  // at least one
  Particles particles;                     // of the last
  std::int64_t calibration = 0;            // simulations for scales and the first epsilon
  std::int64_t simulations = 0;            // all, also those of a population that was given up
  std::vector<std::int64_t> failed;        // (J) simulations without usable data
  std::string stopped;                     // why, a phrase
};

// The size to simulate for data with so many rows. Series of a problem with one size (paths of a jump
// process, which may end early) have that; others the n for which a data set has as many rows. Throws
// Error(bad_data) when there is none.
std::int64_t size_to_simulate(const Problem& problem, std::int64_t rows);

// Throws Error(usage) as check() and the summaries do; Error(bad_data) when not even the first population
// could be filled; Error(interrupted).
AbcResult run_abc(const Problem& problem, DataView observed, std::int64_t n, const AbcOptions& options,
                  std::uint64_t seed, ThreadPool& pool, ProgressSink& progress);

}  // namespace occam
