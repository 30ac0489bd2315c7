// Candidates: proposed models and parameters, simulated and held against the observed data, many at a time
// over all threads. Candidate i of population t has the stream (seed, abc, t 2^40 + i); what becomes of it
// depends on that alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "occam/abc/distance.hpp"
#include "occam/abc/summary.hpp"
#include "occam/core/rng.hpp"
#include "occam/parallel/shared_loop.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

class Candidates {
 public:
  // Draws a model and its parameters (as many as the model's family has). Called from many threads.
  using Propose = std::function<void(Rng& rng, std::int32_t& model, std::span<double> theta)>;

  // Data sets of size n; where the families take designs, of the size and the design of the observed one. All
  // references, and what `observed` shows, must outlive this object.
  Candidates(const Problem& problem, DataView observed, std::int64_t n, const Summary& summary,
             const Distance& distance, std::uint64_t seed, ThreadPool& pool);

  // Simulates candidates first..first+count-1 of a population.
  void run(std::int64_t population, std::int64_t first, std::int64_t count, const Propose& propose);

  // Of the last run: candidate b = 0..count-1.
  std::int32_t model(std::int64_t b) const { return models_[static_cast<std::size_t>(b)]; }
  std::span<const double> theta(std::int64_t b) const {  // (stride)
    return {thetas_.data() + b * stride_, static_cast<std::size_t>(stride_)};
  }
  // Infinite where the simulation gave no usable data.
  double distance(std::int64_t b) const { return distances_[static_cast<std::size_t>(b)]; }
  bool failed(std::int64_t b) const { return failed_[static_cast<std::size_t>(b)] != 0; }

  std::int64_t stride() const { return stride_; }
  // The most candidates to run at a time, as memory allows; and the fewest that keep all threads busy.
  std::int64_t most() const { return most_; }
  std::int64_t fewest() const { return chunk_ * pool_.workers(); }

 private:
  struct Scratch {
    std::vector<Rng> rngs;
    std::vector<SimulationRequest> requests;
    std::vector<std::int64_t> order;
    std::vector<float> data;
    std::vector<DataView> sets;
    std::vector<float> statistics;
  };
  void run_chunk(std::int64_t population, std::int64_t first, std::int64_t begin, std::int64_t end,
                 const Propose& propose, Scratch& scratch);
  void simulate(std::int64_t begin, std::int64_t end, Scratch& scratch);
  // What other ranks need of a chunk.
  void pack(std::int64_t begin, std::int64_t end, ByteWriter& to) const;
  void unpack(std::int64_t begin, std::int64_t end, ByteReader& from);
  void measure(std::int64_t begin, std::span<const DataView> sets, std::vector<float>& statistics);

  std::int64_t rows_at_most(const Family& family) const;

  const Problem& problem_;
  DataView design_;  // n = 0: families make their own
  LabelGroups labels_;
  std::int64_t n_;
  const Summary& summary_;
  const Distance& distance_;
  std::uint64_t seed_;
  ThreadPool& pool_;
  std::int64_t stride_ = 0;  // parameters of the model that has most
  std::int64_t floats_ = 0;  // largest data set
  std::int64_t S_ = 0;
  std::int64_t chunk_ = 64;  // candidates of a task
  std::int64_t most_ = 0;
  bool together_ = false;  // the summary takes all data sets of a run at once
  bool slow_ = false;      // simulations may take long: ranks get chunks as they become free
  SharedLoop loop_;

  std::vector<Scratch> scratch_;  // by thread
  std::vector<std::int32_t> models_;
  std::vector<double> thetas_;
  std::vector<double> distances_;
  std::vector<std::uint8_t> failed_;
  std::vector<float> data_;  // of all candidates, where together_
  std::vector<DataView> sets_;
  std::vector<float> statistics_;
};

}  // namespace occam
