// Executes the machine code of a traced launch beside the program: each recorded block before it runs, on the
// memory as it then is and on copies of what it writes. So the trace has the instructions that a GPU's warps
// would execute; and what they wrote is compared with what the program's own block left, which tells whether
// the two agree.
#pragma once

#include "runtime/cpu/machine/prepared_launch.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warplens::cpu {

/// Executes blocks of one launch. Several OS threads may do so at the same time.
class MachineExecution {
public:
  /// Returns null if none of the launch's machine codes is wanted (Recorder::executed_capabilities).
  static std::unique_ptr<MachineExecution> begin(const LaunchToExecute& launch);
  ~MachineExecution();

  /// The execution of blocks; its destructor, after the program's own blocks have ended, compares. Where the
  /// program's own blocks are executed by the same machine code, that is recorded, and nothing compared.
  class OfBlocks;
  struct EndOfBlocks {
    void operator()(OfBlocks* blocks) const;
  };
  using BlockHandle = std::unique_ptr<OfBlocks, EndOfBlocks>;

  /// Executes a block that is about to run. Null if all have been executed together, before the first one.
  BlockHandle execute(std::uint64_t block);

  /// Returns what is to observe the program's own block, where its machine code is executed and recorded;
  /// else null.
  static machine::Sink* sink_of(const BlockHandle& block);
  /// The program's own block, which has been observed, has ended as it should. It has written that many
  /// words.
  static void end_own(const BlockHandle& block, std::uint64_t words);

  /// Returns the number of records that a block has in the trace. After its end.
  static std::uint64_t records_of(const BlockHandle& block);
  /// Returns whether iterations of long loops are left out, as blocks have more records than are wanted.
  bool leaves_out() const;
  /// Returns whether some code could not be executed to the end, or some block's warps left out other
  /// barriers than its others.
  bool has_failed() const;

  /// Writes the rest of what was executed, and how, into the trace. After the last block.
  void end();

private:
  struct State;
  explicit MachineExecution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  BlockHandle together_; ///< of a cooperative launch
};

} // namespace warplens::cpu
