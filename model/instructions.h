// The processor's instructions that the loops of a trial may use. Each of those loops is compiled once for
// any processor and once for newer ones; which one runs is found out at start, and the answers are the same
// bits.
#pragma once

#include "model/geometry.h"

#include <utility>

namespace warplens::model {

/// Those that every processor of this kind has.
struct PlainInstructions {
  static bool available() { return true; }
  static unsigned sector_count(unsigned sectors) { return model::sector_count(sectors); }
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

} // namespace warplens::model
