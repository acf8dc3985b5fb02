#include "sass/instruction.h"

#include "sass/operands.h"
#include "sass/operations.h"

#include <algorithm>
#include <bit>

namespace warplens::sass {
namespace {

constexpr std::uint8_t stack_pointer = 1; ///< CUDA's application binary interface: R1

/// The value of bits 73 to 75 of a load or store.
constexpr std::array<std::uint8_t, 8> bytes_by_type{1, 1, 2, 2, 4, 8, 16, 0};

constexpr std::uint8_t registers_for(std::uint8_t bytes) {
  return static_cast<std::uint8_t>((bytes + 3) / 4);
}

/// Collects the registers of one instruction.
class Decoder {
public:
  Decoder(Word word, int architecture, const Operation& operation, DecodedInstruction& result)
      : word_(word), architecture_(architecture), operation_(operation), result_(result),
        instruction_(result.instruction), form_(word.bits(9, 3)) {}

  void decode() {
    switch (operation_.shape) {
    case Shape::regular: regular(RegisterFile::general); break;
    case Shape::counter: counter(); break;
    case Shape::block_barrier: block_barrier(); break;
    case Shape::scoreboard_wait: scoreboard_wait(); break;
    case Shape::uniform_datapath: regular(RegisterFile::uniform); break;
    case Shape::memory: memory(); break;
    case Shape::texture: texture(); break;
    case Shape::surface: surface(); break;
    case Shape::matrix: matrix(); break;
    case Shape::wide_memory: wide_memory(); break;
    case Shape::warp_group_matrix: warp_group_matrix(); break;
    case Shape::warp_group_wait: warp_group_wait(); break;
    case Shape::convert: convert(); break;
    case Shape::between_lanes: shuffle(); break;
    case Shape::predicates_to_register: predicates_to_register(); break;
    case Shape::register_to_predicates: register_to_predicates(); break;
    case Shape::constant: constant(); break;
    case Shape::warp_sync: warp_sync(); break;
    case Shape::relative_branch: relative_branch(); break;
    case Shape::convergence: convergence(); break;
    case Shape::bulk: bulk(); break;
    }
  }

private:
  // ---- single fields

  bool has(Field field) const { return (operation_.fields & field) != 0; }
  /// Returns the number of registers of D, A, B or C, which are operands 0 to 3.
  std::uint8_t width(unsigned operand) const {
    return static_cast<std::uint8_t>(operation_.widths >> (4 * (3 - operand)) & 0xf);
  }

  /// Returns the registers that the field at a bit names; none for RZ and URZ.
  RegisterSpan span(RegisterFile file, unsigned bit, std::uint8_t count) const {
    const bool wide = file == RegisterFile::general || architecture_ >= 100;
    const auto first = static_cast<std::uint8_t>(word_.bits(bit, wide ? 8 : 6));
    const std::uint8_t zero = wide ? zero_register : 63;
    return {file, first, first == zero ? std::uint8_t{0} : count};
  }
  void read(unsigned bit, std::uint8_t count) {
    instruction_.reads.add(span(RegisterFile::general, bit, count));
  }
  void write(unsigned bit, std::uint8_t count) {
    instruction_.writes.add(span(RegisterFile::general, bit, count));
  }
  void read_uniform(unsigned bit, std::uint8_t count) {
    instruction_.reads.add(span(RegisterFile::uniform, bit, count));
  }
  RegisterSpan predicate(RegisterFile file, unsigned bit) const {
    const auto first = static_cast<std::uint8_t>(word_.bits(bit, 3));
    return {file, first, static_cast<std::uint8_t>(first != true_predicate)};
  }

  void predicates(RegisterFile file) {
    if (has(W81))
      instruction_.writes.add(predicate(file, 81));
    if (has(UW81))
      instruction_.writes.add(predicate(RegisterFile::uniform_predicate, 81));
    if (has(W84))
      instruction_.writes.add(predicate(file, 84));
    if (has(R87))
      instruction_.reads.add(predicate(file, 87));
    if (has(R77))
      instruction_.reads.add(predicate(file, 77));
    if (has(R68))
      instruction_.reads.add(predicate(word_.bit(67) ? RegisterFile::uniform_predicate : file, 68));
  }

  // ---- shapes

  /// Returns the file of predicates beside the registers.
  static RegisterFile predicates_of(RegisterFile file) {
    return file == RegisterFile::uniform ? RegisterFile::uniform_predicate : RegisterFile::predicate;
  }

