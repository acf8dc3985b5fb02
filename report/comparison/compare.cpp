#include "report/comparison/compare.h"

#include "judge/difference.h"
#include "result/headroom.h"
#include "result/names.h"
#include "support/display_name.h"
#include "support/files.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace warplens::report::comparison {
namespace {

using import::Extents;
using import::KernelCounters;

Extents extents_of(const trace::Dim3& size) {
  return {size.x, size.y, size.z};
}

std::string text_of(const Extents& extents) {
  return fmt::format("({}, {}, {})", extents[0], extents[1], extents[2]);
}

/// Returns the template arguments without casts, blanks and the suffixes of numbers, which differ between
/// profilers and compilers: "<(unsigned int)256>" and "<256u>" are "256"; empty for a kernel that is no
/// template.
std::string arguments_of(std::string_view name) {
  const std::size_t begin = name.find('<');
  if (begin == std::string_view::npos)
    return "";
  std::string plain;
  int depth = 1, casts = 0;
  bool in_number = false;
  for (const char c : name.substr(begin + 1)) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (depth == 0)
      break;
    casts += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (casts > 0 || c == ')' || c == ' ')
      continue;
    const bool is_digit = c >= '0' && c <= '9';
    const bool in_word = !plain.empty() && (std::isalnum(static_cast<unsigned char>(plain.back())) != 0);
    in_number = is_digit ? in_number || !in_word
                         : in_number && std::string_view("uUlL").find(c) != std::string_view::npos;
    if (is_digit || !in_number)
      plain += c;
  }
  return plain;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// Returns whether a profiler's name of a device can be that of the GPU: "NVIDIA A100-SXM4-80GB" and "a100".
bool may_be(const std::string& device, const std::string& gpu) {
  return lower_case(device).find(lower_case(gpu.substr(0, gpu.find('-')))) != std::string::npos;
}

/// Returns whether the profiler named its device; a number is no name.
bool is_named(const std::string& device) {
  return device.find_first_not_of("0123456789") != std::string::npos;
}

/// Returns the GPU of the result that the measurement is compared with.
Expected<std::string> gpu_of(const Result& result, const std::vector<KernelCounters>& launches,
                             const std::string& wanted) {
  std::vector<std::string> gpus;
  for (const KernelResult& kernel : result.kernels)
    if (std::ranges::find(gpus, kernel.gpu) == gpus.end())
      gpus.push_back(kernel.gpu);
  if (gpus.empty())
    return fail("the result has no kernel");
  if (!wanted.empty()) {
    if (std::ranges::find(gpus, wanted) == gpus.end())
      return fail("--gpu {}: the result has {}", wanted, fmt::join(gpus, ", "));
    return wanted;
  }
  if (gpus.size() == 1)
    return gpus.front();
  std::vector<std::string> possible;
  for (const std::string& gpu : gpus)
    if (!launches.empty() && is_named(launches.front().device) && may_be(launches.front().device, gpu))
      possible.push_back(gpu);
  if (possible.size() == 1)
    return possible.front();
  return fail("the result has kernels on {}: say with --gpu which one was measured", fmt::join(gpus, ", "));
}

/// Returns whether the launch can be one of the kernel, whatever its grid.
bool is_same_kernel(const KernelCounters& launch, const KernelResult& kernel) {
  if (import::base_name(launch.kernel) != import::base_name(kernel.name))
    return false;
  const std::string one = arguments_of(launch.kernel), other = arguments_of(kernel.name);
  // Not every profiler prints the arguments, and types have several spellings.
  const auto has_types = [](const std::string& text) {
    return std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c); });
  };
  return one.empty() || other.empty() || one == other || has_types(one) || has_types(other);
}

bool is_same_launch(const KernelCounters& launch, const KernelResult& kernel) {
  return is_same_kernel(launch, kernel) && (!launch.grid || *launch.grid == extents_of(kernel.grid)) &&
         (!launch.block || *launch.block == extents_of(kernel.block));
}

/// Says why no kernel of the result is this launch's.
std::string why_unpaired(const KernelCounters& launch, std::size_t number,
                         const std::vector<const KernelResult*>& kernels) {
  std::vector<const KernelResult*> same;
  bool has_name = false;
  for (const KernelResult* kernel : kernels) {
    has_name |= import::base_name(launch.kernel) == import::base_name(kernel->name);
    if (is_same_kernel(launch, *kernel))
      same.push_back(kernel);
  }
  if (same.empty())
    return fmt::format("the result has no kernel {}{}", import::base_name(launch.kernel),
                       has_name ? " with these template arguments" : "");
  const auto agrees = std::ranges::count_if(
      same, [&](const KernelResult* kernel) { return is_same_launch(launch, *kernel); });
  if (agrees == 0)
    return fmt::format("measured with grid {} and block {}, modelled with grid {} and block {}",
                       launch.grid ? text_of(*launch.grid) : "(unknown)",
                       launch.block ? text_of(*launch.block) : "(unknown)",
                       text_of(extents_of(same[0]->grid)), text_of(extents_of(same[0]->block)));
  return fmt::format(
      "launch {} of this kernel and grid; the result models the first{} (more with --launches)", number,
      agrees == 1 ? "" : fmt::format(" {}", agrees));
}

