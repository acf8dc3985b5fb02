// The program's uses of device memory since its last traced launch, as far as a cache may still contain them.
#pragma once

#include "trace/records.h"

#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace warplens::runtime {

/// A bounded log: a program may copy a million times between two launches. Memory that is used twice keeps
/// the later time, adjacent pieces are joined, and the oldest uses are dropped. Not thread-safe.
class MemoryLog {
public:
  static constexpr std::size_t max_uses = 4096;
  /// The bound is several times the L2 of any GPU. The latest use is kept, whatever its size.
  static constexpr std::uint64_t max_bytes = 512u << 20;

  /// Records that memory was read or written; `use.launch` is ignored.
  void add(const trace::MemoryUse& use);
  /// Records an event with unknown accesses, which may have evicted everything before it.
  void add_unseen(const std::string& what);
  /// Returns all uses, oldest first, as those before that launch, and empties the log.
  std::vector<trace::MemoryUse> take(std::uint32_t launch);

private:
  using Uses = std::list<trace::MemoryUse>;
  using Place = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  static Place place_of(const trace::MemoryUse& use);
  void remove(Uses::iterator use);

  std::string unseen_; ///< before all others; empty: none
  Uses uses_;          ///< oldest first, each of another place
  std::map<Place, Uses::iterator> by_place_;
  std::uint64_t bytes_ = 0; ///< the sum of all uses
};

} // namespace warplens::runtime
