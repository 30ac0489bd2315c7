#include "fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace occam::fuzz {

void finding(std::string_view why) {
  fmt::print(stderr, "FINDING: {}\n", why);
  std::abort();
}

std::uint8_t Choices::byte() {
  if (rest_.empty()) return 0;
  const auto first = static_cast<std::uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return first;
}

std::size_t Choices::below(std::size_t count) {
  if (count <= 1) return 0;
  std::size_t value = byte();
  if (count > 256) value = value << 8 | byte();
  return value % count;
}

std::string_view Choices::text(std::size_t length) {
  const std::string_view front = rest_.substr(0, length);
  rest_.remove_prefix(front.size());
  return front;
}

ByteSource in_pieces(std::string_view text, std::size_t piece) {
  return [text, piece](std::span<char> out) mutable {
    const std::size_t count = text.copy(out.data(), std::min(out.size(), piece));
    text.remove_prefix(count);
    return count;
  };
}

Scratch::Scratch(const std::string& ending) {
  const char* folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  path_ = fmt::format("{}/occam-fuzz-{}{}", folder, ::getpid(), ending);
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor_ < 0) finding("cannot make a file for the inputs: " + path_);
}

Scratch::~Scratch() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

const std::string& Scratch::holding(std::string_view bytes) {
  const bool written = ::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                                    0) == static_cast<ssize_t>(bytes.size());
  if (!written) finding("cannot write a file for the inputs: " + path_);
  return path_;
}

}  // namespace occam::fuzz
