// Codes and fields were found by disassembling CUDA 13's cubins for sm_75 to sm_90 with nvdisasm 11.8, and
// are those of CuAssembler (MIT) and of Mesa's NAK compiler (MIT), which also has those of sm_100 and sm_120.
// The units follow the Programming Guide's table of throughputs and the pipelines of Nsight Compute's
// documentation.
#include "sass/operations.h"

#include <algorithm>

namespace warplens::sass {
namespace {

using enum InstructionClass;
using enum Shape;

constexpr std::uint8_t form(unsigned number) {
  return static_cast<std::uint8_t>(1u << number);
}

constexpr Operation table[] = {
    {0, 0xff, "?", other, regular},
    // moves, selections, predicates
    {0x002, 0, "MOV", move, regular, D | B},
    {0x003, 0, "P2R", predicate, predicates_to_register, D | A},
    {0x004, 0, "R2P", predicate, register_to_predicates, A},
    {0x005, 0, "CS2R", special_register, counter},
    {0x006, 0, "VOTE", vote, regular, D | W81 | R87},
    {0x007, 0, "SEL", alu, regular, D | A | B | R87},
    {0x008, 0, "FSEL", alu, regular, D | A | B | R87},
    {0x009, 0, "FMNMX", alu, regular, D | A | B | R87},
    {0x00a, 0, "FSET", alu, regular, D | A | B | R87},
    {0x00b, 0, "FSETP", alu, regular, A | B | W81 | W84 | R87},
    {0x00c, 0, "ISETP", alu, regular, A | B | W81 | W84 | R87 | R68},
    // The names of the next, and of VIADDMNMX, VIADD and VIMNMX, which nvdisasm 11.8 does not print, are
    // those that NVIDIA documents for the intrinsics that compile to them, such as __vimax3_s32.
    {0x00f, 0, "VIMNMX3", alu, regular, D | A | B | C},
    {0x01c, 0, "PLOP3", predicate, regular, W81 | W84 | R87 | R77 | R68},
    // integers
    {0x010, 0, "IADD3", alu, regular, D | A | B | C | W81 | W84 | R87 | R77},
    {0x011, 0, "LEA", alu, regular, D | A | B | C | W81 | R87},
    {0x012, 0, "LOP3", alu, regular, D | A | B | C | W81 | R87},
    {0x013, 0, "IABS", alu, regular, D | B},
    {0x014, 0, "VABSDIFF", alu, regular, D | A | B | C},
    {0x015, 0, "VABSDIFF4", alu, regular, D | A | B | C},
    {0x016, 0, "PRMT", alu, regular, D | A | B | C},
    {0x017, 0, "IMNMX", alu, regular, D | A | B | R87},
    {0x019, 0, "SHF", alu, regular, D | A | B | C},
    {0x01b, 0, "BMSK", alu, regular, D | A | B},
    {0x036, 0, "VIADD", alu, regular, D | A | B},
    {0x046, 0, "VIADDMNMX", alu, regular, D | A | B | C | R87},
    {0x048, 0, "VIMNMX", alu, regular, D | A | B | W81 | W84 | R87},
    {0x024, 0, "IMAD", multiply_add, regular, D | A | B | C | W81 | R87},
    {0x025, 0, "IMAD.WIDE", wide_integer, regular, D | A | B | C | W81 | R87, 0x2112},
    {0x026, 0, "IDP", multiply_add, regular, D | A | B | C},
    {0x027, 0, "IMAD.HI", wide_integer, regular, D | A | B | C | W81 | R87, 0x1112},
    // floating point
    {0x020, 0, "FMUL", fp32, regular, D | A | B},
    {0x021, 0, "FADD", fp32, regular, D | A | B},
    {0x022, 0, "FSWZADD", fp32, regular, D | A | AtC},
    {0x023, 0, "FFMA", fp32, regular, D | A | B | C},
    {0x028, 0, "DMUL", fp64, regular, D | A | B, 0x2222},
    {0x029, 0, "DADD", fp64, regular, D | A | C, 0x2222},
    {0x02a, 0, "DSETP", fp64, regular, A | B | W81 | W84 | R87, 0x2222},
    {0x02b, 0, "DFMA", fp64, regular, D | A | B | C, 0x2222},
    {0x030, 0, "HADD2", fp16, regular, D | A | B},
    {0x031, 0, "HFMA2", fp16, regular, D | A | B | C},
    {0x032, 0, "HMUL2", fp16, regular, D | A | B},
    {0x033, 0, "HSET2", fp16, regular, D | A | B | R87},
    {0x034, 0, "HSETP2", fp16, regular, A | B | W81 | W84 | R87},
    {0x035, 0, "HFMA2.MMA", fp16, regular, D | A | B | C},
    {0x040, 0, "HMNMX2", alu, regular, D | A | B | R87},
    // conversions of fixed time: an H100 does 64 of I2FP in a cycle, 16 of the others
    {0x03e, 0, "F2FP", alu, regular, D | A | B | C},
    {0x045, 0, "I2FP", alu, regular, D | B},
    // tensor cores and their data
    {0x037, 0, "IMMA", tensor, matrix},
    {0x03c, 0, "HMMA", tensor, matrix},
    {0x03d, 0, "BMMA", tensor, matrix},
    {0x07a, form(1) | form(2), "QMMA", tensor, matrix},
    {0x07f, form(2), "OMMA", tensor, matrix},
    {0x03f, 0, "DMMA", tensor, matrix},
    {0x1f0, form(4) | form(6), "HGMMA", tensor, warp_group_matrix},
    {0x1f1, form(4) | form(6), "IGMMA", tensor, warp_group_matrix},
    {0x1f3, form(4) | form(6), "QGMMA", tensor, warp_group_matrix},
    {0x1ea, form(2) | form(4) | form(6), "UTCMMA", tensor, bulk, UG},
    {0x1e3, form(2) | form(4), "UTCATOMSWS", other, bulk, UG},
    {0x1e6, form(4), "UTCSHIFT", other, bulk, UG},
    {0x1e7, form(4), "UTCCP", other, bulk, UG},
    {0x1e9, form(1), "UTCBAR", barrier, bulk, UG},
    {0x1ee, form(4), "LDTM", other, regular, D},
    {0x1ed, form(4), "STTM", other, regular, AtB},
    {0x04c, form(4), "UVIRTCOUNT", nop, regular},
    {0x1c5, form(4), "WARPGROUP", wait, warp_group_wait},
    {0x1c8, form(4), "USETMAXREG", other, regular, UW81},
    {0x03a, 0, "MOVM", tensor, regular, D | A},
    {0x03b, 0, "LDSM", load_shared, memory},
    {0x044, 0, "STSM", store_shared, memory},
    // conversions and special functions
    {0x104, 0, "F2F", conversion, convert, D | B},
    {0x105, 0, "F2I", conversion, convert, D | B},
    {0x106, 0, "I2F", conversion, convert, D | B},
    {0x107, 0, "FRND", conversion, convert, D | B},
    {0x110, 0, "F2F", wide_conversion, convert, D | B},
    {0x111, 0, "F2I", wide_conversion, convert, D | B},
    {0x112, 0, "I2F", wide_conversion, convert, D | B},
    {0x113, 0, "FRND", wide_conversion, convert, D | B},
    {0x108, 0, "MUFU", special_function, regular, D | B},
    {0x100, 0, "FLO", special_function, regular, D | B | W81},
    {0x101, 0, "BREV", special_function, regular, D | B},
    {0x109, 0, "POPC", special_function, regular, D | B},
    {0x102, 0, "FCHK", special_function, regular, A | B | W81},
    // memory
    {0x17e, form(4), "LDG.256", load_global, wide_memory},
    {0x17f, form(4), "STG.256", store_global, wide_memory},
    {0x180, 0, "LD", load_generic, memory},
    {0x181, 0, "LDG", load_global, memory},
    {0x183, 0, "LDL", load_local, memory},
    {0x184, 0, "LDS", load_shared, memory},
    {0x185, 0, "ST", store_generic, memory},
    {0x186, 0, "STG", store_global, memory},
    {0x187, 0, "STL", store_local, memory},
    {0x188, 0, "STS", store_shared, memory},
    {0x1bd, form(6), "STAS", store_shared, regular, A | B, 0x0220},
    {0x18a, 0, "ATOM", atomic_generic, memory},
    {0x18b, 0, "ATOM", atomic_generic, memory}, // CAS
    {0x18c, 0, "ATOMS", atomic_shared, memory},
    {0x18d, 0, "ATOMS", atomic_shared, memory}, // CAS
    {0x18e, 0, "RED", reduction_global, memory},
    {0x18f, 0, "CCTL", other, memory},
    {0x1a2, 0, "ATOM", atomic_generic, memory}, // of floating-point numbers, from sm_90 on
    {0x1a3, 0, "ATOMG", atomic_global, memory},
    {0x1a6, 0, "RED", reduction_global, memory},
    {0x1a8, 0, "ATOMG", atomic_global, memory},
    {0x1a9, 0, "ATOMG", atomic_global, memory}, // CAS
    {0x1ae, 0, "LDGSTS", copy_to_shared, memory},
    {0x182, 0, "LDC", load_constant, constant},
    {0x1aa, 0, "QSPC", other, regular, D | A | W81, 0x1211},
    // textures and surfaces
    {0x160, 0, "TEX", load_texture, texture},
    {0x161, 0, "TEX", load_texture, texture},
    {0x163, 0, "TLD4", load_texture, texture},
    {0x164, 0, "TLD4", load_texture, texture},
    {0x166, 0, "TLD", load_texture, texture},
    {0x167, 0, "TLD", load_texture, texture},
    {0x16c, 0, "TXD", load_texture, texture},
    {0x16d, 0, "TXD", load_texture, texture},
    {0x198, 0, "SULD", load_texture, surface},
    {0x199, 0, "SULD", load_texture, surface},
    {0x19a, 0, "SULD", load_texture, surface},
    {0x19c, 0, "SUST", store_surface, surface},
    {0x19d, 0, "SUST", store_surface, surface},
    {0x19e, 0, "SUST", store_surface, surface},
    // between lanes
    {0x189, 0, "SHFL", shuffle, between_lanes},
    {0x1a1, 0, "MATCH", vote, regular, D | A | W81},
    {0x1c4, 0, "REDUX", vote, regular, UD | A},
    {0x02f, 0, "ELECT", vote, regular, UD | W81},
    // control
    {0x141, 0, "BSYNC", branch, convergence, R87},
    {0x142, 0, "BREAK", branch, convergence, R87},
    {0x145, 0, "BSSY", branch, convergence, R87},
    {0x147, 0, "BRA", branch, relative_branch, R87},
    {0x149, 0, "BRX", branch, regular, A | R87, 0x1211},
    {0x14c, 0, "JMX", branch, regular, A, 0x1211},
    {0x143, form(4), "CALL.ABS", branch, regular}, // its target has a relocation
    {0x143, form(1), "CALL.ABS", branch, regular, A, 0x1211},
    {0x144, 0, "CALL.REL", branch, relative_branch},
    {0x150, 0, "RET", branch, regular, A, 0x1211},
    {0x14a, 0, "JMP", branch, regular, R87},
    {0x14d, 0, "EXIT", InstructionClass::exit, regular, R87},
    {0x148, 0, "WARPSYNC", branch, warp_sync, B | R87},
    {0x11b, form(4), "ENDCOLLECTIVE", branch, regular},
    {0x155, 0, "BMOV", move, convergence, D},
    {0x156, 0, "BMOV", move, convergence, AtB},
    {0x14e, 0, "LEPC", move, regular, D, 0x2111},
    {0x15c, 0, "BPT", other, regular},
    {0x15d, 0, "NANOSLEEP", wait, regular, B},
    {0x146, 0, "YIELD", wait, regular},
    {0x118, 0, "NOP", nop, regular},
    {0x119, 0, "S2R", special_register, regular, D},
    {0x11a, 0, "DEPBAR", await_group, scoreboard_wait},
    {0x11c, 0, "B2R", barrier, regular, D | W81},
    {0x11d, 0, "BAR", barrier, block_barrier, B | R87},
    {0x1af, form(4), "LDGDEPBAR", end_group, regular},
    {0x1b0, form(4), "ARRIVES", barrier, bulk},
    {0x1a7, form(2), "SYNCS.PHASECHK", atomic_shared, bulk},
    {0x1a7, form(4), "SYNCS.ARRIVE", atomic_shared, bulk},
    {0x1b2, form(2), "SYNCS.EXCH", atomic_shared, bulk, UG},
    {0x1c7, form(4), "UCGABAR_ARV", barrier, regular, UG},
    {0x1c7, form(6), "UCGABAR_WAIT", barrier, regular, UG},
    {0x192, 0, "MEMBAR", fence, regular},
    {0x1ab, form(4), "ERRBAR", fence, regular},
    {0x1ab, form(2), "CGAERRBAR", fence, regular},
    {0x1c6, 0, "FENCE", fence, regular},
    {0x02d, form(4), "PREEXIT", wait, regular},
    {0x02e, form(4), "ACQBULK", wait, regular},
    // the uniform datapath
    {0x082, 0, "UMOV", uniform, uniform_datapath, D | B},
    {0x086, 0, "VOTEU", vote, regular, UD | UW81 | R87},
    {0x087, 0, "USEL", uniform, uniform_datapath, D | A | B | R87},
    {0x08c, 0, "UISETP", uniform, uniform_datapath, A | B | W81 | W84 | R87 | R68},
    {0x090, 0, "UIADD3", uniform, uniform_datapath, D | A | B | C | W81 | W84 | R87 | R77},
    {0x091, 0, "ULEA", uniform, uniform_datapath, D | A | B | C | W81 | R87},
    {0x092, 0, "ULOP3", uniform, uniform_datapath, D | A | B | C | W81 | R87},
    {0x096, 0, "UPRMT", uniform, uniform_datapath, D | A | B | C},
    {0x097, 0, "UIADD3.64", uniform, uniform_datapath, D | A | B | C | W81 | W84 | R87 | R77, 0x2222},
    {0x099, 0, "USHF", uniform, uniform_datapath, D | A | B | C},
    {0x09b, 0, "UBMSK", uniform, uniform_datapath, D | A | B},
    {0x09c, 0, "UPLOP3", uniform, uniform_datapath, W81 | W84 | R87 | R77 | R68},
    {0x0a4, 0, "UIMAD", uniform, uniform_datapath, D | A | B | C | W81 | R87},
    {0x0a5, 0, "UIMAD.WIDE", uniform, uniform_datapath, D | A | B | C | W81 | R87, 0x2112},
    {0x0bd, 0, "UFLO", uniform, uniform_datapath, D | B | W81},
    {0x0be, 0, "UBREV", uniform, uniform_datapath, D | B},
    {0x0bf, 0, "UPOPC", uniform, uniform_datapath, D | B},
    {0x0b9, 0, "ULDC", load_constant, constant, UG},
    {0x0bb, 0, "ULDC", load_constant, constant, UG},
    {0x1ac, 0, "LDCU", load_constant, constant, UG},
    {0x0ca, 0, "R2UR", InstructionClass::uniform, regular, UD | A | W81},
    {0x1c2, 0, "R2UR", InstructionClass::uniform, regular, UD | A | W81},
    {0x1c3, 0, "S2UR", special_register, regular, UD | UG},
    // the tensor memory accelerator
    {0x1b4, form(1) | form(2), "UTMALDG", copy_to_shared, bulk, UG},
    {0x1b5, form(1), "UTMASTG", copy_to_global, bulk, UG},
    {0x1b6, form(1), "UTMAREDG", reduction_global, bulk, UG},
    {0x1b7, form(4), "UTMACMDFLUSH", wait, regular, UG},
    {0x1b8, form(1) | form(2), "UTMAPF", other, bulk, UG},
    {0x1b9, form(4), "UTMACCTL", other, bulk, UG},
    {0x1ba, form(1), "UBLKCP", other, bulk, UG},
    {0x1bb, form(1), "UBLKRED", reduction_global, bulk, UG},
    {0x1bc, form(1), "UBLKPF", other, bulk, UG},
};

constexpr std::size_t operation_count = std::size(table);

/// The row of each code and form.
constexpr auto rows_by_code = [] {
  std::array<std::array<std::uint16_t, 8>, 512> rows{};
  for (std::size_t row = 1; row < operation_count; ++row)
    for (unsigned number = 0; number < 8; ++number)
      if (table[row].forms == 0 || (table[row].forms >> number & 1) != 0)
        rows[table[row].code][number] = static_cast<std::uint16_t>(row);
  return rows;
}();

} // namespace

std::span<const Operation> operations() {
  return table;
}

std::uint16_t find_operation(Word word, int architecture) {
  const std::uint32_t code = word.bits(0, 9);
  // From sm_100 on VIADD may have further modifiers, whose operands are not known.
  if (code == 0x036 && word.bits(73, 8) != 0)
    return 0;
  // LDCU is of sm_100.
  if (code == 0x1ac && architecture < 100)
    return 0;
  return rows_by_code[code][word.bits(9, 3)];
}

std::string_view name_of(const Instruction& instruction) {
  return table[instruction.operation < operation_count ? instruction.operation : 0].name;
}

} // namespace warplens::sass