/// Says why no measured launch is this kernel's.
std::string why_unpaired(const KernelResult& kernel, const std::vector<KernelCounters>& launches) {
  const bool is_combined = std::ranges::any_of(launches, [&](const KernelCounters& launch) {
    return launch.launches > 1 && is_same_launch(launch, kernel);
  });
  return is_combined ? "one value was measured for all launches of this kernel and grid, which stands beside "
                       "the first that is modelled"
                     : "no launch of this kernel and grid was measured";
}

/// Notes what makes the two differ before any figure is looked at.
std::vector<std::string> notes_on(const KernelCounters& launch, const KernelResult& kernel) {
  std::vector<std::string> notes;
  if (is_named(launch.device) && !may_be(launch.device, kernel.gpu))
    notes.push_back(fmt::format("measured on {}, modelled as {}", launch.device, kernel.gpu));
  for (const char* name : {"sm__cycles_elapsed.avg.per_second", "gpc__cycles_elapsed.avg.per_second",
                           "smsp__cycles_elapsed.avg.per_second"}) {
    const auto clock = launch.counters.find(name);
    if (clock == launch.counters.end() || kernel.sm_clock_mhz <= 0)
      continue;
    const double megahertz = clock->second / 1e6;
    if (std::abs(megahertz / kernel.sm_clock_mhz - 1) > 0.02)
      notes.push_back(fmt::format("measured at {:.0f} MHz of the SMs, modelled at {:.0f}: compare cycles, or "
                                  "model with --sm-clock {:.0f}",
                                  megahertz, kernel.sm_clock_mhz, megahertz));
    break;
  }
  if (launch.launches > 1)
    notes.push_back(fmt::format("measured: the mean of {} launches", launch.launches));
  if (!launch.grid)
    notes.push_back("the measurement does not say the grid: paired by name");
  if (blocks_per_snapshot_block(kernel) != 1)
    notes.push_back(
        fmt::format("modelled from {} of {:.0f} blocks; counts and bytes are scaled to the launch",
                    kernel.snapshot.blocks, judge::launch_blocks(kernel)));
  if (kernel.l2_start && kernel.l2_start->warm)
    notes.push_back(
        "modelled with a warm L2; ncu flushes caches before each pass unless --cache-control none is given");
  return notes;
}

/// Pairs the figures of a launch, and says of each counter that it is in none of them.
void pair_figures(const KernelCounters& launch, const KernelResult& kernel, KernelPair& pair) {
  std::set<std::string> used;
  std::map<std::string, std::string> missing; // counters of figures that the result lacks, and why
  const auto add = [&](std::string name, std::string title, Unit unit,
                       const std::optional<MeasuredFigure>& measured,
                       const std::optional<ModelledFigure>& modelled) {
    if (!measured)
      return;
    if (!modelled) {
      for (const std::string& counter : measured->counters)
        missing.emplace(counter, "the result has no " + name);
      return;
    }
    used.insert(measured->counters.begin(), measured->counters.end());
    pair.figures.push_back({std::move(name), std::move(title), unit, measured->value, modelled->value,
                            modelled->half_width, modelled->is_scaled, measured->counters});
  };
  for (const KernelFigure& figure : kernel_figures())
    add(std::string(figure.name), std::string(figure.title), figure.unit, figure.measured(launch.counters),
        figure.modelled(kernel));
  for (std::size_t i = 0; i < warp_state_count; ++i) {
    const std::string state(names_of<WarpState>[i]);
    if (static_cast<WarpState>(i) != WarpState::selected) // 1 by definition
      add("stall_" + state, "stalled: " + state, Unit::per_request, measured_stall(launch.counters, state),
          modelled_stall(kernel, static_cast<WarpState>(i)));
  }
  for (const auto& [counter, value] : launch.counters) {
    if (used.contains(counter))
      continue;
    const auto found = missing.find(counter);
    pair.unpaired_counters.push_back(
        {counter, value, found == missing.end() ? why_not_modelled(counter) : found->second});
  }
}

/// Notes that the two mean different things by a hit of a store, where the counter says what it always does.
void note_write_hits(KernelPair& pair) {
  constexpr double nearly_all = 0.99;
  const auto found = std::ranges::find(pair.figures, "l2_write_hit_rate", &FigurePair::name);
  if (found != pair.figures.end() && found->measured >= nearly_all && found->modelled < nearly_all)
    pair.notes.push_back(
        "NVIDIA's counters take nearly every store as a hit in the L2; the model's rate says whether the "
        "sector was there");
}

