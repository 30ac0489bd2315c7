// Named and compiled like the SIMD code itself, so that it sees the same list of instruction sets.
#include <algorithm>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/simd.hpp"
#include "occam/core/simd_targets.hpp"

// After simd.hpp, which says what is compiled.
#include <hwy/targets.h>

namespace occam {
namespace {

// As bits, in Highway's order: the best is the lowest.
std::vector<std::int64_t> found() {
#ifdef HWY_COMPILE_ONLY_STATIC
  return {HWY_STATIC_TARGET};
#else
  if ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) return {HWY_TARGETS};
  return hwy::SupportedAndGeneratedTargets();
#endif
}

// Found once, because Highway leaves out the others when one was chosen.
const std::vector<std::int64_t>& choices() {
  static const std::vector<std::int64_t> all = found();
  return all;
}

void use([[maybe_unused]] std::int64_t targets) {
  choices();
#ifndef HWY_COMPILE_ONLY_STATIC
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : choices()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void use_simd_target(std::string_view name) {
  for (const std::int64_t target : choices()) {
    if (hwy::TargetName(target) == name) return use(target);
  }
  throw Error(ErrorKind::usage,
              "the instruction set '{}' cannot be used: this program on this processor has {}; choose one of "
              "these, or "
              "unset OCCAM_SIMD for the best",
              name, fmt::join(simd_targets(), ", "));
}

void use_best_simd_target() {
  use(0);
}

}  // namespace occam
