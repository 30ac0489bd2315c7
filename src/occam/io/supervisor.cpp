#include "occam/io/supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace occam {
namespace {

// Rounds of looking for descendants, and the pause between two: half a minute in all for those that take time
// to die (the system may be writing their memory to a disk).
constexpr int kRounds = 3000;
constexpr int kPause_ms = 10;

// A number in decimal digits; -1 for any other text.
long number_of(const char* text) {
  long number = 0;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c < '0' || *c > '9') return -1;
    number = 10 * number + (*c - '0');
  }
  return *text == '\0' ? -1 : number;
}

// Calls visit(number) for every entry of a folder of /proc whose name is one: process ids, open descriptors.
// opendir() would allocate.
template <class Visit>
void for_each_number(const char* folder, Visit&& visit) {
  struct Entry {
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  const int descriptor = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  alignas(Entry) char buffer[8192];
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, descriptor, buffer, sizeof(buffer));
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      const long number = number_of(entry->name);
      if (number >= 0 && number != descriptor) visit(number);
      at += entry->length;
    }
  }
  ::close(descriptor);
}

// The parent of a process, from /proc/ID/stat: "ID (name) state parent ...", where the name may hold
// anything.
pid_t parent_of(long id) {
  char path[32] = "/proc/";
  char digits[24];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + id % 10);
    id /= 10;
  } while (id > 0);
  char* end = path + 6;
  while (count > 0) *end++ = digits[--count];
  for (const char* c = "/stat"; *c != '\0'; ++c) *end++ = *c;
  *end = '\0';
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  char text[256];
  const ssize_t size = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  ssize_t at = size - 1;
  while (at >= 0 && text[at] != ')') --at;
  at += 4;  // ") S "
  pid_t parent = 0;
  for (; at < size && text[at] >= '0' && text[at] <= '9'; ++at) parent = 10 * parent + (text[at] - '0');
  return parent;
}

// Kills our children; theirs become ours by that, and are killed in the next round, until there is none.
void end_descendants() {
  const pid_t self = ::getpid();
  for (int round = 0; round < kRounds; ++round) {
    for_each_number("/proc", [&](long id) {
      // A child of ours that has not been waited for: its number belongs to no other process.
      if (parent_of(id) == self) ::kill(static_cast<pid_t>(id), SIGKILL);
    });
    for (;;) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == ECHILD) return;
      if (ended <= 0) break;
    }
    ::poll(nullptr, 0, round < 10 ? 1 : kPause_ms);
  }
}

// What belongs to the rest of the program: an end of a pipe left open here would never be seen to close.
void close_all_but(const Launch& launch) {
  for_each_number("/proc/self/fd", [&](long number) {
    const int descriptor = static_cast<int>(number);
    for (const int kept :
         {launch.in, launch.out, launch.error, launch.inherited, launch.report, launch.control}) {
      if (descriptor == kept) return;
    }
    ::close(descriptor);
  });
}

[[noreturn]] void become_program(Launch& launch, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // should someone kill the supervisor itself
  if (::getppid() != supervisor) ::_exit(127);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  bool ready = ::dup2(launch.in, STDIN_FILENO) >= 0 && ::dup2(launch.out, STDOUT_FILENO) >= 0 &&
               ::dup2(launch.error, STDERR_FILENO) >= 0;
  if (launch.report == Launch::kInherited) {
    launch.report = ::fcntl(launch.report, F_DUPFD_CLOEXEC, Launch::kInherited + 1);
  }
  if (launch.inherited >= 0) {
    ready = ready && ::dup2(launch.inherited, Launch::kInherited) >= 0 &&
            ::fcntl(Launch::kInherited, F_SETFD, 0) == 0;
  }
  if (ready && (launch.folder == nullptr || ::chdir(launch.folder) == 0)) {
    ::execve(launch.program.c_str(), launch.arguments.data(), launch.environment.data());
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(launch.report, &reason, sizeof(reason));
  ::_exit(127);
}

// Waits until the child ends, with its status, or until it is to be ended: false.
bool wait_for(pid_t child, int control, int signals, int& status) {
  for (;;) {
    struct pollfd watched[] = {{control, POLLIN, 0}, {signals, POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0) continue;  // interrupted; all signals are blocked, so only by a debugger
    if (watched[1].revents != 0) {
      struct signalfd_siginfo info;
      [[maybe_unused]] const ssize_t taken = ::read(signals, &info, sizeof(info));
      // Also of adopted processes, so that they leave no zombies.
      for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        if (ended == child) return true;
      }
    }
    if (watched[0].revents != 0) return false;
  }
}

}  // namespace

void supervise(Launch& launch) {
  ::setpgid(0, 0);  // Ctrl-C on the terminal is not for us
  ::prctl(PR_SET_NAME, "occam-keeper");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, as some callers have it, there would be no status
  close_all_but(launch);
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  const int signals = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become_program(launch, self);
  if (child < 0) {
    const int reason = errno;
    [[maybe_unused]] const ssize_t told = ::write(launch.report, &reason, sizeof(reason));
    ::_exit(127);
  }
  for (const int descriptor : {launch.in, launch.out, launch.error, launch.inherited, launch.report}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  int status = 0;
  if (wait_for(child, launch.control, signals, status)) {
    [[maybe_unused]] const ssize_t told = ::send(launch.control, &status, sizeof(status), MSG_NOSIGNAL);
  } else {
    // Its whole group at once, before it can start more; then whatever else there is.
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    [[maybe_unused]] const ssize_t told = ::send(launch.control, &status, sizeof(status), MSG_NOSIGNAL);
  }
  end_descendants();
  ::_exit(0);
}

}  // namespace occam
