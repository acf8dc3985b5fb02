// The report in at most 2 KB, for a reader that pays by the word: an agent, a commit message, a chat. It
// keeps what decides the next step: the time, what limits it, the costliest lines, what is wrong with them,
// and how far the figures can be trusted.
#pragma once

#include "result/likely_time.h"
#include "result/result.h"
#include "support/expected.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warplens::report {

/// A brief report is never longer, in text or as JSON.
inline constexpr std::size_t max_brief_bytes = 2048;
inline constexpr std::size_t max_brief_lines = 3, max_brief_findings = 5;

inline constexpr const char* brief_schema = "warplens-brief/1";

/// A change that `warplens advise` found to pay.
struct Suggestion {
  std::string kernel, gpu;
  std::string file;
  std::uint32_t line = 0; ///< 0: not known
  std::string edit;       ///< one sentence
  std::string patch;      ///< a unified diff of the file, whose program was tried; empty: there is none
  /// The change of the kernel's modelled time, as a share of it (-0.3: 30 % less), and half of its 95 %
  /// interval.
  double share = 0, half_width = 0;
};

/// Reads the suggestions of a `warplens-advice/1` document; the error names the JSON path.
Expected<std::vector<Suggestion>> suggestions_from_json(const nlohmann::json& json);

struct BriefLine {
  std::string place, expression; ///< "spmv.cu:30", "y[ind]"
  std::optional<double> share;   ///< of the kernel's time, or of its latency if there is no time
  std::string stall;             ///< why most warps that are at the line do not issue; empty: not known
  double stall_share = 0;        ///< of the time of all the kernel's warps
};

struct Gain {
  double share = 0, half_width = 0; ///< as in Suggestion
};

struct BriefFinding {
  std::string place, text;
  std::optional<Gain> gain; ///< none: the change was not modelled
};

/// The launch's traffic with DRAM and the least time for its work (result/headroom.h).
struct BriefRoofline {
  double dram_bytes = 0, dram_share_of_peak = 0;
  double microseconds = 0, times = 1; ///< the least time, and the launch's over it
  std::string by;                     ///< the resource whose work takes longest; empty: no work
  std::string text;                   ///< "1.05 × of it: nothing to mend here"
};

struct BriefKernel {
  std::string name, gpu;
  std::optional<Statistic> microseconds; ///< of one launch
  bool is_extrapolated = false;
  std::string limiter;        ///< "l2_slices", "latency" or "launch"; empty: not known
  std::optional<double> busy; ///< the share of the time in which the busiest resource works
  std::string busiest;        ///< that resource
  std::vector<BriefLine> lines;
  std::vector<BriefFinding> findings;         ///< those with a gain first, then those that cost most
  std::optional<Accuracy> accuracy;           ///< of the GPU's model
  std::optional<LikelyTime> likely;           ///< where the time lies on hardware
  std::string time_note;                      ///< likewise, in words
  std::map<std::string, std::string> reasons; ///< why a field is unknown, by its name in the JSON

  std::optional<BriefRoofline> roofline; ///< none: the GPU's rates are not known

  /// Returns the share of the time that the same work could save at most: of what it takes beyond the
  /// roofline, or if the busiest resource worked all of the time.
  std::optional<double> headroom() const {
    if (!busy)
      return std::nullopt;
    return roofline && roofline->times >= 1 ? 1 - 1 / roofline->times : 1 - *busy;
  }
};

constexpr std::size_t brief_width = 100; ///< of its lines, in columns

struct Brief {
  std::string program;
  std::vector<BriefKernel> kernels;      ///< the one that takes most of the program's time first
  std::vector<std::string> not_modelled; ///< of any kernel
  std::size_t kernels_left_out = 0, notes_left_out = 0; ///< for which the size has no room
};

/// Chooses what a brief report says, without regard to its size.
Brief brief_of(const Result& result, const std::vector<Suggestion>& suggestions);

/// Leaves the least important item out. Returns false once there is nothing more to leave out; what remains
/// fits in any case.
bool shorten(Brief& brief);

/// Returns the brief as `print` prints it, shortened until it has at most max_brief_bytes bytes.
template <class Print> std::string fitted(Brief brief, Print&& print) {
  std::string text = print(brief);
  while (text.size() > max_brief_bytes && shorten(brief))
    text = print(brief);
  return text;
}

/// Print the brief report in at most max_brief_bytes bytes.
std::string print_brief_text(const Result& result, const std::vector<Suggestion>& suggestions);
std::string print_brief_json(const Result& result, const std::vector<Suggestion>& suggestions);

} // namespace warplens::report
