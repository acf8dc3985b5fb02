#include "calibration/gpu_file.h"

#include "calibration/known_limits.h"
#include "model/gpu/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

namespace warplens::calibration {
namespace {

/// Reads device.csv's numbers and remembers the first missing one.
class Device {
public:
  explicit Device(const std::map<std::string, std::string>& properties) : properties_(properties) {}

  double number(const std::string& property) {
    const auto found = properties_.find(property);
    double value = 0;
    if (found != properties_.end()) {
      const char* const end = found->second.data() + found->second.size();
      if (const auto read = std::from_chars(found->second.data(), end, value); read.ptr == end && value >= 0)
        return value;
    }
    if (missing_.empty())
      missing_ = property;
    return 1;
  }
  std::uint64_t whole(const std::string& property) { return static_cast<std::uint64_t>(number(property)); }
  std::string text(const std::string& property) const {
    const auto found = properties_.find(property);
    return found == properties_.end() ? "unknown" : found->second;
  }
  const std::string& missing() const { return missing_; }

private:
  const std::map<std::string, std::string>& properties_;
  std::string missing_;
};

/// Quotes a name from outside.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text)
    if (static_cast<unsigned char>(letter) >= 0x20 && letter != '"' && letter != '\\' && letter != 0x7f)
      result += letter;
  return result + "\"";
}

/// Collects the figures that were found, by path, with their sources.
class Figures {
public:
  template <class Value> void figure(const std::string& path, const Value& value, const char* source) {
    lines_[path] = fmt::format("value = {}, source = \"{}\"", value, source);
  }
  void word(const std::string& path, const char* value, const char* source) {
    figure(path, quoted(value), source);
  }
  void ns(const std::string& path, double value, const char* source) {
    figure(path, fmt::format("{:.3f}", value), source);
  }

  /// Says that nothing here finds this figure, and that the relative's stands for it.
  void take_over(const std::string& path) { taken_over_.insert(path); }

