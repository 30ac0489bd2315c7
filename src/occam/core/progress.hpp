// How long work reports on itself: the library calls a ProgressSink, the program decides what to show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace occam {

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // `done` of `total` units (total 0: unknown); `note` is a short text such as the present loss.
  // Called from one thread at a time.
  virtual void update(std::int64_t done, std::int64_t total, std::string_view note) = 0;
  // The same of work that comes before and is counted in other units: "validation data sets".
  virtual void update_before(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view /*units*/) {}
  // A message worth keeping, such as a restart.
  virtual void say(std::string_view message) = 0;
  // What also a user who wants no messages has to know: something was left out, or is not to be trusted.
  virtual void warn(std::string_view message) { say(message); }
  // Polled between units of work; true asks the library to stop at the next safe point.
  virtual bool stop_requested() { return false; }
};

// Shows nothing.
class SilentProgress : public ProgressSink {
 public:
  void update(std::int64_t, std::int64_t, std::string_view) override {}
  void say(std::string_view) override {}
};

}  // namespace occam
