// A baseline: what a repository keeps of its kernels' figures, as text that people merge. `warplens baseline`
// writes it, `warplens gate` holds a program against it.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace warplens {

/// The cost of an access to its kernel, without its line, which moves.
struct RecordedAccess {
  std::string file, expression;
  double share = 0; ///< of the kernel's time
  double sectors_per_request = 0, bank_conflicts = 0;
  std::vector<std::string> findings; ///< by their ids in SARIF: "strided"

  friend bool operator==(const RecordedAccess&, const RecordedAccess&) = default;
};

/// A launch of a kernel on one GPU, as a baseline keeps it.
struct RecordedKernel {
  // The key:
  std::string program; ///< its source or name, and its arguments
  std::string gpu, kernel;
  std::uint64_t number = 1; ///< among the launches of that name in the program's result, from 1 on

  KernelIdentity identity;
  std::uint64_t seed = 0;
  std::string version; ///< of Warplens
  std::array<std::uint32_t, 3> grid{}, block{};
  /// The time of the launch: its mean and the mean's 95 % interval, and each trial's; empty: not known.
  std::vector<double> time_us, trials_us;
  std::string bound; ///< what bounds the time, as results name it; empty: not known
  /// Figures without an interval, by their names in exact_figures().
  std::map<std::string, std::uint64_t, std::less<>> exact;
  std::vector<std::string> findings;    ///< on the kernel as a whole
  std::vector<RecordedAccess> accesses; ///< the costliest ones

  auto key() const { return std::tie(program, gpu, kernel, number); }
  friend bool operator==(const RecordedKernel&, const RecordedKernel&) = default;
};

/// A kernel that may be worse than recorded, until a day.
struct Waiver {
  std::string kernel, gpu; ///< the kernel as results name it, or as reports show it; no GPU: on all
  std::string until;       ///< the last day: "2026-12-31"
  std::string reason;
  std::size_t line = 0; ///< in the file; 0: not from one

  bool covers(const RecordedKernel& recorded) const;
};

struct Baseline {
  std::vector<RecordedKernel> kernels; ///< ascending by key(), each once
  std::vector<Waiver> waivers;
};

/// A figure that has no interval: the compiler and the program determine it.
struct ExactFigure {
  std::string name;
  bool more_is_worse;
};

/// Returns the exact figures in the order in which they are written: "registers", "instructions.fp32", ….
const std::vector<ExactFigure>& exact_figures();

/// Returns the number with the digits that a baseline keeps.
double rounded_as_recorded(double number);

/// Prints the baseline, sorted; each kernel's lines stand alone, so that changes of two kernels merge.
std::string print_baseline(const Baseline& baseline);

/// Reads a baseline. The error is one line with the line of the file and what to do: "gate.txt:12: …".
Expected<Baseline> read_baseline(std::string_view text, const std::string& name);

} // namespace warplens
