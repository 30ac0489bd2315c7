#include "occam/simulate/own/worker_pool.hpp"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::size_t kLastWords = 4096;
constexpr std::size_t kPiece = 1 << 16;
constexpr int kPiecesAtOnce = 64;  // of standard error, before anything else is looked at
// After its output has closed, how long a program may take to say its last words and end.
constexpr double kPatience_s = 1.0;
constexpr std::int64_t kWatchedAnswers = 2;  // before each of them, a program is seen to wait for requests

}  // namespace

Worker::Worker(const WorkerOptions& options) {
  ChildOptions program = options.program;
  if (options.shares_memory) {
    memory_ = std::make_unique<SharedMemory>();
    program.inherited = memory_->descriptor();
  }
  child_ = std::make_unique<ChildProcess>(program);
}

void Worker::read_last_words() {
  char piece[4096];
  for (int i = 0; i < kPiecesAtOnce; ++i) {
    const ssize_t count = ::read(child_->error(), piece, sizeof(piece));
    if (count > 0) {
      last_words_.append(piece, static_cast<std::size_t>(count));
      if (last_words_.size() > 2 * kLastWords) {
        last_words_.erase(0, last_words_.size() - kLastWords);
        words_lost_ = true;
      }
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    error_ended_ = count == 0 || errno != EAGAIN;
    return;
  }
}

void Worker::wait_for_last_words(const Deadline& deadline) {
  struct pollfd watched {
    child_->error(), POLLIN, 0
  };
  while (!error_ended_ && !deadline.passed()) {
    if (::poll(&watched, 1, deadline.slice_ms()) > 0) read_last_words();
  }
}

void Worker::fail(ErrorKind kind, const std::string& what) {
  if (!error_ended_) read_last_words();
  child_->kill();
  if (words_lost_) {
    last_words_.erase(0, last_words_.find('\n') + 1);  // a whole line at the front
    last_words_.insert(0, "...\n");
  }
  throw Error(kind, what).with_detail(last_words_);
}

void Worker::give_up(const Deadline& deadline, double timeout_s) {
  if (deadline.stopped()) {
    fail(ErrorKind::interrupted,
         fmt::format("stopped after {:.1f} s of waiting for its answer", deadline.elapsed_s()));
  }
  fail(ErrorKind::bad_data, fmt::format("it gave no answer within {} s (simulator_timeout_s)", timeout_s));
}

// It may have closed its output and yet go on; then it is ended.
void Worker::report_end(const Deadline& deadline) {
  const Deadline patience(std::min(kPatience_s, deadline.left_s()));
  wait_for_last_words(patience);
  const bool by_itself = child_->ends_before(patience);
  child_->kill();
  const std::string end = child_->wait();
  fail(ErrorKind::bad_data,
       fmt::format("{} {}", by_itself ? fmt::format("it ended ({})", end) : "it closed its output",
                   answered_ == 0 ? "before its first answer was complete"
                                  : fmt::format("after {} answer{}", answered_, answered_ == 1 ? "" : "s")));
}

void Worker::write_some(std::string_view& request) {
  const ssize_t count = child_->write(request);
  if (count < 0) {
    request = {};  // it reads no more; that its output ends says why
    return;
  }
  request.remove_prefix(static_cast<std::size_t>(count));
}

void Worker::read_answer(Answer& answer) {
  thread_local std::string piece(kPiece, '\0');
  const ssize_t count = ::read(child_->output(), piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    output_ended_ = true;
    return;
  }
  try {
    answer.add({piece.data(), static_cast<std::size_t>(count)});
  } catch (const Error& error) {
    fail(ErrorKind::bad_data, error.what());
  }
}

// All of the request but its end, without which nobody can answer it. Once that is taken, whatever the
// program wrote before it came to read lies in the pipe.
void Worker::await_reading(std::string_view& request, const Deadline& deadline) {
  std::string_view begin = request.substr(0, request.size() - 1);
  while (!deadline.passed()) {
    if (!begin.empty()) write_some(begin);
    if (begin.empty() && child_->unread() == 0) break;
    struct pollfd watched[] = {{child_->output(), POLLIN, 0},
                               {error_ended_ ? -1 : child_->error(), POLLIN, 0}};
    ::poll(watched, 2, 1);
    if (watched[1].revents != 0) read_last_words();
    if (watched[0].revents != 0) break;  // it says something, or has ended
  }
  request.remove_prefix(request.size() - 1 - begin.size());
}

// What it wrote without having been asked would be taken for the beginning of the next answer.
void Worker::refuse_early_words() {
  char piece[256];
  const ssize_t count = ::read(child_->output(), piece, sizeof(piece));
  if (count <= 0) {
    output_ended_ = count == 0;
    return;
  }
  const std::string words = shown({piece, static_cast<std::size_t>(count)});
  fail(ErrorKind::bad_data,
       answered_ == 0
           ? fmt::format(
                 "it wrote before it was asked for rows, which gives wrong rows to data sets: '{}' (what "
                 "a program prints for people has to go to standard error)",
                 words)
           : fmt::format("after answer {} it wrote more than the rows it was asked for: '{}'", answered_,
                         words));
}

void Worker::refuse_last_rows() {
  const Deadline patience(kPatience_s);
  while (!output_ended_ && !patience.passed()) {
    struct pollfd watched[] = {{child_->output(), POLLIN, 0},
                               {error_ended_ ? -1 : child_->error(), POLLIN, 0}};
    if (::poll(watched, 2, patience.slice_ms()) <= 0) continue;
    if (watched[1].revents != 0) read_last_words();
    if (watched[0].revents != 0) refuse_early_words();
  }
}

void Worker::ask(std::string_view request, Answer& answer, double timeout_s) {
  const Deadline deadline(timeout_s);
  // Waiting costs a little each time; a program that writes too much shows it the first or the second time.
  if (answered_ < kWatchedAnswers && request.size() > 1) await_reading(request, deadline);
  refuse_early_words();
  if (output_ended_) report_end(deadline);
  write_some(request);
  while (!answer.complete()) {
    struct pollfd watched[] = {{child_->output(), POLLIN, 0},
                               {error_ended_ ? -1 : child_->error(), POLLIN, 0},
                               {request.empty() ? -1 : child_->input(), POLLOUT, 0}};
    if (deadline.passed()) give_up(deadline, timeout_s);
    const int ready = ::poll(watched, 3, deadline.slice_ms());
    if (ready < 0 && errno != EINTR) throw Error(ErrorKind::io, "waiting for a simulator failed");
    if (ready <= 0) continue;
    if (watched[1].revents != 0) read_last_words();
    if (watched[2].revents != 0) write_some(request);
    if (watched[0].revents != 0) read_answer(answer);
    if (output_ended_) report_end(deadline);
  }
  if (!request.empty()) fail(ErrorKind::bad_data, "it answered before it had read the whole request");
  ++answered_;
  refuse_early_words();
}

WorkerPool::~WorkerPool() {
  for (const auto& worker : idle_) worker->close();  // all at once, so that they end side by side
}

void WorkerPool::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& worker : idle_) worker->close();
  for (const auto& worker : idle_) worker->refuse_last_rows();
  idle_.clear();
}

std::size_t WorkerPool::idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return idle_.size();
}

const WorkerOptions& WorkerPool::options() {
  const std::lock_guard<std::mutex> lock(preparing_);
  if (failure_) std::rethrow_exception(failure_);
  if (options_) return *options_;
  try {
    options_ = std::make_unique<const WorkerOptions>(prepare_());
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  return *options_;
}

std::unique_ptr<Worker> WorkerPool::take() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Worker> worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  return std::make_unique<Worker>(options());
}

void WorkerPool::give_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(worker));
}

std::shared_ptr<WorkerPool> shared_pool(WorkerPools& pools, const std::string& key,
                                        std::function<WorkerOptions()> prepare) {
  for (const auto& [known, pool] : pools) {
    if (known == key) return pool;
  }
  return pools.emplace_back(key, std::make_shared<WorkerPool>(std::move(prepare))).second;
}

}  // namespace occam
