#include "occam/simulate/own/worker_pool.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <poll.h>
#include <unistd.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLastWords = 4096;
constexpr std::size_t kPiece = 1 << 16;
// After its output has closed, how long a program may take to say its last words and end.
constexpr int kPatience_ms = 1000;

}  // namespace

void Worker::read_last_words() {
  char piece[4096];
  for (;;) {
    const ssize_t count = ::read(child_.error(), piece, sizeof(piece));
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

void Worker::fail(const std::string& what) {
  // What it has to say may still be on its way.
  struct pollfd watched {
    child_.error(), POLLIN, 0
  };
  if (output_ended_) {
    while (!error_ended_ && ::poll(&watched, 1, kPatience_ms) > 0) read_last_words();
  } else {
    read_last_words();
  }
  if (words_lost_) {
    last_words_.erase(0, last_words_.find('\n') + 1);  // a whole line at the front
    last_words_.insert(0, "...\n");
  }
  throw Error(ErrorKind::bad_data, what).with_detail(last_words_);
}

void Worker::write_some(std::string_view& request) {
  const ssize_t count = child_.write(request);
  if (count < 0) {
    request = {};  // it reads no more; that its output ends says why
    return;
  }
  request.remove_prefix(static_cast<std::size_t>(count));
}

void Worker::read_answer(AnswerReader& answer) {
  thread_local std::string piece(kPiece, '\0');
  const ssize_t count = ::read(child_.output(), piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    output_ended_ = true;
    return;
  }
  try {
    answer.add({piece.data(), static_cast<std::size_t>(count)});
  } catch (const Error& error) {
    fail(error.what());
  }
}

void Worker::ask(std::string_view request, AnswerReader& answer, double timeout_s) {
  const auto start = Clock::now();
  while (!answer.complete()) {
    struct pollfd watched[] = {{child_.output(), POLLIN, 0},
                               {error_ended_ ? -1 : child_.error(), POLLIN, 0},
                               {request.empty() ? -1 : child_.input(), POLLOUT, 0}};
    const double left_s = timeout_s - std::chrono::duration<double>(Clock::now() - start).count();
    if (left_s <= 0) {
      child_.kill();
      fail(fmt::format("it gave no answer within {} s (simulator_timeout_s)", timeout_s));
    }
    const int ready = ::poll(watched, 3, static_cast<int>(std::min(std::ceil(left_s * 1e3), 1e9)));
    if (ready < 0 && errno != EINTR) throw Error(ErrorKind::io, "waiting for a simulator failed");
    if (ready <= 0) continue;
    if (watched[1].revents != 0) read_last_words();
    if (watched[2].revents != 0) write_some(request);
    if (watched[0].revents != 0) read_answer(answer);
    if (output_ended_) {
      // It may have closed its output and yet go on; then it is ended.
      struct pollfd last {
        child_.error(), POLLIN, 0
      };
      while (!error_ended_ && ::poll(&last, 1, kPatience_ms) > 0) read_last_words();
      child_.kill();  // no-op for one that has ended: what it ended with is kept
      const std::string end = child_.wait();
      fail(fmt::format("it ended ({}) {}", end,
                       answered_ == 0
                           ? "before its first answer was complete"
                           : fmt::format("after {} answer{}", answered_, answered_ == 1 ? "" : "s")));
    }
  }
  ++answered_;
}

WorkerPool::~WorkerPool() {
  for (const auto& worker : idle_) worker->close();  // all at once, so that they end side by side
}

std::size_t WorkerPool::idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return idle_.size();
}

void WorkerPool::ask(std::string_view request, AnswerReader& answer, double timeout_s) {
  std::unique_ptr<Worker> worker;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (environment_) options_.environment = std::exchange(environment_, nullptr)();
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (worker == nullptr) worker = std::make_unique<Worker>(options_);
  worker->ask(request, answer, timeout_s);
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(worker));
}

}  // namespace occam
