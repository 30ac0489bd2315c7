// The small process between this program and each program that it starts. It starts the child, tells how it
// ended, and ends everything that the child has started: when the child ends, when it is told to, and when
// this program is gone, however it went (even by kill -9).
//
// As a "subreaper" it inherits every descendant whose parent has died, also those that left the process group
// or the session (daemons), so none is lost from sight. It is a fork of a program that may have many threads:
// it makes system calls and nothing else, and allocates nothing.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace occam {

// All that starting a child needs, made ready before the fork.
struct Launch {
  static constexpr int kInherited = 3;  // the number that the child knows `inherited` by

  std::string program;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* folder = nullptr;
  int in = -1, out = -1, error = -1;
  int inherited = -1;  // one more descriptor, or none
  int report = -1;     // closed when the program runs; gets errno when it cannot be started
  int control = -1;    // gets the status of the child (an int, as waitpid has it); its end means: end all
};

// What the forked process does; it does not return.
[[noreturn]] void supervise(Launch& launch);

}  // namespace occam
