// POSIX calls rather than iostreams: streams lose errno, and know neither fsync nor O_EXCL.
#include "occam/io/file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <climits>

#include "occam/core/error.hpp"
#include "occam/io/temporary.hpp"

namespace occam {
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{1} << 16;
constexpr std::size_t kLargestCall = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call

bool another_writes = false;  // set once, when the program starts

[[noreturn]] void throw_system_error(ErrorKind kind, std::string_view what, const std::string& path,
                                     int code) {
  throw Error(kind, "cannot {} '{}': {}", what, path, std::strerror(code));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The number n of /dev/stdout, /dev/stderr or /dev/fd/n; -1 for any other path. These are used through the
// open descriptor: opening them anew would start at the beginning of a redirected file, and fails for
// sockets.
int standard_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string_view prefix = "/dev/fd/";
  if (!path.starts_with(prefix)) return -1;
  int number = -1;
  const char* end = path.data() + path.size();
  const auto [rest, status] = std::from_chars(path.data() + prefix.size(), end, number);
  return status == std::errc{} && rest == end ? number : -1;
}

// Whether `path` is to be written in place: it exists and is neither a regular file nor a folder, or it lies
// in /dev or /proc, where a link may lead to a regular file that someone else holds open.
bool is_written_directly(const std::string& path) {
  if (path.starts_with("/dev/fd/") || path == "/dev/stdout" || path == "/dev/stderr") return true;
  if (path.starts_with("/proc/")) return true;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void refuse_folder(const std::string& path) {
  struct stat status {};
  const bool folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (path.empty() || path.back() == '/' || folder) {
    throw Error(ErrorKind::io, "cannot write '{}': it is a folder; give the name of a file", path);
  }
}

// Where a chain of symbolic links ends, so that replacing a file does not replace a link to it.
std::string without_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  return resolved ? std::string(resolved.get()) : path;
}

std::size_t read_some(int descriptor, std::span<char> out, const std::string& path) {
  for (;;) {
    const ssize_t count = ::read(descriptor, out.data(), std::min(out.size(), kLargestCall));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw_system_error(ErrorKind::io, "read", path, errno);
  }
}

void resize_or_throw(std::string& text, std::size_t size, const std::string& path) {
  try {
    text.resize(size);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::io, "cannot read '{}': {} bytes do not fit in memory", path, size);
  } catch (const std::length_error&) {
    throw Error(ErrorKind::io, "cannot read '{}': {} bytes do not fit in memory", path, size);
  }
}

struct OpenUntilHere {
  int descriptor;
  ~OpenUntilHere() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

void leave_writing_to_another() {
  another_writes = true;
}

bool writes_files() {
  return !another_writes;
}

std::string read_file(const std::string& path) {
  InputFile file(path);
  // One byte more than the size, so that the end shows without another round; files in /proc claim size 0.
  std::string text;
  resize_or_throw(text, std::max<std::size_t>(file.size() + 1, 4096), path);
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) resize_or_throw(text, 2 * used, path);
    const std::size_t count = file.read(std::span<char>(text).subspan(used));
    if (count == 0) break;
    used += count;
  }
  text.resize(used);
  return text;
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    throw_system_error(missing ? ErrorKind::no_input : ErrorKind::io, "read", path_, errno);
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || S_ISDIR(status.st_mode)) {
    const int code = S_ISDIR(status.st_mode) ? EISDIR : errno;
    ::close(descriptor_);
    throw_system_error(ErrorKind::io, "read", path_, code);
  }
  regular_ = S_ISREG(status.st_mode);
  if (regular_) size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::size_t InputFile::read(std::span<char> out) {
  return read_some(descriptor_, out, path_);
}

void InputFile::read_at(std::uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    const ssize_t count =
        ::pread(descriptor_, out.data(), std::min(out.size(), kLargestCall), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(ErrorKind::io, "read", path_, errno);
    if (count == 0)
      throw Error(ErrorKind::io, "cannot read '{}': it ends before byte {}", path_, offset + out.size());
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

void require_writable(const std::string& path) {
  refuse_folder(path);
  if (is_written_directly(path)) {
    if (standard_descriptor(path) < 0 && ::access(path.c_str(), W_OK) != 0) {
      throw_system_error(ErrorKind::io, "write", path, errno);
    }
    return;
  }
  const std::string folder = folder_of(without_links(path));
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw Error(ErrorKind::io, "cannot write '{}': folder '{}': {}", path, folder, std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode))
    throw Error(ErrorKind::io, "cannot write '{}': '{}' is not a folder", path, folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorKind::io, "cannot write '{}': folder '{}': {}", path, folder, std::strerror(errno));
  }
}

AtomicFile::AtomicFile(std::string path, Written written)
    : path_(std::move(path)), silent_(another_writes && written == Written::by_one) {
  if (silent_) return;
  require_writable(path_);
  if (is_written_directly(path_)) {
    const int standard = standard_descriptor(path_);
    descriptor_ =
        standard >= 0 ? ::fcntl(standard, F_DUPFD_CLOEXEC, 0) : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw_system_error(ErrorKind::io, "write", path_, errno);
  } else {
    target_ = without_links(path_);
    open_temporary();
  }
  buffer_.reserve(kWriteBuffer);
}

void AtomicFile::open_temporary() {
  descriptor_ = occam::open_temporary(target_, temporary_);
  if (descriptor_ < 0) throw_system_error(ErrorKind::io, "write", path_, errno);
  struct stat status {};
  // A replaced file keeps its permissions; where the system refuses that, the default ones do.
  if (::stat(target_.c_str(), &status) == 0 && ::fchmod(descriptor_, status.st_mode & 07777) != 0) errno = 0;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (committed_) throw Error(ErrorKind::internal, "write to '{}' after commit", path_);
  if (silent_) return;
  if (buffer_.size() + bytes.size() > kWriteBuffer) flush();
  if (bytes.size() >= kWriteBuffer) {
    write_through(bytes);
  } else {
    buffer_ += bytes;
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

ByteSink AtomicFile::sink() {
  return [this](std::string_view bytes) { write(bytes); };
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLargestCall));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(ErrorKind::io, "write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::sync() {
  int status = 0;
  do {
    status = ::fsync(descriptor_);
  } while (status != 0 && errno == EINTR);
  // Pipes and terminals answer EINVAL: nothing to sync.
  if (status != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    throw_system_error(ErrorKind::io, "write", path_, errno);
  }
}

void AtomicFile::commit() {
  if (committed_) throw Error(ErrorKind::internal, "second commit of '{}'", path_);
  if (silent_) {
    committed_ = true;
    return;
  }
  flush();
  sync();
  // The lock on the temporary lasts until it has its name: who cleans up would take it for a dead run's.
  const OpenUntilHere lock{::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0)};
  // Some network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    throw_system_error(ErrorKind::io, "write", path_, errno);
  }
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw_system_error(ErrorKind::io, "write", path_, errno);
  }
  committed_ = true;
  if (temporary_.empty()) return;
  // The file is complete by now; a folder that cannot be opened or synced is no reason to call it lost.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void write_file_atomic(const std::string& path, std::string_view bytes, Written written) {
  AtomicFile file(path, written);
  file.write(bytes);
  file.commit();
}

}  // namespace occam
