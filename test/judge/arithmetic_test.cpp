// Which arithmetic takes a kernel's time.
#include "judge/arithmetic.h"
#include "judge/kernel_findings.h"
#include "result/resources.h"
#include "test/catch.h"

namespace warplens::test {
namespace {

using judge::arithmetic_verdict_on;
using judge::computes_floats_as_doubles;

KernelResult bound_by(Resource bound, std::vector<LineTime> lines) {
  KernelResult kernel;
  kernel.time.emplace().bound = bound;
  kernel.time->busy[std::size_t(bound)] = 0.97;
  kernel.executed.emplace();
  kernel.lines = std::move(lines);
  return kernel;
}

LineTime line(std::uint32_t number, std::initializer_list<std::pair<InstructionKind, double>> work) {
  LineTime line{.file = "/a/k.cu", .line = number};
  ByInstructionKind by_kind{};
  for (const auto& [kind, warps] : work) {
    by_kind[std::size_t(kind)].warps = warps;
    line.instructions += warps;
  }
  line.work = by_kind;
  return line;
}

TEST_CASE("where arithmetic bounds the kernel, the line with most instructions is named") {
  KernelResult kernel = bound_by(Resource::fp32_pipe, {{"/a/k.cu", 3, 100}, {"/a/k.cu", 7, 900}});
  CHECK(arithmetic_verdict_on(kernel) ==
        "k.cu:7 issues 90 % of the instructions, and the FP32 pipe is busy for 97 % of the time: fewer or "
        "cheaper instructions would help, less memory traffic would not");
  kernel.time->bound = Resource::dram;
  CHECK(arithmetic_verdict_on(kernel).empty());
  kernel.time->bound = Resource::fp32_pipe;
  kernel.executed.reset(); // it is not known what was executed
  CHECK(arithmetic_verdict_on(kernel).empty());
}

TEST_CASE("of a pipe's instructions, those count that pass it") {
  using enum InstructionKind;
  const KernelResult kernel =
      bound_by(Resource::special_function_pipe, {line(3, {{fp32, 900}, {special_function, 100}}),
                                                 line(7, {{fp32, 10}, {special_function, 300}})});
  CHECK(arithmetic_verdict_on(kernel) ==
        "k.cu:7 issues 75 % of the special function pipe (XU)'s instructions, and the special function pipe "
        "(XU) is busy for 97 % of the time: fewer or cheaper instructions would help, less memory traffic "
        "would not");
}

TEST_CASE("floats that are computed as doubles") {
  using enum InstructionKind;
  const KernelResult floats =
      bound_by(Resource::fp64_pipe, {line(7, {{fp64, 100}, {special_function, 225}})});
  CHECK(computes_floats_as_doubles(floats));
  CHECK(arithmetic_verdict_on(floats) ==
        "k.cu:7 converts to or from double 2.25 times for each operation: if its values are floats, write "
        "literals with an f (0.0f) and call functions of floats; the FP64 pipe is busy for 97 % of the time");
  const KernelResult doubles = bound_by(Resource::fp64_pipe, {line(7, {{fp64, 80}, {special_function, 10}})});
  CHECK_FALSE(computes_floats_as_doubles(doubles)); // ten divisions
  const KernelResult floats_elsewhere =
      bound_by(Resource::fp32_pipe, {line(7, {{fp64, 100}, {special_function, 225}})});
  CHECK_FALSE(computes_floats_as_doubles(floats_elsewhere));
}

} // namespace
} // namespace warplens::test
