// Two versions of a program, modelled with the same random numbers: the change of its time, of each kernel's,
// and the lines at which it changed.
#pragma once

#include "judge/difference.h"
#include "placement/time_change.h"
#include "result/result.h"
#include "vocabulary/access.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::placement {

/// The verdict on a change: `same` where its time changes by less than `same_within`.
enum class Verdict : std::uint8_t { faster, same, slower };
inline constexpr double same_within = 0.05;
Verdict verdict_on(const TimeChange& change);

/// The time in which warps wait for the results of an access, or at a barrier, and what of its figures
/// changed.
struct MovedLine {
  std::string place; ///< "x.cu:12 a[i]"; as it is after the change, or before, where it went
  double before_us = 0, after_us = 0;
  std::vector<std::string> figures; ///< "sectors per request 32 → 4"
};

/// A kernel and its counterpart. Either may be missing: it is only in one version.
struct ComparedKernel {
  std::string gpu, name_before, name_after;
  double before_us = 0, after_us = 0; ///< of a launch, mean over those traced
  std::uint64_t launches_before = 0, launches_after = 0;
  std::string bound_before, bound_after;
  std::optional<TimeChange> change; ///< of a launch
  std::vector<MovedLine> lines;     ///< those with the largest changes first
};

/// All kernels on one GPU.
struct ComparedProgram {
  std::string gpu;
  double before_us = 0, after_us = 0; ///< of all launches
  TimeChange change;
  std::vector<ComparedKernel> kernels;
};

/// Compares the results GPU by GPU; both were modelled by equally many trials and one seed. The program's
/// time is the sum of its kernels', each with its number of launches. The error says what has no times.
Expected<std::vector<ComparedProgram>> compare_programs(const Result& before, const Result& after);

} // namespace warplens::placement

template <>
inline constexpr std::array<std::string_view, 3> warplens::names_of<warplens::placement::Verdict>{
    "faster", "same", "slower"};