  void regular(RegisterFile file) {
    if (has(D))
      instruction_.writes.add(span(file, 16, width(0)));
    if (has(UD))
      instruction_.writes.add(span(RegisterFile::uniform, 16, width(0)));
    if (has(A))
      instruction_.reads.add(span(file, 24, width(1)));
    operands(file);
    if (has(AtB))
      read(32, width(2));
    if (has(AtC))
      read(64, width(3));
    const bool is_addition = operation_.code == 0x010 || operation_.code == 0x090;
    if (is_addition && form_ == 4 && instruction_.reads.size() == 1)
      instruction_.addend = static_cast<std::int32_t>(word_.bits(32, 32));
    predicates(predicates_of(file));
  }

  /// Reads B and C. Forms 1 and 4 to 6 have B at bit 32 and C at bit 64, the others exchange them. What is at
  /// bit 32 is a general register in form 1, a uniform one in forms 6 and 7, and else a constant or an
  /// immediate.
  void operands(RegisterFile file) {
    const bool exchanged = form_ == 2 || form_ == 3 || form_ == 7;
    const bool has_b = has(B), has_c = has(C);
    // An operation with B alone may have its one operand in C's place.
    const bool at_32 = exchanged ? has_b || has_c : has_b;
    const bool at_64 = has_c && (has_b || !exchanged);
    if (at_32) {
      const std::uint8_t count = width(exchanged && has_c ? 3 : 2);
      if (form_ == 1)
        instruction_.reads.add(span(file, 32, count));
      else if (form_ == 6 || form_ == 7)
        read_uniform(32, count);
      else if ((form_ == 3 || form_ == 5) && word_.bit(91))
        read_uniform(32, 1); // the handle of a bank of constants
    }
    if (at_64 && reads_c())
      instruction_.reads.add(span(file, 64, width(exchanged ? 2 : 3)));
  }

  /// Returns whether the operation reads the register at bit 64: LEA does for the upper half only.
  bool reads_c() const {
    const bool is_lea = operation_.code == 0x011 || operation_.code == 0x091;
    return !is_lea || word_.bit(80) || form_ == 2 || form_ == 3 || form_ == 7;
  }

  /// CS2R reads 32 or 64 bits.
  void counter() { write(16, word_.bit(80) ? 2 : 1); }

  /// DEPBAR.LE SB0, 1: the number is at bit 38, the scoreboard behind it.
  void scoreboard_wait() { instruction_.pending = static_cast<std::uint8_t>(word_.bits(38, 6)); }

  /// BAR: its barrier and number of threads may be in a register; BAR.RED has an operand.
  void block_barrier() {
    operands(RegisterFile::general);
    if (word_.bits(77, 2) == 2)
      predicates(RegisterFile::predicate);
  }

  void convert() {
    const auto registers = [&](unsigned bit) {
      return static_cast<std::uint8_t>(word_.bits(bit, 2) == 3 ? 2 : 1);
    };
    write(16, registers(75));
    if (form_ == 1)
      read(32, registers(84));
    else if (form_ == 6)
      read_uniform(32, registers(84));
  }

  void shuffle() {
    write(16, 1);
    read(24, 1);
    if (form_ == 1 || form_ == 2)
      read(32, 1);
    if (form_ == 1 || form_ == 4)
      read(64, 1);
    instruction_.writes.add(predicate(RegisterFile::predicate, 81));
  }

  /// P2R: the immediate at bit 32 says which predicates.
  void predicates_to_register() {
    write(16, 1);
    read(24, 1);
    mask(instruction_.reads);
  }
  void register_to_predicates() {
    read(24, 1);
    mask(instruction_.writes);
  }
  /// Adds the predicates of the mask at bit 32: as one span from the first to the last.
  template <class List> void mask(List& list) const {
    if (const std::uint32_t bits = form_ == 4 ? word_.bits(32, 7) : 0x7f; bits != 0) {
      const auto first = static_cast<std::uint8_t>(std::countr_zero(bits));
      list.add({RegisterFile::predicate, first, static_cast<std::uint8_t>(std::bit_width(bits) - first)});
    }
  }

  void constant() {
    const std::uint8_t bytes = bytes_by_type[word_.bits(73, 3)];
    instruction_.access_bytes = bytes;
    const RegisterFile file = operation_.code == 0x182 ? RegisterFile::general : RegisterFile::uniform;
    instruction_.writes.add(span(file, 16, registers_for(bytes)));
    if (operation_.code == 0x182) {
      if (word_.bit(91)) { // a bank by its handle
        read_uniform(24, 1);
        read(64, 1);
      } else
        read(24, 1);
    } else if (operation_.code == 0x1ac || word_.bit(91))
      read_uniform(24, 1);
  }

