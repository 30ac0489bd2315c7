#include "occam/io/temporary.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 200;  // of the target's, in that of its temporaries

std::string folder_beside(const std::string& target) {
  const std::string folder = fs::path(target).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string hidden_name(const std::string& target) {
  return fmt::format(".{}", fs::path(target).filename().string().substr(0, kLongestName));
}

bool is_temporary_of(const std::string& name, const std::string& hidden) {
  constexpr std::string_view kEnding = ".tmp";
  if (!name.starts_with(hidden + ".") || !name.ends_with(kEnding)) return false;
  if (name.size() < hidden.size() + 1 + kEnding.size()) return false;
  const std::string middle = name.substr(hidden.size() + 1, name.size() - hidden.size() - 1 - kEnding.size());
  const auto dash = middle.find('-');
  return dash != std::string::npos && dash > 0 && dash + 1 < middle.size() &&
         middle.find_first_not_of("0123456789-") == std::string::npos;
}

// Whether the lock is ours now. False also where another holds it.
bool lock(int descriptor) {
  int status = 0;
  do {
    status = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  return status == 0;
}

// Whether the path still leads to what the descriptor has open.
bool is_at(int descriptor, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Someone else has it, or has removed it: a run that cleans up was faster than our lock.
bool lost(int descriptor, const std::string& path) {
  return (!lock(descriptor) && errno == EWOULDBLOCK) || !is_at(descriptor, path);
}

// Not by fs::directory_iterator: it allocates where no exception may leave it.
void remove_strays(const std::string& target) {
  const std::string hidden = hidden_name(target);
  const std::string folder = folder_beside(target);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (!is_temporary_of(entry->d_name, hidden)) continue;
    const std::string path = folder + "/" + entry->d_name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    std::error_code failed;
    if (lock(descriptor) && is_at(descriptor, path)) fs::remove_all(path, failed);
    ::close(descriptor);
  }
}

std::string next_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}/{}.{}-{}.tmp", folder_beside(target), hidden_name(target), ::getpid(), counter++);
}

}  // namespace

int open_temporary(const std::string& target, std::string& path) {
  remove_strays(target);
  for (;;) {
    path = next_name(target);
    // Not mkstemp: it makes files of mode 0600 whatever the umask says.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (descriptor < 0) return -1;
    if (!lost(descriptor, path)) return descriptor;
    ::close(descriptor);
  }
}

TemporaryFolder::TemporaryFolder(const std::string& target) {
  remove_strays(target);
  while (descriptor_ < 0) {
    path_ = next_name(target);
    if (::mkdir(path_.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      throw Error(ErrorKind::io, "cannot make the folder '{}': {}", path_, std::strerror(errno));
    }
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0 && errno == ENOENT) continue;
    if (descriptor_ < 0)
      throw Error(ErrorKind::io, "cannot open the folder '{}': {}", path_, std::strerror(errno));
    if (lost(descriptor_, path_)) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(descriptor_);
}

OutputLock::OutputLock(const std::string& output) {
  if (!writes_files()) return;
  std::error_code unknown;
  const fs::path resolved = fs::weakly_canonical(output, unknown);
  const std::string target = unknown ? output : resolved.string();
  if (fs::exists(target, unknown) && !fs::is_regular_file(target, unknown)) return;  // a device
  path_ = fmt::format("{}/{}.lock", folder_beside(target), hidden_name(target));
  for (;;) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) throw Error(ErrorKind::io, "cannot make '{}': {}", path_, std::strerror(errno));
    if (!lock(descriptor_) && errno == EWOULDBLOCK) {
      char id[32] = {};
      const ssize_t count = ::pread(descriptor_, id, sizeof(id) - 1, 0);
      ::close(descriptor_);
      throw Error(ErrorKind::io,
                  "another run of occam{} is working on '{}'; wait for its end, or give another name",
                  count > 0 ? fmt::format(" (process {})", id) : "", output);
    }
    if (is_at(descriptor_, path_)) break;
    ::close(descriptor_);  // the run before us has just removed it
  }
  const std::string id = fmt::format("{}", ::getpid());
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, id.data(), id.size(), 0) < 0) errno = 0;
}

OutputLock::~OutputLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // while it is ours
  ::close(descriptor_);
}

}  // namespace occam
