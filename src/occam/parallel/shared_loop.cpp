#include "occam/parallel/shared_loop.hpp"

#include <algorithm>

namespace occam {

void ByteWriter::put_text(const std::string& text) {
  put(static_cast<std::int64_t>(text.size()));
  put(std::span<const char>(text));
}

std::string ByteReader::take_text() {
  std::string text(static_cast<std::size_t>(take<std::int64_t>()), ' ');
  take(std::span<char>(text));
  return text;
}

namespace {

// Task `row` of those that a rank knows to be its own: there and back, since later tasks tend to be shorter.
std::int64_t own_task(const Communicator& ranks, std::int64_t row) {
  const int place = row % 2 == 0 ? ranks.rank() : ranks.size() - 1 - ranks.rank();
  return row * ranks.size() + place;
}

}  // namespace

void SharedLoop::begin(Communicator& ranks, std::int64_t tasks, bool handed_out) {
  ranks_ = &ranks;
  tasks_ = tasks;
  calls_ = tasks;
  done_.clear();
  error_.reset();
  dispenser_.reset();
  if (ranks.is_alone()) return;
  if (handed_out || ranks.hands_out_freely()) dispenser_ = ranks.hand_out(tasks);
  if (!dispenser_ && !ranks.is_dry_run()) calls_ = (tasks + ranks.size() - 1) / ranks.size();
}

std::int64_t SharedLoop::next(std::int64_t call) {
  if (dispenser_) return dispenser_->take();
  const std::lock_guard lock(mutex_);
  if (ranks_->is_dry_run()) return call;
  return error_ ? tasks_ : own_task(*ranks_, call);
}

void SharedLoop::note(std::int64_t task) {
  const std::lock_guard lock(mutex_);
  done_.push_back(task);
}

void SharedLoop::note(std::int64_t task, const Error& error) {
  if (dispenser_) dispenser_->stop();
  const std::lock_guard lock(mutex_);
  if (error_ && failed_ < task) return;
  error_ = error;
  failed_ = task;
}

void SharedLoop::finish(const Pack& pack, const Unpack& unpack) {
  if (ranks_->is_alone()) return;
  dispenser_.reset();
  own_.clear();
  own_.put(static_cast<std::int64_t>(error_ ? failed_ : -1));
  if (error_) {
    own_.put(static_cast<std::int64_t>(error_->kind()));
    own_.put_text(error_->what());
    own_.put_text(error_->detail());
  } else {
    for (const std::int64_t task : done_) {
      if (ranks_->is_dry_run() && task != own_task(*ranks_, task / ranks_->size())) continue;
      own_.put(task);
      pack(task, own_);
    }
  }
  ranks_->gather(own_.bytes(), all_, ends_);
  std::optional<Error> first;
  std::int64_t failed = tasks_;
  for (int r = 0; r < ranks_->size(); ++r) {
    const std::int64_t begin = r == 0 ? 0 : ends_[static_cast<std::size_t>(r) - 1];
    ByteReader from(std::span<const std::byte>(all_).subspan(
        static_cast<std::size_t>(begin),
        static_cast<std::size_t>(ends_[static_cast<std::size_t>(r)] - begin)));
    if (from.empty()) continue;
    const auto task = from.take<std::int64_t>();
    if (task >= 0) {
      const auto kind = static_cast<ErrorKind>(from.take<std::int64_t>());
      const std::string what = from.take_text();
      if (task < failed) first = Error(kind, what).with_detail(from.take_text());
      failed = std::min(failed, task);
      continue;
    }
    while (r != ranks_->rank() && !from.empty()) unpack(from.take<std::int64_t>(), from);
  }
  if (first) throw Error(*first);
}

}  // namespace occam
