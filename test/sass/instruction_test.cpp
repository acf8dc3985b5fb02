// Tests the decoding of single instructions. The words are from cubins of CUDA 13.0, and beside each is what
// nvdisasm 11.8 prints for it; registers, widths and schedules were worked out by hand from that.
#include "sass/instruction.h"
#include "sass/matrix_product.h"
#include "sass/operations.h"
#include "test/sass/decoded.h"

#include <set>

using namespace warplens::sass;

namespace {

Instruction decoded(std::uint64_t low, std::uint64_t high, int architecture = 80) {
  return decode_instruction({low, high}, 0, architecture).instruction;
}

/// Returns "FFMA fp32 R4 <- R3 R5": name, class, registers written and read.
std::string summary(const Instruction& instruction) {
  return std::string(name_of(instruction)) + " " + std::string(name_of(instruction.kind)) + " " +
         names_of(instruction.writes) + " <- " + names_of(instruction.reads);
}

std::string summary(std::uint64_t low, std::uint64_t high, int architecture = 80) {
  return summary(decoded(low, high, architecture));
}

/// Returns a word with these numbers in the fields of the registers, under the guard PT, with a schedule.
Word word(std::uint32_t code, std::uint32_t d, std::uint32_t a, std::uint32_t b, std::uint32_t c,
          std::uint64_t high = 0) {
  return {code | 0x7000u | d << 16 | a << 24 | std::uint64_t{b} << 32, c | high};
}

} // namespace

TEST_CASE("forms put B and C at different places") {
  const std::uint64_t predicates = std::uint64_t{0xfe} << 16 | std::uint64_t{7} << 23; // all PT
  const auto registers = [&](std::uint32_t form) {
    const Word made = word(0x023 | form << 9, 1, 2, 3, 4, predicates);
    return names_of(decode_instruction(made, 0, 80).instruction.reads);
  };
  CHECK(registers(1) == "R2 R3 R4");  // FFMA R1, R2, R3, R4
  CHECK(registers(2) == "R2 R4");     // FFMA R1, R2, R4, immediate
  CHECK(registers(3) == "R2 R4");     // … constant
  CHECK(registers(4) == "R2 R4");     // FFMA R1, R2, immediate, R4
  CHECK(registers(6) == "R2 UR3 R4"); // FFMA R1, R2, UR3, R4
  CHECK(registers(7) == "R2 UR3 R4"); // FFMA R1, R2, R4, UR3
}

TEST_CASE("RZ, URZ and PT are no registers") {
  // IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
  CHECK(summary(0x00000a00ff017624, 0x000fe200078e00ff) == "IMAD multiply_add R1 <- ");
  const std::uint64_t all_true = std::uint64_t{0x7fe} << 16 | 7 << 13; // the predicates of UIADD3
  const Word zeros = word(0x290, 63, 63, 63, 63, all_true),
             registers = word(0x290, 4, 63, 255, 255, all_true);
  CHECK(summary(decode_instruction(zeros, 0, 80).instruction) == "UIADD3 uniform  <- ");
  // sm_100 has more uniform registers: its URZ is 255.
  CHECK(summary(decode_instruction(registers, 0, 100).instruction) == "UIADD3 uniform UR4 <- UR63");
}

