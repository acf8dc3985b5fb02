#include "runtime/cpu/machine/execution_recorder.h"

#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warplens::cpu {
namespace {

constexpr std::size_t max_pending_runs = 1u << 16; ///< of a warp
constexpr std::uint64_t word_bytes = 4;
/// Where local memory lies: far from all that programs have.
constexpr std::uint64_t local_begin = std::uint64_t{1} << 56;

} // namespace

void ExecutionRecorder::on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count,
                               machine::Mask active) {
  std::vector<trace::ExecutedRun>& runs = runs_[warp.warp];
  const auto operands = operands_of(first, count);
  // Operands come behind the accesses of their run, which therefore stays one of its own.
  if (!runs.empty() && runs.back().first + runs.back().count == first && runs.back().lanes == active &&
      operands.empty() && operands_of(runs.back().first, runs.back().count).empty())
    runs.back().count += count;
  else
    runs.push_back({first, count, active});
  for (const ConstantOperand& operand : operands) {
    trace::WarpAccess record{.site = operand.instruction | trace::is_operand,
                             .active = active,
                             .bytes = std::uint16_t(operand.bytes),
                             .space = Space::constant};
    record.addresses.fill(operand.address);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if ((active >> lane & 1) == 0)
        record.addresses[lane] = 0;
    put(warp, record);
  }
  if (runs.size() >= max_pending_runs)
    put_runs(warp);
}

std::span<const ConstantOperand> ExecutionRecorder::operands_of(std::uint32_t first,
                                                                std::uint32_t count) const {
  const auto begin = std::ranges::lower_bound(operands_, first, {}, &ConstantOperand::instruction);
  const auto end =
      std::ranges::lower_bound(begin, operands_.end(), first + count, {}, &ConstantOperand::instruction);
  return {begin, end};
}

void ExecutionRecorder::put_runs(machine::WarpId warp) {
  encoder_.add_runs(warp.block, warp.warp, std::exchange(runs_[warp.warp], {}));
  if (encoder_.is_full())
    make_room_();
}

void ExecutionRecorder::put(machine::WarpId warp, const trace::WarpAccess& access) {
  if ((access.site & trace::not_an_access) == 0)
    ++accesses_[warp.warp];
  ++records_;
  encoder_.add_access(warp.block, warp.warp, access);
  if (encoder_.is_full())
    make_room_();
}

std::uint32_t ExecutionRecorder::resolve(machine::WarpId warp, const machine::Access& access,
                                         std::uint32_t lanes, trace::WarpAccess& record) const {
  const auto space_of = [&](std::uint64_t address) {
    if (access.is_constant)
      return Space::constant;
    switch (access.space) {
    case sass::Space::global: return Space::global;
    case sass::Space::shared: return Space::shared;
    case sass::Space::local: return Space::local;
    case sass::Space::generic: break;
    }
    const std::uint64_t window = machine::window_of(address);
    return window == machine::shared_window  ? Space::shared
           : window == machine::local_window ? Space::local
                                             : Space::global;
  };
  record.space = space_of(access.addresses[unsigned(std::countr_zero(lanes))]);
  const std::uint64_t frame =
      local_begin + (warp.block * warps_per_block_ + warp.warp) * stack_bytes_ * warp_lanes;
  std::uint32_t here = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = unsigned(std::countr_zero(left));
    const std::uint64_t address = access.addresses[lane];
    if (space_of(address) != record.space)
      continue;
    here |= 1u << lane;
    switch (record.space) {
    case Space::shared: record.addresses[lane] = address & 0xff'ffff; break;
    case Space::local: { // the words of a thread lie a line apart, next to those of the other lanes
      const std::uint64_t offset = address & 0xffff'ffff;
      record.addresses[lane] =
          frame + offset / word_bytes * line_bytes + lane * word_bytes + offset % word_bytes;
      break;
    }
    default: record.addresses[lane] = address;
    }
  }
  return here;
}

void ExecutionRecorder::put_phase(machine::WarpId warp, std::uint64_t site,
                                  const machine::BarrierPhase& phase) {
  trace::WarpAccess record{.site = site | trace::is_in_phase, .active = 0b1111, .bytes = word_bytes};
  record.addresses[0] = phase.barrier;
  record.addresses[1] = phase.number;
  record.addresses[2] = phase.block;
  record.addresses[3] = phase.bytes;
  put(warp, record);
}