  // ---- memory

  bool is_atomic() const {
    return operation_.kind == InstructionClass::atomic_global ||
           operation_.kind == InstructionClass::atomic_generic ||
           operation_.kind == InstructionClass::reduction_global;
  }
  bool is_compare_and_swap() const {
    return operation_.code == 0x1a9 || operation_.code == 0x18b || operation_.code == 0x18d;
  }

  /// Returns the bytes that each lane accesses.
  std::uint8_t data_bytes() const {
    switch (operation_.code) {
    case 0x03b: // LDSM, STSM: one, two or four matrices, of 16 × 16 bytes ones of two words
    case 0x044:
      return static_cast<std::uint8_t>((word_.bit(80) ? 8u : 4u) << std::min(word_.bits(72, 2), 2u));
    case 0x18c:
    case 0x18d: return word_.bits(73, 2) == 2 ? 8 : 4;
    case 0x18f: return 0;
    case 0x1a2: // of floating-point numbers
    case 0x1a3:
    case 0x1a6: {
      // f16x2, x4, x8, bf16x2, x4, x8, …, f32, f32x2, f32x4, without .FTZ, f64
      constexpr std::array<std::uint8_t, 16> bytes{4, 8, 16, 4, 8, 16, 0, 0, 0, 4, 8, 16, 4, 8, 16, 8};
      return bytes[word_.bits(73, 4)];
    }
    default: break;
    }
    if (!is_atomic())
      return bytes_by_type[word_.bits(73, 3)];
    const std::uint32_t type = word_.bits(73, architecture_ >= 90 ? 4 : 3);
    if (architecture_ >= 90)
      return type == 4 ? 16 : type == 2 || type == 3 ? 8 : 4;
    return type == 2 || type == 5 || type == 6 ? 8 : 4;
  }

  void memory() {
    const std::uint8_t bytes = data_bytes();
    const std::uint8_t data = registers_for(bytes);
    instruction_.access_bytes = bytes;
    const InstructionClass kind = operation_.kind;
    const bool shared = kind == InstructionClass::load_shared || kind == InstructionClass::store_shared ||
                        kind == InstructionClass::atomic_shared;
    const bool on_chip =
        shared || kind == InstructionClass::load_local || kind == InstructionClass::store_local;
    const bool copies = operation_.code == 0x1ae, cache_control = operation_.code == 0x18f;
    const bool loads = kind == InstructionClass::load_global || kind == InstructionClass::load_generic ||
                       kind == InstructionClass::load_shared || kind == InstructionClass::load_local;
    const bool atomic = is_atomic() || kind == InstructionClass::atomic_shared;
    const bool has_result = loads || (atomic && kind != InstructionClass::reduction_global);

    if (has_result)
      write(16, data);
    if (copies)
      read(16, 1); // the address in shared memory
    const bool has_uniform = word_.bit(91) && !is_compare_and_swap();
    if (on_chip && !shared && !has_uniform && word_.bits(24, 8) == stack_pointer)
      instruction_.frame_offset = std::int32_t(word_.bits(40, 24) << 8) >> 8;
    // A uniform register is a descriptor beside the address, or a part of the address; a general one is then
    // an offset of 32 or 64 bits.
    const bool descriptor = has_uniform && (is_atomic() || copies || word_.bit(76));
    const bool wide = copies || (!on_chip && word_.bit(72) && (!has_uniform || descriptor || word_.bit(90)));
    read(24, wide ? 2 : 1);
    const bool arrives = operation_.code == 0x18c && form_ == 7; // ATOMS.ARRIVE
    // ST without a uniform register has its data where others have the second value of a compare-and-swap.
    if (!loads && !copies && !cache_control && !arrives)
      read(operation_.code == 0x185 && form_ == 1 ? 64 : 32, data);
    if (is_compare_and_swap())
      read(64, data);
    if (has_uniform)
      read_uniform(loads || cache_control ? 32 : 64, on_chip ? 1 : 2);
    if (kind == InstructionClass::load_global || (is_atomic() && kind != InstructionClass::reduction_global))
      instruction_.writes.add(predicate(RegisterFile::predicate, 81));
  }

