// Small valid files that the structure-aware targets start from.
#pragma once

#include "occam/networks/network_file.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam::fuzz {

// Few enough weights and reference points to be read thousands of times a second, and between them every part
// a network file may have: estimates, ensembles, heads with options, scope references of all kinds,
// designs, simulators of the user's own.
inline constexpr std::size_t kSampleNetworks = 4;
const NetworkFile& sample_network(std::size_t kind);

// Data sets such as the sample of that kind was made for, of 1 to 20 rows (24 and more where they are
// ordered).
struct SampleData {
  std::vector<float> values;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::string> ids;
};
SampleData sample_data(std::size_t kind, std::int64_t D, std::int64_t sets);

// One thread: targets are run in many processes.
ThreadPool& pool();

}  // namespace occam::fuzz
