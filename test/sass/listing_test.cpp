// Tests the decoding of whole instructions: their listing, and bits that nothing explains.
#include "sass/elf.h"
#include "sass/operands.h"
#include "test/sass/decoded.h"

using namespace warplens;
using namespace warplens::sass;

namespace {

std::string listed(std::uint64_t low, std::uint64_t high, int architecture = 80) {
  return listing_of({low, high}, 0x100, architecture);
}

} // namespace

TEST_CASE("instructions with their operands") {
  CHECK(listed(0x000000ff03007819, 0x000fe200000006ff) == "SHF.L.U32 R0, R3, 0xff, RZ");
  CHECK(listed(0x0000000407077210, 0x000fe20007ffe0ff) == "IADD3 R7, R7, R4, RZ");
  CHECK(listed(0x8000000407077210, 0x000fe20007ffe0ff) == "IADD3 R7, R7, -R4, RZ");
  CHECK(listed(0x0000000404047221, 0x000fe20000010100) == "FADD.FTZ R4, -R4, R4");
  CHECK(listed(0x000000000000794d, 0x000fea0003800000) == "EXIT");
  CHECK(listed(0x000000000000194d, 0x000fea0003800000) == "@P1 EXIT");
  CHECK(listed(0x000000000000994d, 0x000fea0003800000) == "@!P1 EXIT");
  CHECK(listed(0xfffffff000007947, 0x000fc0000383ffff) == "BRA 0x100");
  CHECK(listed(0x0000000000007b1d, 0x000fec0000010000) == "BAR.SYNC");
  CHECK(listed(0x0000000000007919, 0x000e280000002100) == "S2R R0, 0x21");
}

TEST_CASE("codes that differ by architecture") {
  // 0x035 is a product of halves up to sm_90, and a sum of 64 bits from sm_100 on.
  const Word word{0x0000000aff047435, 0x000fe200000001ff};
  CHECK(decode_operands(word, 0, 80).opcode == Opcode::hfma2);
  CHECK(decode_operands(word, 0, 120).opcode == Opcode::iadd64);
  CHECK(decode_operands({0x00007000ff0477ac, 0x000e620008000a00}, 0, 90).opcode == Opcode::unknown);
  CHECK(decode_operands({0x00007000ff0477ac, 0x000e620008000a00}, 0, 120).opcode == Opcode::ldc);
}

TEST_CASE("loads that threads of other SMs may write to meanwhile skip the L1") {
  const auto skips = [](Word word, int architecture) {
    const Operands operands = decode_operands(word, 0, architecture);
    CHECK(operands.opcode == Opcode::load);
    return operands.skips_l1;
  };
  CHECK(skips({0x0000000402027981, 0x000ee8000c1f5900}, 90));       // a volatile one
  CHECK(skips({0x0001000404007981, 0x000ee8000c1ef900}, 90));       // relaxed, of the GPU's scope
  CHECK_FALSE(skips({0x0000000404097981, 0x000ee2000c1eb900}, 90)); // relaxed, of the block's
  CHECK_FALSE(skips({0x0004000404087981, 0x000ea8000c1e1900}, 90)); // a weak one
  CHECK_FALSE(skips({0x000f9c04060d7981, 0x000f22000c1e9900}, 90)); // read-only
  CHECK(skips({0x0000000002027381, 0x000ea800001f6900}, 75));
  CHECK(skips({0x0001000004007381, 0x000ea800001f4900}, 75));
  CHECK_FALSE(skips({0x0000000004097381, 0x000ea200001f0900}, 75));
  CHECK_FALSE(skips({0x0004000004087381, 0x000ee800001ee900}, 75));
  CHECK_FALSE(skips({0x000f9c00060d7381, 0x000f2200001e6900}, 75));
}

TEST_CASE("a bit that nothing explains makes an instruction unknown") {
  const Word iadd3{0x0000000407077210, 0x000fe20007ffe0ff};
  REQUIRE(decode_operands(iadd3, 0, 80).is_known());
  const Operands changed = decode_operands({iadd3.low, iadd3.high | std::uint64_t{1} << 31}, 0, 80);
  CHECK_FALSE(changed.is_known());
  CHECK(changed.unread.high == std::uint64_t{1} << 31);
  CHECK(listed(iadd3.low, iadd3.high | std::uint64_t{1} << 31) == "IADD3 R7, R7, R4, RZ ? 0x0 0x80000000");
  CHECK(listed(0x00000004070770f0, 0) == "? 0x00000004070770f0 0x0000000000000000");
}

TEST_CASE("the recorded cubins are decoded whole") {
  for (const int architecture : {80, 100}) {
    const std::string cubin = recorded_cubin(architecture);
    const auto elf = read_elf(std::as_bytes(std::span(cubin)));
    REQUIRE(elf);
    std::size_t instructions = 0;
    for (const Section& section : elf->sections) {
      if (!section.name.starts_with(".text."))
        continue;
      ByteReader reader(section.bytes);
      for (std::uint32_t address = 0; address + 16 <= section.bytes.size(); address += 16) {
        Word word;
        word.low = reader.u64();
        word.high = reader.u64();
        INFO(listing_of(word, address, architecture));
        CHECK(decode_operands(word, address, architecture).is_known());
        ++instructions;
      }
    }
    CHECK(instructions > 100);
  }
}
