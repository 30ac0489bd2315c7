// Where training data come from: batch number -> Batch, as independent tasks that can run beside other work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "occam/simulate/reference_table.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // How many batches are best made together.
  virtual std::int64_t at_once() const { return 1; }
  // begin, prepare up to that many, run_task for every task from any threads, finish: then each `out` holds
  // its batch. What was begun and failed is forgotten by the next begin.
  virtual void begin() {}
  virtual void prepare(std::int64_t batch_number, Batch& out) = 0;
  virtual std::int64_t task_count() const = 0;
  virtual void run_task(std::int64_t task) = 0;
  virtual void finish() = 0;
};

// Simulated on the fly. A device takes about as long for many batches as for one, namely for the longest
// trial: several are made together there.
class SimulatedSource final : public BatchSource {
 public:
  SimulatedSource(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t batch,
                  const ThreadPool& pool);
  std::int64_t at_once() const override { return static_cast<std::int64_t>(simulators_.size()); }
  void begin() override { prepared_ = 0, tasks_ = 0; }
  void prepare(std::int64_t batch_number, Batch& out) override;
  std::int64_t task_count() const override { return tasks_; }
  void run_task(std::int64_t task) override;
  void finish() override;

 private:
  std::vector<Simulator> simulators_;
  std::size_t prepared_ = 0;  // of them
  std::int64_t tasks_ = 0;    // of those prepared
  const ThreadPool& pool_;
};

// Batches drawn from some rows of a table, each once per pass, in an order that changes from pass to pass.
class TableSource final : public BatchSource {
 public:
  TableSource(std::shared_ptr<const ReferenceTable> table, std::vector<std::int64_t> rows,
              std::int64_t models, std::uint64_t seed, std::int64_t batch);
  void prepare(std::int64_t batch_number, Batch& out) override;
  std::int64_t task_count() const override { return 0; }
  void run_task(std::int64_t) override {}
  void finish() override {}

 private:
  void shuffle(std::int64_t pass);

  std::shared_ptr<const ReferenceTable> table_;
  std::vector<std::int64_t> rows_, order_;
  std::int64_t models_;
  std::uint64_t seed_;
  std::int64_t batch_, pass_ = -1;
};

}  // namespace occam