TEST_CASE("memory: widths, addresses and descriptors") {
  // LDG.E.64 R2, [R2.64], with a descriptor in UR36 and UR37
  const Instruction load = decoded(0x0000002402027981, 0x000ea2000c1e1b00);
  CHECK(summary(load) == "LDG load_global R2:3 <- R2:3 UR36:37");
  CHECK(load.access_bytes == 8);
  // STG.E.64 [R4.64], R8
  CHECK(summary(0x0000000804007986, 0x000fe2000c101b04) == "STG store_global  <- R4:5 R8:9 UR4:5");
  // The high words of the next have the operands of the disassembled instructions in comments and no
  // schedule.
  const Instruction swap =
      decoded(0x0000001002107000 | 0x3a9, 0x1ee512); // ATOMG.E.CAS.64 PT, R16, [R2], R16, R18
  CHECK(summary(swap) == "ATOMG atomic_global R16:17 <- R2:3 R16:17 R18:19");
  CHECK(swap.access_bytes == 8);
  const Instruction copy = decoded(0x0000000002097fae, 0x0b901c44); // LDGSTS.E.BYPASS.128 [R9], [R2.64]
  CHECK(summary(copy) == "LDGSTS copy_to_shared  <- R9 R2:3 UR4:5");
  CHECK(copy.access_bytes == 16);
  const Instruction wait = decoded(0x000081c00000791a, 0x000fc80000000000); // DEPBAR.LE SB0, 0x7
  CHECK(summary(wait) == "DEPBAR await_group  <- ");
  CHECK(wait.pending == 7);
  const Instruction reduction = decoded(0x0000000a0400798e, 0x0c10e186); // RED.E.ADD.STRONG.GPU [R4.64], R10
  CHECK(summary(reduction) == "RED reduction_global  <- R4:5 R10 UR6:7");
  const Instruction matrices = decoded(0x000000001c08783b, 0x00000200); // LDSM.16.M88.4 R8, [R28]
  CHECK(summary(matrices) == "LDSM load_shared R8:11 <- R28");
}

TEST_CASE("tensor cores: registers by the matrices' shape") {
  CHECK(summary(0x000000160408723c, 0x000180c) ==
        "HMMA tensor R8:11 <- R4:7 R22:23 R12:15");                                     // HMMA.16816.F32
  CHECK(summary(0x000000160416723c, 0x00008ff) == "HMMA tensor R22:23 <- R4:7 R22:23"); // HMMA.16816.F16
  CHECK(summary(0x0000000c0810723c, 0x0085010) ==
        "HMMA tensor R16:19 <- R8:9 R12 R16:19"); // HMMA.1684.F32.TF32
  CHECK(summary(0x0000000c0810723c, 0x0081010) ==
        "HMMA tensor R16:19 <- R8:11 R12:13 R16:19");                            // .1688.F32.TF32
  CHECK(summary(0x0000000c08047237, 0x00054ff) == "IMMA tensor R4:5 <- R8 R12"); // IMMA.8816.S8.S8
  CHECK(summary(0x0000000c08047237, 0x0401c04) ==
        "IMMA tensor R4:7 <- R8:11 R12:13 R4:7"); // IMMA.16832.S8.U8
  CHECK(summary(0x000000080404727a, 0x0002c0c, 89) ==
        "QMMA tensor R4:7 <- R4:7 R8:9 R12:15"); // QMMA.16832.F32.E4M3.E4M3
  CHECK(summary(0x000000020c18723f, 0x0000008) == "DMMA tensor R24:27 <- R12:13 R2:3 R8:11"); // DMMA.884
  // HGMMA.64x64x16.F32 R24, gdesc [UR8], R24, gsb0
  CHECK(summary(0x00e00000081879f0, 0x08000818, 90) == "HGMMA tensor R24:55 <- UR8:11 R24:55");
  const Instruction wait = decoded(0x8000000079c5, 0xfe40000010100, 90); // WARPGROUP.DEPBAR.LE gsb0, 0x1
  CHECK(summary(wait) == "WARPGROUP wait  <- ");
  CHECK(wait.pending == 1);
}

