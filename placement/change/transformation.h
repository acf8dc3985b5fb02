// A change of one array: which accesses it turns those of a trace into, and what forbids it. One file per
// place that arrays go to, and per rewrite.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/arrays.h"
#include "placement/space.h"
#include "trace/changed_source.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::placement {

constexpr std::uint64_t allocation_alignment = 256; ///< of what cudaMalloc returns

/// A line of the source that forbids a change, and why; the line is 0 where no line does.
struct Reason {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};

/// How much of an array each block copies into its shared memory: the lines that it touches, packed, or all
/// of the array; the former with an element of padding behind each run of neighbouring lines; or in turn
/// those that it touches by the next few accesses, a tile.
enum class SharedPart : std::uint8_t { touched, whole, padded, tile };

/// A change of an array's layout, or of the accesses to it, where it is; or of the launch as a whole. Each is
/// described in its file, as placement/change/rewrite.h lists them.
enum class Rewrite : std::uint8_t {
  none,
#define WARPLENS_REWRITE(name) name,
#include "placement/change/rewrites.def"
#undef WARPLENS_REWRITE
};

/// The array of that index, moved to a place, or rewritten where it is.
struct Move {
  std::uint32_t array = 0;
  PlacementSpace to = PlacementSpace::global;
  Rewrite rewrite = Rewrite::none; ///< if any, `to` does not matter
  SharedPart part = SharedPart::touched;
  std::uint32_t texels_per_row = 0; ///< of a 2D texture; 0: as the accesses tell
  /// The number of a rewrite: the threads whose work one does, the threads of a block, or the registers of a
  /// thread.
  std::uint32_t number = 0;

  bool operator==(const Move&) const = default;
};

/// The state that the changes of one launch share: the launch, and the memory that they have taken so far.
struct ChangeContext {
  const trace::AccessSource* trace = nullptr;
  const Arrays* arrays = nullptr;
  const model::Gpu* gpu = nullptr;
  trace::Launch launch;             ///< with the shared memory that changes have added
  double probed = 1;                ///< the share of the launch's accesses that the trace has
  std::uint64_t device_end = 0;     ///< behind all arrays of device memory
  std::uint64_t constant_end = 0;   ///< behind all constants
  std::uint64_t constant_taken = 0; ///< bytes of constant memory, with what other moves put there
  std::optional<trace::PersistingWindow> persisting;

  const Site& site(std::uint32_t index) const { return trace->sites()[index]; }
  /// Returns a reason at a site; with `no_site` it has no line.
  Reason because(std::uint32_t site, std::string text) const;
  /// Returns the reasons why the array cannot be where nothing is written: the launch's stores and atomics.
  std::vector<Reason> written(const Array& array, std::string_view place) const;
};

class Transformation {
public:
  using Emit = std::function<void(const trace::WarpAccess&)>;
  virtual ~Transformation() = default;

  /// Returns the instructions that each access takes beside those that its place does.
  virtual double further_instructions() const { return 0; }
  /// Changes the site's memory and cache operator.
  virtual void change(Site& site) const = 0;
  /// Changes the space and the addresses of an access to the array.
  virtual void change(std::uint64_t block, trace::WarpAccess& access) const = 0;
  /// Does so for the next access of this warp, before which it may emit others.
  virtual void change_next(std::uint64_t block, std::uint32_t /*warp*/, trace::WarpAccess& access,
                           const Emit&) const {
    change(block, access);
  }

  /// Returns the sites of accesses that the change adds, which have no instruction in the kernel's code.
  virtual std::vector<Site> added_sites() const { return {}; }
  /// Emits what the warp of a block does before its own accesses, and behind them.
  virtual void begin(std::uint64_t /*block*/, std::uint32_t /*warp*/, const Emit&) const {}
  virtual void end(std::uint64_t /*block*/, std::uint32_t /*warp*/, const Emit&) const {}
};

/// Returns the lanes that a warp has in a block of `threads` threads.
std::uint32_t lanes_of(std::uint32_t warp, std::uint32_t threads);
/// Emits the arrival of a warp of such a block at a barrier, with all lanes that it has.
void put_barrier(std::uint32_t warp, std::uint32_t threads, std::uint64_t site,
                 const Transformation::Emit& emit);

/// A transformation, or what forbids it.
struct Planned {
  std::unique_ptr<Transformation> transformation; ///< null if there are reasons against it
  std::vector<Reason> reasons;
};

constexpr std::uint64_t bank_bytes = 4; ///< that a bank of shared memory serves at once

/// Returns the distance of a shared array's rows, by which lanes are apart that access one bank; 0: none are.
std::uint64_t conflicting_row_bytes(const Array& array);

} // namespace warplens::placement

template <>
inline constexpr auto warplens::names_of<warplens::placement::Rewrite> = std::to_array<std::string_view>({
    "none",
#define WARPLENS_REWRITE(name) #name,
#include "placement/change/rewrites.def"
#undef WARPLENS_REWRITE
});
template <>
inline constexpr std::array<std::string_view, 4> warplens::names_of<warplens::placement::SharedPart>{
    "touched", "whole", "padded", "tile"};
