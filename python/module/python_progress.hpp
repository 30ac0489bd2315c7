// Progress of the library as calls of a Python object: update(done, total, note), say(text), warn(text).
// Keeps Ctrl-C: the library is asked to stop, and KeyboardInterrupt follows once it has.
#pragma once

#include <chrono>
#include <nanobind/nanobind.h>
#include <string>

#include "occam/core/progress.hpp"
#include "python_text.hpp"

namespace occam {

class PythonProgress final : public ProgressSink {
 public:
  explicit PythonProgress(nanobind::object sink) : sink_(std::move(sink)) {}

  void update(std::int64_t done, std::int64_t total, std::string_view note) override {
    if (!due(shown_) && done != total) return;
    const nanobind::gil_scoped_acquire lock;
    call("update", done, total, python_text(note));
  }
  void say(std::string_view message) override {
    const nanobind::gil_scoped_acquire lock;
    call("say", python_text(message));
  }
  void warn(std::string_view message) override {
    const nanobind::gil_scoped_acquire lock;
    call("warn", python_text(message));
  }
  bool stop_requested() override {
    if (!stopped_ && due(asked_)) {
      const nanobind::gil_scoped_acquire lock;
      stopped_ = PyErr_CheckSignals() != 0;
      if (stopped_) take_exception();
    }
    return stopped_;
  }

  // Raises what made the run stop (KeyboardInterrupt, or an exception of a sink), with a note. Needs the
  // interpreter's lock.
  void raise_again(const std::string& message) {
    if (!exception_.is_valid()) return;
    if (nanobind::hasattr(exception_, "add_note")) exception_.attr("add_note")(python_text(message));
    PyErr_SetObject(exception_.type().ptr(), exception_.ptr());
    exception_ = nanobind::object();
    throw nanobind::python_error();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Ten times a second is enough for people.
  static bool due(Clock::time_point& last) {
    const auto now = Clock::now();
    if (now - last < std::chrono::milliseconds(100)) return false;
    last = now;
    return true;
  }

  template <class... Values>
  void call(const char* method, Values... values) {
    try {
      sink_.attr(method)(values...);
    } catch (const nanobind::python_error& error) {
      exception_ = nanobind::borrow(error.value());
      stopped_ = true;
    }
  }

  void take_exception() {
    const nanobind::python_error error;  // takes what is set
    exception_ = nanobind::borrow(error.value());
  }

  nanobind::object sink_, exception_;
  Clock::time_point shown_{}, asked_{};
  bool stopped_ = false;
};

}  // namespace occam