  /// LDG.256 and STG.256, whose registers are in two groups.
  void wide_memory() {
    instruction_.access_bytes = 32;
    read(24, 2);
    if (operation_.code == 0x17e) {
      const std::uint32_t words = word_.bits(57, 7) | word_.bits(72, 1) << 7;
      write(16, static_cast<std::uint8_t>(std::popcount(words & 15)));
      write(64, static_cast<std::uint8_t>(std::popcount(words >> 4)));
      read_uniform(32, 2);
    } else {
      read(32, 4);
      read(16, 4);
      read_uniform(64, 2);
    }
  }

  void texture() {
    const auto components = static_cast<std::uint8_t>(std::popcount(word_.bits(72, 4)));
    instruction_.access_bytes = static_cast<std::uint8_t>(4 * components);
    write(16, std::min<std::uint8_t>(components, 2));
    write(64, static_cast<std::uint8_t>(components - std::min<std::uint8_t>(components, 2)));
    instruction_.writes.add(predicate(RegisterFile::predicate, 81));

    constexpr std::array<std::uint8_t, 4> dimensions{1, 2, 3, 3}; // 1D, 2D, 3D, cube
    const bool is_array = word_.bit(63), bindless = word_.bit(59), is_fetch = operation_.name == "TLD";
    const std::uint8_t dimension = dimensions[word_.bits(61, 2)];
    // Coordinates and the layer, then the level of detail or its bias, the reference value, the derivatives.
    const auto coordinates = static_cast<std::uint8_t>(dimension + is_array);
    std::uint8_t others = 0;
    if (operation_.name == "TXD")
      others = static_cast<std::uint8_t>(2 * dimension);
    else if (operation_.name != "TLD4")
      others = word_.bits(87, 3) >= (is_fetch ? 3 : 2);
    others = static_cast<std::uint8_t>(others + (word_.bit(78) && !is_fetch) + word_.bit(76));
    const auto all = static_cast<std::uint8_t>(coordinates + others + (bindless ? 2 : 0));
    const bool scalar = word_.bit(60) && architecture_ < 90; // .SCR: halves of the operands in each place
    const auto first =
        scalar ? static_cast<std::uint8_t>((all + 1) / 2) : static_cast<std::uint8_t>(all - others);
    read(24, first);
    read(32, static_cast<std::uint8_t>(all - first));
    if (word_.bit(91))
      read_uniform(40, 2);
  }

  void surface() {
    const bool stores = operation_.kind == InstructionClass::store_surface;
    const std::uint8_t bytes = bytes_by_type[word_.bits(73, 3)];
    instruction_.access_bytes = bytes;
    constexpr std::array<std::uint8_t, 8> coordinates{1, 1, 2, 2, 3, 3, 0, 0};
    read(24, coordinates[word_.bits(61, 3)]);
    if (stores)
      read(32, registers_for(bytes));
    else {
      write(16, registers_for(bytes));
      instruction_.writes.add(predicate(RegisterFile::predicate, 81));
    }
    if (form_ == 4) // the surface's handle
      read(64, 1);
    if (word_.bit(91))
      read_uniform(40, 1);
  }

  // ---- tensor cores

  /// A product of an m × k and a k × 8 matrix, whose elements have these bits; a warp's lanes hold equal
  /// parts.
  void product(unsigned m, unsigned k, unsigned a_bits, unsigned b_bits, unsigned c_bits,
               bool sparse = false) {
    const auto registers = [](unsigned elements, unsigned bits) {
      return static_cast<std::uint8_t>(std::max(elements * bits / (32 * 32), 1u));
    };
    write(16, registers(m * 8, c_bits));
    read(24, registers(m * k / (sparse ? 2 : 1), a_bits));
    read(32, registers(k * 8, b_bits));
    read(64, registers(m * 8, c_bits));
    if (sparse) // which elements are not zero
      read(40, 1);
  }

  /// A product of small floats with scales of A's rows and B's columns. A uniform register that says which
  /// of their bytes count is spread over two fields.
  void scaled_product(unsigned k, unsigned bits) {
    product(16, k, bits, bits, 32);
    read(40, 1);
    read(52, 1);
    if (const auto index = word_.bits(60, 3) | word_.bits(73, 5) << 3; index != 255)
      instruction_.reads.add({RegisterFile::uniform, static_cast<std::uint8_t>(index), 1});
  }

