// Simulator programs kept running: each thread that needs one takes whichever is free, or starts another, so
// there are as many as threads that simulate, and a slow one holds up nobody else. Safe from many threads.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "occam/core/error.hpp"
#include "occam/io/child_process.hpp"
#include "occam/io/deadline.hpp"
#include "occam/io/shared_memory.hpp"
#include "occam/simulate/own/answer.hpp"

namespace occam {

// How to start a worker.
struct WorkerOptions {
  ChildOptions program;
  bool shares_memory = false;  // it finds shared memory as descriptor 3
};

// One running program.
class Worker {
 public:
  explicit Worker(const WorkerOptions& options);

  // Sends the request and reads until the answer is complete. Error(bad_data) when the program ends, says
  // something else, or takes longer than `timeout_s`, Error(interrupted) when the user asks to stop; its last
  // words are the detail. It has been ended then.
  void ask(std::string_view request, Answer& answer, double timeout_s);
  // No more requests will come: programs end at the end of their input.
  void close() { child_->close_input(); }
  // After close(): Error(bad_data) when it had written more than it was asked for.
  void refuse_last_rows();

  // Where it shares memory.
  SharedMemory& memory() { return *memory_; }

 private:
  void write_some(std::string_view& request);
  void read_answer(Answer& answer);
  // Keeps the end of what it writes to standard error.
  void read_last_words();
  // The same until it has no more to say, or too much.
  void wait_for_last_words(const Deadline& deadline);
  void await_reading(std::string_view& request, const Deadline& deadline);
  void refuse_early_words();
  [[noreturn]] void give_up(const Deadline& deadline, double timeout_s);
  [[noreturn]] void report_end(const Deadline& deadline);
  [[noreturn]] void fail(ErrorKind kind, const std::string& what);

  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<ChildProcess> child_;
  std::string last_words_;
  bool words_lost_ = false;  // there were more before them
  std::int64_t answered_ = 0;
  bool output_ended_ = false;
  bool error_ended_ = false;
};

class WorkerPool {
 public:
  // `prepare` is asked once, when the first worker starts; if it throws, so does every attempt to start one.
  explicit WorkerPool(std::function<WorkerOptions()> prepare) : prepare_(std::move(prepare)) {}
  ~WorkerPool();

  // A free worker, started if there is none. One that did its work goes back with give_back(); one that
  // failed is simply let go.
  std::unique_ptr<Worker> take();
  void give_back(std::unique_ptr<Worker> worker);

  // Ends the free workers, and fails as refuse_last_rows() does.
  void end();

  std::size_t idle() const;

 private:
  const WorkerOptions& options();

  std::function<WorkerOptions()> prepare_;
  std::mutex preparing_;
  std::unique_ptr<const WorkerOptions> options_;
  std::exception_ptr failure_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

// The pool of this key, made where there is none yet: for models that share a program.
using WorkerPools = std::vector<std::pair<std::string, std::shared_ptr<WorkerPool>>>;
std::shared_ptr<WorkerPool> shared_pool(WorkerPools& pools, const std::string& key,
                                        std::function<WorkerOptions()> prepare);

}  // namespace occam
