// What the program did to device memory since its last traced launch, as far as a cache may still know it.
#pragma once

#include "trace/records.h"

#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace warplens::runtime {

/// Bounded: a program may copy a million times between two launches. Of what is used twice the later time
/// stands, pieces that follow one another become one, and what is too long ago is forgotten. Not thread-safe.
class MemoryLog {
public:
  static constexpr std::size_t most_uses = 4096;
  /// Several times what any GPU's L2 holds. The latest use is kept, whatever its size.
  static constexpr std::uint64_t most_bytes = 512u << 20;

  /// Memory was read or written; `use.launch` does not matter.
  void add(const trace::MemoryUse& use);
  /// Something happened whose accesses are not known: what was there before may be gone.
  void add_unseen(std::string what);
  /// All that is known, oldest first, as the uses before that launch; the log is empty then.
  std::vector<trace::MemoryUse> take(std::uint32_t launch);

private:
  using Uses = std::list<trace::MemoryUse>;
  using Place = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  static Place place_of(const trace::MemoryUse& use);
  void remove(Uses::iterator use);

  std::string unseen_; ///< before all others; empty: nothing
  Uses uses_;          ///< oldest first, each of another place
  std::map<Place, Uses::iterator> by_place_;
  std::uint64_t bytes_ = 0; ///< of all uses
};

} // namespace warplens::runtime
