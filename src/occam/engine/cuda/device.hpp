// Where a program runs. The engine knows only this: a GPU is one device, plain loops on the host are another,
// with which the tests go through everything but the kernels themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "occam/engine/cuda/program.hpp"

namespace occam::gpu {

// Errors of a device: nvcc does not take the headers that Error needs.
[[noreturn]] void throw_usage(const std::string& message);
[[noreturn]] void throw_internal(const std::string& message);

// A batch and its answers travel in slots, in turn: one is filled while the other is read.
inline constexpr int kSlots = 2;

class Device {
 public:
  virtual ~Device() = default;

  // Memory of the device, filled with zeros. Error(usage) where there is not enough.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give(void* memory) = 0;
  // Memory of the host from which copies do not wait.
  virtual void* take_host(std::size_t bytes) = 0;
  virtual void give_host(void* memory) = 0;

  // Both wait for all that is under way.
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;

  // From now on steps and answers follow this program, which has to stay where it is, with these slots.
  virtual void prepare(const Program& program, const Learning& learning, const Feed (&feeds)[kSlots]) = 0;
  // Until what was sent from this slot's memory of the host has arrived.
  virtual void wait_for_slot(int slot) = 0;
  // Sends a batch and begins a step of learning with it. Returns at once.
  virtual void step(int slot, void* to, const void* from, std::size_t bytes) = 0;
  // Outputs of the batch that stands in the slot, with these weights (on the device).
  virtual void answer(int slot, const float* weights) = 0;
};

// A GPU of this machine, counted from 0 and beyond the last from the first again. Error(usage) where there is
// none.
std::unique_ptr<Device> make_cuda_device(int number = 0);

// Memory of a device that goes with its owner.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, std::int64_t count)
      : device_(&device), data_(static_cast<T*>(device.take(static_cast<std::size_t>(count) * sizeof(T)))) {}
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) device_->give(data_);
  }
  T* data() const { return data_; }

 private:
  Device* device_ = nullptr;
  T* data_ = nullptr;
};

class HostArray {
 public:
  HostArray() = default;
  HostArray(Device& device, std::int64_t bytes)
      : device_(&device), data_(static_cast<std::byte*>(device.take_host(static_cast<std::size_t>(bytes)))) {}
  HostArray(HostArray&& other) noexcept { *this = std::move(other); }
  HostArray& operator=(HostArray&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~HostArray() {
    if (data_ != nullptr) device_->give_host(data_);
  }
  std::byte* data() const { return data_; }

 private:
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace occam::gpu
