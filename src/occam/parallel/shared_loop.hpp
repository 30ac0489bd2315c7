// A loop whose tasks are shared out among ranks, and its results gathered: afterwards every rank has those of
// all. Within a rank the caller runs it on whatever threads it likes, beside other work. A rank that is alone
// pays nothing for it.
//
//   loop.begin(ranks, tasks, handed_out);
//   pool.for_each(loop.calls(), [&](std::int64_t call, int) { loop.run(call, [&](std::int64_t task) { ... });
//   }); loop.finish(pack, unpack);
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "occam/core/error.hpp"
#include "occam/parallel/communicator.hpp"

namespace occam {

// Values one behind the other, as bytes for other ranks, which run the same program.
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    put(std::span<const T>(&value, 1));
  }
  template <class T>
  void put(std::span<const T> values) {
    if (values.empty()) return;
    const std::size_t before = bytes_.size();
    bytes_.resize(before + values.size_bytes());
    std::memcpy(bytes_.data() + before, values.data(), values.size_bytes());
  }
  void put_text(const std::string& text);
  void clear() { bytes_.clear(); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  template <class T>
  T take() {
    T value;
    take(std::span<T>(&value, 1));
    return value;
  }
  template <class T>
  void take(std::span<T> values) {
    if (values.empty()) return;
    std::memcpy(values.data(), left_.data(), values.size_bytes());
    left_ = left_.subspan(values.size_bytes());
  }
  std::string take_text();

 private:
  std::span<const std::byte> left_;
};

class SharedLoop {
 public:
  SharedLoop() = default;
  // A copy begins with nothing: what is under way stays where it is.
  SharedLoop(const SharedLoop&) {}
  SharedLoop& operator=(const SharedLoop&) { return *this; }

  using Pack = std::function<void(std::int64_t task, ByteWriter& to)>;
  using Unpack = std::function<void(std::int64_t task, ByteReader& from)>;

  // By all ranks with the same number of tasks. `handed_out`: one by one as ranks become free, for tasks that
  // take long; otherwise that is done where it costs nothing, and elsewhere every rank knows its own from the
  // start.
  void begin(Communicator& ranks, std::int64_t tasks, bool handed_out);

  // So many calls of run() do what falls to this rank.
  std::int64_t calls() const { return calls_; }
  // body(task), or nothing where nothing is left. An Error is kept for finish(), unless the rank is alone.
  template <class Body>
  void run(std::int64_t call, Body&& body) {
    if (ranks_->is_alone()) return body(call);
    const std::int64_t task = next(call);
    if (task >= tasks_) return;
    try {
      body(task);
      note(task);
    } catch (const Error& error) {
      note(task, error);
    }
  }

  // When all calls are done: `pack` for every task done here, `unpack` for those done elsewhere. The Error of
  // the lowest task that failed on any rank is thrown, on all of them.
  void finish(const Pack& pack, const Unpack& unpack);

 private:
  std::int64_t next(std::int64_t call);
  void note(std::int64_t task);
  void note(std::int64_t task, const Error& error);

  Communicator* ranks_ = &alone();
  std::int64_t tasks_ = 0, calls_ = 0;
  std::unique_ptr<Dispenser> dispenser_;
  std::mutex mutex_;
  std::vector<std::int64_t> done_;
  std::optional<Error> error_;
  std::int64_t failed_ = 0;  // the task of the error
  ByteWriter own_;
  std::vector<std::byte> all_;
  std::vector<std::int64_t> ends_;
};

}  // namespace occam
