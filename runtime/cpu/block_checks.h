// What --racecheck, --initcheck and --synccheck keep of a running block.
#pragma once

#include "runtime/cpu/abi.h"
#include "runtime/cpu/checks.h"
#include "runtime/cpu/race_detector.h"

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
  /// A block begins.
  void begin(Block& block, const KernelRecord& kernel, std::uint32_t threads, bool traced);

  bool only_notes() const { return only_notes_; }
  bool any() const { return races_ || initialisation_ || synchronisation_; }

  /// Before the access: `mode` is an AccessMode.
  void access(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes, std::uint32_t mode,
              const char* place);

  // Before and after the lane waits.

  void arrive_at_barrier(const Lane& lane, std::uint32_t id);
  void leave_barrier(const Lane& lane, std::uint32_t id);
  void pass_barrier(const Lane& lane, std::uint32_t id);
  void arrive_at_warp_barrier(const Lane& lane, std::uint32_t mask);
  void leave_warp_barrier(const Lane& lane);
  void arrive_at_object(const LaneContext& lane, const void* object);
  void wait_for_object(const LaneContext& lane, const void* object);
  /// Before any warp operation; `what` is its name in PTX.
  void check_mask(const Lane& lane, const char* what, std::uint32_t mask);
  /// After it.
  void check_absent(const Lane& lane, const char* what, std::uint32_t mask);

private:
  void report(const Race& race);
  void check_written(const LaneContext& lane, std::uint64_t address, std::uint64_t bytes, std::uint32_t mode);
  std::string thread_name(std::uint32_t thread) const;
  std::string where() const;
  /// "a.cu:12" of each of the two, where they are known.
  using Key = std::tuple<int, const char*, const char*, const char*>;
  /// Counts it; `text` is asked for the first time.
  template <class Text>
  void note(Check check, const char* kind, const char* first, const char* second, Text text);

  Block* block_ = nullptr;
  const char* kernel_ = nullptr; ///< its symbol
  std::string name_;
  bool races_ = false, initialisation_ = false, synchronisation_ = false;
  bool only_notes_ = false; ///< races are no findings: the kernel relies on lock step, and gets it
  std::uint64_t shared_ = 0, shared_bytes_ = 0;
  RaceDetector detector_;
  std::vector<bool> written_; ///< of shared memory
  std::map<Key, std::atomic<std::uint64_t>*> known_;
  std::map<std::uint32_t, const char*>
      barrier_places_; ///< where the first thread of the warp waits, by warp and barrier
};

} // namespace warplens::cpu
