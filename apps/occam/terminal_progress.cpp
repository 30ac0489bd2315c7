#include "terminal_progress.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "occam/core/stop.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

using namespace std::chrono_literals;

// `timeout` and batch systems signal a process and its group, which arrives as two signals: only what comes
// after a pause is a second wish.
constexpr double kPause_s = 0.25;

extern "C" void note_stop_signal(int) {
  if (stop_requested() && seconds_since_stop() > kPause_s) ::_exit(130);
  request_stop();
}

// Straight to the descriptor: nothing of it may be lost or delayed in a buffer. Failures are ignored:
// progress that nobody can see is no reason to end the work.
void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_width() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string duration_text(double seconds) {
  const auto s = static_cast<std::int64_t>(std::min(std::ceil(seconds), 1e9));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

// Three or more digits: "1.23", "12.3", "123", "12345".
std::string rate_text(double rate) {
  return rate < 10    ? fmt::format("{:.2f}", rate)
         : rate < 100 ? fmt::format("{:.1f}", rate)
                      : fmt::format("{:.0f}", rate);
}

std::string bar(double fraction, std::size_t cells) {
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(cells));
  return fmt::format("[{:#>{}}{:.>{}}]", "", full, "", cells - full);
}

}  // namespace

TerminalProgress::TerminalProgress(std::string unit, bool quiet)
    : unit_(std::move(unit)), quiet_(quiet), terminal_(is_terminal()), start_(Clock::now()), shown_(start_) {
  struct sigaction action {};
  action.sa_handler = note_stop_signal;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &old_[i]);
    // Started with a signal ignored (nohup, a background job of a script): leave it so.
    if (old_[i].sa_handler == SIG_IGN) ::sigaction(kSignals[i], &old_[i], nullptr);
  }
}

TerminalProgress::~TerminalProgress() {
  clear();
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
}

void TerminalProgress::update(std::int64_t done, std::int64_t total, std::string_view note) {
  show(done, total, unit_, note);
}

void TerminalProgress::update_before(std::int64_t done, std::int64_t total, std::string_view units) {
  show(done, total, units, "");
}

void TerminalProgress::show(std::int64_t done, std::int64_t total, std::string_view units,
                            std::string_view note) {
  const auto now = Clock::now();
  // Work that begins anew, such as the next network of a study, has a rate of its own.
  const bool anew = done < last_done_ || units != last_units_;
  last_done_ = done;
  if (anew) last_units_ = units;
  if (!started_ || anew) {
    started_ = true;
    first_done_ = done;
    start_ = shown_ = now;
    return;
  }
  if (quiet_ || now - shown_ < (terminal_ ? 100ms : 10s)) return;
  shown_ = now;
  if (terminal_) {
    put("\r\033[K" + line(done, total, units, note, terminal_width() - 1));
    drawn_ = true;
  } else {
    put(line(done, total, units, note, 200) + "\n");
  }
}

void TerminalProgress::say(std::string_view message) {
  if (!quiet_) warn(message);
}

void TerminalProgress::warn(std::string_view message) {
  clear();
  put(fmt::format("occam: {}\n", shown_text(message)));
}

bool TerminalProgress::stop_requested() {
  return occam::stop_requested();
}

std::string TerminalProgress::line(std::int64_t done, std::int64_t total, std::string_view units,
                                   std::string_view note, std::size_t width) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - first_done_) / seconds : 0.0;
  std::string text;
  if (total > 0) {
    const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    if (terminal_) text += bar(fraction, 24) + " ";
    text += fmt::format("{:.0f} %  ", 100.0 * fraction);
  }
  text += total > 0 ? fmt::format("{} of {} {}", done, total, units) : fmt::format("{} {}", done, units);
  text += fmt::format("  {}/s", rate_text(rate));
  if (total > 0 && rate > 0) {
    text += fmt::format("  {} left", duration_text(static_cast<double>(total - done) / rate));
  }
  if (!note.empty()) text += fmt::format("  {}", shown_text(note));
  if (text.size() > width) text.resize(width);
  return text;
}

void TerminalProgress::clear() {
  if (drawn_) put("\r\033[K");
  drawn_ = false;
}

}  // namespace occam
