// Files of simulated data sets: csv or tsv with one row per observation, or npz. Data set k (from 0) is drawn
// from the stream (seed, Purpose::simulate, k), so the file does not depend on the number of threads, and its
// first data sets not on how many follow. docs/data.md describes both layouts.
#pragma once

#include <cstdint>
#include <string>

#include "occam/core/fields.hpp"
#include "occam/core/progress.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct SimulationFileOptions {
  std::int64_t datasets = 100;
  std::string model;             // empty: drawn from the model prior
  std::int64_t n = 0;            // 0: drawn as the problem says
  bool with_parameters = false;  // also write the parameters behind each data set
  bool exact = false;            // also write the exact posterior model probabilities
  std::string disturb;           // "shift=2": disturb the data; empty: as the models make them
};
Fields fields(SimulationFileOptions& options);

// Simulates and writes to `path`: .csv, .tsv or .npz by its name; "-" is csv to standard output, and so are
// special files such as /dev/stdout. Text is written in bounded memory, npz is held in memory until the end.
// Draws without usable data are told to `progress`. Throws Error(usage) on another file name, an unknown
// model or a missing exact posterior, Error(io) when writing fails, Error(interrupted) when asked to stop;
// nothing is left under `path` then.
void write_simulations(const Problem& problem, const SimulationFileOptions& options, std::uint64_t seed,
                       const std::string& path, ThreadPool& pool, ProgressSink& progress);

}  // namespace occam
