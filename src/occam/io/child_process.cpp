#include "occam/io/child_process.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "occam/core/error.hpp"

extern char** environ;  // NOLINT: POSIX

namespace occam {
namespace {

constexpr int kPatience_ms = 1000;
constexpr int kPipeBytes = 1 << 20;  // asked for; the system may give less

struct Pipe {
  int ends[2] = {-1, -1};  // to read from, to write to

  explicit Pipe(int flags = 0) {
    if (::pipe2(ends, O_CLOEXEC | flags) != 0) {
      throw Error(ErrorKind::io, "cannot make a pipe: {}", std::strerror(errno));
    }
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

// Linux kills a child when the thread that forked it ends, so all children are forked by one thread that
// never does. It is never destroyed either: it sleeps until the program exits.
class Forker {
 public:
  static Forker& instance() {
    static Forker& forker = *new Forker;
    return forker;
  }

  // Runs `work` on the thread and waits for it.
  void run(const std::function<void()>& work) {
    const std::lock_guard<std::mutex> one_at_a_time(callers_);
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  Forker() {
    std::thread([this] { loop(); }).detach();
  }

  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

// All a child needs between fork and exec, made ready before: nothing may be allocated there.
struct Launch {
  std::string program;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* folder = nullptr;
  int in = -1, out = -1, error = -1, report = -1;
  pid_t parent = 0;

  [[noreturn]] void in_child() const {
    ::setpgid(0, 0);
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // it died before it could be watched
#endif
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    if (::dup2(in, STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
        ::dup2(error, STDERR_FILENO) >= 0 && (folder == nullptr || ::chdir(folder) == 0)) {
      ::execve(program.c_str(), arguments.data(), environment.data());
    }
    const int reason = errno;
    [[maybe_unused]] const ssize_t told = ::write(report, &reason, sizeof(reason));
    ::_exit(127);
  }
};

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
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
  launch.parent = ::getpid();

  Pipe in, out, error, report;
  launch.in = in.ends[0];
  launch.out = out.ends[1];
  launch.error = error.ends[1];
  launch.report = report.ends[1];
  int reason = 0;
  Forker::instance().run([&] {
    id_ = ::fork();
    if (id_ == 0) launch.in_child();
    if (id_ < 0) reason = errno;
  });
  if (id_ > 0) {
    ::setpgid(id_, id_);  // whichever of the two comes first
    ::close(report.take(1));
    if (::read(report.ends[0], &reason, sizeof(reason)) != sizeof(reason)) reason = 0;
    if (reason != 0) ::waitpid(id_, nullptr, 0);
  }
  if (reason != 0) {
    ended_ = true;
    throw Error(ErrorKind::io, "cannot start '{}': {}", command[0], std::strerror(reason));
  }
  input_ = in.take(1);
  output_ = out.take(0);
  error_ = error.take(0);
  for (const int descriptor : {input_, output_, error_}) make_non_blocking(descriptor);
#ifdef F_SETPIPE_SZ
  ::fcntl(output_, F_SETPIPE_SZ, kPipeBytes);
  ::fcntl(input_, F_SETPIPE_SZ, kPipeBytes);
#endif
}

ChildProcess::~ChildProcess() {
  close_input();
  if (!ended_) {
    // Its output closes when it ends; what it still writes is read, so that it is not held up.
    char rest[4096];
    struct pollfd watched[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
    for (bool open = true; open && ::poll(watched, 2, kPatience_ms) > 0;) {
      for (struct pollfd& end : watched) {
        if (end.revents == 0) continue;
        const ssize_t count = ::read(end.fd, rest, sizeof(rest));
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) open = false;
      }
    }
  }
  kill();
  wait();
  for (const int descriptor : {output_, error_}) {
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

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void ChildProcess::kill() {
  // Not yet waited for, so the number cannot belong to another process.
  if (!ended_ && id_ > 0) ::kill(-id_, SIGKILL);
}

std::string ChildProcess::wait() {
  if (ended_ || id_ <= 0) return end_;
  int status = 0;
  // The leader may have ended while others of its group go on: they end here, while its number is still ours.
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ::kill(-id_, SIGKILL);
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end_ = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
  return end_;
}

std::pair<int, std::string> run_program(const ChildOptions& options, std::size_t limit) {
  ChildProcess child(options);
  child.close_input();
  std::string text;
  char piece[4096];
  struct pollfd watched[] = {{child.output(), POLLIN, 0}, {child.error(), POLLIN, 0}};
  for (int open = 2; open > 0;) {
    ::poll(watched, 2, -1);
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
