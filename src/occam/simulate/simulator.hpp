// Simulator: Problem + seed + purpose + batch number -> Batch, over threads. Data set b of batch k is item
// k * B + b; its model, N, parameters and data come from the stream (seed, purpose, item) alone, so a batch
// is the same bits on any number of threads. Ranks share its data sets out among themselves, and all of them
// have all of it in the end. Where the pool has a device for inner loops, families with code for it run
// there: a batch is then the same on every such device up to rounding, and still on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "occam/core/rng.hpp"
#include "occam/data/batch.hpp"
#include "occam/parallel/shared_loop.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct SimulatorOptions {
  std::int64_t batch = 64;                 // B
  std::optional<std::int64_t> model = {};  // data from this model only; N and the stream stay what they were
  std::optional<std::int64_t> n = {};      // this N instead of the problem's distribution
  std::int64_t group = 16;                 // data sets a task simulates together
  bool complete = false;                   // keep values that go missing; lose_values() takes them away later
  std::int64_t max_failures = 1000;  // draws in a row without usable data before the simulation gives up
};

// Takes away the values of data set `item` that go missing, from streams of their own: what is lost depends
// on no model, only on the design.
void lose_values(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t item,
                 MutableData data);
// The same for all of a batch, whose first data set is item `first`.
void lose_values(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t first,
                 Batch& batch);

class Simulator {
 public:
  // Throws Error(usage) on options out of range.
  Simulator(Problem problem, std::uint64_t seed, Purpose purpose, SimulatorOptions options = {});

  const Problem& problem() const { return problem_; }
  const SimulatorOptions& options() const { return options_; }
  std::uint64_t seed() const { return seed_; }
  Purpose purpose() const { return purpose_; }

  // Simulates batch number `batch_number` into `out`, whose memory is reused. A model that gives no usable
  // data in max_failures draws in a row is an Error(bad_data) that names it, N and the last parameters; fewer
  // are counted in out.failed_draws(). A draw counts as failed when the family says so or a value is not
  // finite; parameters are then drawn again, model and N are kept. Values that the problem says go missing
  // are NaN in `out`.
  void simulate(std::int64_t batch_number, ThreadPool& pool, Batch& out);
  Batch simulate(std::int64_t batch_number, ThreadPool& pool);
  // The same for data sets first..first+count-1 whatever the batch, such as the last few of a file. `tell` is
  // called now and then, by the calling thread, with the number of those done.
  void simulate_range(std::int64_t first, std::int64_t count, ThreadPool& pool, Batch& out,
                      const std::function<void(std::int64_t done)>& tell = {});

  // The same as independent tasks inside a loop of the caller's: prepare, then run_task(0..task_count()-1) in
  // any order and from any threads, then finish. `out` must not be read in between. With ranks (those of the
  // pool), these are the tasks of this one, and what fails on any of them is thrown by finish on all.
  void prepare(std::int64_t batch_number, const ThreadPool& pool, Batch& out);
  void prepare_range(std::int64_t first, std::int64_t count, const ThreadPool& pool, Batch& out);
  std::int64_t task_count() const { return loop_.calls(); }
  void run_task(std::int64_t call);
  void finish();

 private:
  struct Asked {
    std::int32_t model;
    std::int64_t n, rows;
  };
  struct Task {
    std::int64_t begin;  // into order_
    std::int64_t end;
  };
  std::int64_t draw_size(Rng& rng, std::int64_t item) const;
  void cut_into_tasks(const ThreadPool& pool);
  std::int64_t end_on_device(std::int64_t begin, const ThreadPool& pool) const;
  std::int64_t group_of(const Family& family, std::int64_t left, std::int64_t n,
                        const ThreadPool& pool) const;
  void run_tasks(ThreadPool& pool, const std::function<void(std::int64_t done)>& tell);
  void simulate(const Task& task);
  void pack(const Task& task, ByteWriter& to) const;
  void unpack(const Task& task, ByteReader& from);
  void draw_parameters(std::int64_t b);
  bool accept(std::int64_t b, const SimulationRequest& request);

  Problem problem_;
  std::uint64_t seed_;
  Purpose purpose_;
  SimulatorOptions options_;
  LabelGroups labels_;
  std::vector<std::int64_t> family_of_model_;  // (J) models that share a family object can share a task

  // The batch in preparation; b runs over its data sets.
  Batch* out_ = nullptr;
  LoopDevice* device_ = nullptr;             // of the pool
  std::int64_t first_ = 0;                   // item of the first
  std::vector<Rng> rngs_;                    // (B)
  std::vector<std::int64_t> theta_offsets_;  // (B) into thetas_
  std::vector<double> thetas_;               // all parameters of each data set, fixed ones included
  std::vector<std::int64_t> rows_;           // (B) rows written
  std::vector<std::int64_t> failures_;       // (B)
  std::vector<Asked> asked_;                 // (B) what data sets are to be
  std::vector<std::int64_t> order_;          // (B) data sets by family, then by falling N
  std::vector<SimulationRequest> requests_;  // (B) in that order
  std::vector<Task> tasks_;
  SharedLoop loop_;
};

}  // namespace occam