bool is_same_place(const import::LineCounters& measured, const LineAccesses& modelled) {
  return measured.line == modelled.line && measured.space == modelled.space &&
         measured.operation == modelled.operation && file_name(measured.file) == file_name(modelled.file);
}

/// Says why a measured line has no modelled counterpart.
std::string why_unpaired(const import::LineCounters& line, const std::vector<LineAccesses>& all) {
  for (const LineAccesses& one : all)
    if (one.line == line.line && file_name(one.file) == file_name(line.file))
      return fmt::format("the model has a {} {} at this line", one.space, one.operation);
  const bool knows_file = std::ranges::any_of(
      all, [&](const LineAccesses& one) { return file_name(one.file) == file_name(line.file); });
  if (line.space == "local")
    return "registers that the compiler spilled, or an array that it keeps in local memory";
  return knows_file ? "no access of the model is at this line" : "no access of the model is in this file";
}

void pair_lines(const KernelCounters& launch, const KernelResult& kernel, KernelPair& pair) {
  if (launch.lines.empty())
    return;
  const std::vector<LineAccesses> all = accesses_by_line(kernel);
  const double scale = blocks_per_snapshot_block(kernel);
  std::vector<bool> paired(all.size(), false);
  for (const import::LineCounters& line : launch.lines) {
    const auto found =
        std::ranges::find_if(all, [&](const LineAccesses& one) { return is_same_place(line, one); });
    if (found == all.end()) {
      pair.unpaired_lines.push_back(
          {line.file, line.line, line.space, line.operation, true, why_unpaired(line, all)});
      continue;
    }
    paired[static_cast<std::size_t>(found - all.begin())] = true;
    LinePair both{found->file, line.line, line.space, line.operation, found->expressions, {}};
    for (const LineFigure& figure : line_figures()) {
      const auto measured = figure.measured(line);
      const auto modelled = figure.modelled(*found, scale);
      if (measured && modelled)
        both.figures.push_back({std::string(figure.name),
                                std::string(figure.name),
                                figure.unit,
                                *measured,
                                *modelled,
                                0,
                                figure.unit == Unit::count && scale != 1,
                                {}});
    }
    pair.lines.push_back(std::move(both));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!paired[i])
      pair.unpaired_lines.push_back({all[i].file, all[i].line, all[i].space, all[i].operation, false,
                                     "no memory instruction of this kind was measured at this line"});
}

} // namespace

std::optional<double> FigurePair::difference() const {
  if (kind() == DifferenceKind::points)
    return 100 * (modelled - measured);
  if (measured == 0)
    return modelled == 0 ? std::optional(0.0) : std::nullopt;
  return (modelled - measured) / measured;
}

Expected<Comparison> compare(const Result& result, const std::vector<KernelCounters>& launches,
                             const ComparisonOptions& options) {
  TRY_LET(gpu, gpu_of(result, launches, options.gpu));
  std::vector<const KernelResult*> kernels;
  for (const KernelResult& kernel : result.kernels)
    if (kernel.gpu == *gpu && (!options.wants_kernel || options.wants_kernel(kernel.name)))
      kernels.push_back(&kernel);
  const auto index_of = [&](const KernelResult* kernel) {
    return static_cast<std::size_t>(kernel - result.kernels.data());
  };
  Comparison comparison;
  std::set<const KernelResult*> paired;
  std::map<std::tuple<std::string, std::optional<Extents>, std::optional<Extents>>, std::size_t> numbers;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const KernelCounters& launch = launches[i];
    if (options.wants_kernel && !options.wants_kernel(launch.kernel))
      continue;
    const std::size_t number = ++numbers[{launch.kernel, launch.grid, launch.block}];
    const auto found = std::ranges::find_if(kernels, [&](const KernelResult* kernel) {
      return !paired.contains(kernel) && is_same_launch(launch, *kernel);
    });
    if (found == kernels.end()) {
      comparison.unpaired_launches.push_back({i, why_unpaired(launch, number, kernels)});
      continue;
    }
    paired.insert(*found);
    KernelPair pair;
    pair.measured = i;
    pair.modelled = index_of(*found);
    pair.launch = number;
    pair.notes = notes_on(launch, **found);
    pair_figures(launch, **found, pair);
    note_write_hits(pair);
    pair_lines(launch, **found, pair);
    comparison.kernels.push_back(std::move(pair));
  }
  for (const KernelResult* kernel : kernels)
    if (!paired.contains(kernel))
      comparison.unpaired_kernels.push_back({index_of(kernel), why_unpaired(*kernel, launches)});
  return comparison;
}

} // namespace warplens::report::comparison
