// Linked from the answering part alone: what it needs beyond that part is an error of the linker. Run, it
// shows that nothing of the rest has crept in.
#include <cstdio>

#include "occam/page/session.hpp"

int main() {
  occam::PageSession session;
  try {
    session.open_network("none", "none");
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 0;
  }
  return 1;
}
