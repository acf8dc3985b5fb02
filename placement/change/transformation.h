// A change of one array's placement: which accesses it turns those of a trace into, and what forbids it. One
// file per place that arrays go to.
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

/// A change of an array's layout, or of the accesses to it, where it is. `padded`: rows of a shared array are
/// an element longer; `swizzled`: a row's elements are exchanged by the row's number (XOR); `split`: an array
/// of structures becomes an array for each member; `privatised`: atomics are on a copy in each block's shared
/// memory, which is added up at its end; `uncached`: loads that skip the L1 (ld.global.cg); `narrowed`:
/// elements of half the size. Of the launch as
/// a whole: `swapped`, x and y of a block's threads are exchanged; `coarsened`, each thread does the work of
/// several; `vectorised`, of neighbours, by wide accesses; `regrouped`, blocks of another size; `bounded`,
/// fewer registers per thread.
enum class Rewrite : std::uint8_t {
  none,
  padded,
  swizzled,
  split,
  privatised,
  uncached,
  narrowed,
  swapped,
  coarsened,
  vectorised,
  regrouped,
  bounded
};

/// Returns whether the rewrite concerns the launch as a whole, not one array.
constexpr bool is_of_launch(Rewrite rewrite) {
  return rewrite >= Rewrite::swapped;
}

/// The array of that index, moved to a place, or rewritten where it is.
struct Move {
  std::uint32_t array = 0;
  PlacementSpace to = PlacementSpace::global;
  Rewrite rewrite = Rewrite::none; ///< if any, `to` does not matter
  SharedPart part = SharedPart::touched;
  std::uint32_t texels_per_row = 0; ///< of a 2D texture; 0: as the accesses tell
  /// Of a rewrite: the threads whose work one does, the threads of a block, or the registers of a thread.
  std::uint32_t number = 0;

  bool operator==(const Move&) const = default;
};

/// What the changes of one launch share: the launch, and the memory that they have taken so far.
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

/// Plan the move of an array, and take the memory that it needs from the context.
Planned to_read_only(const Array& array, ChangeContext& context);
Planned to_texture(const Array& array, ChangeContext& context);
Planned to_texture_2d(const Array& array, const Move& move, ChangeContext& context);
Planned to_constant(const Array& array, ChangeContext& context);
Planned to_shared(const Array& array, std::uint32_t index, const Move& move, ChangeContext& context);
Planned to_shared_tiles(const Array& array, std::uint32_t index, const Move& move, ChangeContext& context);
Planned to_global(const Array& array, ChangeContext& context);
Planned to_persisting(const Array& array, ChangeContext& context);
Planned pad_shared(const Array& array, ChangeContext& context);
Planned swizzle_shared(const Array& array, ChangeContext& context);
Planned skip_l1(const Array& array, ChangeContext& context);
Planned narrow_elements(const Array& array, ChangeContext& context);
Planned split_structures(const Array& array, ChangeContext& context);
Planned privatise(const Array& array, std::uint32_t index, ChangeContext& context);

/// Returns the distance of a shared array's rows, by which lanes are apart that access one bank; 0: none are.
std::uint64_t conflicting_row_bytes(const Array& array);
/// Returns whether a good part of the array's accesses have neighbouring lanes a line or more apart.
bool has_distant_lanes(const Array& array);
/// Returns the bytes of the structures that an array in global memory consists of; 0: of none.
std::uint64_t structure_bytes(const Array& array);

} // namespace warplens::placement

template <>
inline constexpr std::array<std::string_view, 12> warplens::names_of<warplens::placement::Rewrite>{
    "none",     "padded",  "swizzled",  "split",      "privatised", "uncached",
    "narrowed", "swapped", "coarsened", "vectorised", "regrouped",  "bounded"};
template <>
inline constexpr std::array<std::string_view, 4> warplens::names_of<warplens::placement::SharedPart>{
    "touched", "whole", "padded", "tile"};
