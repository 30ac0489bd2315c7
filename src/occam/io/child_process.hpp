// Another program run beside this one, with pipes to its standard input, output and error. It leads a process
// group of its own, which ends with the object; if this program dies first, however it does, the system kills
// the child (Linux), and whatever the child started sees the end of its input.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace occam {

struct ChildOptions {
  std::vector<std::string> command;  // the program (searched in PATH unless it holds a '/') and its arguments
  std::string folder;                // it starts here; a program with a '/' is found from here; empty: here
  std::vector<std::pair<std::string, std::string>> environment;  // set in addition
};

// The path behind a program's name, as a shell would find it from `folder`; empty where there is none.
std::string find_program(const std::string& name, const std::string& folder);

class ChildProcess {
 public:
  // Error(no_input) when there is no such program, Error(io) when it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  // Closes its input and gives it a second to end by itself; then kills its whole process group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Descriptors of our ends of the pipes; reading and writing never block.
  int input() const { return input_; }
  int output() const { return output_; }
  int error() const { return error_; }
  pid_t id() const { return id_; }

  // Writes to its input what fits and returns how much; 0 when it does not read at present, -1 when it never
  // will again. No signal is raised.
  ssize_t write(std::string_view bytes) const;
  void close_input();
  // Kills its group at once, if it has not ended.
  void kill();
  // Waits for its end: "exit code 3", "signal 11 (Segmentation fault)". To be called when it is known to end.
  std::string wait();
  int exit_code() const { return exit_code_; }  // after wait(); 128 + signal where killed, as shells have it

 private:
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  pid_t id_ = -1;
  bool ended_ = false;
  int exit_code_ = -1;
  std::string end_;
};

// Runs a program to its end with nothing to read: its exit code (128 + signal where killed) and what it wrote
// to both outputs, at most `limit` bytes of it. Fails as ChildProcess does.
std::pair<int, std::string> run_program(const ChildOptions& options, std::size_t limit = 1 << 20);

}  // namespace occam