  /// Returns the tables of the file. A parameter that not every GPU has is the relative's only where nothing
  /// of its table was found, or where it is taken over.
  std::string print(const model::GpuFigures& relative) const {
    std::string text, table;
    for (const model::Parameter& parameter : model::parameters()) {
      const std::size_t dot = parameter.path.find('.');
      const std::string of = parameter.path.substr(0, dot), key = parameter.path.substr(dot + 1);
      const auto own = lines_.find(parameter.path), taken = relative.figures.find(parameter.path);
      const bool is_skipped =
          own == lines_.end() && (taken == relative.figures.end() || (parameter.is_needed && has_table(of) &&
                                                                      !taken_over_.contains(parameter.path)));
      if (is_skipped)
        continue;
      if (std::exchange(table, of) != of)
        text += fmt::format("\n[{}]\n", of);
      text += fmt::format("{} = {{ {} }}\n", key,
                          own != lines_.end() ? own->second
                                              : fmt::format("{}, source = \"relative\"", taken->second));
    }
    return text;
  }

private:
  bool has_table(const std::string& table) const {
    const auto first = lines_.lower_bound(table + ".");
    return first != lines_.end() && first->first.starts_with(table + ".");
  }
  std::map<std::string, std::string> lines_;
  std::set<std::string> taken_over_;
};

constexpr const char *measured = "measured", *device_says = "device", *guide = "guide", *mt4g = "mt4g",
                     *a100 = "a100", *assumed = "assumed";

std::string print_sources(const Device& device, const std::string& when, const std::string& relative) {
  std::string text = "\n[sources]\n";
  const auto add = [&](const char* name, const std::string& source) {
    text += fmt::format("{} = {}\n", name, quoted(source));
  };
  add(measured, fmt::format("Measured by warplens calibrate on {} ({}, driver {}, CUDA {})", when,
                            device.text("name"), device.text("driver"), device.text("runtime")));
  add(device_says, "As CUDA says of the device: cudaDeviceProp");
  add(guide, "NVIDIA: CUDA C++ Programming Guide, Compute Capabilities");
  add("relative",
      fmt::format("As the file of the {} says, the nearest relative with a file of its own; taken over "
                  "for this GPU, an assumption",
                  relative));
  add(mt4g, "caps-tum/mt4g (MT4G, memory topology of GPUs), sample_results at 4cc5566: constant caches "
            "behind those "
            "of the SMs, after 105 to 121 cycles on V100, A100 and H100; taken over for this GPU, an "
            "assumption");
  add(a100,
      "As the A100's (model/gpu/gpus/a100.toml), whose figures were measured; taken over for this GPU, an "
      "assumption");
  add(assumed, "An assumption, not a measurement");
  return text;
}

/// Adds a whole cache of `nominal` KiB, of which a measured part holds lines.
void add_size(Figures& figures, const std::string& table, const Level& level, double nominal_kib) {
  figures.figure(table + ".ways", level.ways, measured);
  figures.figure(table + ".usable", fmt::format("{:.4f}", std::clamp(level.kib / nominal_kib, 0.1, 1.0)),
                 measured);
}

void add_sm(Figures& figures, Device& device) {
  figures.figure("sm.count", device.whole("sms"), device_says);
  figures.figure("sm.compute_capability", fmt::format("{:.1f}", device.number("compute_capability") / 10),
                 device_says);
  figures.figure("sm.clock_mhz", fmt::format("{:.0f}", device.number("clock_mhz")), measured);
  figures.figure("sm.max_threads", device.whole("max_threads_per_sm"), device_says);
  figures.figure("sm.max_blocks", device.whole("max_blocks_per_sm"), device_says);
  figures.figure("sm.max_threads_per_block", device.whole("max_threads_per_block"), device_says);
  figures.figure("registers.per_sm", device.whole("registers_per_sm"), device_says);
  figures.figure("registers.per_block", device.whole("registers_per_block"), device_says);
}

void add_on_chip(Figures& figures, Device& device, const Curves& curves, const Findings& found,
                 const KnownLimits& known, double cycle_ns) {
  const auto in_memory = [&](const char* what) -> std::optional<double> {
    const auto entry = curves.on_chip.find(what);
    return entry == curves.on_chip.end() ? std::nullopt : std::optional(entry->second);
  };
  std::vector<std::uint32_t> carveouts;
  for (const std::uint32_t kib : known.carveout_kib)
    carveouts.push_back(kib * 1024);
  const std::uint64_t reserved = device.whole("reserved_shared_per_block");
  figures.figure("shared.carveout_bytes", fmt::format("[{}]", fmt::join(carveouts, ", ")), guide);
  figures.figure("shared.max_bytes_per_block", device.whole("shared_per_block_optin") + reserved,
                 device_says);
  figures.figure("shared.reserved_bytes_per_block", reserved, device_says);
  const auto shared = in_memory("shared"), conflict = in_memory("shared_32_ways"),
             constant = in_memory("constant");
  constexpr double group_cycles = 113; // between 105 (H100) and 121 (A100)
  constexpr double constant_pass_cycles = 2;
  figures.ns("shared.latency_ns", shared.value_or(found.levels.hit_cycles) * cycle_ns,
             shared ? measured : assumed);
  const bool passes = shared && conflict && *conflict > *shared;
  figures.ns("shared.pass_ns", (passes ? (*conflict - *shared) / 31 : 1) * cycle_ns,
             passes ? measured : guide);
  figures.ns("constant.latency_ns", constant.value_or(found.levels.hit_cycles) * cycle_ns,
             constant ? measured : assumed);
  figures.ns("constant.pass_ns", constant_pass_cycles * cycle_ns, assumed);
  figures.ns("constant.group_latency_ns", group_cycles * cycle_ns, mt4g);
}

void add_l1(Figures& figures, const Findings& found, const KnownLimits& known, double cycle_ns) {
  const bool has_sectors = found.l1_sector_bytes && found.line_bytes;
  figures.figure("l1.with_shared_bytes", known.l1_with_shared_kib * 1024, guide);
  add_size(figures, "l1", found.levels.levels[0], known.l1_with_shared_kib - known.carveout_kib.front());
  figures.figure("l1.early_usable", 0, measured);
  figures.figure("l1.sectored", has_sectors ? *found.l1_sector_bytes < *found.line_bytes : true,
                 has_sectors ? measured : assumed);
  figures.word("l1.index", "modulo", measured);
  if (found.policies)
    figures.word("l1.stores",
                 found.policies->l1_allocates_stores ? "allocate"
                 : found.policies->l1_keeps_stored   ? "update_on_hit"
                                                     : "bypass",
                 measured);
  figures.ns("l1.latency_ns", found.levels.hit_cycles * cycle_ns, measured);
}

/// Returns whether the L2 has two partitions: then a chase by one SM shows the size of one of them as a level
/// of its own.
bool has_partitions(const Findings& found) {
  return found.levels.levels.size() > 2;
}

/// Returns the time from one partition of the L2 to the other and back. Between the two sizes half of a
/// chase's loads hit in the other partition, and the other half go to memory; beyond both all go to memory,
/// half of them in the other partition.
double hop_cycles(const Findings& found) {
  if (found.distances && found.distances->far_share > 0)
    return found.distances->far_cycles - found.distances->near_cycles;
  const double near = found.levels.levels[0].beyond_cycles, between = found.levels.levels[1].beyond_cycles,
               beyond = found.levels.levels.back().beyond_cycles;
  return std::max(0.0, 2 * (2 * between - near - beyond));
}

void add_l2(Figures& figures, Device& device, const Findings& found, double cycle_ns) {
  const auto& levels = found.levels.levels;
  const double l2_kib = device.number("l2_bytes") / 1024;
  figures.figure("l2.bytes", device.whole("l2_bytes"), device_says);
  Level level = levels[1];
  if (has_partitions(found))
    level.ways *= 2; // the chase sees sets of pairs of lines (docs/replacement.md)
  add_size(figures, "l2", level, has_partitions(found) ? l2_kib / 2 : l2_kib);
  figures.figure("l2.partitions", has_partitions(found) ? 2 : 1, measured);
  if (has_partitions(found)) {
    figures.ns("l2.hop_ns", hop_cycles(found) * cycle_ns, measured);
    figures.figure("l2.hop_bytes_per_ns", 2200, a100);
    figures.figure("l2.early_usable", 0, assumed);
  }
  figures.word("l2.index", "modulo", measured);
  figures.word("l2.stores", "allocate",
               found.policies && found.policies->l2_allocates_stores ? measured : assumed);
  figures.figure("l2.fetch_bytes", std::clamp(found.l2_fetch_bytes.value_or(32), 32u, 128u),
                 found.l2_fetch_bytes ? measured : assumed);
  constexpr double bytes_per_sm_and_cycle = 36, bytes_of_slice = 64, written_share = 0.47; // on an A100
  const double bytes_per_cycle = bytes_per_sm_and_cycle * std::max(1.0, device.number("sms"));
  figures.figure("l2.slices", 2 * std::max(1L, std::lround(bytes_per_cycle / bytes_of_slice / 2)), a100);
  figures.ns("l2.latency_ns", levels[0].beyond_cycles * cycle_ns, measured);
  const double bandwidth = bytes_per_cycle / cycle_ns;
  figures.figure("l2.bytes_per_ns", fmt::format("{:.1f}", bandwidth), a100);
  figures.figure("l2.write_bytes_per_ns", fmt::format("{:.1f}", bandwidth * written_share), a100);
  figures.figure("l2.atomics_per_ns", fmt::format("{:.1f}", bandwidth / bytes_of_slice), a100);
  for (const char* const ratio :
       {"l2.pass_bytes", "l2.partial_write_cost", "l2.read_cost", "l2.float_sum_cost"})
    figures.take_over(ratio);
}

void add_dram(Figures& figures, Device& device, const Curves& curves, const Findings& found,
              double cycle_ns) {
  constexpr double hbm2_ns = 14.1; // tRCD and tRP of HBM2 in GPGPU-Sim's SM7_QV100
  constexpr double hbm_channel_bits = 64, gddr_channel_bits = 32;
  const double bus_bits = device.number("memory_bus_bits");
  // HBM's bus is at least 1024 bits wide, GDDR's at most 512.
  const double channels = std::max(1.0, bus_bits / (bus_bits >= 1024 ? hbm_channel_bits : gddr_channel_bits));
  const auto& rows = found.rows;
  const double activate = rows ? (rows->miss_cycles - rows->hit_cycles) * cycle_ns : hbm2_ns;
  const double precharge = rows ? (rows->conflict_cycles - rows->miss_cycles) * cycle_ns : hbm2_ns;
  const double bandwidth = curves.read_gb_per_s; // bytes per ns
  const double burst = bandwidth > 0 ? 32 * channels / bandwidth : 1;
  figures.figure("dram.bytes", device.whole("memory_bytes"), device_says);
  figures.figure("dram.bus_bits", device.whole("memory_bus_bits"), device_says);
  figures.figure("dram.channels", std::lround(channels), device_says);
  const std::uint64_t row_bytes =
      rows ? std::uint64_t{128} << std::min<std::size_t>(rows->column_bits.size(), 8) : 1024;
  figures.figure("dram.row_bytes", std::max<std::uint64_t>(row_bytes, 256), rows ? measured : assumed);
  // A random chase finds another row open; the figure is that of a bank without an open row.
  const double way = has_partitions(found) ? hop_cycles(found) / 2 : 0; // on average
  const double latency = (found.levels.levels.back().beyond_cycles - way) * cycle_ns - precharge;
  figures.ns("dram.latency_ns", std::max(latency, activate + burst), measured);
  figures.ns("dram.activate_ns", activate, rows ? measured : assumed);
  figures.ns("dram.precharge_ns", precharge, rows ? measured : assumed);
  figures.ns("dram.burst_ns", burst, bandwidth > 0 ? measured : assumed);
  // The burst is that of the measured bandwidth.
  figures.figure("dram.achieved", 1, bandwidth > 0 ? measured : assumed);
  figures.figure("dram.copies_achieved", 1, assumed);
}

} // namespace

