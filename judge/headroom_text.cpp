#include "judge/headroom_text.h"

#include "result/figure_text.h"
#include "result/resources.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace warplens::judge {
namespace {

constexpr double notable_pipe = 0.01; // share of the peak

/// Returns a rate in bytes per second.
std::string bytes_per_second(double bytes_per_ns) {
  return bytes_per_ns < 999.5 ? fmt::format("{:.{}f} GB/s", bytes_per_ns, bytes_per_ns < 9.95 ? 1 : 0)
                              : fmt::format("{:.2f} TB/s", bytes_per_ns / 1000);
}

std::string operations_per_second(double per_ns) {
  return per_ns < 999.5 ? fmt::format("{:.{}f} GFLOP/s", per_ns, per_ns < 9.95 ? 1 : 0)
                        : fmt::format("{:.2f} TFLOP/s", per_ns / 1000);
}

/// Returns a number of operations: "102 MFLOP".
std::string operations(double count) {
  std::string text = short_count(count);
  const std::size_t end = text.find_first_not_of("0123456789.");
  return text.insert(std::min(end, text.size()), " ") + "FLOP";
}

std::string percent_of_peak(double part) {
  return fmt::format("{} %", share(part));
}

/// Returns what the least time consists of: "134.2 MB of DRAM at 1.74 TB/s, the most it reaches".
std::string longest_work(const Headroom& headroom) {
  const LimitOfTime& limit = headroom.limits.front();
  const double bytes_of_dram = headroom.dram_read_bytes + headroom.dram_write_bytes;
  if (limit.resource == Resource::dram)
    return fmt::format("{} of DRAM at {}, the most it reaches", bytes(bytes_of_dram),
                       bytes_per_second(bytes_of_dram / limit.microseconds / 1000));
  return fmt::format("the work of the {} at its full rate", text_of(limit.resource));
}

std::string roofline(const Headroom& headroom, const KernelResult& kernel) {
  if (headroom.limits.empty())
    return fmt::format("at least {}, for any launch", duration(Statistic{.mean = headroom.roofline_us}));
  return fmt::format("at least {}, for {}{}; the launch takes {}",
                     duration(Statistic{.mean = headroom.roofline_us}), longest_work(headroom),
                     headroom.launch_us >= headroom.roofline_us / 20
                         ? fmt::format(" and {:.1f} µs of any launch", headroom.launch_us)
                         : "",
                     roofline_verdict(headroom, kernel).text);
}

std::string dram(const Headroom& headroom, const KernelResult& kernel) {
  std::string text = fmt::format(
      "{} read, {} written by the launch: {}, {} of the peak of {}", bytes(headroom.dram_read_bytes),
      bytes(headroom.dram_write_bytes), bytes_per_second(headroom.dram_bytes_per_ns),
      percent_of_peak(headroom.dram_share_of_peak), bytes_per_second(kernel.machine->dram_bytes_per_ns));
  if (const double before = headroom.dram_write_bytes_before; before > 0)
    text += fmt::format("; {} of the bytes written were in the L2 before", bytes(before));
  return text;
}

std::string pipes(const Headroom& headroom, const KernelResult& kernel) {
  std::vector<std::string> parts;
  for (const PipeUse& use : headroom.pipes)
    if (use.share_of_peak >= notable_pipe)
      parts.push_back(fmt::format("{} {}", text_of(use.pipe), percent_of_peak(use.share_of_peak)));
  std::string text = parts.empty() ? "hardly used" : fmt::format("{} of peak", fmt::join(parts, ", "));
  for (const OperationsOfPrecision& of : headroom.operations)
    text += fmt::format("; {} {}, {}", operations(of.operations),
                        std::string_view(of.precision) == "tensor" ? "by tensor cores"
                                                                   : fmt::format("in {}", of.precision),
                        operations_per_second(of.per_ns));
  if (const auto lanes = lanes_per_instruction(kernel))
    text += fmt::format("; {} of {} lanes per instruction", ratio(*lanes), warp_lanes);
  return text;
}

std::string waves(double waves, const KernelResult& kernel) {
  const std::uint64_t blocks = kernel.grid.count(), sms = kernel.occupancy.sms;
  if (blocks < sms)
    return fmt::format("{} blocks for {} SMs: {} have none", grouped(blocks), sms, sms - blocks);
  return fmt::format("{} of {} blocks at once on {} SMs", ratio(waves),
                     grouped(sms * kernel.occupancy.blocks_per_sm), sms);
}

} // namespace

std::vector<LabelledText> headroom_text(const KernelResult& kernel) {
  const std::optional<Headroom> headroom = headroom_of(kernel);
  if (!headroom)
    return {};
  std::vector<LabelledText> lines = {{"roofline", roofline(*headroom, kernel)},
                                     {"DRAM", dram(*headroom, kernel)}};
  if (headroom->instructions)
    lines.push_back({"pipes", pipes(*headroom, kernel)});
  if (headroom->waves)
    lines.push_back({"waves", waves(*headroom->waves, kernel)});
  return lines;
}

std::string occupancy_text(const KernelResult& kernel) {
  const auto& occupancy = kernel.occupancy;
  const std::string warp_limit = kernel.machine && kernel.machine->sm.threads != 0
                                     ? fmt::format(" of {}", kernel.machine->sm.threads / warp_lanes)
                                     : "";
  const std::string amount =
      fmt::format("{} block{}, {}{} warps per SM", occupancy.blocks_per_sm,
                  occupancy.blocks_per_sm == 1 ? "" : "s", occupancy.warps_per_sm, warp_limit);
  if (!kernel.compiled)
    return fmt::format("at most {}, limited by {} if not by registers, which are not known (--registers says "
                       "them)",
                       amount, occupancy.limited_by.empty() ? "nothing known" : occupancy.limited_by);
  return fmt::format("{}, limited by {}", amount,
                     occupancy.limited_by.empty() ? "nothing known" : occupancy.limited_by);
}

} // namespace warplens::judge
