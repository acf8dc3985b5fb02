// Tests the reader of ptxas's log, with output of CUDA 13.0, and the choice of the code that a GPU takes.
#include "test/catch.h"
#include "toolchain/objects/assemble.h"
#include "toolchain/ptx/ptxas.h"

using namespace warplens;
using toolchain::choose_code;

namespace {

const std::string ptxas_log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5heavyIfEvPT_i' for 'sm_80'
ptxas info    : Function properties for _Z5heavyIfEvPT_i
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 254 registers, used 1 barriers, 364 bytes cmem[0]
ptxas info    : Compile time = 25.252 ms
ptxas info    : Compiling entry function '_Z7boundedPf' for 'sm_80'
ptxas info    : Function properties for _Z7boundedPf
    504 bytes stack frame, 564 bytes spill stores, 560 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 632 bytes cumulative stack size, 4096 bytes smem, 360 bytes cmem[0]
ptxas info    : Function properties for _Z6calledPf
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
)";

} // namespace

TEST_CASE("the log of ptxas for each kernel") {
  const auto kernels = toolchain::read_ptxas(ptxas_log);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].symbol == "_Z5heavyIfEvPT_i");
  CHECK(kernels[0].code == trace::MachineCode{.registers = 254});
  CHECK(kernels[1].symbol == "_Z7boundedPf");
  CHECK(kernels[1].code == trace::MachineCode{.registers = 32,
                                              .stack_bytes = 632,
                                              .spill_store_bytes = 564,
                                              .spill_load_bytes = 560,
                                              .shared_bytes = 4096});
  const auto own = toolchain::read_ptxas(
      "ptxas info    : Compiling entry function '__nv_static_26__fc23e962_4_a_cu_281a1c52__Z1kPf' "
      "for 'sm_80'\nptxas info    : Used 8 registers, used 0 barriers\n");
  REQUIRE(own.size() == 1);
  CHECK(own[0].symbol == "_Z1kPf");
  CHECK(toolchain::read_ptxas("").empty());
  CHECK(toolchain::read_ptxas("ptxas info    : Compiling entry function '_Z1kv' for 'sm_80'\n").empty());
}

TEST_CASE("the code that a GPU takes") {
  const std::vector<std::string> two{"75", "80"}, special{"80", "90a"};
  CHECK(choose_code({"75"}, 75) == toolchain::CodeChoice{"75", "75"});
  CHECK(choose_code({"75"}, 80) == toolchain::CodeChoice{"75", "80"}); // compiled by the driver
  CHECK(choose_code(two, 80) == toolchain::CodeChoice{"80", "80"});
  CHECK(choose_code(two, 89) == toolchain::CodeChoice{"80", "80"}); // runs as it is
  CHECK(choose_code(two, 90) == toolchain::CodeChoice{"80", "90"});
  CHECK(choose_code(two, 70) == toolchain::CodeChoice{"75", "75"}); // nothing older can be compiled
  CHECK(choose_code({"90"}, 80) == toolchain::CodeChoice{"90", "90"});
  CHECK(choose_code(special, 90) == toolchain::CodeChoice{"90a", "90a"});
  CHECK(choose_code(special, 89) == toolchain::CodeChoice{"80", "80"});
}

TEST_CASE("the table for the runtime is C") {
  const auto text = toolchain::machine_code_table({{"_Z1kv", {80, 80, 96, 1, 2, 3, 4}}}, "0123");
  CHECK(text.find("{\"_Z1kv\", \"0123\", {80, 80, 96, 1, 2, 3, 4, 0}, 0, 0},") != text.npos);
}

TEST_CASE("the table has the PTX for GPUs that are not known yet") {
  const auto text = toolchain::machine_code_table({{"_Z1kv", {80, 80, 96}}}, "0123", "/tmp/ptx");
  CHECK(text.find(R"(.incbin \"/tmp/ptx\")") != text.npos);
  CHECK(text.find("{\"0123\", warplens_ptx, warplens_ptx_end}") != text.npos);
}

TEST_CASE("PTX as a program keeps it") {
  const toolchain::SourcePtx ptx{{"80", "90a"}, {"-lineinfo"}, {{"80", ".version 8.0\n"}, {"90a", ""}}};
  const std::string bytes = toolchain::packed(ptx);
  const auto again = toolchain::unpack(bytes);
  REQUIRE(again);
  CHECK(again->architectures == ptx.architectures);
  CHECK(again->flags == ptx.flags);
  CHECK(again->modules == ptx.modules);
  CHECK_FALSE(toolchain::unpack("")); // and of what was cut off or is something else, an error
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(toolchain::unpack(bytes.substr(0, size)));
  CHECK_FALSE(toolchain::unpack("\x80"));
}

TEST_CASE("the machine code of GPUs by the PTX of a command") {
  const auto choices = toolchain::choose_binaries({"75", "80"}, {75, 80, 89, 90});
  CHECK(choices.at("75") == toolchain::Binaries{{"75", {75}}});
  CHECK(choices.at("80") == toolchain::Binaries{{"80", {80, 89}}, {"90", {90}}});
}

TEST_CASE("the table has each cubin once, whatever its name") {
  toolchain::KernelCode first{"_Z1av", {.capability = 80, .registers = 8}, R"(/tmp/a "b" \c.cubin)"};
  toolchain::KernelCode second = first;
  second.symbol = "_Z1bv";
  const auto text = toolchain::machine_code_table({first, second}, "0123");
  CHECK(text.find("{80, 0, 8, 0, 0, 0, 0, 0}, warplens_cubin_0, warplens_cubin_0_end},") != text.npos);
  // The compiler reads the name first, then the assembler: quotes and backslashes are escaped for both.
  const auto found = text.find(R"(.incbin \"/tmp/a \\\"b\\\" \\\\c.cubin\")");
  REQUIRE(found != text.npos);
  CHECK(text.find(".incbin", found + 1) == text.npos);
}
