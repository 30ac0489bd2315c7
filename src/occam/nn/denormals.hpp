// While a FlushDenormals lives, this thread treats numbers too small for the normal format as zero. Gradients
// that fade over a long series end there, and arithmetic with such numbers is up to a hundred times slower.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace occam {

class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) { set_control(before_ | kFlush); }
  ~FlushDenormals() { set_control(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr std::uint64_t kFlush = 0x8040;  // flush to zero, denormals are zero
  static std::uint64_t control() {
    return _mm_getcsr();
  }
  static void set_control(std::uint64_t value) {
    _mm_setcsr(static_cast<unsigned>(value));
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FPCR.FZ
  static std::uint64_t control() {
    std::uint64_t value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(std::uint64_t value) {
    asm volatile("msr fpcr, %0" : : "r"(value));
  }
#else
  static constexpr std::uint64_t kFlush = 0;
  static std::uint64_t control() {
    return 0;
  }
  static void set_control(std::uint64_t) {}
#endif

  std::uint64_t before_;
};

}  // namespace occam
