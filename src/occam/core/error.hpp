// The one exception type of the library. A message says what was wrong, the offending value, where, what was
// expected and what to try next; the kind decides the exit code of the program (sysexits.h numbers).
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace occam {

enum class ErrorKind {
  usage,        // 64: the command line or a call's arguments
  bad_data,     // 65: observed or simulated data
  no_input,     // 66: an input that does not exist
  internal,     // 70: a broken promise inside the library
  io,           // 74: reading or writing failed
  bad_config,   // 78: a problem file or a network file
  interrupted,  // 130: the user asked to stop
};

int exit_code(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  template <class First, class... Rest>
  Error(ErrorKind kind, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Error(kind, fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  ErrorKind kind() const { return kind_; }

  // What another program (a compiler, a simulator of the user's own) said about it, line by line; shown below
  // the message as it is. Empty where there is nothing.
  const std::string& detail() const { return detail_; }
  Error& with_detail(std::string text) {
    detail_ = std::move(text);
    return *this;
  }

 private:
  ErrorKind kind_;
  std::string detail_;
};

}  // namespace occam
