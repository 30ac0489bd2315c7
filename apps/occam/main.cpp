// The program: one message on standard error and an exit code of sysexits.h for whatever goes wrong.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <new>
#include <poll.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/simd_targets.hpp"
#include "occam/io/file.hpp"
#include "occam/io/shown.hpp"
#include "occam/parallel/communicator.hpp"
#include "occam/parallel/mpi_communicator.hpp"
#include "verb.hpp"

namespace {

// A descriptor 0, 1 or 2 that was closed by the caller would be given to the next file opened, and messages
// would end up in it. Read-only, so that writing to a closed standard output still fails.
void occupy_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDONLY);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) ::close(opened);
}

// Whether the reader of a pipe on standard output has gone, as in `occam ... | head`.
bool reader_has_gone() {
  struct pollfd state {
    STDOUT_FILENO, 0, 0
  };
  return ::poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

// Below the message, line by line: what a compiler or a simulator of the user's own said.
void show_detail(const std::string& detail) {
  for (std::size_t at = 0; at < detail.size();) {
    const std::size_t end = std::min(detail.find('\n', at), detail.size());
    fmt::print(stderr, "  {}\n", occam::shown_text(detail.substr(at, end - at)));
    at = end + 1;
  }
}

// How the program ends: the exit code, and what there is to say.
struct Ending {
  int code = 0;
  std::string message = {}, detail = {};
};

void show(const Ending& ending, const std::string& who = "occam") {
  if (ending.message.empty()) return;
  // On one line, whatever an input file smuggled into the message.
  std::string message = ending.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "{}: {}\n", who, occam::shown_text(message));
  show_detail(ending.detail);
}

constexpr const char* kOutOfMemory = "out of memory; try fewer data sets at a time";

std::atomic<bool> memory_ran_out = false;

[[noreturn]] void note_want_of_memory() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

// Some functions of libraries allocate where no exception may leave them (nlohmann::json's destructor,
// toml++'s parser). The user gets the same message and exit code as elsewhere.
[[noreturn]] void end_for_want_of_memory() {
  if (!memory_ran_out) std::abort();
  std::fprintf(stderr, "occam: %s\n", kOutOfMemory);
  std::_Exit(70);
}

// Without memory a reader may take a good file for a bad one: streams swallow what is thrown at them.
bool judged_without_memory(const occam::Error& error) {
  return memory_ran_out &&
         (error.kind() == occam::ErrorKind::bad_config || error.kind() == occam::ErrorKind::bad_data);
}

Ending run(int argc, char** argv, occam::Communicator& ranks) {
  try {
    if (const char* const target = std::getenv("OCCAM_SIMD")) occam::use_simd_target(target);
    if (ranks.is_alone() && occam::started_processes() > 1) {
      throw occam::Error(occam::ErrorKind::usage,
                         "{} processes were started together, but this occam {}; start one",
                         occam::started_processes(),
                         OCCAM_HAS_MPI != 0 ? "was built for another MPI than the one that started them"
                                            : "was built without MPI");
    }
    occam::Verbs verbs(ranks);
    occam::register_verbs(verbs);
    return {verbs.execute(argc, argv)};
  } catch (const occam::Error& error) {
    const int code = exit_code(error.kind());
    if (error.kind() == occam::ErrorKind::io && reader_has_gone()) return {code};
    if (judged_without_memory(error)) return {70, fmt::format("{} ({})", kOutOfMemory, error.what())};
    if (error.kind() == occam::ErrorKind::internal)
      return {code, fmt::format("internal error: {}; please report it", error.what())};
    return {code, error.what(), error.detail()};
  } catch (const std::bad_alloc&) {
    return {70, kOutOfMemory};
  } catch (const std::exception& error) {
    return {70, fmt::format("internal error: {}; please report it", error.what())};
  }
}

// Where mpirun has started several of us, this one among the others. A plain run knows nothing of MPI.
std::unique_ptr<occam::Communicator> join_others() {
#if OCCAM_HAS_MPI
  if (occam::started_processes() > 1) return occam::join_mpi();
#endif
  return nullptr;
}

// What all ranks fail with is said by the first; what one fails with alone, by that one, and it ends the
// others.
int run_with_others(int argc, char** argv, occam::Communicator& ranks) {
  if (ranks.rank() > 0) occam::leave_writing_to_another();
  const Ending ending = run(argc, argv, ranks);
  if (ranks.rank() == 0) show(ending);
  const int code = ranks.leave(ending.code);
  if (code >= 0) return code;
  if (ranks.rank() > 0) show(ending, fmt::format("occam, rank {}", ranks.rank()));
  ranks.abort(ending.code);
  return ending.code;
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(note_want_of_memory);
  std::set_terminate(end_for_want_of_memory);
  occupy_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe is an error like any other
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that grows beyond what the system allows
  if (const auto ranks = join_others()) return run_with_others(argc, argv, *ranks);
  const Ending ending = run(argc, argv, occam::alone());
  show(ending);
  return ending.code;
}
