// Another program run beside this one, with pipes to its standard input, output and error. A small process of
// ours watches over it (supervisor.hpp): the program and everything that it starts ends with the object, and
// with this program, however that ends. No wait here is without a limit.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "occam/io/deadline.hpp"

namespace occam {

struct ChildOptions {
  std::vector<std::string> command;  // the program (searched in PATH unless it holds a '/') and its arguments
  std::string folder;                // it starts here; a program with a '/' is found from here; empty: here
  std::vector<std::pair<std::string, std::string>> environment;  // set in addition
  int inherited = -1;  // a descriptor that the program finds as number 3, or none
};

// The path behind a program's name, as a shell would find it from `folder`; empty where there is none.
std::string find_program(const std::string& name, const std::string& folder);

class ChildProcess {
 public:
  // Error(no_input) when there is no such program, Error(io) when it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  // Closes its input and gives it a second to end by itself; then kills it and all that it started.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Descriptors of our ends of the pipes; reading and writing never block.
  int input() const { return input_; }
  int output() const { return output_; }
  int error() const { return error_; }

  // Writes to its input what fits and returns how much; 0 when it does not read at present, -1 when it never
  // will again. No signal is raised.
  ssize_t write(std::string_view bytes) const;
  // Bytes written to its input that it has not taken yet; 0 where the system cannot tell.
  int unread() const;
  void close_input();
  // Has it killed, and all that it started, if it has not ended.
  void kill();
  // Waits for its end, but not beyond the deadline; whether it has come.
  bool ends_before(const Deadline& deadline) const;
  // Waits for the end of it and of all that it started: "exit code 3", "signal 11 (Segmentation fault)". To
  // be called when it is known to end; should that take longer than some seconds, it says so and gives up.
  std::string wait();
  int exit_code() const { return exit_code_; }  // after wait(); 128 + signal where killed, as shells have it

 private:
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  int control_ = -1;
  pid_t supervisor_ = -1;
  bool killed_ = false;
  bool ended_ = false;  // waited for
  int exit_code_ = -1;
  std::string end_;
};

// Runs a program to its end with nothing to read: its exit code (128 + signal where killed) and what it wrote
// to both outputs, at most `limit` bytes of it. Fails as ChildProcess does; Error(bad_config) when it needs
// longer than `timeout_s`, with what it wrote until then, and Error(interrupted) when the user asks to stop.
std::pair<int, std::string> run_program(const ChildOptions& options, double timeout_s,
                                        std::size_t limit = 1 << 20);

}  // namespace occam
