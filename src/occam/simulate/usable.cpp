#include "occam/simulate/usable.hpp"

#include <bit>
#include <cstdint>

#include "occam/core/error.hpp"
#include "occam/data/labels.hpp"

namespace occam {
namespace {

bool all_finite(std::span<const float> values) {
  // On the bits, and without an early exit: this loop becomes SIMD code.
  constexpr std::uint32_t kExponent = 0x7f800000u;
  std::uint32_t bad = 0;
  for (const float x : values) bad |= (std::bit_cast<std::uint32_t>(x) & kExponent) == kExponent ? 1u : 0u;
  return bad == 0;
}

}  // namespace

void simulate_usable(const Family& family, std::int64_t columns, const LabelGroups& labels,
                     std::span<SimulationRequest> requests, LoopDevice* device) {
  if (device != nullptr && family.has_device_code()) {
    family.simulate_many_on(*device, requests);
  } else {
    family.simulate_many(requests);
  }
  for (SimulationRequest& request : requests) {
    const std::int64_t promised = static_cast<std::int64_t>(request.out.size()) / columns;
    if (request.rows < 0 || request.rows > promised) {
      throw Error(ErrorKind::internal, "family '{}' wrote {} rows for n = {}, at most {} were promised",
                  family.name(), request.rows, request.n, promised);
    }
    if (!all_finite(request.out.first(static_cast<std::size_t>(request.rows * columns)))) request.rows = 0;
    number_labels({request.out.data(), request.rows, columns, columns}, labels);
  }
}

}  // namespace occam
