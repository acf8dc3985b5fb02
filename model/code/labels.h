// Which accesses of the source an instruction may make: those of the same kind to the same memory at a place
// that the compiler's line table names for it. Accesses that agree in all of this have one *label*; nothing
// tells their instructions apart.
#pragma once

#include "model/code/code.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace warplens::model {

/// The use that an instruction makes of memory. An update in the source takes two instructions.
enum class SlotKind : std::uint8_t { load, store, atomic, barrier };
/// The memory that it accesses, as far as instructions tell.
enum class SlotMemory : std::uint8_t { global, shared, local, constant };

/// Gives each (place, kind, memory) a number, in the order of their first use.
class Labels {
public:
  /// Returns the label of accesses at this place. Files count as the same if their names without folders are,
  /// as compilers and users spell paths in several ways.
  std::uint32_t add(const std::string& file, std::uint32_t line, SlotKind kind, SlotMemory memory);

  /// Sets the code's slots. An instruction at a place without accesses makes those of the closest line that
  /// has some of its kind and for which there is no other instruction: compilers name the line of a
  /// statement, not always that of the operand.
  void find_slots(const sass::CodeTable& table, Code& code) const;

private:
  using Key = std::tuple<SlotKind, SlotMemory, std::string, std::uint32_t>;
  std::optional<std::uint32_t> find(const sass::CodeTable& table, const sass::Instruction& instruction) const;

  std::map<Key, std::uint32_t> labels_;
};

} // namespace warplens::model
