// From a network to the program of a device. Refuses with Error(usage) what the device does not know.
#pragma once

#include "occam/engine/cuda/program.hpp"
#include "occam/engine/engine.hpp"

namespace occam::gpu {

// Memory of the device, handed out piece by piece. With no base it only counts.
class Arena {
 public:
  explicit Arena(void* base = nullptr) : base_(reinterpret_cast<std::uintptr_t>(base)) {}

  template <class T>
  T* take(std::int64_t count) {
    const std::uintptr_t at = base_ + static_cast<std::uintptr_t>(used_);
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + 255) / 256 * 256;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t used() const { return used_; }

 private:
  std::uintptr_t base_;
  std::int64_t used_ = 0;
};

// The largest batch that a program has memory for; rows with those that short series are continued with.
struct Capacity {
  std::int64_t rows = 0, sets = 0;
};

// Windows over time, of convolutions and of what is read as if exchangeable: a level of rows for each, that
// of observations being 0.
struct Window {
  std::int64_t kernel = 1, stride = 1;
  std::int32_t from = 0;  // the level below

  std::int64_t count(std::int64_t rows) const { return (rows - kernel) / stride + 1; }
};
struct Windows {
  std::vector<Window> levels;  // from 1 on
  std::size_t convolutions = 0;
  std::int64_t shortest = 1;  // series of fewer rows are continued with zeros up to here, for convolutions

  bool apart() const { return levels.size() > convolutions; }  // whether the last are read as exchangeable
  std::int64_t continued(std::int64_t n) const { return std::max(n, shortest); }
  // Rows that those of a level look at, in a series of n; `below` are those of the levels below.
  std::int64_t seen(std::size_t level, std::int64_t n, const std::vector<std::int64_t>& below) const {
    if (level >= convolutions) return std::max(n, levels[level].kernel);
    return level == 0 ? continued(n) : below[level - 1];
  }
};
Windows windows_of(const NetworkConfig& config);

// Columns of labels whose rows a set network reads together; each is a level of rows, from 1 on.
std::vector<std::int64_t> label_levels_of(const NetworkConfig& config);

// How the columns of data enter a network.
std::vector<ColumnPlan> column_plans(const NetworkConfig& config);

Program make_program(const Network<float>& network, const LearningPlan& plan, Capacity capacity,
                     Arena& arena);

// kOfSets and kOfMuon of every weight.
std::vector<std::uint8_t> weight_kinds(const Program& program, std::int64_t weights);

}  // namespace occam::gpu
