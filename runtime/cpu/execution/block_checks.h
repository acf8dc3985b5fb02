// The state of --racecheck, --initcheck and --synccheck for a running block.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/abi/checks.h"
#include "runtime/cpu/execution/race_detector.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace warplens::cpu {

class Block;
struct Lane;

class BlockChecks {
public:
  /// Resets the state for a new block.
  void begin(Block& block, const KernelRecord& kernel, std::uint32_t threads, bool traced);

  bool only_notes() const { return only_notes_; }
  bool any() const { return races_ || initialisation_ || synchronisation_; }

  /// Checks an access before it happens: `mode` is an AccessMode.
  void access(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes, std::uint32_t mode,
              const char* place);

  // Called before and after the lane waits.

  void arrive_at_barrier(const Lane& lane, std::uint32_t id);
  void leave_barrier(const Lane& lane, std::uint32_t id);
  void pass_barrier(const Lane& lane, std::uint32_t id);
  void arrive_at_warp_barrier(const Lane& lane, std::uint32_t mask);
  void leave_warp_barrier(const Lane& lane);
  void arrive_at_object(const LaneContext& lane, const void* object);
  void wait_for_object(const LaneContext& lane, const void* object);
  /// Checks a warp operation before it; `what` is its name in PTX.
  void check_mask(const Lane& lane, const char* what, std::uint32_t mask);
  /// Checks a warp operation after it.
  void check_absent(const Lane& lane, const char* what, std::uint32_t mask);

private:
  void report(const Race& race);
  void check_written(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes, std::uint32_t mode);
  std::string thread_name(std::uint32_t thread) const;
  std::string where() const;
  /// The places "a.cu:12" of both accesses, as far as they are known.
  using Key = std::tuple<int, const char*, const char*, const char*>;
  /// Counts the finding; calls `text` the first time only.
  template <class Text>
  void note(Check check, const char* kind, const char* first, const char* second, Text text);

  Block* block_ = nullptr;
  const char* kernel_ = nullptr; ///< its symbol
  std::string name_;
  bool races_ = false, initialisation_ = false, synchronisation_ = false;
  bool only_notes_ = false; ///< reports races as notes only: the kernel relies on lock step, and gets it
  std::uint64_t shared_ = 0, shared_bytes_ = 0;
  RaceDetector detector_;
  std::vector<bool> written_; ///< one flag per byte of shared memory
  std::map<Key, std::atomic<std::uint64_t>*> known_;
  std::map<std::uint32_t, const char*>
      barrier_places_; ///< the place of the first waiting thread, by warp and barrier
};

} // namespace warplens::cpu
