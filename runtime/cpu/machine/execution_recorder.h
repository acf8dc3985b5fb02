// Makes records of a trace of what the executor of machine code observes.
#pragma once

#include "machine/execute.h"
#include "trace/executed.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace warplens::cpu {

/// An operand in constant memory, and where that lies.
struct ConstantOperand {
  std::uint32_t instruction = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// Records one block after the other in an encoder.
class ExecutionRecorder : public machine::Sink {
public:
  /// `make_room` is called when the encoder's chunk is full, and empties it. `stack_bytes`: of each thread;
  /// `warps_per_block`: so that each warp's local memory has a place of its own.
  /// `operands`: in constant memory, by ascending instructions.
  ExecutionRecorder(trace::ExecutedEncoder& encoder, std::function<void()> make_room,
                    std::uint32_t warps_per_block, std::uint32_t stack_bytes,
                    std::span<const ConstantOperand> operands)
      : encoder_(encoder), make_room_(std::move(make_room)), warps_per_block_(warps_per_block),
        stack_bytes_(stack_bytes), operands_(operands), runs_(warps_per_block), accesses_(warps_per_block) {}

  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override;
  void on_access(machine::WarpId warp, const machine::Access& access) override;
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override;
  void on_product(machine::WarpId warp, std::uint32_t instruction,
                  const machine::TensorProduct& product) override;

  /// Returns how many accesses and arrivals at barriers of a warp are recorded: a copy to shared memory is
  /// one.
  std::uint64_t accesses_of(std::uint32_t warp) const { return accesses_[warp]; }
  std::uint64_t records() const { return records_; } ///< of all warps
  /// Records that a loop's iterations are left out between the warp's last access and its next one, and that
  /// `measured` iterations, which began behind `from` accesses, stand for them.
  void leave_out(machine::WarpId warp, std::uint32_t loop, std::uint64_t iterations, std::uint64_t measured,
                 std::uint64_t from);
  /// Records an access that the iterations left out make, by its addresses in the first and the last of them.
  void describe(machine::WarpId warp, machine::Access access,
                std::span<const std::uint64_t, machine::lane_count> first,
                std::span<const std::uint64_t, machine::lane_count> last);
  /// Records that the loop's last iteration that is like the others, of the `iterations` behind those left
  /// out the one after these, began behind `to` accesses.
  void end_check(machine::WarpId warp, std::uint32_t loop, std::uint64_t iterations, std::uint64_t to);

  /// Records what is left of the block.
  void end_block(std::uint64_t block);

private:
  void put(machine::WarpId warp, const trace::WarpAccess& access);
  void put_runs(machine::WarpId warp);
  std::span<const ConstantOperand> operands_of(std::uint32_t first, std::uint32_t count) const;
  void put_bulk(machine::WarpId warp, trace::WarpAccess& record, std::uint64_t address, std::uint64_t bytes);
  void put_phase(machine::WarpId warp, std::uint64_t site, const machine::BarrierPhase& phase);
  /// Moves the lanes' addresses to their space; returns the lanes in that of the first lane.
  std::uint32_t resolve(machine::WarpId warp, const machine::Access& access, std::uint32_t lanes,
                        trace::WarpAccess& record) const;

  trace::ExecutedEncoder& encoder_;
  std::function<void()> make_room_;
  std::uint32_t warps_per_block_, stack_bytes_;
  std::span<const ConstantOperand> operands_;
  std::vector<std::vector<trace::ExecutedRun>> runs_;        ///< by warp
  std::vector<std::uint64_t> accesses_;                      ///< by warp
  std::map<std::uint32_t, machine::TensorProduct> products_; ///< of the block, by instruction
  std::uint64_t records_ = 0;
  std::uint64_t left_out_ = 0; ///< trace::left_out, in describe()
};

} // namespace warplens::cpu
