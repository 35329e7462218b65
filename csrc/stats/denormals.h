// SPDX-License-Identifier: Apache-2.0
// Keeps a caller's "flush denormals to zero" mode out of the statistics: with it on, tiny values would be counted as zeros.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace msprobe::stats {

// Turns flushing off on this thread while it lives. Reads the mode always, writes it only if it was on: writing is slow.
class KeepDenormals {
 public:
  KeepDenormals() noexcept : saved_(read()) {
    if ((saved_ & kFlushBits) != 0) {
      write(saved_ & ~kFlushBits);
    }
  }
  ~KeepDenormals() {
    if ((saved_ & kFlushBits) != 0) {
      write(saved_);
    }
  }
  KeepDenormals(const KeepDenormals&) = delete;
  KeepDenormals& operator=(const KeepDenormals&) = delete;
  KeepDenormals(KeepDenormals&&) = delete;
  KeepDenormals& operator=(KeepDenormals&&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr std::uint64_t kFlushBits = 0x8040;  // MXCSR: flush results, and take denormal operands as zero
  static std::uint64_t read() noexcept { return _mm_getcsr(); }
  static void write(std::uint64_t mode) noexcept { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlushBits = std::uint64_t{1} << 24;  // FPCR.FZ
  static std::uint64_t read() noexcept {
    std::uint64_t mode = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(std::uint64_t mode) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  static constexpr std::uint64_t kFlushBits = 0;
  static std::uint64_t read() noexcept { return 0; }
  static void write(std::uint64_t /*mode*/) noexcept {}
#endif

  std::uint64_t saved_;
};

}  // namespace msprobe::stats
