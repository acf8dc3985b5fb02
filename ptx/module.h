// PTX as a list of its top-level items (PTX ISA, "Syntax" and "Directives"): enough to distinguish one
// module's functions and variables from another's, and to rename them. The bodies of functions are not
// parsed.
#pragma once

#include "support/expected.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::ptx {

enum class ItemKind {
  header,      ///< .version, .target, .address_size
  variable,    ///< a variable in any state space, textures included
  declaration, ///< a declaration of a function
  function,
  kernel,
  debug, ///< .file, .section
  other, ///< .alias, .pragma, …
};

struct Item {
  ItemKind kind = ItemKind::other;
  std::string name; ///< the name of a variable, function or kernel
  std::string text;
};

/// Splits a module into its items. The error points at text that does not end.
Expected<std::vector<Item>> items_of(std::string_view module);

/// Returns whether the item is visible to other modules, or theirs: .visible, .extern, .weak, .common.
bool is_external(const Item& item);

/// Appends the suffix to each of the names wherever it stands as a whole word.
std::string with_suffix(std::string_view text, const std::set<std::string, std::less<>>& names,
                        std::string_view suffix);

/// Returns a function without the positions in the source that it names.
std::string without_positions(std::string_view function);

} // namespace warplens::ptx
