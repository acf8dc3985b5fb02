#include "model/snapshot/decode_executed.h"

#include "model/code/source_lines.h"
#include "model/snapshot/block_parts.h"
#include "model/snapshot/executed_paths.h"
#include "model/snapshot/executed_sites.h"
#include "model/snapshot/snapshot_builder.h"
#include "sass/decode.h"
#include "sass/instruction_traits.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace warplens::model {
namespace {

constexpr std::uint64_t sampled_blocks = 16; ///< in which accesses of code and source are compared

/// Which blocks are decoded, and which of them are sampled.
class Blocks {
public:
  explicit Blocks(const BlockWindows& windows) : windows_(windows) {
    step_ = std::max<std::uint64_t>(blocks_of(windows) / sampled_blocks, 1);
  }
  bool contains(std::uint64_t block) const {
    return std::ranges::any_of(
        windows_, [&](const trace::BlockWindow& window) { return block - window.first < window.blocks; });
  }
  bool samples(std::uint64_t block) const {
    return std::ranges::any_of(windows_, [&](const trace::BlockWindow& window) {
      return block - window.first < window.blocks && (block - window.first) % step_ == 0;
    });
  }

private:
  BlockWindows windows_;
  std::uint64_t step_;
};

/// Returns whether the clock knows what an access by this instruction is.
bool can_have_slot(const sass::Instruction& instruction) {
  const sass::ExecutionUnit unit = sass::traits_of(instruction.kind).unit;
  return unit == sass::ExecutionUnit::memory || unit == sass::ExecutionUnit::barrier;
}

/// Returns what an instruction that takes part in a phase of a barrier does there.
PhaseRole role_of(const sass::Instruction& instruction, const trace::WarpAccess& record) {
  if ((record.site & trace::waits_for_phase) != 0)
    return PhaseRole::meets;
  constexpr unsigned lane_of_bytes = 3;
  if ((record.active >> lane_of_bytes & 1) != 0 && record.addresses[lane_of_bytes] != 0)
    return PhaseRole::arrives; // a copy within shared memory
  if (instruction.kind == sass::InstructionClass::copy_to_shared)
    return PhaseRole::copies;
  if (sass::name_of(instruction) == "ARRIVES")
    return PhaseRole::arrives_with_copies;
  if (sass::name_of(instruction) == "UTCBAR")
    return PhaseRole::arrives_with_products;
  return sass::name_of(instruction) == "SYNCS.PHASECHK" ? PhaseRole::waits : PhaseRole::arrives;
}

/// Returns the product of tensor memory that a record describes (trace::is_product).
sass::MatrixProduct product_of(const trace::WarpAccess& record) {
  const auto& values = record.addresses;
  return {.rows = std::uint16_t(values[0]),
          .columns = std::uint16_t(values[1]),
          .depth = std::uint16_t(values[2]),
          .bits = std::uint8_t(values[3]),
          .sums_singles = values[5] != 0,
          .is_float = values[4] != 0,
          .reads_shared_a = values[6] != 0,
          .in_tensor_memory = true,
          .of_two_blocks = values[7] != 0};
}

/// Returns how often each instruction was executed for each time that a warp of the snapshot replays it.
std::vector<double> executions_of_replayed(const Snapshot& snapshot, const Code& code) {
  std::vector<double> replayed(code.kernel.blocks.size()), left_out(replayed.size());
  for (const Warp& warp : snapshot.warps) {
    const Path& path = code.paths[warp.path];
    for (const std::uint32_t block : path.blocks)
      if (block != Path::unmatched)
        ++replayed[block];
    for (const Gap& gap : warp.gaps) {
      const PathPlace from = place_at(code, warp, warp.accesses.data() + gap.measured),
                      to = place_at(code, warp, warp.accesses.data() + gap.before);
      for (const std::uint32_t* block = from.block; block != to.block; ++block)
        if (*block != Path::unmatched)
          left_out[*block] += gap.left_out;
    }
  }
  std::vector<double> times_by_instruction(code.kernel.instructions.size(), 1);
  for (std::size_t i = 0; i < replayed.size(); ++i)
    for (std::uint32_t at = code.kernel.blocks[i].begin; replayed[i] != 0 && at < code.kernel.blocks[i].end;
         ++at)
      times_by_instruction[at] = 1 + left_out[i] / replayed[i];
  return times_by_instruction;
}

} // namespace

