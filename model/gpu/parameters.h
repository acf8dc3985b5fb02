// The parameters of a GPU, one row each: what a GPU file (docs/adding-a-gpu.md) has to say, the values that
// it may have, the member of Gpu that takes it, and its meaning in words. The reader of GPU files, the table
// in the documentation and the file that `warplens calibrate` writes follow from these rows.
#pragma once

#include "model/gpu/gpu.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace warplens::model {

class TomlFigures;

template <class Figure> using Member = std::function<Figure&(Gpu&)>;

/// A number from `low` to `high`.
template <class Number> struct InRange {
  Number low, high;
  Member<Number> member;
};
/// A list of ascending whole numbers from `low` to `high`, at least one.
struct AscendingList {
  std::uint32_t low, high;
  Member<std::vector<std::uint32_t>> member;
};
struct Flag {
  Member<bool> member;
};
/// One of the words; `set` gets its index.
struct Word {
  std::vector<std::string> words;
  std::function<void(Gpu&, std::size_t)> set;
};
using Values =
    std::variant<InRange<std::uint32_t>, InRange<std::uint64_t>, InRange<double>, AscendingList, Flag, Word>;

/// Returns whether a file has to have the parameter: the figures are the file's, the GPU is what was read of
/// it so far.
using Condition = std::function<bool(const TomlFigures& figures, const Gpu& gpu)>;

struct Parameter {
  std::string path; ///< "l1.latency_ns"
  std::string unit; ///< "ns"; empty: a number or a word
  Values values;
  std::string meaning;           ///< empty: the next row's says it for both
  Condition is_needed = nullptr; ///< none: always
};

/// Returns all parameters in the order in which files are read.
const std::vector<Parameter>& parameters();

/// Reads all parameters, each checked by itself.
void read_parameters(TomlFigures& figures, Gpu& gpu);

/// Returns the rows of the documentation's table, in Markdown.
std::string parameters_in_markdown();

} // namespace warplens::model
