#include "calibration/gpu_file.h"

#include "calibration/known_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>

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

/// Builds the file's text.
class Text {
public:
  void table(const char* name) { text_ += fmt::format("\n[{}]\n", name); }
  void line(const std::string& line) { text_ += line + "\n"; }
  template <class Value> void figure(const char* key, const Value& value, const char* source) {
    text_ += fmt::format("{} = {{ value = {}, source = \"{}\" }}\n", key, value, source);
  }
  void word(const char* key, const char* value, const char* source) { figure(key, quoted(value), source); }
  void ns(const char* key, double value, const char* source) {
    figure(key, fmt::format("{:.3f}", value), source);
  }
  /// Prints an assumption, from which machines draw: also half of it, and twice as much.
  void assumption(const char* key, std::uint32_t value) {
    line(fmt::format("{} = {{ value = {}, or = [{}, {}], weights = [2, 1, 1], source = \"assumed\" }}", key,
                     value, value / 2, 2 * value));
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
};

constexpr const char *measured = "measured", *device_says = "device", *guide = "guide",
                     *occupancy = "occupancy", *paper = "paper", *mt4g = "mt4g", *a100 = "a100",
                     *assumed = "assumed";

void print_sources(Text& text, const Device& device, const std::string& when) {
  text.table("sources");
  text.line(
      fmt::format("measured = {}",
                  quoted(fmt::format("Measured by warplens calibrate on {} ({}, driver {}, CUDA {})", when,
                                     device.text("name"), device.text("driver"), device.text("runtime")))));
  text.line("device = \"As CUDA says of the device: cudaDeviceProp\"");
  text.line("guide = \"NVIDIA: CUDA C++ Programming Guide, Compute Capabilities\"");
  text.line("occupancy = \"NVIDIA: cuda_occupancy.h of the CUDA Toolkit\"");
  text.line("paper = \"Baghsorkhi, Gelado, Delahaye, Hwu: Efficient performance evaluation of memory "
            "hierarchy for highly "
            "multithreaded graphics processors, PPoPP 2012\"");
  text.line(
      "mt4g = \"caps-tum/mt4g (MT4G, memory topology of GPUs), sample_results at 4cc5566, the same on V100, "
      "A100 and "
      "H100: constant caches of 2 KiB with lines of 64 bytes, and behind them of more than 64 KiB, which "
      "fetch "
      "256 bytes, after 105 to 121 cycles; taken over for this GPU, an assumption\"");
  text.line("a100 = \"As the A100's (model/gpu/gpus/a100.toml), whose figures were measured; taken over for "
            "this GPU, an assumption\"");
  text.line("assumed = \"An assumption, not a measurement\"");
}

/// Prints a whole cache of `nominal` KiB, of which a measured part holds lines.
void print_size(Text& text, const char* ways, const char* usable, const Level& level, double nominal_kib) {
  text.figure(ways, level.ways, measured);
  text.figure(usable, fmt::format("{:.4f}", std::clamp(level.kib / nominal_kib, 0.1, 1.0)), measured);
}

/// Prints the issue of instructions and the memory pipeline, none of which is measured.
void print_pipeline(Text& text, Device& device) {
  const std::uint64_t capability = device.whole("compute_capability");
  // The SMs of GA10x, Ada and consumer Blackwell have half as many load/store units.
  const bool half_as_many = capability == 86 || capability == 87 || capability == 89 || capability >= 120;
  text.table("issue");
  text.figure("schedulers", 4, guide);
  text.word("policy", "greedy_then_youngest", a100);
  text.assumption("cycles_per_access", 8);
  text.figure("barrier_cycles", 22, assumed);
  text.figure("barrier_interval", 2, guide);
  text.figure("turnover_cycles", 0, a100);
  text.figure("launch_ns", 2000, assumed);
  text.table("lsu");
  text.figure("queue_entries", 5, a100);
  text.figure("scheduler_cycles", 4, a100);
  text.figure("cycles", half_as_many ? 2 : 1, half_as_many ? assumed : a100);
  text.figure("tags_per_pass", 4, a100);
  text.figure("misses", 0, assumed);
  text.figure("stores", 256, assumed);
  text.figure("l2_bytes_per_cycle", 64, assumed);
  text.figure("l2_write_bytes_per_cycle", 25.7, a100);
}

void print_sm(Text& text, Device& device) {
  text.table("sm");
  text.figure("count", device.whole("sms"), device_says);
  text.figure("compute_capability", fmt::format("{:.1f}", device.number("compute_capability") / 10),
              device_says);
  text.figure("clock_mhz", fmt::format("{:.0f}", device.number("clock_mhz")), measured);
  text.figure("max_threads", device.whole("max_threads_per_sm"), device_says);
  text.figure("max_blocks", device.whole("max_blocks_per_sm"), device_says);
  text.figure("max_threads_per_block", device.whole("max_threads_per_block"), device_says);
  text.figure("coalesced_bytes", 512, assumed);
  text.table("schedule");
  text.word("placement", "in_order", paper);
  text.word("start", "random_delay", assumed);
  print_pipeline(text, device);
  text.table("registers");
  text.figure("per_sm", device.whole("registers_per_sm"), device_says);
  text.figure("per_block", device.whole("registers_per_block"), device_says);
  text.figure("max_per_thread", 256, occupancy);
  text.figure("allocation_unit", 256, occupancy);
  text.figure("sub_partitions", 4, occupancy);
}

void print_on_chip(Text& text, Device& device, const Curves& curves, const Findings& found,
                   const KnownLimits& known, double cycle_ns) {
  const auto in_memory = [&](const char* what) -> std::optional<double> {
    const auto entry = curves.on_chip.find(what);
    return entry == curves.on_chip.end() ? std::nullopt : std::optional(entry->second);
  };
  std::vector<std::uint32_t> carveouts;
  for (const std::uint32_t kib : known.carveout_kib)
    carveouts.push_back(kib * 1024);
  const std::uint64_t reserved = device.whole("reserved_shared_per_block");
  text.table("shared");
  text.figure("carveout_bytes", fmt::format("[{}]", fmt::join(carveouts, ", ")), guide);
  text.figure("max_bytes_per_block", device.whole("shared_per_block_optin") + reserved, device_says);
  text.figure("reserved_bytes_per_block", reserved, device_says);
  text.figure("allocation_unit", device.whole("compute_capability") >= 80 ? 128 : 256, occupancy);
  text.figure("bank_bytes", 4, guide);
  text.figure("bank_stride_bytes", 4, guide);
  const auto shared = in_memory("shared"), conflict = in_memory("shared_32_ways"),
             constant = in_memory("constant");
  constexpr double group_cycles = 113; // between 105 (H100) and 121 (A100)
  constexpr double constant_pass_cycles = 2;
  text.ns("latency_ns", shared.value_or(found.levels.hit_cycles) * cycle_ns, shared ? measured : assumed);
  const bool passes = shared && conflict && *conflict > *shared;
  text.ns("pass_ns", (passes ? (*conflict - *shared) / 31 : 1) * cycle_ns, passes ? measured : guide);
  text.table("constant");
  text.figure("bytes", 2048, mt4g);
  text.figure("line_bytes", 64, mt4g);
  text.figure("ways", 4, assumed);
  text.ns("latency_ns", constant.value_or(found.levels.hit_cycles) * cycle_ns, constant ? measured : assumed);
  text.ns("pass_ns", constant_pass_cycles * cycle_ns, assumed);
  text.figure("group_sms", 16, assumed);
  text.figure("group_bytes", 65536, mt4g);
  text.figure("group_line_bytes", 256, mt4g);
  text.figure("group_ways", 8, assumed);
  text.ns("group_latency_ns", group_cycles * cycle_ns, mt4g);
}

void print_l1(Text& text, const Findings& found, const KnownLimits& known, double cycle_ns) {
  const bool has_sectors = found.l1_sector_bytes && found.line_bytes;
  text.table("l1");
  text.figure("with_shared_bytes", known.l1_with_shared_kib * 1024, guide);
  print_size(text, "ways", "usable", found.levels.levels[0],
             known.l1_with_shared_kib - known.carveout_kib.front());
  text.figure("early_usable", 0, measured);
  text.figure("sectored", has_sectors ? *found.l1_sector_bytes < *found.line_bytes : true,
              has_sectors ? measured : assumed);
  text.word("index", "modulo", measured);
  text.word("replacement", "lru", assumed);
  text.word("stores",
            found.policies && found.policies->l1_allocates_stores ? "allocate"
            : found.policies && !found.policies->l1_keeps_stored  ? "bypass"
                                                                  : "update_on_hit",
            found.policies ? measured : assumed);
  text.word("local_stores", "as_global", assumed);
  text.figure("global_loads", true, guide);
  text.ns("latency_ns", found.levels.hit_cycles * cycle_ns, measured);
  text.table("read_only");
  text.word("cache", "l1", guide);
  text.table("texture");
  text.word("cache", "l1", guide);
  text.figure("lanes", 4, assumed);
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

void print_l2(Text& text, Device& device, const Findings& found, double cycle_ns) {
  const auto& levels = found.levels.levels;
  const double l2_kib = device.number("l2_bytes") / 1024;
  text.table("l2");
  text.figure("bytes", device.whole("l2_bytes"), device_says);
  text.figure("line_bytes", 128, assumed);
  Level level = levels[1];
  if (has_partitions(found))
    level.ways *= 2; // the chase sees sets of pairs of lines (docs/replacement.md)
  print_size(text, "ways", "usable", level, has_partitions(found) ? l2_kib / 2 : l2_kib);
  text.figure("partitions", has_partitions(found) ? 2 : 1, measured);
  if (has_partitions(found)) {
    text.ns("hop_ns", hop_cycles(found) * cycle_ns, measured);
    text.figure("hop_bytes_per_ns", 2200, a100);
    text.figure("early_usable", 0, assumed);
  }
  text.word("index", "modulo", measured);
  text.word("replacement", "lru", assumed);
  text.word("stores", "allocate", found.policies && found.policies->l2_allocates_stores ? measured : assumed);
  text.word("partial_writes", "mask", assumed);
  text.figure("fetch_bytes", std::clamp(found.l2_fetch_bytes.value_or(32), 32u, 128u),
              found.l2_fetch_bytes ? measured : assumed);
  constexpr double bytes_per_sm_and_cycle = 36, bytes_of_slice = 64, written_share = 0.47; // on an A100
  const double bytes_per_cycle = bytes_per_sm_and_cycle * std::max(1.0, device.number("sms"));
  text.figure("slices", 2 * std::max(1L, std::lround(bytes_per_cycle / bytes_of_slice / 2)), a100);
  text.word("slice_index", "xor_fold", assumed);
  text.ns("latency_ns", levels[0].beyond_cycles * cycle_ns, measured);
  const double bandwidth = bytes_per_cycle / cycle_ns;
  text.figure("bytes_per_ns", fmt::format("{:.1f}", bandwidth), a100);
  text.figure("write_bytes_per_ns", fmt::format("{:.1f}", bandwidth * written_share), a100);
  text.figure("atomics_per_ns", fmt::format("{:.1f}", bandwidth / bytes_of_slice), a100);
}

void print_dram(Text& text, Device& device, const Curves& curves, const Findings& found, double cycle_ns) {
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
  text.table("dram");
  text.figure("bytes", device.whole("memory_bytes"), device_says);
  text.figure("bus_bits", device.whole("memory_bus_bits"), device_says);
  text.figure("channels", std::lround(channels), device_says);
  text.figure("banks", 16, assumed);
  const std::uint64_t row_bytes =
      rows ? std::uint64_t{128} << std::min<std::size_t>(rows->column_bits.size(), 8) : 1024;
  text.figure("row_bytes", std::max<std::uint64_t>(row_bytes, 256), rows ? measured : assumed);
  text.figure("interleave_bytes", 256, assumed);
  text.word("channel_index", "permuted", assumed);
  text.word("bank_index", "permuted", assumed);
  text.word("queue", "kingman", assumed);
  // A random chase finds another row open; the figure is that of a bank without an open row.
  const double way = has_partitions(found) ? hop_cycles(found) / 2 : 0; // on average
  const double latency = (found.levels.levels.back().beyond_cycles - way) * cycle_ns - precharge;
  text.ns("latency_ns", std::max(latency, activate + burst), measured);
  text.ns("activate_ns", activate, rows ? measured : assumed);
  text.ns("precharge_ns", precharge, rows ? measured : assumed);
  text.ns("burst_ns", burst, bandwidth > 0 ? measured : assumed);
  // The burst is that of the measured bandwidth.
  text.figure("achieved", 1, bandwidth > 0 ? measured : assumed);
  text.figure("copies_achieved", 1, assumed);
  text.figure("write_batch_sectors", 320, assumed); // as copies by few threads say of V100 and GH200
}

} // namespace

Expected<std::string> print_gpu_file(const Curves& curves, const Findings& findings,
                                     const std::string& when) {
  Device device(curves.device);
  const auto known = known_limits(static_cast<unsigned>(device.whole("compute_capability")));
  if (device.missing().empty() && !known)
    return tl::unexpected(known.error());
  Text text;
  text.line(fmt::format("# Written by warplens calibrate; the curves behind it lie beside it."));
  text.line("name = " + quoted(device.text("name")));
  if (known) {
    const double cycle_ns = 1000 / std::max(device.number("clock_mhz"), 1.0);
    print_sources(text, device, when);
    print_sm(text, device);
    print_on_chip(text, device, curves, findings, *known, cycle_ns);
    print_l1(text, findings, *known, cycle_ns);
    print_l2(text, device, findings, cycle_ns);
    print_dram(text, device, curves, findings, cycle_ns);
  }
  if (!device.missing().empty())
    return fail("device.csv has no number for '{}'", device.missing());
  return text.take();
}

} // namespace warplens::calibration
