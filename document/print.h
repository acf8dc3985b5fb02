// Prints documents, one function per format. formats.def is the table of formats.
#pragma once

#include "document/document.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace warplens::document {

/// The look of what is printed; a format takes no notice of what it does not have.
struct Look {
  bool colour = false;       ///< text: a terminal takes colours
  unsigned width = 100;      ///< text: the maximum line width; at least 80 columns are used
  std::size_t max_lines = 0; ///< Markdown: tables and then findings are shortened towards it; 0: no limit
};

// formats.def says what each of these functions prints.
#define WARPLENS_DOCUMENT_FORMAT(name, help)                                                                 \
  std::string print_##name(const Document& document, const Look& look = {});
#include "document/formats.def"
#undef WARPLENS_DOCUMENT_FORMAT

struct Format {
  std::string_view name, help; ///< the word of --format
  std::string (*print)(const Document& document, const Look& look);
};

inline constexpr Format formats[] = {
#define WARPLENS_DOCUMENT_FORMAT(name, help) {#name, help, print_##name},
#include "document/formats.def"
#undef WARPLENS_DOCUMENT_FORMAT
};

} // namespace warplens::document
