// Prints documents, one function per format.
#pragma once

#include "document/document.h"

#include <string>

namespace warplens::document {

/// How a terminal takes text.
struct TextLook {
  bool colour = false;
  unsigned width = 100; ///< the maximum line width; at least 80 columns are used
};

/// How a comment takes Markdown.
struct MarkdownLook {
  std::size_t max_lines = 0; ///< long tables and then findings are shortened towards it; 0: there is no limit
};

/// Prints sections with an empty line between them; the blocks below a heading are indented. Paragraphs are
/// wrapped, and so are words in tables that are too wide, whose names are shortened. Characters that would
/// control the terminal are made visible.
std::string print_text(const Document& document, const TextLook& look);

/// Prints Markdown as GitHub and GitLab take it, for a comment or a page.
std::string print_markdown(const Document& document, const MarkdownLook& look = {});

/// Prints the tables, RFC 4180, with the units in their headings and a further column for each bound of an
/// interval, and findings as a table. Tables with the same headings are one; an empty line separates others.
std::string print_csv(const Document& document);

/// Prints `warplens-document/1`; docs/schemas/document.json is its schema.
std::string print_json(const Document& document);

/// Prints a page that needs no other file and no network.
std::string print_html(const Document& document);

} // namespace warplens::document
