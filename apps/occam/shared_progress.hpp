// Progress of work that several ranks do together: the first shows it, and all of them stop where any was
// asked to. Ranks poll it at the same places, as they do everything else.
#pragma once

#include <string>

#include "occam/parallel/communicator.hpp"
#include "terminal_progress.hpp"

namespace occam {

class SharedProgress final : public TerminalProgress {
 public:
  SharedProgress(std::string unit, bool quiet, Communicator& ranks)
      : TerminalProgress(std::move(unit), quiet), ranks_(ranks) {}

  void update(std::int64_t done, std::int64_t total, std::string_view note) override {
    if (ranks_.rank() == 0) TerminalProgress::update(done, total, note);
  }
  void update_before(std::int64_t done, std::int64_t total, std::string_view units) override {
    if (ranks_.rank() == 0) TerminalProgress::update_before(done, total, units);
  }
  void warn(std::string_view message) override {
    if (ranks_.rank() == 0) TerminalProgress::warn(message);
  }
  bool stop_requested() override { return ranks_.any(TerminalProgress::stop_requested()); }

 private:
  Communicator& ranks_;
};

}  // namespace occam
