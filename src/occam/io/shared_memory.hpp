// Memory that this process shares with a child, which gets the descriptor (ChildOptions::inherited) and maps
// it. It has no name and goes when nobody uses it any more.
#pragma once

#include <cstddef>
#include <span>

namespace occam {

class SharedMemory {
 public:
  SharedMemory();  // of no size; Error(io) where the system has none
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Makes it at least this large; what is in it stays. Spans of before are void. Error(io) when it cannot.
  void grow(std::size_t bytes);
  std::span<std::byte> bytes() const { return {data_, size_}; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace occam
