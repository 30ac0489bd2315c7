#include "occam/io/shared_memory.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr std::size_t kSmallestShared = 1 << 16;

[[noreturn]] void cannot_share(std::size_t bytes) {
  throw Error(ErrorKind::io, "cannot share {} bytes of memory with a simulator: {}", bytes,
              std::strerror(errno));
}

}  // namespace

SharedMemory::SharedMemory() {
  descriptor_ = ::memfd_create("occam", MFD_CLOEXEC);
  if (descriptor_ < 0) cannot_share(0);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
  ::close(descriptor_);
}

void SharedMemory::grow(std::size_t bytes) {
  if (bytes <= size_) return;
  const std::size_t size = std::bit_ceil(std::max(bytes, kSmallestShared));
  // Reserved now: pages that are missing later would end the process with a signal.
  const int reason = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
  if (reason != 0) {
    errno = reason;
    cannot_share(size);
  }
  void* data = data_ == nullptr ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
                                : ::mremap(data_, size_, size, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) cannot_share(size);
  data_ = static_cast<std::byte*>(data);
  size_ = size;
}

}  // namespace occam
