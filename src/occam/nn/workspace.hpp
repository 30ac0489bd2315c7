// Memory for one pass through a network: a stack of aligned arrays, owned and reused by the caller. It grows
// while sizes grow; after the largest pass has been seen once there are no more allocations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

class Workspace {
 public:
  // Frees everything taken since the last reset; keeps the memory. If the last pass needed several blocks
  // they become one.
  void reset() {
    if (blocks_.size() > 1) {
      const std::size_t total = size();
      blocks_.clear();
      blocks_.emplace_back(total);
    }
    block_ = 0;
    used_ = 0;
  }

  std::size_t size() const {
    std::size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    return total;
  }
  // As reset(), with at least so many bytes in one block.
  void reserve(std::size_t bytes) {
    reset();
    if (size() >= bytes) return;
    blocks_.clear();
    blocks_.emplace_back(bytes);
  }

  // Scratch: what is taken while a Scope lives is freed with it.
  class Scope {
   public:
    explicit Scope(Workspace& workspace)
        : workspace_(workspace), block_(workspace.block_), used_(workspace.used_) {}
    ~Scope() {
      workspace_.block_ = block_;
      workspace_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    std::size_t block_, used_;
  };

  // Uninitialised, aligned to a cache line.
  template <class T>
  T* take(std::int64_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      blocks_.emplace_back(std::max(bytes, kSmallestBlock));
      used_ = 0;
    }
    T* result = reinterpret_cast<T*>(blocks_[block_].data + used_);
    used_ += bytes;
    return result;
  }

  template <class T>
  Matrix<T> matrix(std::int64_t rows, std::int64_t columns) {
    const std::int64_t stride = padded<T>(columns);
    return {take<T>(rows * stride), rows, columns, stride};
  }

  template <class T>
  Matrix<T> zeros(std::int64_t rows, std::int64_t columns) {
    const Matrix<T> m = matrix<T>(rows, columns);
    std::fill_n(m.data, m.rows * m.stride, T{});
    return m;
  }

  template <class Struct>
  Struct* make() {
    return new (take<Struct>(1)) Struct{};
  }

 private:
  static constexpr std::size_t kSmallestBlock = std::size_t{1} << 18;

  struct Block {
    explicit Block(std::size_t bytes)
        : data(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))), size(bytes) {}
    ~Block() { ::operator delete (data, std::align_val_t{64}); }
    Block(Block&& other) noexcept : data(other.data), size(other.size) { other.data = nullptr; }
    Block& operator=(Block&&) = delete;
    std::byte* data;
    std::size_t size;
  };

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the block in use
  std::size_t used_ = 0;   // bytes of it
};

// Gives each thread's the memory that any of them has come to need: which thread meets which work varies.
inline void even_out(std::vector<Workspace>& workspaces) {
  std::size_t most = 0;
  for (const Workspace& workspace : workspaces) most = std::max(most, workspace.size());
  for (Workspace& workspace : workspaces) workspace.reserve(most);
}

}  // namespace occam
