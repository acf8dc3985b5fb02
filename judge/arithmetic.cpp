#include "judge/arithmetic.h"

#include "result/figure_text.h"
#include "result/resources.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace warplens::judge {
namespace {

/// Conversions for each operation in double precision, from which floats are taken for doubles. A division of
/// doubles has one special function for about eight operations.
constexpr double notable_conversions = 0.5;

/// Returns whether an execution pipe, or the issue of instructions, bounds a kernel of known code.
bool is_bound_by_arithmetic(const KernelResult& kernel) {
  return kernel.time && kernel.time->bound && kernel.executed && !kernel.lines.empty() &&
         (*kernel.time->bound == Resource::issue || *kernel.time->bound >= Resource::fp32_pipe);
}

bool passes(InstructionKind kind, Resource pipe) {
  switch (kind) {
  case InstructionKind::fp32: return pipe == Resource::fp32_pipe;
  case InstructionKind::fp64: return pipe == Resource::fp64_pipe;
  case InstructionKind::fp16: return pipe == Resource::fp16_pipe;
  case InstructionKind::integer:
  case InstructionKind::multiply_add: return pipe == Resource::integer_pipe;
  case InstructionKind::special_function: return pipe == Resource::special_function_pipe;
  case InstructionKind::tensor: return pipe == Resource::tensor_pipe;
  case InstructionKind::memory:
  case InstructionKind::control: return false;
  }
  return false;
}

/// Returns the instructions of a line, of all its warps, that a pipe takes; all of them for their issue, and
/// where their kinds are not known.
double instructions_of(const LineTime& line, Resource pipe) {
  if (pipe == Resource::issue || !line.work)
    return line.instructions;
  double sum = 0;
  for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
    if (passes(InstructionKind(kind), pipe))
      sum += (*line.work)[kind].warps;
  return sum;
}

const LineTime& costliest_line(const KernelResult& kernel) {
  return *std::ranges::max_element(
      kernel.lines, {}, [&](const LineTime& line) { return instructions_of(line, *kernel.time->bound); });
}

/// Returns the conversions of a line for each of its operations in double precision; special functions are
/// counted with them.
double conversions_of(const LineTime& line) {
  if (!line.work)
    return 0;
  const auto warps = [&](InstructionKind kind) { return (*line.work)[std::size_t(kind)].warps; };
  const double operations = warps(InstructionKind::fp64);
  return operations == 0 ? 0 : warps(InstructionKind::special_function) / operations;
}

} // namespace

bool computes_floats_as_doubles(const KernelResult& kernel) {
  return is_bound_by_arithmetic(kernel) && *kernel.time->bound == Resource::fp64_pipe &&
         conversions_of(costliest_line(kernel)) >= notable_conversions;
}

std::string arithmetic_verdict_on(const KernelResult& kernel) {
  if (!is_bound_by_arithmetic(kernel))
    return "";
  const Resource bound = *kernel.time->bound;
  const LineTime& most = costliest_line(kernel);
  double all = 0;
  for (const LineTime& line : kernel.lines)
    all += instructions_of(line, bound);
  if (all == 0)
    return "";
  const std::string at =
      fmt::format("{}:{}", std::filesystem::path(most.file).filename().string(), most.line);
  const std::string busy = fmt::format("the {} is busy for {} % of the time", text_of(bound),
                                       share(share_of(kernel.time->busy, bound)));
  if (computes_floats_as_doubles(kernel))
    return fmt::format("{} converts to or from double {} times for each operation: if its values are floats, "
                       "write literals with an f (0.0f) and call functions of floats; {}",
                       at, ratio(conversions_of(most)), busy);
  const bool is_pipe = bound != Resource::issue && most.work;
  return fmt::format(
      "{} issues {} % of the {}instructions, and {}: fewer or cheaper instructions would help, "
      "less memory traffic would not",
      at, share(instructions_of(most, bound) / all), is_pipe ? fmt::format("{}'s ", text_of(bound)) : "",
      busy);
}

} // namespace warplens::judge
