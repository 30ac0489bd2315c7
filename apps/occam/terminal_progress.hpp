// Progress on standard error: a bar with rate and time left on a terminal, a line now and then otherwise,
// nothing but warnings when quiet. While one lives, SIGINT, SIGTERM and SIGUSR1 (with which batch systems
// warn of a time limit) set a flag that stop_requested() reports; a second signal, a quarter of a second
// later or more, ends the program at once with exit code 130.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <signal.h>
#include <string>
#include <string_view>

#include "occam/core/progress.hpp"

namespace occam {

class TerminalProgress : public ProgressSink {
 public:
  TerminalProgress(std::string unit, bool quiet);
  ~TerminalProgress() override;
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void update(std::int64_t done, std::int64_t total, std::string_view note) override;
  void update_before(std::int64_t done, std::int64_t total, std::string_view units) override;
  void say(std::string_view message) override;
  void warn(std::string_view message) override;  // also when quiet
  bool stop_requested() override;

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::int64_t done, std::int64_t total, std::string_view units, std::string_view note);
  std::string line(std::int64_t done, std::int64_t total, std::string_view units, std::string_view note,
                   std::size_t width) const;
  void clear();

  std::string unit_;
  bool quiet_;
  bool terminal_;       // a bar rather than lines
  bool drawn_ = false;  // a bar stands on the present line
  bool started_ = false;
  std::int64_t first_done_ = 0;  // a resumed run does not start at 0
  std::int64_t last_done_ = 0;
  std::string last_units_;
  Clock::time_point start_;
  Clock::time_point shown_;
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGUSR1};
  std::array<struct sigaction, kSignals.size()> old_;  // what was done at each before
};

}  // namespace occam
