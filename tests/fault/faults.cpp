// Loaded before the program (LD_PRELOAD), this makes one call to the system fail: the k-th of those that
// touch files below a folder, or the k-th allocation. The tests let k run over a whole command.
//   OCCAM_FAULT_FOLDER   the folder; without it nothing is counted
//   OCCAM_FAULT_KIND     files or memory
//   OCCAM_FAULT_AT       the call that fails, from 1; 0: none
//   OCCAM_FAULT_STAYS    1: writing calls after it fail too, as on a disk that stays full
//   OCCAM_FAULT_ERROR    the number of the error (28: no space left on device)
//   OCCAM_FAULT_COUNT    a file, outside the folder, for the number of calls and the name of the one that
//   failed
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct Plan {
  const char* folder = std::getenv("OCCAM_FAULT_FOLDER");
  bool memory = folder != nullptr && std::strcmp(setting("OCCAM_FAULT_KIND", "files"), "memory") == 0;
  long at = std::atol(setting("OCCAM_FAULT_AT", "0"));
  bool stays = std::atoi(setting("OCCAM_FAULT_STAYS", "0")) == 1;
  int error = std::atoi(setting("OCCAM_FAULT_ERROR", "28"));

  static const char* setting(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
  }
};

std::atomic<long> calls{0};
std::atomic<bool> in_main{false};  // what fails before, while the program is loaded, no program can answer
int (*real_main)(int, char**, char**) = nullptr;
std::atomic<const char*> failed{nullptr};

const Plan& plan() {
  static const Plan read_once;
  return read_once;
}

// Written with plain calls at the end of the program, which must not allocate.
struct Account {
  ~Account() {
    const char* path = std::getenv("OCCAM_FAULT_COUNT");
    if (path == nullptr || plan().folder == nullptr) return;
    char text[100];
    const char* name = failed.load();
    const int length =
        std::snprintf(text, sizeof text, "%ld %s\n", calls.load(), name != nullptr ? name : "none");
    static const auto open_file = reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open"));
    static const auto write_file =
        reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(dlsym(RTLD_NEXT, "write"));
    const int file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = write_file(file, text, static_cast<std::size_t>(length));
    ::close(file);
  }
} account;

// Whether this call is the one to fail.
bool fails(const char* name, bool writes) {
  const long number = ++calls;
  const Plan& p = plan();
  if (p.at == 0 || number < p.at || (number > p.at && !(p.stays && writes))) return false;
  const char* none = nullptr;
  failed.compare_exchange_strong(none, name);
  errno = p.error;
  return true;
}

bool below_folder(const char* path) {
  const Plan& p = plan();
  if (p.folder == nullptr || p.memory || path == nullptr) return false;
  if (path[0] != '/') return true;  // the tests run in the folder
  return std::strncmp(path, p.folder, std::strlen(p.folder)) == 0;
}

// Regular files only: not pipes and terminals.
bool below_folder(int descriptor) {
  const Plan& p = plan();
  if (p.folder == nullptr || p.memory) return false;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
    return false;
  char link[64];
  char path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return std::strncmp(path, p.folder, std::strlen(p.folder)) == 0;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_with(const char* name, const char* path, int flags, mode_t mode) {
  static const auto real = next<int(const char*, int, ...)>("open");
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (below_folder(path) && fails(name, writes)) return -1;
  return real(path, flags, mode);
}

// As the standard library's operator new does: the handler is asked first, and may throw.
[[noreturn]] void refuse_memory() {
  if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) handler();
  throw std::bad_alloc();
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (in_main && plan().memory && fails("allocation", false)) refuse_memory();
  const std::size_t whole = size == 0 ? 1 : size;
  void* memory = alignment == 0
                     ? std::malloc(whole)
                     : std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
  if (memory == nullptr) refuse_memory();
  return memory;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  using Start = int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  const auto counted = [](int count, char** arguments, char** environment) {
    in_main = true;
    return real_main(count, arguments, environment);
  };
  return next<Start>("__libc_start_main")(counted, argc, argv, init, fini, loader_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("open", path, flags, mode);
}
ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  static const auto real = next<ssize_t(int, const void*, std::size_t)>("write");
  if (below_folder(descriptor) && fails("write", true)) return -1;
  return real(descriptor, bytes, size);
}
ssize_t read(int descriptor, void* bytes, std::size_t size) {
  static const auto real = next<ssize_t(int, void*, std::size_t)>("read");
  if (below_folder(descriptor) && fails("read", false)) return -1;
  return real(descriptor, bytes, size);
}
int fsync(int descriptor) {
  static const auto real = next<int(int)>("fsync");
  if (below_folder(descriptor) && fails("fsync", true)) return -1;
  return real(descriptor);
}
int close(int descriptor) {
  static const auto real = next<int(int)>("close");
  const bool failing = below_folder(descriptor) && fails("close", false);
  const int error = errno;
  const int status = real(descriptor);  // the descriptor is gone in any case
  if (!failing) return status;
  errno = error;
  return -1;
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int(const char*, const char*)>("rename");
  if (below_folder(to) && fails("rename", true)) return -1;
  return real(from, to);
}
int unlink(const char* path) noexcept {
  static const auto real = next<int(const char*)>("unlink");
  if (below_folder(path) && fails("unlink", false)) return -1;
  return real(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next<int(const char*, mode_t)>("mkdir");
  if (below_folder(path) && fails("mkdir", true)) return -1;
  return real(path, mode);
}
}

void* operator new(std::size_t size) {
  return allocate(size, 0);
}
void* operator new[](std::size_t size) {
  return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
