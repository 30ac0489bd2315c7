#include "occam/io/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "occam/core/error.hpp"
#include "occam/io/supervisor.hpp"

extern char** environ;  // NOLINT: POSIX

namespace occam {
namespace {

constexpr double kEndAlone_s = 1.0;  // for a program to end by itself
constexpr double kStart_s = 60.0;    // for the system to start one
constexpr double kEnd_s = 5.0;       // for the system to end one that was killed
constexpr int kPipeBytes = 1 << 20;  // asked for; the system may give less

struct Pipe {
  int ends[2] = {-1, -1};  // to read from, to write to

  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail();
  }
  // Both ends to read from and to write to.
  struct TwoWay {};
  explicit Pipe(TwoWay) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail();
  }
  [[noreturn]] static void fail() {
    throw Error(ErrorKind::io, "cannot make a pipe: {}", std::strerror(errno));
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int take(int end) { return std::exchange(ends[end], -1); }
};

void make_non_blocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

bool ready_to_read(int descriptor, const Deadline& deadline) {
  struct pollfd watched {
    descriptor, POLLIN, 0
  };
  return ::poll(&watched, 1, deadline.slice_ms()) > 0;
}

// What mpirun tells the processes it starts. A program that we start is none of them: if it uses MPI itself,
// it has to find itself alone, or to start processes of its own. Settings of the user's (OMPI_MCA_btl) stay.
bool is_place_in_mpi_run(std::string_view variable) {
  for (const std::string_view name :
       {"PMIX_", "PMI_", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE=", "OMPI_APP_CTX_",
        "OMPI_FIRST_RANKS=", "OMPI_NUM_APP_CTX=", "OMPI_MCA_orte_", "OMPI_MCA_ess",
        "OMPI_MCA_initial_wdir=", "OMPI_MCA_shmem_RUNTIME"}) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (is_place_in_mpi_run(text)) continue;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced |= text.starts_with(fmt::format("{}=", name));
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& folder) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) {
    const std::string path = name[0] == '/' || folder.empty()
                                 ? std::filesystem::absolute(name).string()
                                 : (std::filesystem::absolute(folder) / name).string();
    return is_program(path) ? path : "";
  }
  const char* variable = std::getenv("PATH");
  const std::string_view all = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t colon = std::min(all.find(':', at), all.size());
    const std::string path = fmt::format("{}/{}", all.substr(at, colon - at), name);
    if (colon > at && is_program(path)) return std::filesystem::absolute(path).string();
    at = colon + 1;
  }
  return "";
}

ChildProcess::ChildProcess(const ChildOptions& options) {
  std::vector<std::string> command = options.command;
  Launch launch;
  launch.program = find_program(command.at(0), options.folder);
  if (launch.program.empty()) {
    throw Error(ErrorKind::no_input, "there is no program '{}'{}", command[0],
                command[0].find('/') == std::string::npos ? " in the PATH" : "");
  }
  std::vector<std::string> environment = environment_with(options.environment);
  launch.arguments = pointers(command);
  launch.environment = pointers(environment);
  if (!options.folder.empty()) launch.folder = options.folder.c_str();

  Pipe in, out, error, report, control(Pipe::TwoWay{});
  launch.in = in.ends[0];
  launch.out = out.ends[1];
  launch.error = error.ends[1];
  launch.inherited = options.inherited;
  launch.report = report.ends[1];
  launch.control = control.ends[1];
  supervisor_ = ::fork();
  if (supervisor_ == 0) supervise(launch);
  int reason = supervisor_ < 0 ? errno : 0;
  control_ = control.take(0);
  if (reason == 0) {
    for (Pipe* pipe : {&report, &control}) ::close(pipe->take(1));
    const Deadline deadline(kStart_s);
    while (!deadline.passed() && !ready_to_read(report.ends[0], deadline)) {
    }
    make_non_blocking(report.ends[0]);
    const ssize_t count = ::read(report.ends[0], &reason, sizeof(reason));
    if (count < 0) reason = deadline.stopped() ? EINTR : ETIMEDOUT;
  }
  if (reason != 0) {
    kill();
    wait();
    ::close(control_);
    if (reason == EINTR) throw Error(ErrorKind::interrupted, "stopped before '{}' was started", command[0]);
    throw Error(ErrorKind::io, "cannot start '{}': {}", command[0], std::strerror(reason));
  }
  input_ = in.take(1);
  output_ = out.take(0);
  error_ = error.take(0);
  for (const int descriptor : {input_, output_, error_, control_}) make_non_blocking(descriptor);
#ifdef F_SETPIPE_SZ
  ::fcntl(output_, F_SETPIPE_SZ, kPipeBytes);
  ::fcntl(input_, F_SETPIPE_SZ, kPipeBytes);
#endif
}

