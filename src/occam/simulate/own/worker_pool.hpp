// Simulator programs kept running: each thread that needs one takes whichever is free, or starts another, so
// there are as many as threads that simulate, and a slow one holds up nobody else. Safe from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "occam/io/child_process.hpp"
#include "occam/simulate/own/protocol.hpp"

namespace occam {

// One running program.
class Worker {
 public:
  explicit Worker(const ChildOptions& options) : child_(options) {}

  // Sends the request and reads until the answer is complete. Error(bad_data) when the program ends, says
  // something else, or takes longer than `timeout_s`; its last words are the detail. It is of no use then.
  void ask(std::string_view request, AnswerReader& answer, double timeout_s);
  // No more requests will come: programs end at the end of their input.
  void close() { child_.close_input(); }

 private:
  void write_some(std::string_view& request);
  void read_answer(AnswerReader& answer);
  // Keeps the end of what it writes to standard error.
  void read_last_words();
  [[noreturn]] void fail(const std::string& what);

  ChildProcess child_;
  std::string last_words_;
  bool words_lost_ = false;  // there were more before them
  std::int64_t answered_ = 0;
  bool output_ended_ = false;
  bool error_ended_ = false;
};

class WorkerPool {
 public:
  // `environment` is asked once, when the first worker starts.
  using Environment = std::function<std::vector<std::pair<std::string, std::string>>()>;
  explicit WorkerPool(ChildOptions options, Environment environment = {})
      : options_(std::move(options)), environment_(std::move(environment)) {}
  ~WorkerPool();

  // Asks a free worker; started if there is none. One that fails is ended, and its error passed on.
  void ask(std::string_view request, AnswerReader& answer, double timeout_s);

  std::size_t idle() const;

 private:
  ChildOptions options_;
  Environment environment_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace occam