TEST_CASE("tensor cores: shapes") {
  const auto product = [](std::uint64_t low, std::uint64_t high, int architecture = 80) {
    Instruction instruction = decoded(low, high, architecture);
    instruction.word = {low, high};
    return matrix_product(instruction, architecture).value();
  };
  const MatrixProduct singles = product(0x000000160408723c, 0x000180c); // HMMA.16816.F32
  CHECK(singles.rows == 16);
  CHECK(singles.depth == 16);
  CHECK(singles.sums_singles);
  CHECK(singles.operations() == 4096);
  CHECK_FALSE(product(0x000000160416723c, 0x00008ff).sums_singles);   // HMMA.16816.F16
  const MatrixProduct bytes = product(0x0000000c08047237, 0x00054ff); // IMMA.8816.S8.S8
  CHECK(bytes.rows == 8);
  CHECK(bytes.depth_bits() == 128);
  CHECK_FALSE(bytes.is_float);
  CHECK(product(0x000000020c18723f, 0x0000008).sums_doubles);                 // DMMA.884
  const MatrixProduct of_group = product(0x03e00000041879f0, 0x08700818, 90); // HGMMA.64x256x16.F32
  CHECK(of_group.columns == 256);
  CHECK(of_group.depth == 16);
  CHECK(of_group.by_warp_group);
  CHECK(of_group.reads_shared_a);
  CHECK_FALSE(matrix_product(Instruction{}, 80));
}

TEST_CASE("conversions: widths by the types") {
  CHECK(summary(0x0000000600027312, 0x0301c00) == "I2F wide_conversion R2:3 <- R6:7"); // I2F.F64.S64 R2, R6
  CHECK(summary(0x0000000400047310, 0x0301000) == "F2F wide_conversion R4 <- R4:5");   // F2F.F32.F64 R4, R4
  CHECK(summary(0x00000000'00067805, 0x001ff00) == "CS2R special_register R6:7 <- ");  // CS2R R6, SRZ
}

TEST_CASE("the schedule and the guard") {
  // @P0 with stall 13, no yield, write scoreboard 2, no read scoreboard, waits for 0 and 5, reuse of the
  // first operand.
  const std::uint64_t control = 13 | 1 << 4 | 2 << 5 | 7 << 8 | 0b100001 << 11 | 1 << 17;
  Word made = word(0x223, 0, 1, 2, 3, control << 41);
  made.low &= ~std::uint64_t{0xf000};
  const Instruction instruction = decode_instruction(made, 0x40, 80).instruction;
  CHECK(instruction.address == 0x40);
  CHECK(instruction.control.stall == 13);
  CHECK_FALSE(instruction.control.yields);
  CHECK(instruction.control.write_scoreboard == 2);
  CHECK(instruction.control.read_scoreboard == Control::no_scoreboard);
  CHECK(instruction.control.wait_mask == 0b100001);
  CHECK(instruction.control.reuse == 1);
  CHECK(instruction.guard.predicate == 0);
  CHECK_FALSE(instruction.guard.negated);
  CHECK(decoded(0xf94d, 0).guard.is_never()); // @!PT EXIT
}

TEST_CASE("branches: distances in both encodings") {
  // BRA to itself: -16 bytes, in words of 4.
  CHECK(decode_instruction({0xfffffff000007947, 0x000fc0000383ffff}, 0x80, 80).target == 0x80);
  CHECK(decode_instruction({0xfffffffc00fc7947, 0x000fc0000383ffff}, 0x80, 90).target == 0x80);
  CHECK(decode_instruction({0x0000006000007947, 0x000fea0003800000}, 0x100, 80).target == 0x170);
  const auto reconverging = decode_instruction({0x000000a000007945, 0x000fe20003800000}, 0xb0, 80); // BSSY B0
  CHECK(reconverging.target == 0x160);
  CHECK(reconverging.instruction.barrier == 0);
}

TEST_CASE("an unknown instruction is of class other and has no registers") {
  const Instruction instruction = decoded(0x123456789abcdfff, ~std::uint64_t{0});
  CHECK(summary(instruction) == "? other  <- ");
  CHECK(instruction.control.stall == 15);
}

TEST_CASE("each operation is found by its code, and no code has two") {
  std::set<std::pair<unsigned, unsigned>> taken;
  for (const Operation& operation : operations().subspan(1))
    for (unsigned form = 0; form < 8; ++form)
      if (operation.forms == 0 || (operation.forms >> form & 1) != 0) {
        INFO(operation.name << " " << std::hex << operation.code << " form " << form);
        CHECK(taken.emplace(operation.code, form).second);
      }
}