  void matrix() {
    switch (operation_.code) {
    case 0x03c: { // HMMA
      constexpr std::array<std::uint8_t, 4> k{8, 16, 4, 32};
      const unsigned bits = word_.bit(83) ? 32 : 16; // TF32
      return product(16, k[word_.bits(75, 1) | word_.bits(78, 1) << 1], bits, bits, word_.bit(76) ? 32 : 16,
                     word_.bit(73));
    }
    case 0x037: { // IMMA
      constexpr std::array<std::uint8_t, 8> m{8, 8, 8, 8, 16, 16, 16, 16};
      constexpr std::array<std::uint8_t, 8> k{16, 32, 32, 64, 16, 32, 64, 128};
      const std::uint32_t shape = word_.bits(75, 1) | word_.bits(85, 2) << 1;
      return product(m[shape], k[shape], word_.bit(83) ? 4 : 8, word_.bit(84) ? 4 : 8, 32, word_.bit(72));
    }
    case 0x07a: // QMMA
      return form_ == 2 ? scaled_product(32, 8)
                        : product(16, 16u << word_.bits(75, 2), 8, 8, word_.bit(77) ? 32 : 16, word_.bit(80));
    case 0x07f: return scaled_product(64, 4); // OMMA
    case 0x03d:                               // BMMA
      return product(word_.bits(75, 2) != 0 ? 16 : 8, word_.bit(76) ? 256 : 128, 1, 1, 32);
    default: { // DMMA
      constexpr std::array<std::uint8_t, 4> m{8, 16, 16, 16};
      constexpr std::array<std::uint8_t, 4> k{4, 4, 8, 16};
      const std::uint32_t shape = architecture_ >= 90 ? word_.bits(76, 2) : 0;
      return product(m[shape], k[shape], 64, 64, 64);
    }
    }
  }

  /// HGMMA, IGMMA, QGMMA: a product by the four warps of a warp group, of 64 × n elements.
  void warp_group_matrix() {
    const bool counts_bytes =
        operation_.code == 0x1f1; // whose sums have 32 bits, and n multiples of 16 above 32
    const std::uint32_t field = word_.bits(53, counts_bytes ? 6 : 5), step = field / 3;
    const std::uint32_t n = !counts_bytes ? 8 * (field + 1) : step < 4 ? 8 * (step + 1) : 16 * (step - 1);
    const auto registers = static_cast<std::uint8_t>(n / (counts_bytes || word_.bit(75) ? 2 : 4));
    write(16, registers);
    if (form_ == 4) // both matrices are in shared memory
      read_uniform(24, 4);
    else {
      read(24, 4);
      read_uniform(32, 4); // of which the second half is read
    }
    read(64, registers);
    if (word_.bit(73)) // sparse
      read(40, 1);
    // The condition's field is inverted: 0 is UPT.
    if (const auto condition = static_cast<std::uint8_t>(word_.bits(87, 3)); condition != 0)
      instruction_.reads.add({RegisterFile::uniform_predicate, static_cast<std::uint8_t>(7 - condition), 1});
  }

  /// WARPGROUP.DEPBAR.LE gsb0, 1: the number is at bit 72.
  void warp_group_wait() { instruction_.pending = static_cast<std::uint8_t>(word_.bits(72, 4)); }

  // ---- control

  /// Returns the distance in a branch, in bytes from the next instruction on.
  std::int64_t distance(unsigned bits) const {
    // The field counts words of 4 bytes. From sm_90 on a branch has its 8 lowest bits at bit 16.
    const bool split = bits == 48 && architecture_ >= 90;
    std::uint64_t field = word_.bits(34, 30);
    if (bits == 48)
      field |= std::uint64_t{word_.bits(64, 18)} << 30;
    auto value = static_cast<std::int64_t>(field << (64 - bits)) >> (64 - bits);
    if (split)
      value = value * 256 + word_.bits(16, 8);
    return value * 4;
  }

  void relative_branch() {
    // With a register the distance is relative to it.
    if (operation_.code == 0x144 && form_ == 1) {
      read(24, 2);
      return;
    }
    result_.target = std::int64_t{instruction_.address} + instruction_bytes + distance(48);
    if (operation_.code == 0x147 && word_.bit(91)) // BRA.CONV, BRA.DIV: by a mask of lanes
      read_uniform(24, 1);
    predicates(RegisterFile::predicate);
  }

  /// WARPSYNC waits for the lanes of a mask; from sm_90 on .COLLECTIVE has them go on at a target.
  void warp_sync() {
    if (architecture_ >= 90 && word_.bit(86)) {
      result_.target = std::int64_t{instruction_.address} + instruction_bytes + distance(48);
      read(24, 1);
    } else
      operands(RegisterFile::general);
    predicates(RegisterFile::predicate);
  }