ChildProcess::~ChildProcess() {
  close_input();
  // It is given a moment to end by itself; what it still writes is read, so that it is not held up.
  char rest[4096];
  struct pollfd watched[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}, {control_, POLLIN, 0}};
  for (const Deadline deadline(killed_ || ended_ ? 0.0 : kEndAlone_s); !deadline.passed();) {
    if (::poll(watched, 3, deadline.slice_ms()) <= 0) continue;
    if (watched[2].revents != 0) break;  // it has ended
    for (struct pollfd* const at : {&watched[0], &watched[1]}) {
      struct pollfd& end = *at;
      if (end.revents == 0) continue;
      const ssize_t count = ::read(end.fd, rest, sizeof(rest));
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) end.fd = -1;
    }
  }
  kill();
  wait();
  for (const int descriptor : {output_, error_, control_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

ssize_t ChildProcess::write(std::string_view bytes) const {
  // A pipe without a reader raises SIGPIPE, which by default ends the program: held back, then taken away.
  sigset_t pipe_signal, before;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t count = ::write(input_, bytes.data(), bytes.size());
  const int reason = errno;
  if (count < 0 && reason == EPIPE) {
    const struct timespec at_once {};
    ::sigtimedwait(&pipe_signal, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (count >= 0) return count;
  return reason == EAGAIN || reason == EINTR ? 0 : -1;
}

int ChildProcess::unread() const {
  int bytes = 0;
  return input_ >= 0 && ::ioctl(input_, FIONREAD, &bytes) == 0 ? bytes : 0;
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

bool ChildProcess::ends_before(const Deadline& deadline) const {
  for (;;) {
    if (ready_to_read(control_, deadline)) return true;
    if (deadline.passed()) return false;
  }
}

void ChildProcess::kill() {
  if (!killed_ && control_ >= 0) ::shutdown(control_, SHUT_WR);
  killed_ = true;
}

// The supervisor writes the status, ends whatever is left, and then closes its end.
std::string ChildProcess::wait() {
  if (ended_ || supervisor_ <= 0) return end_;
  ended_ = true;
  end_ = "it does not end, though it was killed";
  int status = 0;
  // By the clock alone: a wish to stop has brought us here, perhaps.
  const auto start = std::chrono::steady_clock::now();
  const auto left_s = [&] {
    return kEnd_s - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  bool known = false;
  bool gone = false;
  while (!gone && left_s() > 0) {
    struct pollfd watched {
      control_, POLLIN, 0
    };
    if (::poll(&watched, 1, static_cast<int>(1e3 * left_s()) + 1) <= 0) continue;
    int told = 0;
    const ssize_t count = ::recv(control_, &told, sizeof(told), MSG_DONTWAIT);
    if (count == sizeof(told)) {
      status = told;
      known = true;
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      gone = true;
    }
  }
  if (gone) {
    while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!known) end_ = "ended with the process that watched over it";
  }
  if (!known) return end_;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end_ = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
  return end_;
}

std::pair<int, std::string> run_program(const ChildOptions& options, double timeout_s, std::size_t limit) {
  ChildProcess child(options);
  child.close_input();
  std::string text;
  char piece[4096];
  struct pollfd watched[] = {{child.output(), POLLIN, 0}, {child.error(), POLLIN, 0}};
  const Deadline deadline(timeout_s);
  for (int open = 2; open > 0;) {
    if (deadline.passed()) {
      child.kill();
      if (deadline.stopped())
        throw Error(ErrorKind::interrupted, "stopped while '{}' ran", options.command[0]);
      throw Error(ErrorKind::bad_config, "'{}' did not end within {} s", options.command[0], timeout_s)
          .with_detail(text);
    }
    if (::poll(watched, 2, deadline.slice_ms()) <= 0) continue;
    for (struct pollfd& end : watched) {
      if (end.fd < 0 || end.revents == 0) continue;
      const ssize_t count = ::read(end.fd, piece, sizeof(piece));
      if (count > 0) {
        text.append(piece, std::min(static_cast<std::size_t>(count), limit - std::min(limit, text.size())));
      } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        end.fd = -1;
        --open;
      }
    }
  }
  child.wait();
  return {child.exit_code(), text};
}

}  // namespace occam
