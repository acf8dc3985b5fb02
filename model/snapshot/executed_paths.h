// Makes paths through the blocks of the code of the runs of instructions that warps executed.
#pragma once

#include "model/code/code.h"
#include "support/expected.h"
#include "trace/executed.h"
#include "trace/records.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace warplens::model {

/// An instruction that makes an access.
struct MadeAccess {
  std::uint32_t instruction = 0;
  bool continues = false;  ///< it is a further part of the access before
  bool is_operand = false; ///< it comes behind the others of its run
};

class ExecutedPaths {
public:
  /// `sections`: by whose numbers the runs tell instructions.
  ExecutedPaths(const sass::Kernel& kernel, const std::vector<trace::Execution::Section>& sections);

  /// Returns the index in the code table of an instruction by its number; sass::none: there is none.
  std::uint32_t index_of(std::uint64_t number) const {
    return number < index_of_.size() ? index_of_[number] : sass::none;
  }

  /// Adds what a warp executed next. Returns false if a run has instructions that the code lacks.
  bool add_runs(std::uint64_t block, std::uint32_t warp, std::span<const trace::ExecutedRun> runs);
  /// Adds an access that the warp made next.
  void add_access(std::uint64_t block, std::uint32_t warp, MadeAccess access);

  /// Sets the code's blocks, of which runs begin and end at borders, its slots and paths. Afterwards
  /// path_of() is known. The error says that accesses and runs do not fit together.
  Expected<void> finish(Code& code);

  /// The warps that executed anything, by block and warp, with their paths.
  const std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>& path_of() const { return path_of_; }

private:
  struct RecordedWarp {
    std::vector<std::uint32_t> pieces; ///< of runs, indices into `pieces_`
    std::vector<std::uint32_t> made;   ///< instructions, with these bits
  };
  using Runs = std::vector<trace::ExecutedRun>;
  static constexpr std::uint32_t further_part = 1u << 31, operand = 1u << 30;

  void split_blocks(Code& code) const;
  void set_slots(Code& code) const;
  void set_lanes(Code& code) const;
  Expected<Path> make_path(const Code& code, const RecordedWarp& warp) const;

  std::vector<std::uint32_t> index_of_;
  std::map<Runs, std::uint32_t> known_;
  std::vector<const Runs*> pieces_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, RecordedWarp> warps_;
  std::vector<std::uint8_t> makes_access_; ///< by instruction
  std::vector<std::uint8_t> is_split_;     ///< by instruction: its access is of several parts
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> path_of_;
};

} // namespace warplens::model
