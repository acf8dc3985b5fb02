// The instruction sets for which the loops of a trial are compiled. Each of those loops is compiled once for
// any processor and once for newer ones; the choice is made at start, and the results are the same to the
// bit.
#pragma once

#include "vocabulary/geometry.h"

#include <utility>

namespace warplens {

/// The instructions that every processor of the architecture has.
struct PlainInstructions {
  static bool available() { return true; }
  static unsigned sector_count(unsigned sectors) { return warplens::sector_count(sectors); }
  /// Calls `work` with all that it calls inlined and compiled for these instructions.
  template <class Work> [[gnu::noinline, gnu::flatten]] static auto run(Work&& work) {
    return std::forward<Work>(work)();
  }
};

#if defined(__x86_64__)
/// AVX2 and the bit manipulation that came with it: Intel's processors since 2013, AMD's since 2015.
struct Avx2Instructions {
  static bool available() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  }
  static unsigned sector_count(unsigned sectors) { return unsigned(__builtin_popcount(sectors)); }
  template <class Work>
  [[gnu::noinline, gnu::flatten, gnu::target("avx2,bmi,bmi2")]] static auto run(Work&& work) {
    return std::forward<Work>(work)();
  }
};
#else
using Avx2Instructions = PlainInstructions;
#endif

/// Calls work(instructions) with the newest instructions that this processor has.
template <class Work> [[gnu::always_inline]] inline void with_instructions(Work&& work) {
  if (Avx2Instructions::available())
    work(Avx2Instructions());
  else
    work(PlainInstructions());
}

} // namespace warplens
