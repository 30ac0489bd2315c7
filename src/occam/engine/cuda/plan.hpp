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

// Convolutions over time: how many rows of each level a series of n observations has.
struct Window {
  std::int64_t kernel = 1, stride = 1;
};
struct Windows {
  std::vector<Window> layers;
  std::int64_t shortest = 1;  // series of fewer rows are continued with zeros up to here

  std::int64_t continued(std::int64_t n) const { return n < shortest ? shortest : n; }
};
Windows windows_of(const NetworkConfig& config);

// How the columns of data enter a network.
std::vector<ColumnPlan> column_plans(const NetworkConfig& config);

Program make_program(const Network<float>& network, const LearningPlan& plan, Capacity capacity,
                     Arena& arena);

// kOfSets and kOfMuon of every weight.
std::vector<std::uint8_t> weight_kinds(const Program& program, std::int64_t weights);

}  // namespace occam::gpu
