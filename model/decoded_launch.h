// A traced launch, decoded for the GPUs that it is modelled on.
#pragma once

#include "model/gpu/gpu.h"
#include "model/model.h"
#include "model/snapshot/snapshot.h"
#include "model/snapshot/snapshot_size.h"
#include "trace/machine_code.h"
#include "trace/reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::model {

/// A traced launch, decoded as far as each GPU in turn requires.
class DecodedLaunch {
public:
  DecodedLaunch(const trace::AccessSource& trace, const trace::Launch& launch, Accesses accesses);

  /// Decodes the blocks that the options name, or those that the GPU needs, whichever others are modelled.
  Expected<void> choose(const Gpu& gpu, const Options& options);

  const Snapshot& snapshot() const { return snapshot_; }
  /// Returns the sites to which the snapshot has indices: the trace's, and behind them those of its spills.
  const std::vector<Site>& sites() const { return sites_; }
  /// Returns why only the warps' accesses are known; empty where their instructions are.
  const std::string& code_unknown() const { return code_unknown_; }
  /// Returns whether the trace leaves out iterations that the snapshot lacks: only what was executed tells
  /// which.
  bool lacks_iterations() const;
  /// Returns how the GPU's machine code was executed beside the program; null: it was not.
  const trace::Execution* execution() const { return execution_; }
  /// Returns the launch with the chosen number of blocks, in windows().
  const trace::Launch& part() const { return part_; }
  const BlockWindows& windows() const { return decoded_; }

private:
  Expected<void> decode(const BlockWindows& windows, const Gpu& gpu);
  const trace::MachineCode* code_for(const Gpu& gpu) const;
  SetAside set_aside_on(const Gpu& gpu) const;
  Expected<bool> follow(const Gpu& gpu, const trace::MachineCode* code);

  const trace::AccessSource& trace_;
  const trace::Launch& launch_;
  Accesses accesses_;
  trace::Launch part_;
  BlockWindows collected_;
  BlockWindows decoded_;
  LaneRules decoded_rules_;
  std::uint64_t decoded_cubin_ = 0;
  std::string code_unknown_;
  const trace::Execution* execution_ = nullptr;
  bool infers_ways_ = false;
  Snapshot snapshot_;
  std::vector<Site> sites_;
};

} // namespace warplens::model
