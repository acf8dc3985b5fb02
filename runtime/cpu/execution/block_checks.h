// The state of --racecheck, --initcheck and --synccheck for a running block.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/abi/checks.h"
#include "runtime/cpu/execution/findings.h"
#include "runtime/cpu/execution/global_races.h"
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
  void look_at(LookedAt what) { counts_->add(what); }

  // Of --racecheck: fences of the device's scope, and asynchronous copies.

  void fence(const LaneContext& lane);
  void end_copies(const LaneContext& lane);
  void wait_for_copies(const LaneContext& lane, std::uint32_t pending);

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
  /// Checks that no other lane of its warp is left at a barrier by a lane that has ended.
  void lane_ended(const Lane& lane);
  /// Checks a warp operation after it.
  void check_absent(const Lane& lane, const char* what, std::uint32_t mask);

private:
  void report(const Race& race);
  void note_left_out(const Lane& lane, const char* barrier);
  void access_global(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes, std::uint32_t mode,
                     const char* place);
  void acquire(const LaneContext& lane, std::uint64_t address);
  bool is_ordered(const GlobalRaces::Access& earlier);
  void report_between_blocks(const GlobalRaces::Access& earlier, const GlobalRaces::Access& later,
                             std::uint64_t address, std::uint64_t bytes);
  std::string block_name(std::uint64_t block) const;
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
  std::uint64_t number_ = 0;                               ///< the block's in its grid, x fastest
  std::vector<std::shared_ptr<const Publication>> fenced_; ///< by thread: since its last fence
  std::shared_ptr<KnownBlocks> known_blocks_;              ///< null: nothing
  std::vector<std::uint64_t> words_read_;                  ///< atomically: they may tell more later
  LookedAtCounts* counts_ = &Findings::instance().new_counts();
  std::vector<bool> written_; ///< one flag per byte of shared memory
  std::map<Key, std::atomic<std::uint64_t>*> known_;
  struct Arrival {
    const char* place = nullptr; ///< of the first waiting thread
    std::uint32_t lanes = 0;     ///< that wait
  };
  std::map<std::uint32_t, Arrival> arrivals_;   ///< by warp and barrier: of its running use
  std::map<std::uint32_t, std::uint64_t> uses_; ///< by barrier: how often it has been used
  std::vector<std::uint64_t> arrived_in_;       ///< by thread: the use of the barrier that it waits at
};

} // namespace warplens::cpu
