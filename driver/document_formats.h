// The formats of documents as options of commands, and their output. Commands that have a document take all
// of them (document/formats.def); some print one of them, or a further one, in their own way.
#pragma once

#include "document/print.h"
#include "driver/options.h"
#include "support/expected.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::driver {

/// A format that a command prints itself, in place of the document's format of that name or beside them.
struct OwnFormat {
  std::string_view name, help;
};

/// Adds --format, with the formats of documents and those of the command. Without it the format is text.
void add_format_option(CLI::App& command, std::string& format, const std::vector<OwnFormat>& own = {});

/// Adds --format and --output.
void add_document_options(CLI::App& command, std::string& format, OutputOptions& output,
                          const std::vector<OwnFormat>& own = {});

/// The printer of such a format.
struct OwnPrinter {
  std::string_view format;
  std::function<Expected<std::string>()> print;
};

/// Prints to stdout or to the file of -o: by the command's own printer of the format, or else the document,
/// of which Markdown has `max_lines` lines. The format has to be one of documents' or have a printer.
Expected<void> print_document(const document::Document& document, const std::vector<OwnPrinter>& own,
                              const std::string& format, const OutputOptions& output,
                              std::size_t max_lines = 0);

/// Prints the document, all of whose formats are documents'.
Expected<void> print_document(const document::Document& document, const std::string& format,
                              const OutputOptions& output);

/// Prints the document, or what `json` returns if the format is "json".
Expected<void> print_document(const document::Document& document, const std::function<std::string()>& json,
                              const std::string& format, const OutputOptions& output);

/// Prints a report of `corun`, `power` or `clocks`: the document, its JSON, or for the format "html" the
/// report page with that JSON.
Expected<void> print_study(const document::Document& document, const std::function<std::string()>& json,
                           const std::string& format, const OutputOptions& output);

} // namespace warplens::driver
