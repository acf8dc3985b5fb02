// Decodes one instruction whole: what it computes, on which operands, with which modifiers. Its reader notes
// which bits it has read, so that a bit that nothing explains is known as such: who executes the instruction
// must refuse it.
#pragma once

#include "sass/bits.h"
#include "sass/code_table.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace warplens::sass {

/// What an instruction does, whatever its code is on an architecture. The uniform datapath's instructions
/// have the opcodes of those that they equal for one lane.
enum class Opcode : std::uint8_t {
  unknown,
  nop, ///< also fences, waits for scoreboards and hints to caches: an access is complete when it is issued
  mov,
  sel,
  iadd3,
  iadd64,
  imad,
  imad_wide,
  imad_hi,
  lea,
  lop3,
  shf,
  prmt,
  isetp,
  imnmx,
  imnmx3,
  viaddmnmx,
  iabs,
  popc,
  brev,
  flo,
  bmsk,
  sgxt,
  vabsdiff,
  idp,
  p2r,
  r2p,
  plop3,
  fadd,
  fmul,
  ffma,
  fsetp,
  fset,
  fmnmx,
  fchk,
  fmnmx3,
  fadd2, ///< of two floats in a pair of registers, as the next two
  fmul2,
  ffma2,
  fswzadd,
  mufu,
  dadd,
  dmul,
  dfma,
  dsetp,
  f2i,
  i2f,
  i2i,
  f2f,
  frnd,
  f2fp,
  hadd2,
  hmul2,
  hfma2,
  hset2,
  hsetp2,
  hmnmx2,
  vote,
  shfl,
  match,
  redux,
  elect,
  setmaxreg,
  r2ur,
  s2r,
  cs2r,
  b2r,
  lepc,
  ldc,
  load,
  store,
  atom,
  atom_cas,
  atoms_popc_inc,
  atoms_arrive,
  qspc,
  ldsm,
  stsm,
  movm,
  ldgsts,
  hmma,
  imma,
  qmma, ///< of floats of 8 bits or fewer
  bmma,
  dmma,
  omma,   ///< of floats of 4 bits
  hgmma,  ///< of warp groups: of halves, TF32
  igmma,  ///< of bytes
  qgmma,  ///< of floats of 8 bits
  utcmma, ///< of tensor memory, as the next five
  utcatomsws,
  utcbar,
  utccp,
  ldtm,
  sttm,
  syncs_exch,
  syncs_arrive,
  syncs_phase,
  arrives,
  stas,
  ublkcp,
  ublkred,
  try_cancel,
  fill_shared,
  utmaldg,
  utmastg,
  utmaredg,
  texture,
  suld,
  sust,
  // control
  bra,
  bra_uniform, ///< by a uniform predicate
  bra_divergent,
  bra_convergent,
  brx,
  call,
  call_register,
  call_absolute,
  call_absolute_register,
  ret,
  exit,
  bssy,
  bsync,
  break_,
  bmov_from_barrier,
  bmov_to_barrier,
  warpsync,
  warpsync_collective,
  end_collective,
  yield,
  nanosleep,
  bar,
  cluster_arrive,
  cluster_wait,
  warp_group_wait,
  trap,
};

inline constexpr std::uint8_t zero_register = 255; ///< RZ, and URZ on each architecture
inline constexpr std::uint8_t true_predicate = 7;

/// One operand that is read.
struct Source {
  enum class Kind : std::uint8_t { none, general, uniform, immediate, constant };
  Kind kind = Kind::none;
  std::uint8_t index = zero_register; ///< the register
  std::uint8_t words = 1;             ///< of 32 bits
  bool negated = false;
  bool absolute = false;
  std::uint8_t swizzle = 0; ///< of halves: both, one float for both, the low one twice, the high one twice
  std::uint8_t bank = 0;    ///< of constants
  std::uint32_t offset = 0; ///< in the bank, in bytes
  std::uint64_t value = 0;  ///< of an immediate
};

struct PredicateSource {
  std::uint8_t index = true_predicate;
  bool negated = false;
  bool uniform = false;
};

enum class Rounding : std::uint8_t { nearest, down, up, zero };

/// The order of a comparison: bit 0 less, bit 1 equal, bit 2 greater, and for floats bit 3 unordered.
using Comparison = std::uint8_t;

/// Atomic operations, by the field at bit 87.
enum class AtomicOperation : std::uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch };
enum class AtomicType : std::uint8_t { u32, s32, u64, s64, f32, f16x2, bf16x2, f64 };

enum class Space : std::uint8_t { global, shared, local, generic };

/// Says what a texture instruction does: TEX, TLD with integer coordinates, TLD4, and TXD with gradients.
enum class TextureKind : std::uint8_t { sample, element, gather, gradients };

/// The geometry of an image, as PTX names it: 1d, 2d, 3d, cube, a1d, a2d and acube.
enum class ImageShape : std::uint8_t { line, plane, volume, cube, lines, planes, cubes };

/// Says what an access of a surface outside of its bounds does.
enum class Boundary : std::uint8_t { zero, clamp, trap };

/// The inputs of textures and surfaces. Those of a texture are registers of A and then of B: the layer, the
/// coordinates, the handle unless C is it, the level of detail. TXD has the handle first, and its layer last.
struct ImageInputs {
  TextureKind kind = TextureKind::sample;
  ImageShape shape = ImageShape::plane;
  Boundary boundary = Boundary::trap;
  std::uint8_t coordinates = 0; ///< a layer is one
  std::uint8_t component = 0;   ///< that is gathered
  std::uint8_t channels = 0;    ///< a bit for each that is returned
  bool has_level = false;       ///< of a mipmap, behind the coordinates and the handle
};

