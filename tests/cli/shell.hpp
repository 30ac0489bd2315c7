// Runs command lines the way a user does: in a shell, in a fresh folder, with the built program first in the
// PATH; keeps what came out and the exit code. Commands may use two functions:
//   await CONDITION   waits until the command CONDITION succeeds; gives up, and says so, after a minute
//                     (after $AWAIT tenths of a second)
//   heeds_term PID    succeeds once the process has a handler for SIGTERM
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>

#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"

namespace occam::testing_support {

struct Outcome {
  int code = -1;  // exit code; 128 + signal when killed, as shells have it
  std::string out;
  std::string err;
};

class Shell {
 public:
  // Runs `command` with /bin/sh in the folder. Standard input is empty.
  Outcome operator()(const std::string& command) const {
    const std::string script = capture_ / "script";
    const std::string program = std::filesystem::path(OCCAM_BINARY).parent_path().string();
    // What is compiled goes into a cache of its own, unless the test has set one.
    write_file_atomic(script, "PATH='" + program + "':$PATH\nexport XDG_CACHE_HOME=\"${XDG_CACHE_HOME:-" +
                                  capture_.path() + "/cache}\"\n" + kFunctions + "cd '" + folder_.path() +
                                  "'\n" + command + "\n");
    const std::string line =
        "/bin/sh '" + script + "' >'" + capture_.path() + "/out' 2>'" + capture_.path() + "/err' </dev/null";
    const int status = std::system(line.c_str());
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = read_file(capture_ / "out");
    outcome.err = read_file(capture_ / "err");
    return outcome;
  }

  const TemporaryFolder& folder() const { return folder_; }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(folder_ / name, text);
  }
  std::string read(const std::string& name) const { return read_file(folder_ / name); }

 private:
  // SIGTERM is bit 14 of the mask of signals that a process catches.
  static constexpr const char* kFunctions = R"(
await() {
  tries=${AWAIT:-600}
  until eval "$1"; do
    tries=$((tries - 1))
    if [ $tries -le 0 ]; then echo "gave up waiting for: $1" >&2; return 1; fi
    sleep 0.1
  done
}
heeds_term() { grep -q '^SigCgt:.*[4-7c-f]...$' /proc/$1/status; }
)";

  TemporaryFolder folder_;
  TemporaryFolder capture_;
};

}  // namespace occam::testing_support
