// Where the inner loops of simulations run, other than on the threads that ask for them: a GPU, or plain
// loops on the host, with which tests go the same way without one. A loop runs over independent items; its
// input and its output are bytes, an item reads any of the input and writes its own part of the output. So
// results depend neither on the order of the items nor on who runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace occam {

// A loop in both forms. `stream` is that of CUDA on which the launch goes; both memories are the GPU's then.
struct DeviceLoop {
  void (*plain)(const std::byte* in, std::byte* out, std::int64_t items);
  void (*launch)(const std::byte* in, std::byte* out, std::int64_t items, void* stream);
};

// Memory and order of one caller at a time. Memories grow and are kept: they hold what was last asked for
// until they are asked for again.
class LoopLane {
 public:
  virtual ~LoopLane() = default;
  // Memory of the host for the input of the next loop.
  virtual std::byte* input(std::size_t bytes) = 0;
  // Runs the loop over the input and waits for it; the output, in memory of the host.
  virtual const std::byte* run(const DeviceLoop& loop, std::int64_t items, std::size_t out_bytes) = 0;
};

class LoopDevice {
 public:
  virtual ~LoopDevice() = default;
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  // A lane for as long as this lives. From any thread.
  class Turn {
   public:
    explicit Turn(LoopDevice& device) : device_(device), lane_(device.take()) {}
    ~Turn() { device_.give(std::move(lane_)); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    LoopLane* operator->() const { return lane_.get(); }

   private:
    LoopDevice& device_;
    std::unique_ptr<LoopLane> lane_;
  };

 protected:
  LoopDevice() = default;
  // Throws Error(usage) where there is no such device.
  virtual std::unique_ptr<LoopLane> make_lane() = 0;

 private:
  std::unique_ptr<LoopLane> take();
  void give(std::unique_ptr<LoopLane> lane);

  std::mutex mutex_;
  std::vector<std::unique_ptr<LoopLane>> free_;
};

// Plain loops on the host.
std::shared_ptr<LoopDevice> make_plain_loops();

}  // namespace occam
