// A document: what a command has to say, as a value, before it has the form of a terminal, a web page or a
// table.
//
// A builder of a document chooses words, figures and their order. It knows no width, no colour and no format;
// the printers in print.h know nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace warplens::document {

/// Says how much a text asks for attention; printers choose the colour or the type.
enum class Tone : std::uint8_t { plain, strong, faint, notable, alarming };

/// Says who reads a part: people do on terminals (text), where the last line is seen first, and on pages
/// (Markdown and HTML), whose first line is; programs do in CSV and JSON. Each value is the set of its
/// readers.
enum class Audience : std::uint8_t {
  terminals = 1,
  pages = 2,
  people = terminals | pages,
  programs = 4,
  all_but_terminals = pages | programs,
  all = people | programs,
};

enum class Kind : std::uint8_t {
  words,    ///< a text; a line may become several
  name,     ///< a demangled name, which is shortened where there is no room
  number,   ///< a figure
  interval, ///< a figure with the bounds of its 95 % interval
  bar,      ///< a fraction from 0 to 1, which text and HTML draw
};

struct Column {
  std::string heading;
  Kind kind = Kind::words;
  std::string unit = {}; ///< the unit of a figure's value for programs: "W", "fraction"; empty: it has none
  Audience audience = Audience::all;
  std::string suffix = {}; ///< the words behind each cell where the table shows no headings: " time"
};

struct Cell {
  std::string text;                                       ///< for people, with its unit
  std::optional<double> value = {};                       ///< for programs, in the column's unit
  std::optional<std::pair<double, double>> interval = {}; ///< the bounds, in the column's unit
  Tone tone = Tone::plain;
  std::vector<std::string> below = {}; ///< further lines of words, for people
};

/// Returns a cell of text.
inline Cell words(std::string text, Tone tone = Tone::plain) {
  return {.text = std::move(text), .tone = tone};
}

/// Returns a cell with a figure; `text` is what people read for it.
inline Cell figure(double value, std::string text) {
  return {.text = std::move(text), .value = value};
}

/// Returns a cell with a figure between its bounds.
inline Cell figure(double value, double low, double high, std::string text) {
  return {.text = std::move(text), .value = value, .interval = std::pair(low, high)};
}

/// Returns a cell that fills a bar.
inline Cell bar_of(double fraction) {
  return {.text = {}, .value = fraction};
}

struct Row {
  std::vector<Cell> cells; ///< one per column
  Tone tone = Tone::plain;
  Audience audience = Audience::all;
  std::string above = {}; ///< words for people across all columns: what this row and those below are about
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows = {};
  std::string caption = {}; ///< a line above the table; empty: it has none
  bool has_headings = true; ///< false: on a terminal the cells speak for themselves
  Audience audience = Audience::all;
};

struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;
  Audience audience = Audience::all;
};

/// Text that keeps its lines: a file, a command.
struct Listing {
  std::string language; ///< the name of it in Markdown: "toml", "sh"
  std::string text;
  Audience audience = Audience::all;
};

/// A statement about a place, and what speaks for it.
struct Finding {
  std::string severity; ///< a word or two, "worse"; empty: it has none
  std::string place;    ///< a line or a kernel; empty: it has none
  std::string statement;
  std::vector<std::string> evidence = {}; ///< a line of words each
  Tone tone = Tone::plain;                ///< of the severity
};

struct Findings {
  std::vector<Finding> findings = {};
  Audience audience = Audience::all;
};

/// A picture, which only pages have.
struct Figure {
  std::string caption;
  std::string svg;     ///< what HTML shows
  std::string address; ///< the path or URL of the same picture, for Markdown; empty: it is nowhere
};

using Block = std::variant<Paragraph, Table, Listing, Findings, Figure>;

struct Section {
  std::string heading; ///< empty: it has none
  std::vector<Block> blocks = {};
};

struct Document {
  std::string title; ///< for formats that need one: HTML, JSON
  std::vector<Section> sections = {};
};

} // namespace warplens::document