  void convergence() {
    const bool moves = operation_.code == 0x155 || operation_.code == 0x156;
    instruction_.barrier = static_cast<std::uint8_t>(word_.bits(moves ? 24 : 16, 4));
    if (operation_.code == 0x145) // BSSY
      result_.target = std::int64_t{instruction_.address} + instruction_bytes + distance(30);
    if (has(D))
      write(16, 1);
    if (has(AtB))
      read(32, 1);
    predicates(RegisterFile::predicate);
  }

  /// Copies by the tensor memory accelerator, and barriers in shared memory that wait for them.
  void bulk() {
    switch (operation_.code) {
    case 0x1a7: // SYNCS: ARRIVE, and in form 2 PHASECHK
      if (form_ == 4)
        write(16, 2);
      read(24, 1);
      read(32, 1);
      read_uniform(64, 1);
      if (form_ == 2)
        instruction_.writes.add(predicate(RegisterFile::predicate, 81));
      break;
    case 0x1b2: // SYNCS.EXCH
      instruction_.writes.add(span(RegisterFile::uniform, 16, 2));
      read_uniform(24, 1);
      read_uniform(32, 2);
      break;
    case 0x1b0: // ARRIVES
      read(24, 1);
      read_uniform(64, 1);
      break;
    case 0x1b4: // UTMALDG: the addresses in shared memory of data and barrier, then the coordinates
    case 0x1b5: // UTMASTG, UTMAREDG: without the barrier
    case 0x1b6:
    case 0x1b8: { // UTMAPF: only the coordinates
      const unsigned first = operation_.code == 0x1b4 ? 2 : operation_.code == 0x1b8 ? 0 : 1;
      const bool takes_four_rows = operation_.code != 0x1b8 && word_.bit(operation_.code == 0x1b4 ? 84 : 83);
      const unsigned coordinates = takes_four_rows ? 5 : word_.bits(79, 3) + 1;
      read_uniform(32, static_cast<std::uint8_t>(first + coordinates));
      read_uniform(24, 2);
      if (form_ == 1 && operation_.code == 0x1b4)
        read_uniform(64, 1); // the blocks of a multicast, and the offsets of im2col
      break;
    }
    case 0x1bc: // UBLKPF
      read_uniform(24, 2);
      read_uniform(64, 1);
      break;
    case 0x1b9: // UTMACCTL
    case 0x1ca: // UGETNEXTWORKID
      read_uniform(24, 2);
      break;
    case 0x1cb: // ST.BULK
      read_uniform(24, 1);
      read_uniform(64, 1);
      break;
    default: { // UBLKCP, UBLKRED
      const bool to_shared = operation_.code == 0x1ba && word_.bit(73);
      if (operation_.code == 0x1ba)
        instruction_.kind = to_shared ? InstructionClass::copy_to_shared : InstructionClass::copy_to_global;
      read_uniform(32, 2);
      read_uniform(24, to_shared ? 2 : 1);
      read_uniform(64, 1);
    }
    }
  }

  Word word_;
  int architecture_;
  const Operation& operation_;
  DecodedInstruction& result_;
  Instruction& instruction_;
  std::uint32_t form_;
};

Control control_of(Word word) {
  Control control;
  control.stall = static_cast<std::uint8_t>(word.bits(105, 4));
  control.yields = !word.bit(109);
  control.write_scoreboard = static_cast<std::uint8_t>(word.bits(110, 3));
  control.read_scoreboard = static_cast<std::uint8_t>(word.bits(113, 3));
  control.wait_mask = static_cast<std::uint8_t>(word.bits(116, 6));
  control.reuse = static_cast<std::uint8_t>(word.bits(122, 4));
  return control;
}

} // namespace

DecodedInstruction decode_instruction(Word word, std::uint32_t address, int architecture) {
  DecodedInstruction result;
  Instruction& instruction = result.instruction;
  instruction.address = address;
  instruction.operation = find_operation(word, architecture);
  const Operation& operation = operations()[instruction.operation];
  instruction.kind = operation.kind;
  instruction.control = control_of(word);
  instruction.guard = {static_cast<std::uint8_t>(word.bits(12, 3)), word.bit(15),
                       operation.shape == Shape::uniform_datapath || (operation.fields & UG) != 0};
  if (instruction.operation != 0)
    Decoder(word, architecture, operation, result).decode();
  return result;
}

} // namespace warplens::sass
