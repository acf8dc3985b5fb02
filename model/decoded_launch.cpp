#include "model/decoded_launch.h"

#include "model/gpu/occupancy.h"
#include "model/snapshot/coarsen.h"
#include "model/snapshot/decode_executed.h"
#include "model/snapshot/follow_code.h"
#include "model/snapshot/snapshot_builder.h"
#include "trace/changed_source.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace warplens::model {
namespace {

/// Returns the window in line numbers: the pages of the launch are numbered in the order of their addresses.
SetAside set_aside_for(const trace::PersistingWindow& window, const std::vector<std::uint64_t>& pages) {
  const auto number_from = [&](std::uint64_t line) {
    const std::uint64_t page = line >> page_shift;
    const auto found = std::ranges::lower_bound(pages, page);
    const std::uint64_t offset =
        found != pages.end() && *found == page ? line & ((std::uint64_t{1} << page_shift) - 1) : 0;
    return std::uint32_t(std::uint64_t(found - pages.begin()) << page_shift | offset);
  };
  const std::uint32_t first = number_from(window.begin / line_bytes);
  const std::uint32_t end = number_from((window.end + line_bytes - 1) / line_bytes);
  return {.first_line = first,
          .lines = end - first,
          .persisting = std::uint32_t(std::lround(window.hit_ratio * SetAside::all)),
          .share = window.set_aside};
}

} // namespace

DecodedLaunch::DecodedLaunch(const trace::AccessSource& trace, const trace::Launch& launch, Accesses accesses)
    : trace_(trace), launch_(launch), accesses_(accesses), part_(launch),
      collected_(collected_windows(launch, trace.end_of(launch.id))) {}

Expected<void> DecodedLaunch::choose(const Gpu& gpu, const Options& options) {
  infers_ways_ = options.infers_ways;
  TRY_LET(occupied, occupancy(gpu, launch_));
  const std::uint64_t resident = std::uint64_t{occupied->blocks_per_sm} * gpu.sms;
  const BlockWindows first{collected_.front()};
  if (options.snapshot_blocks) {
    const std::uint64_t blocks = std::min(first.front().blocks, *options.snapshot_blocks);
    return decode(in_proportion(first, in_whole_waves(blocks, launch_, resident)), gpu);
  }
  BlockWindows collected =
      options.first_blocks_only || collected_.size() == 1 ? first : in_pieces(collected_);
  const std::uint64_t most = std::min(blocks_of(collected), blocks_with(snapshot_threads(gpu).max, launch_));
  const BlockWindows deepest = in_proportion(collected, in_whole_waves(most, launch_, resident));
  if (auto decoded = decode(deepest, gpu); !decoded)
    return decoded;
  if (options.first_answer_work != 0)
    return {}; // a first answer takes a part of these, and is not worth another decoding
  const auto blocks_for = [&](const BlockWindows& windows) {
    return snapshot_blocks(snapshot_, windows, part_, gpu, resident);
  };
  std::uint64_t blocks = blocks_for(deepest);
  if (collected.size() == 1 && !options.first_blocks_only && !is_even(snapshot_, blocks)) {
    collected = in_pieces(collected);
    blocks = blocks_for(in_pieces(deepest));
  }
  return decode(in_proportion(collected, blocks), gpu);
}

Expected<void> DecodedLaunch::decode(const BlockWindows& windows, const Gpu& gpu) {
  part_.blocks = blocks_of(windows);
  const trace::MachineCode* const code = code_for(gpu);
  const std::uint64_t cubin = code == nullptr ? 0 : code->cubin_id;
  if (decoded_ == windows && decoded_rules_ == gpu.lanes && decoded_cubin_ == cubin) {
    snapshot_.set_aside = set_aside_on(gpu);
    return {};
  }
  snapshot_ = Snapshot(); // frees the memory before another one is made
  sites_ = trace_.sites();
  decoded_ = windows;
  TRY_LET(followed, follow(gpu, code));
  if (!*followed) {
    TRY_LET(decoded, model::decode(trace_, launch_, windows, gpu.lanes, accesses_));
    snapshot_ = std::move(*decoded);
  }
  if (const trace::Alteration* const altered = trace_.alteration(); altered != nullptr && altered->coarsening)
    TRY(coarsen(snapshot_, part_, *altered->coarsening));
  snapshot_.set_aside = set_aside_on(gpu);
  decoded_rules_ = gpu.lanes;
  decoded_cubin_ = cubin;
  return {};
}

bool DecodedLaunch::lacks_iterations() const {
  const auto end = trace_.end_of(launch_.id);
  const bool was_executed = snapshot_.code != nullptr && snapshot_.code->was_executed();
  return end && end->leaves_out && !was_executed;
}

/// Returns the part of the L2 that is set aside: as the trace was changed, or else as the program asked for.
SetAside DecodedLaunch::set_aside_on(const Gpu& gpu) const {
  if (const trace::Alteration* const altered = trace_.alteration(); altered != nullptr && altered->persisting)
    return set_aside_for(*altered->persisting, snapshot_.pages);
  if (!launch_.window)
    return {};
  const trace::AccessWindow& window = *launch_.window;
  const double share = std::min(double(window.set_aside_bytes) / double(gpu.l2_bytes), gpu.l2.set_aside);
  if (share * double(gpu.l2_bytes) < line_bytes)
    return {};
  return set_aside_for({window.begin, window.end, window.hit_ratio, share}, snapshot_.pages);
}

/// Returns the code that the GPU would execute; null if that is not known.
const trace::MachineCode* DecodedLaunch::code_for(const Gpu& gpu) const {
  const auto* const code =
      trace::machine_code_for(launch_.machine_code, gpu.capability(), gpu.registers.max_per_thread);
  return code == nullptr || code->cubin.empty() ? nullptr : code;
}

/// Says that the code for a GPU is missing, and what makes it: a source that needs features of one
/// architecture is not compiled for others.
static std::string missing_code(const Gpu& gpu) {
  return fmt::format(
      "the trace has no machine code of the kernel for this GPU: name what to compile for, as with "
      "--nvcc \"-arch={}\"",
      trace::architecture_with_all_features(gpu.capability()));
}

/// Decodes the launch with its machine code; returns false, and says why, where that cannot be.
Expected<bool> DecodedLaunch::follow(const Gpu& gpu, const trace::MachineCode* code) {
  code_unknown_ = accesses_ != Accesses::all ? "there is no clock"
                  : !gpu.pipes               ? "the GPU's file has no [pipes]"
                  : code == nullptr          ? missing_code(gpu)
                                             : std::string();
  if (!code_unknown_.empty())
    return false;
  execution_ = infers_ways_ ? nullptr : trace_.execution_of(launch_.id, code->capability);
  if (execution_ != nullptr && execution_->is_complete()) {
    TRY_LET(executed, decode_executed(trace_, launch_, decoded_, gpu.lanes, *code, *execution_));
    snapshot_ = std::move(executed->snapshot);
    sites_ = std::move(executed->sites);
    return true;
  }
  TRY_LET(decoded, model::decode(trace_, launch_, decoded_, gpu.lanes, Accesses::all_in_program_order));
  const trace::Alteration* const altered = trace_.alteration();
  const auto spills =
      follow_code(*decoded, trace_.sites(), *code,
                  altered == nullptr ? std::span<const trace::MovedSite>() : altered->moved_sites);
  if (!spills) {
    code_unknown_ = spills.error().message;
    return false;
  }
  sites_.insert(sites_.end(), spills->begin(), spills->end());
  snapshot_ = std::move(*decoded);
  return true;
}

} // namespace warplens::model