void ExecutionRecorder::on_access(machine::WarpId warp, const machine::Access& access) {
  if (access.phase && left_out_ == 0 && !access.is_further) {
    put_phase(warp, access.instruction, *access.phase);
    for (const machine::BarrierPhase& further : access.further_phases)
      put_phase(warp, access.instruction, further);
  }
  trace::WarpAccess record;
  record.site = access.instruction | left_out_;
  record.bytes = access.bytes;
  record.kind = access.is_atomic  ? AccessKind::atomic
                : access.is_store ? AccessKind::store
                                  : AccessKind::load;
  if (access.is_further)
    record.site |= trace::continues_access;
  if (access.bulk_bytes != 0) {
    record.space = Space::global;
    return put_bulk(warp, record, access.addresses[0], access.bulk_bytes);
  }
  if (access.stores_copy)
    record.site |= trace::stores_copy;
  for (std::uint32_t left = access.lanes; left != 0; left &= ~record.active) {
    record.active = resolve(warp, access, left, record);
    put(warp, record);
    record.site |= trace::continues_access;
  }
}

/// Records a copy of many bytes as accesses of whole lines by as many lanes.
void ExecutionRecorder::put_bulk(machine::WarpId warp, trace::WarpAccess& record, std::uint64_t address,
                                 std::uint64_t bytes) {
  constexpr std::uint64_t of_lane = 16; // bulk copies have multiples of it
  record.bytes = of_lane;
  for (std::uint64_t done = 0; done < bytes;) {
    const auto lanes = unsigned(std::min<std::uint64_t>((bytes - done) / of_lane, warp_lanes));
    if (lanes == 0)
      return;
    record.active = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
    for (unsigned lane = 0; lane < lanes; ++lane)
      record.addresses[lane] = address + done + lane * of_lane;
    put(warp, record);
    record.site |= trace::continues_access;
    done += lanes * of_lane;
  }
}

void ExecutionRecorder::on_barrier(machine::WarpId warp, const machine::Arrival& arrival) {
  if (arrival.phase)
    put_phase(warp, arrival.instruction | (arrival.waits ? trace::waits_for_phase : 0), *arrival.phase);
  for (const machine::BarrierPhase& further : arrival.further_phases)
    put_phase(warp, arrival.instruction, further);
  put(warp, {.site = arrival.instruction,
             .active = arrival.lanes,
             .space = Space::generic,
             .kind = AccessKind::barrier});
}

void ExecutionRecorder::on_product(machine::WarpId warp, std::uint32_t instruction,
                                   const machine::TensorProduct& product) {
  const auto [known, is_new] = products_.try_emplace(instruction, product);
  if (!is_new && known->second == product)
    return;
  known->second = product;
  trace::WarpAccess record{.site = instruction | trace::is_product, .active = 0xff, .bytes = word_bytes};
  const std::uint64_t values[] = {product.rows,           product.columns,      product.depth,
                                  product.bits,           product.is_float,     product.sums_singles,
                                  product.reads_shared_a, product.of_two_blocks};
  std::ranges::copy(values, record.addresses.begin());
  put(warp, record);
}

void ExecutionRecorder::leave_out(machine::WarpId warp, std::uint32_t loop, std::uint64_t iterations,
                                  std::uint64_t measured, std::uint64_t from) {
  trace::WarpAccess record{.site = loop | trace::leaves_out, .active = 0b111, .bytes = word_bytes};
  record.addresses[0] = iterations;
  record.addresses[1] = measured;
  record.addresses[2] = from;
  put(warp, record);
}

void ExecutionRecorder::describe(machine::WarpId warp, machine::Access access,
                                 std::span<const std::uint64_t, machine::lane_count> first,
                                 std::span<const std::uint64_t, machine::lane_count> last) {
  left_out_ = trace::is_left_out;
  for (const auto addresses : {first, last}) {
    access.addresses = addresses;
    on_access(warp, access);
  }
  left_out_ = 0;
}

void ExecutionRecorder::end_check(machine::WarpId warp, std::uint32_t loop, std::uint64_t iterations,
                                  std::uint64_t to) {
  trace::WarpAccess record{.site = loop | trace::ends_check, .active = 0b11, .bytes = word_bytes};
  record.addresses[0] = iterations;
  record.addresses[1] = to;
  put(warp, record);
}

void ExecutionRecorder::end_block(std::uint64_t block) {
  for (std::uint32_t warp = 0; warp < runs_.size(); ++warp)
    if (!runs_[warp].empty())
      put_runs({block, warp});
  products_.clear();
}

} // namespace warplens::cpu
