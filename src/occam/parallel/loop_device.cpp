#include "occam/parallel/loop_device.hpp"

#include <utility>

namespace occam {
namespace {

class PlainLane final : public LoopLane {
 public:
  std::byte* input(std::size_t bytes) override { return grown(in_, bytes); }
  const std::byte* run(const DeviceLoop& loop, std::int64_t items, std::size_t out_bytes) override {
    std::byte* const out = grown(out_, out_bytes);
    loop.plain(in_.data(), out, items);
    return out;
  }

 private:
  static std::byte* grown(std::vector<std::byte>& memory, std::size_t bytes) {
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }
  std::vector<std::byte> in_, out_;
};

class PlainLoops final : public LoopDevice {
  std::unique_ptr<LoopLane> make_lane() override { return std::make_unique<PlainLane>(); }
};

}  // namespace

std::unique_ptr<LoopLane> LoopDevice::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<LoopLane> lane = std::move(free_.back());
      free_.pop_back();
      return lane;
    }
  }
  return make_lane();
}

void LoopDevice::give(std::unique_ptr<LoopLane> lane) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(lane));
}

std::shared_ptr<LoopDevice> make_plain_loops() {
  return std::make_shared<PlainLoops>();
}

}  // namespace occam
