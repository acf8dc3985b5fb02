// Tests the decoder on what the toolkit of this machine makes, for each architecture that it has; skipped
// without a toolkit.
#include "support/process.h"
#include "support/temporary.h"
#include "test/sass/decoded.h"

#include <algorithm>

using namespace warplens;
using namespace warplens::sass;

namespace {

std::size_t count(const Kernel& kernel, InstructionClass kind) {
  return static_cast<std::size_t>(std::ranges::count(kernel.instructions, kind, &Instruction::kind));
}

} // namespace

TEST_CASE("the toolkit's own cubins for each architecture") {
  if (std::string_view(WARPLENS_NVCC).empty()) {
    WARN("no CUDA Toolkit: skipped");
    return;
  }
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const std::string source = std::string(WARPLENS_SASS_KERNELS) + "/reduce.cu";
  for (const int architecture : {75, 80, 86, 89, 90, 100, 120}) {
    const std::string cubin = (folder->path() / "reduce.cubin").string();
    const auto compiled = run({.arguments = {WARPLENS_NVCC, "-arch=sm_" + std::to_string(architecture),
                                             "-lineinfo", "-cubin", source, "-o", cubin},
                               .capture_output = true});
    REQUIRE(compiled);
    INFO("sm_" << architecture);
    REQUIRE(compiled->exit_code == 0);
    const auto code = decode(*read_file(cubin));
    REQUIRE(code);
    CHECK(code->architecture == architecture);
    REQUIRE(code->kernels.size() == 1);
    const Kernel& kernel = code->kernels.front();
    CHECK(kernel.unknown_instructions == (architecture == 120 ? 4 : 0)); // two kinds, in the switch
    CHECK(kernel.shared_bytes == 512);
    CHECK(kernel.registers > 8);
    CHECK(kernel.functions.size() == 3);
    CHECK(count(kernel, InstructionClass::load_global) == 2);
    CHECK(count(kernel, InstructionClass::store_global) == 2);
    CHECK(count(kernel, InstructionClass::load_shared) == 1);
    CHECK(count(kernel, InstructionClass::store_shared) == 1);
    CHECK(count(kernel, InstructionClass::reduction_global) == 1);
    CHECK(count(kernel, InstructionClass::shuffle) == 1);
    CHECK(count(kernel, InstructionClass::barrier) == 1);
    CHECK(count(kernel, InstructionClass::fp64) == 1);
    for (const Instruction& instruction : kernel.instructions) {
      if (instruction.kind == InstructionClass::nop)
        continue;
      CHECK(instruction.position != none);
      for (const RegisterSpan span : instruction.writes)
        if (span.file == RegisterFile::general)
          CHECK(span.first + span.count <= static_cast<int>(kernel.registers));
    }
  }
}
