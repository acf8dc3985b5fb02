// PTX as a list of its top-level items (PTX ISA, "Syntax" and "Directives"): enough to tell one module's
// functions and variables from another's, and to rename them. What stands within functions is not looked
// into.
#pragma once

#include "support/expected.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver::ptx {

enum class ItemKind {
  header,      ///< .version, .target, .address_size
  variable,    ///< in any state space, textures included
  declaration, ///< of a function
  function,
  kernel,
  debug, ///< .file, .section
  other, ///< .alias, .pragma, …
};

struct Item {
  ItemKind kind = ItemKind::other;
  std::string name; ///< of variables, functions and kernels
  std::string text;
};

/// The error tells of text that does not end.
Expected<std::vector<Item>> items_of(std::string_view module);

/// Visible to other modules, or theirs: .visible, .extern, .weak, .common.
bool is_external(const Item& item);

/// Each of the names, wherever it stands as a whole word, gets the suffix.
std::string with_suffix(std::string_view text, const std::set<std::string, std::less<>>& names,
                        std::string_view suffix);

/// A function without the positions in the source that it names.
std::string without_positions(std::string_view function);

} // namespace warplens::driver::ptx