/// Floats of 8 bits and fewer, as the type fields of products number them: exponents and fractions.
enum class SmallFloat : std::uint8_t { e4m3, e5m2, e3m2 = 3, e2m3, e2m1, e8m0 };

/// Which cells of tensor memory the words of a warp's lanes are: the rows, and the words of each that an
/// instruction has at least. The last two are the halves of PTX' .16x32bx2.
enum class TensorMemoryShape : std::uint8_t {
  rows16_words4,
  rows16_words8,
  rows32_words1,
  rows16_words2,
  low_lanes,
  high_lanes,
};
/// Says what is copied from shared memory to tensor memory. Of fewer than 128 rows several warps' lanes get
/// the same ones.
enum class TensorCopyShape : std::uint8_t {
  rows128_bytes32,
  rows128_bytes16,
  rows64_of_pairs_02_13,
  rows64_of_pairs_01_23,
  rows32,
};
/// Says what a product of tensor memory is of; the types themselves are in its descriptor.
enum class TensorKind : std::uint8_t { halves, integers, small_floats = 3, nibbles };

/// The inputs of products by tensor cores beside their matrices, and how these lie.
struct ProductInputs {
  bool is_sparse = false;
  std::uint8_t selector = 0; ///< which lanes of each four have the places of A's elements
  bool is_scaled = false;
  std::uint8_t scales_per_row = 1; ///< over the depth
  bool transposes_a = false, transposes_b = false;
};

struct Operands {
  Opcode opcode = Opcode::unknown;
  std::uint16_t code = 0; ///< bits 0 to 8
  std::uint8_t form = 0;  ///< bits 9 to 11
  bool uniform_datapath = false;
  PredicateSource guard;

  std::uint8_t destination = zero_register;
  std::uint8_t destination_words = 0; ///< 0: no result in a register
  bool destination_uniform = false;
  std::uint8_t second_destination = zero_register; ///< of a texture's third channel and fourth; of LDG.256
  std::uint8_t predicate_out[2] = {true_predicate, true_predicate};
  bool predicate_out_uniform = false;
  Source a, b, c;
  Source d, e; ///< of products: the places of a sparse A's elements; the scales of A and of B; of
               ///< tensor memory: the address of D, and the lanes of it that stay
  PredicateSource predicate_in[3];

  // Modifiers. Each opcode has some of them.
  bool is_signed = false;
  bool extended = false; ///< .X, .EX: adds a carry, or compares upper halves
  bool high = false;
  bool right = false;
  bool wraps = false;
  bool wide = false; ///< operates on 64 bits
  bool ftz = false;
  bool saturates = false;
  bool relu = false;
  bool bf16 = false;
  bool float_result = false; ///< of HADD2: one float; of FSET and HSET2: 1.0 rather than a mask
  bool negates_result = false;
  Rounding rounding = Rounding::nearest;
  Comparison comparison = 0;
  std::uint8_t boolean = 0; ///< 0 and, 1 or, 2 xor
  std::uint8_t lut = 0, lut2 = 0;
  std::uint8_t shift = 0;       ///< of LEA; of the register of a shared address
  std::uint8_t type = 0;        ///< by opcode: of SHF, of conversions and of loads the bytes' logarithm
  std::uint8_t source_type = 0; ///< of conversions
  std::uint8_t function =
      0; ///< by opcode: of MUFU, VOTE, SHFL, PRMT, REDUX, BAR, HMMA, HGMMA; the words of LDG.256
  std::uint16_t selector = 0; ///< by opcode: the byte or half of a source, the special register, the barrier;
                              ///< of REDUX of floats whether a NaN is the result

  // Addresses: register a, uniform register base, offset.
  Space space = Space::global;
  Source base;
  bool address_is_wide = false;
  std::int64_t offset = 0;
  std::int64_t second_offset = 0; ///< of LDGSTS: in shared memory
  std::uint8_t bytes = 0;         ///< that each lane accesses
  bool sign_extends = false;
  AtomicOperation atomic = AtomicOperation::add;
  AtomicType atomic_type = AtomicType::u32;
  bool has_return = false; ///< of atomic operations
  bool is_strong = false;  ///< a load that others may write meanwhile: volatile, relaxed or acquiring
  bool skips_l1 = false;   ///< likewise, where threads of other SMs may be among them

  ImageInputs image;
  ProductInputs product;
  bool takes_four_rows = false; ///< of a tensor's copy: each with its own second coordinate
  bool of_two_blocks = false;   ///< of tensor memory: both blocks of a pair take part

  std::int64_t target = 0; ///< of branches, from the section's begin

  Word unread;        ///< the bits that are set and that nothing explains
  std::string reason; ///< what is not known of it, if the decoder can say

  bool is_known() const {
    return opcode != Opcode::unknown && unread.low == 0 && unread.high == 0 && reason.empty();
  }
};

/// Decodes the instruction at an address of its section.
Operands decode_operands(Word word, std::uint32_t address, int architecture);

/// Returns the instruction as a listing has it: "@!P0 IADD3.X R4, P1, R2, 0x10, RZ". An instruction that is
/// not known whole ends with its unexplained bits.
std::string listing_of(Word word, std::uint32_t address, int architecture);

} // namespace warplens::sass
