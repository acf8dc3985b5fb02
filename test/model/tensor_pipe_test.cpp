// How long products hold a scheduler's tensor pipe: by what ptxas keeps between them, vendors' peaks, and
// measurements of each architecture.
#include "model/clock/asynchronous_groups.h"
#include "model/clock/tensor_pipe.h"
#include "model/clock/timed_code.h"
#include "sass/instruction.h"
#include "test/catch.h"

#include <algorithm>
#include <vector>

namespace warplens::test {
namespace {

using model::ExecutionPipes;
using model::tensor_interval;
using sass::MatrixProduct;

const MatrixProduct with_halves{}, of_singles{.sums_singles = true};
const MatrixProduct of_half_depth{.depth = 8};
const MatrixProduct of_bytes{.depth = 32, .bits = 8, .is_float = false};
const MatrixProduct of_sparse{.depth = 32, .is_sparse = true};
const MatrixProduct of_doubles{.rows = 8, .depth = 4, .bits = 64, .sums_doubles = true};

MatrixProduct of_warp_group(std::uint16_t columns, bool reads_shared_a = true) {
  return {.columns = columns, .sums_singles = true, .by_warp_group = true, .reads_shared_a = reads_shared_a};
}

} // namespace

TEST_CASE("Products of a warp, by architecture") {
  const ExecutionPipes a100{.fp64 = 32, .tensor_cycles = 8}, h100{.fp64 = 64, .tensor_cycles = 6},
      b200{.fp64 = 64, .tensor_cycles = 8};
  CHECK(tensor_interval(with_halves, 80, a100) == 8);
  CHECK(tensor_interval(of_singles, 80, a100) == 8);
  CHECK(tensor_interval(of_half_depth, 80, a100) == 4);
  CHECK(tensor_interval(of_bytes, 80, a100) == 8);
  CHECK(tensor_interval(of_sparse, 80, a100) == 8);
  CHECK(tensor_interval(of_doubles, 80, a100) == 16);
  CHECK(tensor_interval(with_halves, 90, h100) == 6);
  CHECK(tensor_interval(of_half_depth, 90, h100) == 4); // not 3
  CHECK(tensor_interval(of_sparse, 90, h100) == 8);
  CHECK(tensor_interval(of_half_depth, 100, b200) == 8);
  CHECK(tensor_interval(of_sparse, 100, b200) == 9);
  CHECK(tensor_interval(of_bytes, 103, b200) == 64);
}

TEST_CASE("Sums of single precision take twice as long on GPUs for games") {
  const ExecutionPipes rtx{.tensor_cycles = 16, .tensor_singles_halved = true};
  CHECK(tensor_interval(with_halves, 89, rtx) == 16);
  CHECK(tensor_interval(of_singles, 89, rtx) == 32);
  CHECK(tensor_interval(of_bytes, 89, rtx) == 16);
  const MatrixProduct scaled{.depth = 64, .bits = 4, .sums_singles = true, .is_scaled = true};
  CHECK(tensor_interval(scaled, 120, rtx) == 16);
}

TEST_CASE("A warp group's product takes two columns in a cycle, or as long as its operands") {
  const ExecutionPipes h100{.tensor_cycles = 6};
  CHECK(tensor_interval(of_warp_group(256), 90, h100) == 128);
  CHECK(tensor_interval(of_warp_group(64), 90, h100) == 32);
  // 2048 bytes of A and 256 of B, of which 128 arrive in a cycle.
  CHECK(tensor_interval(of_warp_group(8), 90, h100) == 18);
  CHECK(tensor_interval(of_warp_group(8, false), 90, h100) == 4);
  MatrixProduct sparse_group = of_warp_group(256);
  sparse_group.is_sparse = true;
  sparse_group.depth = 32;
  CHECK(tensor_interval(sparse_group, 90, h100) == 144);
  sparse_group.reads_shared_a = false;
  CHECK(tensor_interval(sparse_group, 90, h100) == 128);
}

TEST_CASE("Sums that the hardware keeps from their readers for longer than the compiler does") {
  const ExecutionPipes rtx5090{.tensor_cycles = 16, .tensor_singles_halved = true}, a100{.tensor_cycles = 8};
  CHECK(model::tensor_interlock(of_singles, 120, rtx5090) == 35);
  CHECK(model::tensor_interlock(with_halves, 120, rtx5090) == 0);
  CHECK(model::tensor_interlock(of_bytes, 80, a100) == 26);
  CHECK(model::tensor_interlock(of_singles, 80, a100) == 0);
}

TEST_CASE("Which instructions belong to a warp group's products, and which waits for them") {
  const auto role = [](std::uint64_t low, std::uint64_t high) {
    sass::Instruction instruction = sass::decode_instruction({low, high}, 0, 90).instruction;
    instruction.word = {low, high};
    return model::group_role(instruction);
  };
  CHECK(role(0x03e00000041879f0, 0x000fde0008700818) == model::GroupRole::multiplies);    // HGMMA
  CHECK(role(0x03e00000041879f0, 0x000fe60008000818) == model::GroupRole::ends_products); // …, gsb0
  CHECK(role(0x8000000079c5, 0x000fe40000010100) == model::GroupRole::awaits_products);   // WARPGROUP.DEPBAR
  CHECK(role(0x79c5, 0x000fe20000000000) == model::GroupRole::none);                      // WARPGROUP.ARRIVE
}

TEST_CASE("A warp that leaves seven groups of copies on their way waits for those before them") {
  using model::GroupRole;
  const model::GroupRegisters registers{model::first_copy_scoreboard, model::copy_registers};
  const auto awaited = [&](std::uint32_t ended, std::uint32_t pending) {
    model::Instruction wait;
    model::put_group_registers(GroupRole::awaits, ended, pending, registers, wait);
    return std::vector<std::int16_t>(wait.sources.begin(),
                                     std::ranges::find(wait.sources, model::Instruction::none));
  };
  CHECK(awaited(9, 7) == std::vector{registers[1]});
  CHECK(awaited(9, 6) == std::vector{registers[2], registers[1]});
  CHECK(awaited(3, 4).empty());
  CHECK(awaited(20, 0).size() == model::Registers::capacity - 1); // one is left for a unmatched access
}

} // namespace warplens::test