Expected<ExecutedSnapshot> decode_executed(const trace::AccessSource& trace, const trace::Launch& launch,
                                           const BlockWindows& windows, const LaneRules& rules,
                                           const trace::MachineCode& machine_code,
                                           const trace::Execution& execution) {
  TRY_LET(table, sass::decode(std::as_bytes(std::span(machine_code.cubin))));
  const sass::Kernel* const kernel = sass::find_kernel(*table, machine_code.symbol);
  if (kernel == nullptr)
    return fail("the cubin has no kernel '{}'", machine_code.symbol);
  Code code;
  code.architecture = table->architecture;
  code.kernel = *kernel;
  find_source_lines(*table, files_of(trace.sites()), code);
  ExecutedPaths paths(*kernel, execution.sections);
  ExecutedSites sites(trace.sites(), *table, code);
  const Blocks blocks(windows);

  bool fits = true;
  const auto index_of = [&](const trace::WarpAccess& access) {
    const std::uint32_t index = paths.index_of(access.site & ~std::uint32_t{0});
    const bool is_known = index != sass::none && ((access.site & trace::is_operand) != 0 ||
                                                  can_have_slot(kernel->instructions[index]));
    return is_known ? index : sass::none;
  };
  TRY(trace.for_each_executed(
      launch.id, machine_code.capability,
      [&](std::uint64_t block, std::uint32_t warp, std::span<const trace::ExecutedRun> runs) {
        if (blocks.contains(block))
          fits &= paths.add_runs(block, warp, runs);
      },
      [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if ((access.site & trace::is_product) != 0) {
          const std::uint32_t index = paths.index_of(access.site & ~std::uint32_t{0});
          if (index != sass::none && kernel->instructions[index].kind == sass::InstructionClass::tensor)
            code.tensor_memory_products[index] = product_of(access);
          return;
        }
        if ((access.site & (trace::not_an_access & ~trace::stores_copy)) != 0)
          return;
        const std::uint32_t index = index_of(access);
        if (index == sass::none || access.active == 0 || !blocks.contains(block))
          return;
        sites.note(index, access);
        if ((access.site & trace::stores_copy) == 0)
          paths.add_access(
              block, warp,
              {index, (access.site & trace::continues_access) != 0, (access.site & trace::is_operand) != 0});
        if (blocks.samples(block))
          sites.add_of_code(block, warp, index, access);
      }));
  if (!fits)
    return fail("warps executed functions that the code of the kernel does not name");

  const SiteIndex site_index = model::index_of(trace.sites());
  TRY(trace.for_each_access(
      launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (const auto found = site_index.find(access.site);
            found != site_index.end() && access.active != 0 && access.kind != AccessKind::mark)
          sites.add_of_source(block, warp, found->second, access, blocks.samples(block));
      }));
  ExecutedSnapshot result;
  result.sites = sites.choose();

  TRY(paths.finish(code));
  SnapshotBuilder builder(result.sites, launch, windows, rules, Accesses::executed);
  for (const auto& [place, path] : paths.path_of())
    builder.keep(place.first, place.second);
  Expected<void> first_failure;
  std::map<std::pair<std::uint64_t, std::uint32_t>, trace::WarpAccess> first_left_out; // by warp
  TRY(trace.for_each_executed(
      launch.id, machine_code.capability,
      [](std::uint64_t, std::uint32_t, std::span<const trace::ExecutedRun>) {},
      [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (!first_failure || !blocks.contains(block) || (access.site & trace::is_product) != 0)
          return;
        if ((access.site & trace::leaves_out) != 0)
          return void(first_failure = builder.leave_out(block, warp, access));
        if ((access.site & trace::ends_check) != 0)
          return void(first_failure = builder.end_check(block, warp, access));
        if ((access.site & trace::is_left_out) != 0) {
          // Records of other warps may come between those of an access, in another chunk.
          const auto [first, is_first] = first_left_out.try_emplace({block, warp}, access);
          if (is_first)
            return;
          first_failure = builder.describe(block, warp, first->second, access);
          first_left_out.erase(first);
          return;
        }
        const std::uint32_t index = index_of(access);
        if (index == sass::none || access.active == 0)
          return;
        if ((access.site & trace::is_in_phase) != 0)
          return void(first_failure = builder.enter_phase(
                          block, warp, role_of(kernel->instructions[index], access), access));
        const std::uint32_t site = sites.site_of(index, access);
        first_failure = builder.add_executed(block, warp, site, access);
      }));
  TRY(first_failure);
  const auto end = trace.end_of(launch.id);
  result.snapshot = std::move(builder).finish(end && end->complete);
  for (Warp& warp : result.snapshot.warps)
    warp.path = paths.path_of().at({warp.block, warp.warp});
  if (result.snapshot.leaves_out)
    result.snapshot.executions_of_replayed = executions_of_replayed(result.snapshot, code);
  result.snapshot.code = std::make_shared<const Code>(std::move(code));
  return result;
}

} // namespace warplens::model
