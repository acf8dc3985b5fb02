// The tensor memory of a block: 128 lanes of 512 columns of 32 bits (PTX ISA, "Tensor Memory").
#pragma once

#include <cstdint>
#include <vector>

namespace warplens::machine {

/// An address has the lane in its upper half and the column in its lower one.
class TensorMemory {
public:
  static constexpr std::uint32_t lanes = 128, columns = 512, columns_of_granule = 32;

  /// Returns the cell; null if the lane, the column or its allocation is not there.
  std::uint32_t* at(std::uint32_t lane, std::uint32_t column) {
    if (lane >= lanes || column >= columns || (allocated_ >> column / columns_of_granule & 1) == 0)
      return nullptr;
    return &cells_[lane * columns + column];
  }

  /// Allocates granules of 32 columns beside each other, at a multiple of their number, the same in the other
  /// block of a pair unless that is null. Returns the first one's number; -1 if there is no place.
  int allocate(std::uint32_t granules, TensorMemory* other) {
    const std::uint32_t all = columns / columns_of_granule;
    if (granules == 0 || granules > all || (granules & (granules - 1)) != 0)
      return -1;
    for (std::uint32_t first = 0; first < all; first += granules) {
      const std::uint32_t wanted = ((1u << granules) - 1) << first;
      if ((allocated_ & wanted) != 0 || (other && (other->allocated_ & wanted) != 0))
        continue;
      take(wanted);
      if (other)
        other->take(wanted);
      return static_cast<int>(first);
    }
    return -1;
  }
  /// Frees the granules that the mask has no bit for.
  void keep(std::uint32_t mask) { allocated_ &= mask; }

private:
  void take(std::uint32_t granules) {
    allocated_ |= granules;
    cells_.resize(std::size_t{lanes} * columns);
  }

  std::uint32_t allocated_ = 0; ///< a bit for each granule
  std::vector<std::uint32_t> cells_;
};

} // namespace warplens::machine