Expected<double> compute_capability(const Curves& curves) {
  Device device(curves.device);
  const double tenths = device.number("compute_capability");
  if (!device.missing().empty())
    return fail("device.csv has no number for '{}'", device.missing());
  return tenths / 10;
}

Expected<std::string> print_gpu_file(const Curves& curves, const Findings& findings, const std::string& when,
                                     const model::GpuFigures& relative) {
  Device device(curves.device);
  const auto known = known_limits(static_cast<unsigned>(device.whole("compute_capability")));
  if (device.missing().empty() && !known)
    return tl::unexpected(known.error());
  std::string text = "# Written by warplens calibrate; the curves behind it lie beside it.\nname = " +
                     quoted(device.text("name")) + "\n";
  if (known) {
    const double cycle_ns = 1000 / std::max(device.number("clock_mhz"), 1.0);
    Figures figures;
    add_sm(figures, device);
    add_on_chip(figures, device, curves, findings, *known, cycle_ns);
    add_l1(figures, findings, *known, cycle_ns);
    add_l2(figures, device, findings, cycle_ns);
    add_dram(figures, device, curves, findings, cycle_ns);
    text += print_sources(device, when, relative.name) + figures.print(relative);
  }
  if (!device.missing().empty())
    return fail("device.csv has no number for '{}'", device.missing());
  return text;
}

} // namespace warplens::calibration
