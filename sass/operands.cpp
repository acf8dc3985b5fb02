// The fields are those of ../docs/machine-code.md: found from compiled code whose results are known, from
// nvdisasm's text on sm_75 to sm_90, and from Mesa's NAK (MIT).
#include "sass/operands.h"

#include <array>
#include <bit>
#include <fmt/format.h>
#include <initializer_list>

namespace warplens::sass {
namespace {

constexpr std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// Reads the fields of one instruction, notes which bits they are, and writes the modifiers' names.
class OperandDecoder {
public:
  OperandDecoder(Word word, std::uint32_t address, int architecture, std::string* modifiers)
      : word_(word), address_(address), architecture_(architecture), modifiers_(modifiers) {}

  Operands run() {
    o_.code = static_cast<std::uint16_t>(take(0, 9));
    o_.form = static_cast<std::uint8_t>(take(9, 3));
    ignore(105, 21); // the schedule
    decode();
    const bool uniform_guard = o_.uniform_datapath || uniform_guard_;
    if (o_.uniform_datapath)
      ignore(91, 1); // set where an operand of a vector instruction would be a uniform register
    o_.guard = predicate_at(12, 15, uniform_guard);
    if (o_.opcode == Opcode::unknown)
      return std::move(o_);
    o_.unread = {word_.low & ~used_.low, word_.high & ~used_.high};
    return std::move(o_);
  }

private:
  // ---- fields

  void use(unsigned first, unsigned count) {
    for (unsigned bit = first; bit < first + count; ++bit)
      (bit < 64 ? used_.low : used_.high) |= std::uint64_t{1} << (bit & 63);
  }
  std::uint32_t take(unsigned first, unsigned count) {
    use(first, count);
    return word_.bits(first, count);
  }
  std::uint8_t small(unsigned first, unsigned count) { return static_cast<std::uint8_t>(take(first, count)); }
  std::int64_t take_signed(unsigned first, unsigned count) { return sign_extend(take(first, count), count); }
  /// Notes bits that have no effect on what is computed.
  void ignore(unsigned first, unsigned count) { use(first, count); }
  void name(std::string_view text) {
    if (modifiers_)
      *modifiers_ += text;
  }
  bool flag(unsigned bit, std::string_view text = {}) {
    const bool is_set = take(bit, 1) != 0;
    if (is_set)
      name(text);
    return is_set;
  }
  /// Returns a field whose values have names. A value beyond them is not known.
  std::uint8_t choice(unsigned first, unsigned count, std::initializer_list<std::string_view> names) {
    const std::uint8_t value = small(first, count);
    if (value < names.size() && names.begin()[value] != "?")
      name(names.begin()[value]);
    else
      refuse(fmt::format("value {} of bits {} to {}", value, first, first + count - 1));
    return value;
  }
  void refuse(std::string reason) {
    if (o_.reason.empty())
      o_.reason = std::move(reason);
  }

  bool is_exchanged() const { return o_.form == 2 || o_.form == 3 || o_.form == 7; }
  bool is_immediate() const { return o_.form == 2 || o_.form == 4; }
  unsigned uniform_bits() const { return architecture_ >= 100 ? 8 : 6; }

  std::uint8_t uniform_at(unsigned bit) {
    const std::uint32_t index = take(bit, uniform_bits());
    return static_cast<std::uint8_t>(index == (architecture_ >= 100 ? 255u : 63u) ? zero_register : index);
  }
  Source uniform_source(unsigned bit, std::uint8_t words = 1) {
    Source source;
    source.kind = Source::Kind::uniform;
    source.index = uniform_at(bit);
    source.words = words;
    return source;
  }
  Source general_source(unsigned bit, std::uint8_t words = 1) {
    Source source;
    source.kind = Source::Kind::general;
    source.index = small(bit, 8);
    source.words = words;
    return source;
  }
  /// Returns the register at a bit, of the datapath's file.
  Source register_source(unsigned bit, std::uint8_t words = 1) {
    return o_.uniform_datapath ? uniform_source(bit, words) : general_source(bit, words);
  }
  PredicateSource predicate_at(unsigned bit, unsigned negation, bool uniform) {
    PredicateSource predicate;
    predicate.index = small(bit, 3);
    predicate.negated = flag(negation);
    predicate.uniform = uniform;
    return predicate;
  }

  void destination(std::uint8_t words = 1) {
    o_.destination_words = words;
    o_.destination_uniform = o_.uniform_datapath;
    o_.destination = o_.uniform_datapath ? uniform_at(16) : small(16, 8);
  }
  void uniform_destination(std::uint8_t words = 1) {
    o_.destination_words = words;
    o_.destination_uniform = true;
    o_.destination = uniform_at(16);
  }
  void predicates_out(bool second) {
    o_.predicate_out[0] = small(81, 3);
    if (second)
      o_.predicate_out[1] = small(84, 3);
    o_.predicate_out_uniform = o_.uniform_datapath;
  }
  void predicate_in(unsigned which = 0, unsigned bit = 87, unsigned negation = 90) {
    o_.predicate_in[which] = predicate_at(bit, negation, o_.uniform_datapath);
  }
  /// Ignores a predicate that an instruction has but does not use without a modifier.
  void unused_predicate(unsigned bit, unsigned negation) {
    ignore(bit, 3);
    ignore(negation, 1);
  }

  // ---- sources

  enum class Modifiers : std::uint8_t { none, negation, sign, half };

  void sign_modifiers(Source& source, Modifiers kinds, unsigned negation, unsigned absolute) {
    if (kinds == Modifiers::negation || kinds == Modifiers::sign)
      source.negated = flag(negation);
    if (kinds == Modifiers::sign)
      source.absolute = flag(absolute);
  }
  void half_modifiers(Source& source, unsigned swizzle, unsigned negation, unsigned absolute) {
    source.swizzle = small(swizzle, 2);
    source.negated = flag(negation);
    source.absolute = flag(absolute);
  }

  void source_a(Modifiers kinds = Modifiers::none, std::uint8_t words = 1) {
    o_.a = register_source(24, words);
    if (kinds == Modifiers::half)
      half_modifiers(o_.a, 74, 72, 73);
    else
      sign_modifiers(o_.a, kinds, 72, 73);
  }

  /// Reads the operand at bit 32, which the form makes a register, a uniform register, an immediate or a
  /// constant. An immediate of 64 bits is the upper half of a double, or an integer that `extension` extends.
  enum class Extension : std::uint8_t { upper_half, zero, sign };
  Source slot_32(Modifiers kinds, std::uint8_t words = 1, Extension extension = Extension::upper_half) {
    Source source;
    const bool takes_uniform = o_.form == 6 || o_.form == 7;
    if (is_immediate()) {
      source.kind = Source::Kind::immediate;
      source.words = words;
      const std::uint64_t value = take(32, 32);
      if (words == 1 || extension == Extension::zero)
        source.value = value;
      else if (extension == Extension::sign)
        source.value = static_cast<std::uint64_t>(sign_extend(value, 32));
      else
        source.value = value << 32;
      return source;
    }
    if (o_.form == 3 || o_.form == 5) {
      if (word_.bit(91)) {
        refuse("a bank of constants by its handle");
        return source;
      }
      source.kind = Source::Kind::constant;
      source.words = words;
      source.offset = take(38, 16);
      source.bank = small(54, 5);
    } else if (takes_uniform) {
      ignore(91, 1);
      source = uniform_source(32, words);
    } else {
      if (o_.uniform_datapath)
        ignore(91, 1);
      source = register_source(32, words);
    }
    if (kinds == Modifiers::half)
      half_modifiers(source, 60, 63, 62);
    else
      sign_modifiers(source, kinds, 63, 62);
    return source;
  }
  Source slot_64(Modifiers kinds, std::uint8_t words = 1) {
    Source source = register_source(64, words);
    if (kinds == Modifiers::half)
      half_modifiers(source, 81, 84, 83);
    else
      sign_modifiers(source, kinds, 75, 74);
    return source;
  }

  /// Reads B alone, which is at bit 32 in each form.
  void source_b(Modifiers kinds = Modifiers::none, std::uint8_t words = 1,
                Extension extension = Extension::upper_half) {
    o_.b = slot_32(kinds, words, extension);
  }
  /// Reads B and C: the form says which of them is at bit 32.
  void sources_bc(Modifiers b, Modifiers c, std::uint8_t b_words = 1, std::uint8_t c_words = 1,
                  Extension extension = Extension::upper_half) {
    if (is_exchanged()) {
      o_.b = slot_64(b, b_words);
      o_.c = slot_32(c, c_words, extension);
    } else {
      o_.b = slot_32(b, b_words, extension);
      o_.c = slot_64(c, c_words);
    }
  }

  void rounding(unsigned bit = 78) {
    o_.rounding = static_cast<Rounding>(choice(bit, 2, {"", ".RM", ".RP", ".RZ"}));
  }
  void float_comparison() {
    o_.comparison = choice(76, 4,
                           {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM", ".NAN", ".LTU", ".EQU",
                            ".LEU", ".GTU", ".NEU", ".GEU", ".T"});
  }
  void boolean(unsigned bit) { o_.boolean = choice(bit, 2, {".AND", ".OR", ".XOR"}); }

  // ---- the operations

  void decode() {
    const std::uint32_t code = o_.code;
    if ((code >= 0x080 && code < 0x0c0 && code != 0x086 && code != 0x0b9 && code != 0x0bb)) {
      o_.uniform_datapath = true;
      return arithmetic(uniform_base(code));
    }
    if (architecture_ >= 100 && code >= 0x054 && code <= 0x05e) {
      o_.uniform_datapath = true;
      return uniform_floating(code);
    }
    if (code < 0x080 || (code >= 0x100 && code < 0x114))
      return arithmetic(code);
    others(code);
  }

  /// Returns the code of the vector instruction that a uniform one equals for one lane.
  static std::uint32_t uniform_base(std::uint32_t code) {
    switch (code) {
    case 0x085: return 0x017; // UIMNMX
    case 0x0bd: return 0x100; // UFLO
    case 0x0be: return 0x101; // UBREV
    case 0x0bf: return 0x109; // UPOPC
    case 0x097: return 0x197; // UIADD3.64
    case 0x0a6: return 0x027; // UIMAD.HI
    default: return code - 0x080;
    }
  }

  /// The uniform datapath has floats from sm_100 on.
  void uniform_floating(std::uint32_t code) {
    switch (code) {
    case 0x054: return floating(0x021); // UFADD
    case 0x055: return floating(0x023); // UFFMA
    case 0x056: return floating(0x020); // UFMUL
    case 0x05a: return conversion(2);   // UI2F
    case 0x05c: return conversion(1);   // UF2I
    case 0x05d: return conversion(3);   // UFRND
    case 0x05e: return floating(0x045); // UI2FP
    default: return;
    }
  }

  void arithmetic(std::uint32_t code) {
    const bool newest = architecture_ >= 100;
    switch (code) {
    case 0x002: return mov();
    case 0x007: return sel();
    case 0x008: // FSEL
      o_.opcode = Opcode::sel;
      name("FSEL");
      destination();
      source_a(Modifiers::sign);
      source_b(Modifiers::sign);
      ignore(80, 1); // FTZ
      return predicate_in();
    case 0x010: return iadd3();
    case 0x197: return uiadd3_64();
    case 0x035: return newest ? iadd64() : hfma2(true);
    case 0x036: return viadd();
    case 0x011: return lea();
    case 0x012: return lop3();
    case 0x019: return shf();
    case 0x016:
      begin(Opcode::prmt, "PRMT");
      o_.function = choice(72, 3, {"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"});
      destination();
      source_a();
      return sources_bc(Modifiers::none, Modifiers::none);
    case 0x024: return imad();
    case 0x025: return imad_wide();
    case 0x026: return idp();
    case 0x027: return imad_hi();
    case 0x00c: return isetp();
    case 0x017: return imnmx();
    case 0x048: return vimnmx();
    case 0x046: return viaddmnmx();
    case 0x00f: // VIMNMX3
      if (architecture_ < 90)
        return;
      begin(Opcode::imnmx3, "VIMNMX3");
      o_.is_signed = flag(72);
      if (!o_.is_signed)
        name(".U32");
      halves_and_relu();
      destination();
      source_a();
      sources_bc(Modifiers::none, Modifiers::none);
      return predicate_in();
    case 0x013: // IABS
      begin(Opcode::iabs, "IABS");
      destination();
      return source_b();
    case 0x014: // VABSDIFF
      begin(Opcode::vabsdiff, "VABSDIFF");
      o_.is_signed = flag(73);
      if (!o_.is_signed)
        name(".U32");
      ignore(81, 3); // a predicate, PT
      destination();
      source_a();
      return sources_bc(Modifiers::none, Modifiers::none);
    case 0x015: // VABSDIFF4: of each byte, or the sum of the four and C
      begin(Opcode::vabsdiff, "VABSDIFF4");
      o_.function = 1;
      o_.is_signed = flag(73);
      if (!o_.is_signed)
        name(".U8");
      o_.wraps = flag(75, ".ACC");
      ignore(81, 3); // a predicate, PT
      destination();
      source_a();
      return sources_bc(Modifiers::none, Modifiers::none);
    case 0x01b: // BMSK
      begin(Opcode::bmsk, "BMSK");
      o_.wraps = flag(75, ".W");
      destination();
      source_a();
      return source_b();
    case 0x01a: // SGXT
      begin(Opcode::sgxt, "SGXT");
      o_.is_signed = flag(73);
      if (!o_.is_signed)
        name(".U32");
      o_.wraps = flag(75, ".W");
      destination();
      source_a();
      return source_b();
    case 0x003: // P2R
      begin(Opcode::p2r, "P2R");
      o_.selector = choice(76, 2, {"", ".B1", ".B2", ".B3"});
      destination();
      source_a();
      return source_b();
    case 0x004: // R2P
      begin(Opcode::r2p, "R2P");
      o_.selector = choice(76, 2, {"", ".B1", ".B2", ".B3"});
      source_a();
      return source_b();
    case 0x01c: return plop3();
    case 0x005: // CS2R
      begin(Opcode::cs2r, "CS2R");
      o_.wide = take(80, 1) != 0;
      if (!o_.wide)
        name(".32");
      o_.selector = small(72, 8);
      return destination(o_.wide ? 2 : 1);
    case 0x006: // VOTE
      begin(Opcode::vote, "VOTE");
      vote_function();
      destination();
      predicates_out(false);
      return predicate_in();
    case 0x02f: // ELECT
      begin(Opcode::elect, "ELECT");
      uniform_destination();
      o_.predicate_out[0] = small(81, 3);
      unused_predicate(87, 90);
      return;
    case 0x109:
      begin(Opcode::popc, "POPC");
      destination();
      return source_b(Modifiers::negation);
    case 0x101:
      begin(Opcode::brev, "BREV");
      destination();
      return source_b(Modifiers::negation);
    case 0x100:
      begin(Opcode::flo, "FLO");
      o_.is_signed = flag(73);
      if (!o_.is_signed)
        name(".U32");
      o_.function = flag(74, ".SH");
      destination();
      predicates_out(false);
      return source_b(Modifiers::negation);
    default: break;
    }
    if (!o_.uniform_datapath)
      floating(code);
  }

  void begin(Opcode opcode, std::string_view text) {
    o_.opcode = opcode;
    if (o_.uniform_datapath)
      name("U");
    name(text);
  }

  void mov() {
    begin(Opcode::mov, "MOV");
    if (architecture_ >= 100 && o_.form == 2) {
      name(".64");
      o_.wide = true;
      destination(2);
      o_.b.kind = Source::Kind::immediate;
      o_.b.words = 2;
      o_.b.value = std::uint64_t{take(24, 32)} | std::uint64_t{take(56, 32)} << 32;
      return;
    }
    o_.wide = architecture_ >= 100 && flag(80, ".64");
    destination(o_.wide ? 2 : 1);
    if (!o_.uniform_datapath && take(72, 4) != 0xf)
      refuse("MOV of some quads");
    source_b(Modifiers::none, o_.wide ? 2 : 1, Extension::zero);
  }

  void sel() {
    begin(Opcode::sel, "SEL");
    if (architecture_ >= 100 && (o_.form == 2 || o_.form == 3)) {
      name(".64");
      o_.wide = true;
      destination(2);
      source_a(Modifiers::none, 2);
      if (o_.form == 2) {
        o_.b.kind = Source::Kind::immediate;
        o_.b.words = 2;
        const std::uint64_t low = take(32, 32);
        o_.b.value = take(64, 1) ? low | 0xffffffff00000000 : low;
      } else
        o_.b = register_source(32, 2);
      return predicate_in();
    }
    destination();
    source_a();
    source_b();
    predicate_in();
  }

  void iadd3() {
    begin(Opcode::iadd3, "IADD3");
    o_.extended = flag(74, ".X");
    destination();
    predicates_out(true);
    source_a(Modifiers::negation);
    // Bit 74 is .X here, and no operand has an absolute value.
    sources_bc(Modifiers::negation, Modifiers::negation);
    if (o_.extended) {
      predicate_in(0);
      predicate_in(1, 77, 80);
    } else {
      unused_predicate(87, 90);
      unused_predicate(77, 80);
    }
  }

  void uiadd3_64() {
    begin(Opcode::iadd64, "IADD3.64");
    destination(2);
    predicates_out(true);
    source_a(Modifiers::negation, 2);
    sources_bc(Modifiers::negation, Modifiers::negation, 2, 2, Extension::sign);
    unused_predicate(87, 90);
    unused_predicate(77, 80);
  }

  void iadd64() {
    begin(Opcode::iadd64, "IADD.64");
    o_.extended = flag(74, ".X");
    destination(2);
    predicates_out(false);
    ignore(73, 1); // whether the result is signed, which matters for the name alone
    ignore(84, 3);
    source_a(Modifiers::negation, 2);
    source_b(Modifiers::negation, 2, Extension::sign);
    if (o_.extended)
      predicate_in();
    else
      unused_predicate(87, 90);
  }

  void viadd() {
    begin(Opcode::iadd3, "VIADD");
    destination();
    source_a(Modifiers::negation);
    source_b(Modifiers::negation);
  }

  void lea() {
    begin(Opcode::lea, "LEA");
    o_.high = flag(80, ".HI");
    o_.extended = flag(74, ".X");
    const bool sign_fills = flag(73, ".SX32");
    o_.is_signed = sign_fills;
    o_.shift = small(75, 5);
    destination();
    predicates_out(false);
    o_.a = register_source(24);
    o_.a.negated = flag(72);
    // C is the upper half of what is shifted; the fields of its modifiers are the shift.
    if (is_exchanged()) {
      o_.b = register_source(64);
      o_.c = slot_32(Modifiers::none);
    } else {
      o_.b = slot_32(Modifiers::negation);
      o_.c = register_source(64);
    }
    if (!o_.high || sign_fills)
      o_.c = {};
    if (o_.extended)
      predicate_in();
    else
      unused_predicate(87, 90);
  }

  void lop3() {
    begin(Opcode::lop3, "LOP3");
    o_.lut = small(72, 8);
    o_.function = flag(80, ".PAND");
    destination();
    predicates_out(false);
    source_a();
    sources_bc(Modifiers::none, Modifiers::none);
    predicate_in();
  }

  void shf() {
    begin(Opcode::shf, "SHF");
    o_.right = flag(76, ".R");
    if (!o_.right)
      name(".L");
    o_.wraps = flag(75, ".W");
    o_.type = choice(73, 2, {".S64", ".U64", ".S32", ".U32"});
    o_.high = flag(80, ".HI");
    destination();
    source_a();
    sources_bc(Modifiers::none, Modifiers::none);
  }

  void imad() {
    begin(Opcode::imad, "IMAD");
    o_.is_signed = flag(73);
    o_.extended = flag(74, ".X");
    destination();
    predicates_out(false);
    o_.a = register_source(24);
    multiply_add_sources(1);
  }
  void multiply_add_sources(std::uint8_t c_words) {
    // Only C can be negated, at bit 75 or 63, whichever its slot has.
    if (is_exchanged()) {
      o_.b = register_source(64);
      o_.c = slot_32(o_.form == 2 ? Modifiers::none : Modifiers::negation, c_words, Extension::zero);
    } else {
      o_.b = slot_32(Modifiers::none);
      o_.c = register_source(64, c_words);
      o_.c.negated = flag(75);
    }
    if (o_.extended)
      predicate_in();
    else
      unused_predicate(87, 90);
  }
  void imad_wide() {
    begin(Opcode::imad_wide, "IMAD.WIDE");
    o_.is_signed = flag(73);
    if (!o_.is_signed)
      name(".U32");
    o_.extended = flag(74, ".X");
    destination(2);
    predicates_out(false);
    o_.a = register_source(24);
    multiply_add_sources(2);
  }
  void imad_hi() {
    begin(Opcode::imad_hi, "IMAD.HI");
    o_.is_signed = flag(73);
    if (!o_.is_signed)
      name(".U32");
    o_.extended = flag(74, ".X");
    destination();
    predicates_out(false);
    o_.a = register_source(24);
    multiply_add_sources(2);
  }

  void idp() {
    begin(Opcode::idp, "IDP");
    // Four bytes by four, or two halves by the lower or the upper two bytes.
    o_.type = choice(75, 2, {".4A", "?", ".2A", "?"});
    if (flag(77, ".HI"))
      o_.type = 3;
    o_.is_signed = flag(73);
    o_.source_type = flag(74);
    name(o_.is_signed ? ".S8" : ".U8");
    name(o_.source_type ? ".S8" : ".U8");
    destination();
    source_a();
    sources_bc(Modifiers::none, Modifiers::none);
  }

  void isetp() {
    begin(Opcode::isetp, "ISETP");
    o_.comparison = choice(76, 3, {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"});
    o_.is_signed = flag(73);
    if (!o_.is_signed)
      name(".U32");
    boolean(74);
    o_.wide = architecture_ >= 100 && flag(80, ".64");
    o_.extended = flag(72, ".EX");
    predicates_out(true);
    const std::uint8_t words = o_.wide ? 2 : 1;
    source_a(Modifiers::none, words);
    source_b(Modifiers::none, words, Extension::sign);
    predicate_in(0);
    if (o_.extended) {
      predicate_in(1, 68, 71);
      if (flag(67))
        o_.predicate_in[1].uniform = true;
    } else {
      unused_predicate(68, 71);
      ignore(67, 1);
    }
  }

  void imnmx() {
    begin(Opcode::imnmx, "IMNMX");
    o_.is_signed = flag(73);
    if (!o_.is_signed)
      name(".U32");
    o_.wide = architecture_ >= 100 && flag(74, ".64");
    if (o_.wide)
      ignore(77, 10); // predicates, PT
    const std::uint8_t words = o_.wide ? 2 : 1;
    destination(words);
    source_a(Modifiers::none, words);
    source_b(Modifiers::none, words, Extension::sign);
    predicate_in();
  }
  void vimnmx() {
    begin(Opcode::imnmx, "VIMNMX");
    o_.is_signed = flag(72);
    if (!o_.is_signed)
      name(".U32");
    halves_and_relu();
    destination();
    predicates_out(true); // whether A was chosen: of the lower half, and of the upper one
    source_a();
    source_b();
    predicate_in();
  }
  /// Reads whether extremes are of two halves, and not below zero.
  void halves_and_relu() {
    o_.function = flag(73, ".S16x2");
    o_.relu = flag(76, ".RELU");
  }
  void viaddmnmx() {
    begin(Opcode::viaddmnmx, "VIADDMNMX");
    o_.is_signed = flag(72);
    if (!o_.is_signed)
      name(".U32");
    halves_and_relu();
    destination();
    ignore(81, 6);
    o_.a = register_source(24);
    if (is_exchanged()) {
      o_.b = register_source(64);
      o_.b.negated = flag(75);
      o_.c = slot_32(Modifiers::none);
    } else {
      o_.b = slot_32(Modifiers::negation);
      o_.c = register_source(64);
    }
    predicate_in();
  }

  void plop3() {
    begin(Opcode::plop3, "PLOP3");
    o_.lut = static_cast<std::uint8_t>(take(64, 3) | take(72, 5) << 3);
    o_.lut2 = small(16, 8);
    predicates_out(true);
    predicate_in(0);
    predicate_in(1, 77, 80);
    predicate_in(2, 68, 71);
    if (flag(67))
      o_.predicate_in[2].uniform = true;
  }

  void vote_function() { o_.function = choice(72, 2, {".ALL", ".ANY", ".EQ"}); }

  // ---- floating point

  void floating(std::uint32_t code) {
    switch (code) {
    case 0x020: // FMUL
      begin(Opcode::fmul, "FMUL");
      float_modifiers();
      if (const std::uint32_t scale = take(84, 3); scale != 4 && scale != 0)
        refuse("FMUL with a scale");
      destination();
      source_a(Modifiers::sign);
      return source_b(Modifiers::sign);
    case 0x021: // FADD
      begin(Opcode::fadd, "FADD");
      float_modifiers();
      destination();
      source_a(Modifiers::sign);
      return source_b(Modifiers::sign);
    case 0x023: // FFMA
      begin(Opcode::ffma, "FFMA");
      float_modifiers();
      destination();
      source_a(Modifiers::sign);
      return sources_bc(Modifiers::sign, Modifiers::sign);
    case 0x022: // FSWZADD
      begin(Opcode::fswzadd, "FSWZADD");
      rounding();
      o_.ftz = flag(80, ".FTZ");
      if (take(77, 1) != 0)
        refuse("FSWZADD.NDV");
      o_.lut = small(32, 8);
      destination();
      source_a();
      o_.c = general_source(64);
      return;
    case 0x00b: // FSETP
      begin(Opcode::fsetp, "FSETP");
      float_comparison();
      o_.ftz = flag(80, ".FTZ");
      boolean(74);
      predicates_out(true);
      source_a(Modifiers::sign);
      source_b(Modifiers::sign);
      return predicate_in();
    case 0x00a: // FSET
      begin(Opcode::fset, "FSET");
      name(".BF"); // 1.0 or 0
      float_comparison();
      o_.ftz = flag(80, ".FTZ");
      boolean(74);
      destination();
      source_a(Modifiers::sign);
      source_b(Modifiers::sign);
      return predicate_in();
    case 0x009: // FMNMX
      begin(Opcode::fmnmx, "FMNMX");
      o_.ftz = flag(80, ".FTZ");
      o_.function = flag(81, ".NAN"); // returns a NaN if either is one
      if (take(82, 1) != 0)
        o_.boolean = 1, name(".XORSIGN");
      destination();
      source_a(Modifiers::sign);
      source_b(Modifiers::sign);
      return predicate_in();
    case 0x076: // FMNMX3
      if (architecture_ < 100)
        return;
      begin(Opcode::fmnmx3, "FMNMX3");
      o_.ftz = flag(80, ".FTZ");
      destination();
      source_a(Modifiers::sign);
      sources_bc(Modifiers::sign, Modifiers::sign);
      return predicate_in();
    case 0x049: // FFMA2, FMUL2, FADD2
    case 0x04a:
    case 0x04b:
      if (architecture_ < 100)
        return;
      begin(code == 0x049   ? Opcode::ffma2
            : code == 0x04a ? Opcode::fmul2
                            : Opcode::fadd2,
            code == 0x049   ? "FFMA2"
            : code == 0x04a ? "FMUL2"
                            : "FADD2");
      float_modifiers();
      destination(2);
      source_a(Modifiers::none, 2);
      if (code == 0x049)
        sources_bc(Modifiers::none, Modifiers::none, 2, 2);
      else
        source_b(Modifiers::none, 2);
      if (is_immediate())
        refuse("pairs of floats with an immediate");
      return;
    case 0x102: // FCHK
      begin(Opcode::fchk, "FCHK");
      ignore(80, 1);
      predicates_out(false);
      source_a(Modifiers::sign);
      return source_b(Modifiers::sign);
    case 0x108: // MUFU
      begin(Opcode::mufu, "MUFU");
      o_.function = choice(
          74, 6, {".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ", ".RCP64H", ".RSQ64H", ".SQRT", ".TANH"});
      o_.ftz = flag(80, ".FTZ");
      o_.type = choice(72, 2, {"", ".F16", ".BF16", "?"});
      destination();
      return source_b(Modifiers::sign);
    case 0x028: // DMUL
      begin(Opcode::dmul, "DMUL");
      rounding();
      destination(2);
      source_a(Modifiers::sign, 2);
      return source_b(Modifiers::sign, 2);
    case 0x029: // DADD: its second operand is C
      begin(Opcode::dadd, "DADD");
      rounding();
      destination(2);
      source_a(Modifiers::sign, 2);
      if (is_exchanged())
        o_.b = slot_32(Modifiers::sign, 2);
      else if (o_.form == 1)
        o_.b = slot_64(Modifiers::sign, 2);
      else
        o_.b = slot_32(Modifiers::sign, 2);
      return;
    case 0x02b: // DFMA
      begin(Opcode::dfma, "DFMA");
      rounding();
      destination(2);
      source_a(Modifiers::sign, 2);
      return sources_bc(Modifiers::sign, Modifiers::sign, 2, 2);
    case 0x02a: // DSETP
      begin(Opcode::dsetp, "DSETP");
      float_comparison();
      boolean(74);
      predicates_out(true);
      source_a(Modifiers::sign, 2);
      source_b(Modifiers::sign, 2);
      return predicate_in();
    case 0x104:
    case 0x105:
    case 0x106:
    case 0x107:
    case 0x110:
    case 0x111:
    case 0x112:
    case 0x113: return conversion(code & 0x7);
    case 0x045: // I2FP
      begin(Opcode::i2f, "I2FP");
      name(".F32");
      o_.is_signed = flag(74, ".S32");
      if (!o_.is_signed)
        name(".U32");
      if (take(75, 2) != 2 || take(84, 2) != 2)
        refuse("types of I2FP");
      rounding();
      o_.type = o_.source_type = 2;
      destination();
      return source_b();
    case 0x038: // I2I: saturates
      begin(Opcode::i2i, "I2I");
      o_.type = choice(76, 2, {".U8.S32.SAT", ".S8.S32.SAT", ".U16.S32.SAT", ".S16.S32.SAT"});
      destination();
      return source_b();
    case 0x03e: return f2fp();
    case 0x030: // HADD2
      begin(Opcode::hadd2, "HADD2");
      half_modifiers_of_operation();
      destination();
      source_a(Modifiers::half);
      o_.b = half_second();
      return;
    case 0x032: // HMUL2
      begin(Opcode::hmul2, "HMUL2");
      half_modifiers_of_operation();
      destination();
      source_a(Modifiers::half);
      o_.b = slot_32(Modifiers::half);
      return;
    case 0x031: return hfma2(false);
    case 0x033: // HSET2
    case 0x034: return half_comparison(code == 0x034);
    case 0x040: // HMNMX2
      begin(Opcode::hmnmx2, "HMNMX2");
      o_.bf16 = flag(85, ".BF16_V2");
      o_.ftz = flag(80, ".FTZ");
      o_.function = flag(81, ".NAN");
      if (take(82, 1) != 0)
        o_.boolean = 1, name(".XORSIGN");
      destination();
      source_a(Modifiers::half);
      o_.b = slot_32(Modifiers::half);
      return predicate_in();
    case 0x03a:
      begin(Opcode::movm, "MOVM");
      if (take(78, 2) != 0)
        refuse("MOVM of other matrices");
      destination();
      return source_a();
    case 0x03b: return matrix_memory(true);
    case 0x044: return matrix_memory(false);
    case 0x037: return imma();
    case 0x03d: return bmma();
    case 0x03c: return hmma();
    case 0x03f: return dmma();
    case 0x07a:
      if (architecture_ < 89)
        return;
      return qmma();
    case 0x07f: return architecture_ >= 120 && o_.form == 2 ? omma() : void();
    case 0x04c: // lets the SM start blocks that allocate tensor memory
      return has_tensor_memory() ? hint("UVIRTCOUNT") : void();
    case 0x02d: // PREEXIT
    case 0x02e: // ACQBULK
      begin(Opcode::nop, code == 0x02d ? "PREEXIT" : "ACQBULK");
      return;
    default: return;
    }
  }

  void float_modifiers() {
    o_.ftz = flag(80, ".FTZ");
    if (take(76, 1) != 0)
      refuse("multiplication with .FMZ");
    rounding();
    o_.saturates = flag(77, ".SAT");
  }

  /// HADD2 has its second operand in C, HMUL2 in B; both are at bit 32.
  Source half_second() { return slot_32(Modifiers::half); }
  void half_modifiers_of_operation() {
    o_.bf16 = flag(85, ".BF16_V2");
    o_.float_result = flag(78, ".F32");
    o_.saturates = flag(77, ".SAT");
    o_.relu = flag(79, ".RELU");
    o_.ftz = flag(80, ".FTZ");
    if (take(76, 1) != 0)
      refuse("halves with .FMZ");
  }
  void hfma2(bool mma) {
    begin(Opcode::hfma2, mma ? "HFMA2.MMA" : "HFMA2");
    half_modifiers_of_operation();
    unused_predicate(87, 90);
    if (word_.bits(87, 4) != 0 && word_.bits(87, 4) != true_predicate)
      refuse("HFMA2 with a predicate");
    destination();
    source_a(Modifiers::half);
    sources_bc(Modifiers::half, Modifiers::half);
  }
  void half_comparison(bool to_predicates) {
    begin(to_predicates ? Opcode::hsetp2 : Opcode::hset2, to_predicates ? "HSETP2" : "HSET2");
    o_.bf16 = flag(65, ".BF16_V2");
    float_comparison();
    o_.ftz = flag(80, ".FTZ");
    boolean(69);
    if (to_predicates) {
      o_.function = flag(71, ".H_AND");
      predicates_out(true);
    } else {
      o_.float_result = flag(71, ".BF");
      destination();
    }
    source_a(Modifiers::half);
    o_.b = slot_32(Modifiers::half);
    predicate_in();
  }

  /// F2F, F2I, I2F and FRND, by the lowest bits of their codes: 0 F2F (104, 110), 1 F2I, 2 I2F, 3 FRND.
  void conversion(std::uint32_t kind) {
    // The codes with 64 bits are 110 to 113, the others 104 to 107.
    constexpr std::array<Opcode, 4> opcodes{Opcode::f2f, Opcode::f2i, Opcode::i2f, Opcode::frnd};
    constexpr std::array<std::string_view, 4> names{"F2F", "F2I", "I2F", "FRND"};
    begin(opcodes[kind & 3], names[kind & 3]);
    o_.type = small(75, 2);
    o_.source_type = small(84, 2);
    name(fmt::format(".{}.{}", 8 << o_.type, 8 << o_.source_type));
    o_.ftz = flag(80, ".FTZ");
    rounding();
    if (o_.opcode == Opcode::f2f && flag(77, ".BF16")) {
      o_.bf16 = true;
      if (o_.type != 0)
        refuse("type of F2F");
    }
    if (o_.opcode == Opcode::f2i) {
      o_.is_signed = flag(72, ".S");
      o_.function = flag(77, ".NTZ");
    } else if (o_.opcode == Opcode::i2f)
      o_.is_signed = flag(74, ".S");
    destination(o_.type == 3 ? 2 : 1);
    const bool from_integer = o_.opcode == Opcode::i2f;
    const std::uint8_t words = o_.source_type == 3 ? 2 : 1;
    o_.b = slot_32(from_integer ? Modifiers::none : Modifiers::sign, words,
                   from_integer ? Extension::sign : Extension::upper_half);
    if (o_.source_type < 2 && !is_immediate())
      o_.selector = small(60, 2);
  }

  void f2fp() {
    begin(Opcode::f2fp, "F2FP");
    if (word_.bit(89))
      return unpack_small_floats();
    if (word_.bits(85, 3) != 0)
      return pack_small_floats();
    const std::uint32_t format = take(76, 3);
    if (format == 0)
      name(".F16.F32.PACK_AB");
    else if (format == 1) {
      name(".BF16.F32.PACK_AB");
      o_.bf16 = true;
    } else
      refuse(fmt::format("format {} of F2FP", format));
    o_.rounding = static_cast<Rounding>(choice(79, 2, {"", "?", "?", ".RZ"}));
    o_.relu = flag(75, ".RELU");
    destination();
    source_a(Modifiers::sign);
    if (is_exchanged()) {
      o_.b = slot_64(Modifiers::none);
      o_.c = slot_32(Modifiers::none);
      refuse("F2FP with a third operand");
    } else {
      o_.b = slot_32(Modifiers::sign);
      ignore(64, 8); // C
    }
  }
  /// The names of SmallFloat's values; of the value that it leaves out there is none.
  static constexpr std::array<std::string_view, 7> small_float_names{".E4M3", ".E5M2", "",     ".E3M2",
                                                                     ".E2M3", ".E2M1", ".E8M0"};
  void small_float_type(SmallFloat type) {
    o_.type = static_cast<std::uint8_t>(type);
    name(small_float_names[o_.type]);
  }
  /// Two floats, or the two halves of B, to floats of 8 bits or fewer.
  void pack_small_floats() {
    const bool first_of_kind = flag(76), from_floats = flag(78);
    o_.saturates = flag(77, ".SATFINITE");
    o_.function = 1;
    o_.source_type = from_floats ? 0 : 1;
    name(from_floats ? ".F32.PACK" : ".F16.PACK");
    const std::uint32_t kind = take(85, 3);
    if (kind == 6 && !first_of_kind) {
      o_.bf16 = !from_floats;
      if (o_.bf16 != flag(83))
        refuse("halves to powers of two");
      o_.rounding = static_cast<Rounding>(choice(79, 2, {"?", "?", ".RP", ".RZ"}));
      small_float_type(SmallFloat::e8m0);
    } else if (!o_.saturates)
      refuse("small floats with infinities");
    else if (kind == 4)
      small_float_type(first_of_kind ? SmallFloat::e4m3 : SmallFloat::e5m2);
    else if (kind == 3)
      small_float_type(first_of_kind ? SmallFloat::e3m2 : SmallFloat::e2m3);
    else if (kind == 1 && first_of_kind)
      small_float_type(SmallFloat::e2m1);
    else
      refuse(fmt::format("small floats of kind {}", kind));
    ignore(90, 1); // finite results
    o_.relu = flag(75, ".RELU");
    destination();
    if (from_floats)
      source_a(Modifiers::sign);
    else if (ignore(73, 1); take(24, 8) != zero_register)
      refuse("halves of two registers");
    o_.b = slot_32(from_floats ? Modifiers::sign : Modifiers::none);
    o_.c = general_source(64); // goes into the upper half
    if (o_.c.index != zero_register && o_.type == static_cast<std::uint8_t>(SmallFloat::e2m1))
      refuse("F2FP of nibbles with a third operand");
  }
  /// A float to the nearest of 19 bits, or towards zero.
  void round_to_tf32() {
    o_.function = 3;
    name(".TF32");
    ignore(76, 1);
    ignore(78, 1);
    ignore(86, 1);
    ignore(89, 1);
    o_.saturates = flag(77, ".SATFINITE");
    const std::uint32_t direction = take(79, 2);
    o_.rounding = direction == 3 ? Rounding::zero : Rounding::nearest;
    if (direction != 0 && direction != 3)
      refuse("a rounding to TF32");
    o_.relu = flag(75, ".RELU");
    destination();
    ignore(24, 8);
    o_.b = slot_32(Modifiers::sign);
    ignore(64, 8);
  }
  /// Two floats of 8 bits or fewer to halves.
  void unpack_small_floats() {
    if (word_.bit(86) && word_.bit(78) && word_.bit(76))
      return round_to_tf32();
    o_.function = 2;
    o_.bf16 = flag(76);
    name(o_.bf16 ? ".BF16.UNPACK" : ".F16.UNPACK");
    o_.high = flag(88, ".H1");
    ignore(89, 1);
    const bool first_of_kind = flag(73), counts_bytes = flag(74);
    const std::uint32_t kind = take(82, 2);
    if (take(77, 2) != 0 || o_.bf16 != (kind == 2))
      refuse("small floats to other floats");
    else if (kind == 2 && counts_bytes && first_of_kind)
      small_float_type(SmallFloat::e8m0);
    else if (kind == 0 && counts_bytes)
      small_float_type(first_of_kind ? SmallFloat::e4m3 : SmallFloat::e5m2);
    else if (counts_bytes)
      small_float_type(first_of_kind ? SmallFloat::e3m2 : SmallFloat::e2m3);
    else if (first_of_kind)
      small_float_type(SmallFloat::e2m1);
    else
      refuse("small floats of another kind");
    if (kind == 3)
      refuse("small floats of another kind");
    o_.relu = flag(75, ".RELU");
    destination();
    ignore(24, 8);
    o_.b = slot_32(Modifiers::none);
    ignore(64, 8);
  }

  // ---- matrices

  /// LDSM and STSM: matrices of 8 × 8 halves, or of bytes, which in memory may have 6 bits or 4.
  void matrix_memory(bool loads) {
    begin(loads ? Opcode::ldsm : Opcode::stsm, loads ? "LDSM.16" : "STSM.16");
    o_.space = Space::shared;
    const std::uint32_t shape = take(78, 3), elements = take(75, 3);
    o_.function = static_cast<std::uint8_t>(shape);
    name(shape == 0 ? ".M88" : shape == 1 ? ".MT88" : shape == 4 ? ".MT1616" : loads ? ".M816" : ".MT168");
    const std::uint8_t count = choice(72, 2, {"", ".2", ".4"});
    const bool has_bytes = shape == 2 || shape == 4;
    const auto words = static_cast<std::uint8_t>((shape == 4 ? 2 : 1) << count);
    o_.bytes = static_cast<std::uint8_t>(4 * words);
    o_.type = static_cast<std::uint8_t>(!has_bytes ? 16 : elements == 5 ? 4 : elements == 6 ? 6 : 8);
    const bool is_known = !has_bytes ? shape < 2 && elements == 0
                          : loads    ? elements >= 5 && (elements != 7 || shape == 4)
                                     : elements == 1 && shape == 2;
    if (!is_known || (loads && shape == 4 && count > 1))
      refuse("matrices of other elements");
    if (loads)
      destination(words);
    else
      o_.b = general_source(32, words);
    o_.a = general_source(24);
    o_.offset = take_signed(40, 24);
    if (flag(91))
      o_.base = uniform_source(loads ? 32 : 64);
  }
  static std::uint8_t matrix_words(unsigned elements, unsigned bits) {
    const unsigned words = elements * bits / (32 * 32);
    return static_cast<std::uint8_t>(words == 0 ? 1 : words);
  }
  void matrix_sources(std::uint8_t d, std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    destination(d);
    o_.a = general_source(24, a);
    o_.b = general_source(32, b);
    o_.c = general_source(64, c);
  }
  /// Reads the places of a sparse A's elements, which is half as deep as B, if the bit is set.
  void sparsity(unsigned bit) {
    o_.product.is_sparse = flag(bit, ".SP");
    if (!o_.product.is_sparse)
      return;
    o_.d = general_source(40);
    o_.product.selector = small(48, 2);
    if (architecture_ < 90)
      ignore(50, 1); // whether the next instruction reads the same register of places
  }
  void hmma() {
    begin(Opcode::hmma, "HMMA");
    sparsity(73);
    const std::uint32_t shape = take(75, 1) | take(78, 1) << 1;
    constexpr std::array<std::uint8_t, 4> depths{8, 16, 4, 32};
    o_.function = depths[shape];
    name(fmt::format(".168{}", o_.function));
    o_.float_result = flag(76, ".F32");
    o_.type = choice(82, 2, {"", ".BF16", ".TF32", "?"});
    if (o_.function == 32 && !o_.product.is_sparse)
      refuse("HMMA of depth 32");
    const unsigned bits = o_.type == 2 ? 32 : 16, accumulator = o_.float_result ? 32 : 16;
    matrix_sources(matrix_words(128, accumulator),
                   matrix_words((o_.product.is_sparse ? 8u : 16u) * o_.function, bits),
                   matrix_words(8u * o_.function, bits), matrix_words(128, accumulator));
    unused_predicate(87, 90);
    if (word_.bits(87, 4) != 0 && word_.bits(87, 4) != 7)
      refuse("HMMA with a predicate");
  }
  /// Reads the kinds of A's and B's floats: values of SmallFloat.
  void small_floats() {
    const auto kind = [&](unsigned low, unsigned high) {
      const auto value = static_cast<std::uint8_t>(take(low, 1) | take(high, 2) << 1);
      if (value < small_float_names.size() && !small_float_names[value].empty())
        name(small_float_names[value]);
      else
        refuse(fmt::format("floats of kind {}", value));
      return value;
    };
    o_.type = kind(78, 82);
    o_.source_type = kind(79, 84);
  }
  /// Reads the registers with the scales, and the uniform one that says which lanes and bytes of them count.
  void scales() {
    o_.product.is_scaled = true;
    o_.d = general_source(40);
    o_.e = general_source(52);
    o_.base.kind = Source::Kind::uniform;
    const std::uint32_t index = take(60, 3) | take(73, 5) << 3;
    o_.base.index = static_cast<std::uint8_t>(index);
  }
  /// QMMA: the kinds of A's and B's floats are `type` and `source_type`.
  void qmma() {
    begin(Opcode::qmma, "QMMA");
    if (o_.form == 2) {
      name(".SF.16832.F32");
      o_.function = 32;
      o_.float_result = true;
      scales();
    } else {
      sparsity(80);
      constexpr std::array<std::uint8_t, 4> depths{16, 32, 64, 0};
      o_.function = depths[take(75, 2)];
      name(fmt::format(".168{}", o_.function));
      if (take(74, 1) == 0 || (o_.function == 64) != o_.product.is_sparse)
        refuse("QMMA of another kind");
      o_.float_result = flag(77, ".F32");
    }
    small_floats();
    const unsigned accumulator = o_.float_result ? 32 : 16;
    matrix_sources(matrix_words(128, accumulator),
                   matrix_words(16u * o_.function / (o_.product.is_sparse ? 2 : 1), 8),
                   matrix_words(8u * o_.function, 8), matrix_words(128, accumulator));
    unused_predicate(87, 90);
    if (word_.bits(87, 4) != 0 && word_.bits(87, 4) != 7)
      refuse("QMMA with a predicate");
  }
  /// OMMA: 16 × 8 × 64 floats of 4 bits. Scales are powers of two for each half of the depth, or E4M3 for
  /// each quarter.
  void omma() {
    begin(Opcode::omma, "OMMA");
    name(".SF.16864.F32.E2M1.E2M1");
    o_.function = 64;
    o_.float_result = true;
    scales();
    const std::uint32_t kind = take(82, 2);
    if (kind != 1 && kind != 2)
      refuse("OMMA of another kind");
    o_.product.scales_per_row = kind == 1 ? 4 : 2;
    name(kind == 1 ? ".UE4M3.4X" : ".UE8M0.2X");
    matrix_sources(4, 4, 2, 4);
    unused_predicate(87, 90);
  }
  /// A product of 64 × n by the four warps of a warp group: B, and A unless it is in registers, are in shared
  /// memory at descriptors in uniform registers (PTX ISA, "Asynchronous Warpgroup Level Matrix").
  void warp_group_product(Opcode opcode, std::string_view its_name) {
    if (architecture_ != 90 || (o_.form != 4 && o_.form != 6))
      return;
    begin(opcode, its_name);
    const bool is_sparse = o_.product.is_sparse = flag(73, ".SP");
    const std::uint32_t columns = take(53, 6);
    std::uint32_t n = 8 * (columns % 32 + 1);
    if (opcode == Opcode::igmma)
      n = columns / 3 < 4 ? 8 * (columns / 3 + 1) : 16 * (columns / 3 - 1);
    if (n > 256 || (opcode == Opcode::igmma && columns % 3 != (is_sparse ? 1u : 0u)))
      return refuse(fmt::format("a product of {} columns", n));
    o_.function = static_cast<std::uint8_t>(n / 8);
    o_.product.transposes_a = flag(61);
    o_.product.transposes_b = flag(62);
    bool is_wide = true;
    if (opcode == Opcode::igmma) {
      o_.selector = 32;
      o_.saturates = flag(75, ".SAT");
      o_.is_signed = flag(76);
      o_.source_type = flag(82);
    } else {
      is_wide = o_.float_result = flag(75, ".F32");
      o_.a.negated = flag(72);
      o_.b.negated = flag(63);
      if (opcode == Opcode::hgmma) {
        o_.type = choice(76, 2, {"", ".BF16", ".TF32", "?"});
        o_.selector = o_.type == 2 ? 8 : 16;
        if (!is_sparse && (columns >= 32) != (o_.type == 2))
          refuse("HGMMA of another depth");
      } else {
        o_.selector = 32;
        o_.type = choice(76, 1, {".E4M3", ".E5M2"});
        o_.source_type = choice(77, 1, {".E4M3", ".E5M2"});
      }
    }
    name(fmt::format(".64x{}x{}", n, o_.selector * (is_sparse ? 2 : 1)));
    if (is_sparse) { // the places of A's elements, of which the selector says what lanes have them
      o_.d = general_source(40);
      o_.product.selector = small(48, 1);
      ignore(59, 1);
    }
    const bool a_negated = o_.a.negated, b_negated = o_.b.negated;
    o_.b =
        uniform_source(o_.form == 4 ? 24 : 32, 2); // four registers: the descriptors of A, if any, and of B
    o_.a = o_.form == 4 ? o_.b : general_source(24, 4);
    o_.b.index = static_cast<std::uint8_t>(o_.b.index + 2);
    o_.a.negated = a_negated;
    o_.b.negated = b_negated;
    const auto words = static_cast<std::uint8_t>(is_wide ? n / 2 : n / 4);
    destination(words);
    o_.c = general_source(64, words);
    ignore(84, 3); // the scoreboard of the group: 7 is none
    o_.predicate_in[0].index = static_cast<std::uint8_t>(7 - take(87, 3)); // whether the sum begins with C
    o_.predicate_in[0].uniform = true;
    o_.predicate_in[0].negated = flag(90);
    ignore(91, 1);
  }
  void imma() {
    begin(Opcode::imma, "IMMA");
    constexpr std::array<std::uint8_t, 8> m{8, 8, 8, 8, 16, 16, 16, 16}, k{16, 32, 32, 64, 16, 32, 64, 128};
    const std::uint32_t shape = take(75, 1) | take(85, 2) << 1;
    o_.function = m[shape];
    o_.selector = k[shape];
    name(fmt::format(".{}8{}", m[shape], k[shape]));
    o_.is_signed = flag(76);
    o_.source_type = flag(78);
    o_.type = flag(83) ? 4 : 8;
    if ((flag(84) ? 4 : 8) != o_.type)
      refuse("IMMA of unequal types");
    name(fmt::format(".{}{}.{}{}", o_.is_signed ? 'S' : 'U', o_.type, o_.source_type ? 'S' : 'U', o_.type));
    o_.saturates = flag(82, ".SAT");
    sparsity(72);
    if (o_.product.is_sparse && o_.type == 4)
      refuse("a sparse product of 4-bit integers, which come in pairs");
    ignore(74, 1);
    matrix_sources(matrix_words(m[shape] * 8u, 32),
                   matrix_words(unsigned{m[shape]} * k[shape] / (o_.product.is_sparse ? 2 : 1), o_.type),
                   matrix_words(k[shape] * 8u, o_.type), matrix_words(m[shape] * 8u, 32));
    ignore(87, 4);
  }
  void bmma() {
    begin(Opcode::bmma, "BMMA");
    const bool is_long = flag(76), is_tall = flag(75) || is_long;
    o_.function = is_tall ? 16 : 8;
    o_.selector = is_long ? 256 : 128;
    o_.type = 1;
    name(fmt::format(".{}8{}", o_.function, o_.selector));
    o_.boolean = flag(78, ".AND") ? 0 : 2;
    name(o_.boolean == 0 ? ".POPC" : ".XOR.POPC");
    ignore(74, 1);
    ignore(80, 1);
    matrix_sources(matrix_words(o_.function * 8u, 32), matrix_words(unsigned{o_.function} * o_.selector, 1),
                   matrix_words(o_.selector * 8u, 1), matrix_words(o_.function * 8u, 32));
  }
  void dmma() {
    begin(Opcode::dmma, "DMMA");
    constexpr std::array<std::uint8_t, 4> m{8, 16, 16, 16}, k{4, 4, 8, 16};
    const std::uint32_t shape = architecture_ >= 90 ? take(76, 2) : 0;
    o_.function = m[shape];
    o_.selector = k[shape];
    name(fmt::format(".{}8{}", m[shape], k[shape]));
    rounding();
    matrix_sources(matrix_words(m[shape] * 8u, 64), matrix_words(unsigned{m[shape]} * k[shape], 64),
                   matrix_words(k[shape] * 8u, 64), matrix_words(m[shape] * 8u, 64));
  }

  // ---- lanes, memory, control

  void others(std::uint32_t code) {
    switch (code) {
    case 0x086:
      begin(Opcode::vote, "VOTEU");
      vote_function();
      uniform_destination();
      o_.predicate_out[0] = small(81, 3);
      o_.predicate_out_uniform = true;
      return predicate_in();
    case 0x189: return shfl();
    case 0x1a1:
      begin(Opcode::match, "MATCH");
      o_.function = flag(79, ".ANY");
      if (!o_.function)
        name(".ALL");
      o_.wide = flag(73, ".U64");
      destination();
      predicates_out(false);
      o_.a = general_source(24, o_.wide ? 2 : 1);
      return;
    case 0x1c4:
      begin(Opcode::redux, "REDUX");
      o_.function = choice(78, 3, {"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"});
      o_.is_signed = flag(73, ".S32");
      uniform_destination();
      o_.a = general_source(24);
      return;
    case 0x0cc: // from sm_100 on the extremes are not REDUX
      if (architecture_ < 100)
        return;
      begin(Opcode::redux, "CREDUX");
      o_.function = flag(79, ".MIN") ? 4 : 5;
      if (o_.function == 5)
        name(".MAX");
      o_.is_signed = flag(73, ".S32");
      o_.float_result = flag(74, ".F32");
      uniform_destination();
      o_.a = general_source(24);
      if (o_.float_result) {
        o_.selector = flag(77, ".NAN");
        o_.a.absolute = flag(78, ".ABS");
      }
      return;
    case 0x0cb:
      if (architecture_ < 100)
        return;
      begin(Opcode::cs2r, "CS2UR");
      o_.wide = flag(80, ".64");
      o_.selector = small(72, 8);
      return uniform_destination(o_.wide ? 2 : 1);
    case 0x0ca:
    case 0x1c2:
      begin(Opcode::r2ur, "R2UR");
      o_.function = flag(84, ".OR");
      if (architecture_ >= 100)
        ignore(87, 1); // set beside an elected lane
      uniform_destination();
      predicates_out(false);
      o_.a = general_source(24);
      return;
    case 0x119:
      begin(Opcode::s2r, "S2R");
      o_.selector = small(72, 8);
      return destination();
    case 0x1c3:
      begin(Opcode::s2r, "S2UR");
      o_.selector = small(72, 8);
      uniform_guard_ = false;
      return uniform_destination();
    case 0x11c:
      begin(Opcode::b2r, "B2R");
      o_.function = choice(78, 2, {"", ".RESULT", "?", "?"});
      if (o_.function == 0 && take(77, 1) != 0)
        name(".RESULT");
      ignore(54, 4);
      destination();
      predicates_out(false);
      return;
    case 0x14e:
      begin(Opcode::lepc, "LEPC");
      // The distance from the next instruction on.
      o_.target = std::int64_t{address_} + 16 + take_signed(24, 32);
      return destination(2);
    case 0x182:
    case 0x0b9:
    case 0x0bb:
    case 0x1ac: return constant(code);
    case 0x118: return begin(Opcode::nop, "NOP"), ignore(16, 89);
    case 0x11a: // DEPBAR
      begin(Opcode::nop, "DEPBAR");
      return ignore(16, 89);
    case 0x192: return begin(Opcode::nop, "MEMBAR"), ignore(16, 89);
    case 0x1ab: return begin(Opcode::nop, "ERRBAR"), ignore(16, 89);
    case 0x18f: return begin(Opcode::nop, "CCTL"), ignore(16, 89);
    case 0x1af: return begin(Opcode::nop, "LDGDEPBAR"), ignore(16, 89);
    case 0x1c6: return begin(Opcode::nop, "FENCE"), ignore(16, 89);
    case 0x15d: begin(Opcode::nanosleep, "NANOSLEEP"); return ignore(16, 89);
    case 0x146: return begin(Opcode::yield, "YIELD"), ignore(16, 89);
    case 0x15c: return begin(Opcode::trap, "BPT.TRAP"), ignore(16, 89);
    default: break;
    }
    if (code >= 0x140 && code <= 0x156)
      return control(code);
    if (code == 0x11b || code == 0x11d || code == 0x1c7)
      return barrier(code);
    switch (code) {
    case 0x160:
    case 0x161: return texture(TextureKind::sample, "TEX");
    case 0x163:
    case 0x164: return texture(TextureKind::gather, "TLD4");
    case 0x166:
    case 0x167: return texture(TextureKind::element, "TLD");
    case 0x16c:
    case 0x16d: return texture(TextureKind::gradients, "TXD");
    case 0x199:
    case 0x19a: return surface(Opcode::suld, "SULD.D");
    case 0x19d:
    case 0x19e: return surface(Opcode::sust, "SUST.D");
    default: return memory(code);
    }
  }

  void shfl() {
    begin(Opcode::shfl, "SHFL");
    o_.function = choice(58, 2, {".IDX", ".UP", ".DOWN", ".BFLY"});
    destination();
    predicates_out(false);
    o_.a = general_source(24);
    const auto immediate = [&](unsigned first, unsigned count) {
      Source source;
      source.kind = Source::Kind::immediate;
      source.value = take(first, count);
      return source;
    };
    const bool lane_in_register = o_.form == 1 || o_.form == 2,
               limit_in_register = o_.form == 1 || o_.form == 4;
    o_.b = lane_in_register ? general_source(32) : immediate(53, 5);
    o_.c = limit_in_register ? general_source(64) : immediate(40, 13);
    if (o_.form != 1 && o_.form != 2 && o_.form != 4 && o_.form != 7)
      refuse("a form of SHFL");
  }

  void constant(std::uint32_t code) {
    begin(Opcode::ldc, code == 0x182 ? "LDC" : code == 0x0b9 || code == 0x0bb ? "ULDC" : "LDCU");
    load_type();
    const std::uint8_t words = static_cast<std::uint8_t>((o_.bytes + 3) / 4);
    o_.selector = 0;
    if (code == 0x182) {
      destination(words);
      o_.a = general_source(24);
      if (take(78, 2) != 0)
        refuse("LDC with another mode of addresses");
      o_.offset = take_signed(38, 16);
      o_.b.bank = small(54, 5);
      if (flag(91))
        refuse("a bank of constants by its handle");
      return;
    }
    uniform_guard_ = true;
    uniform_destination(words);
    if (code == 0x0b9 || code == 0x0bb) {
      o_.offset = take(38, 16);
      o_.b.bank = small(54, 5);
      if (code == 0x0bb) { // indexed by a uniform register, of which the bit tells
        o_.a = uniform_source(24);
        ignore(91, 1);
        return;
      }
      if (flag(91))
        refuse("a bank of constants by its handle");
      ignore(24, 8);
      return;
    }
    if (architecture_ < 100) {
      o_.opcode = Opcode::unknown;
      return;
    }
    o_.a = uniform_source(24);
    o_.offset = take(37, 17);
    o_.b.bank = small(54, 5);
    ignore(91, 1);
    ignore(32, 5);
    if (word_.bits(32, 5) != 0)
      refuse("LDCU with a further operand");
  }

  /// Reads the type of a load or store at bit 73.
  void load_type() {
    constexpr std::array<std::uint8_t, 8> sizes{1, 1, 2, 2, 4, 8, 16, 0};
    const std::uint8_t type = choice(73, 3, {".U8", ".S8", ".U16", ".S16", "", ".64", ".128", "?"});
    o_.bytes = sizes[type];
    o_.sign_extends = type == 1 || type == 3;
  }

  /// LDG.256 and STG.256: 32 bytes in two groups of registers, and offsets in units of as many. A load leaves
  /// words out, of the first four and of the next three, without a gap in the registers; the last word comes
  /// with any of the second group.
  void wide_load_or_store(bool loads) {
    begin(loads ? Opcode::load : Opcode::store, loads ? "LDG.E.256" : "STG.E.256");
    o_.space = Space::global;
    o_.bytes = 32;
    o_.address_is_wide = true;
    o_.a = general_source(24, 2);
    o_.offset = 32 * take_signed(40, 17);
    if (loads) {
      o_.function = static_cast<std::uint8_t>(take(57, 7) | take(72, 1) << 7);
      destination(static_cast<std::uint8_t>(std::popcount(o_.function & 15u)));
      o_.second_destination = small(64, 8);
      ignore(32, 8); // the descriptor
    } else {
      o_.b = general_source(32, 4);
      o_.c = general_source(16, 4);
      ignore(57, 7);
      ignore(64, 9);
    }
    ignore(73, 14); // how caches keep it, and its scope
    ignore(87, 5);
  }

  void memory(std::uint32_t code) {
    switch (code) {
    case 0x17e:
    case 0x17f: return architecture_ >= 100 ? wide_load_or_store(code == 0x17e) : void();
    case 0x180:
    case 0x181:
    case 0x183:
    case 0x184: return load_or_store(code, true);
    case 0x185:
    case 0x186:
    case 0x187:
    case 0x188: return load_or_store(code, false);
    case 0x18a:
    case 0x18e:
    case 0x1a2:
    case 0x1a3:
    case 0x1a6:
    case 0x1a8: return atomic(code);
    case 0x18b:
    case 0x18d:
    case 0x1a9: return compare_and_swap(code);
    case 0x18c: return shared_atomic();
    case 0x1ae: return ldgsts();
    case 0x1a7:
    case 0x1b0:
    case 0x1b1:
    case 0x1b2: return shared_barrier(code);
    case 0x1b7: return hint("UTMACMDFLUSH"); // ends a group of bulk copies
    case 0x1b4:
    case 0x1b5:
    case 0x1b6: return tensor_copy(code);
    case 0x1b8: return hint("UTMAPF");
    case 0x1b9: return hint("UTMACCTL");
    case 0x1bc: return hint("UBLKPF");
    case 0x1bb: return bulk_reduction();
    case 0x1ca: // the next block's coordinates, where they are to go and their barrier
      if (architecture_ < 100 || o_.form != 1)
        return;
      begin(Opcode::try_cancel, "UGETNEXTWORKID");
      uniform_guard_ = true;
      o_.wraps = flag(72, ".BROADCAST");
      ignore(91, 1);
      o_.a = uniform_source(24, 2);
      return;
    case 0x1cb: // zeros in shared memory (st.bulk): the address, and how often eight bytes
      if (architecture_ < 100 || o_.form != 1 || word_.bits(32, 8) != 0xff)
        return;
      begin(Opcode::fill_shared, "ST.BULK");
      uniform_guard_ = true;
      ignore(32, 8); // the value, which is zero
      ignore(91, 1);
      o_.a = uniform_source(24);
      o_.c = uniform_source(64);
      o_.space = Space::shared;
      return;
    case 0x1ba: return bulk_copy();
    case 0x1bd: // STAS: of A, one register is the address and the next one that of the barrier
      if (architecture_ < 90)
        return;
      begin(Opcode::stas, "STAS");
      o_.space = Space::shared;
      load_type();
      o_.a = general_source(24, 2);
      o_.b = general_source(32, static_cast<std::uint8_t>((o_.bytes + 3) / 4));
      if (uniform_at(64) != zero_register || o_.bytes < 4)
        refuse("STAS with a uniform address, or of less than a word");
      return ignore(90, 2);
    case 0x1e3:
    case 0x1e6:
    case 0x1e7:
    case 0x1e9:
    case 0x1ea:
    case 0x1ed:
    case 0x1ee: return has_tensor_memory() ? tensor_memory(code) : void();
    case 0x1f0: return warp_group_product(Opcode::hgmma, "HGMMA");
    case 0x1f1: return warp_group_product(Opcode::igmma, "IGMMA");
    case 0x1f3: return warp_group_product(Opcode::qgmma, "QGMMA");
    case 0x1c5:
      if (architecture_ != 90)
        return;
      if (take(47, 1) != 0)
        begin(Opcode::warp_group_wait, "WARPGROUP.DEPBAR");
      else
        begin(Opcode::nop, "WARPGROUP.ARRIVE");
      ignore(72, 9);
      return;
    case 0x1c8: // takes registers from the others' pool, or gives them back; whether it has got them
      if (architecture_ < 90)
        return;
      begin(Opcode::setmaxreg, "USETMAXREG");
      o_.offset = take(32, 9);
      ignore(72, 3);
      o_.predicate_out[0] = small(81, 3);
      o_.predicate_out_uniform = true;
      ignore(91, 1);
      return;
    case 0x1aa: // QSPC
      begin(Opcode::qspc, "QSPC");
      o_.address_is_wide = true;
      ignore(72, 1);
      o_.function = small(73, 7);
      ignore(90, 1);
      ignore(16, 8);
      o_.a = general_source(24, 2);
      o_.offset = take_signed(40, 24);
      predicates_out(false);
      if (flag(91))
        ignore(32, 8), ignore(64, 8);
      return;
    default: return;
    }
  }

  static Space space_of(std::uint32_t code) {
    switch (code) {
    case 0x184:
    case 0x188:
    case 0x18c:
    case 0x18d: return Space::shared;
    case 0x183:
    case 0x187: return Space::local;
    case 0x180:
    case 0x185:
    case 0x18a:
    case 0x18b:
    case 0x1a2: return Space::generic;
    default: return Space::global;
    }
  }

  void load_or_store(std::uint32_t code, bool loads) {
    constexpr std::array<std::string_view, 9> names{"LD", "LDG", "", "LDL", "LDS", "ST", "STG", "STL", "STS"};
    begin(loads ? Opcode::load : Opcode::store, names[code - 0x180]);
    o_.space = space_of(code);
    const bool on_chip = o_.space == Space::shared || o_.space == Space::local;
    const bool has_uniform = take(91, 1) != 0;
    const bool long_offset =
        o_.space == Space::generic && !has_uniform && (o_.form == 4 || (o_.form == 1 && !loads));
    const bool descriptor = has_uniform && !on_chip && architecture_ >= 80 && take(76, 1) != 0;
    if (!on_chip)
      ignore(76, 1);
    if (!on_chip && has_uniform && !descriptor) {
      if (take(72, 1) != 0)
        name(".E");
      o_.address_is_wide = take(90, 1) != 0;
    } else if (!on_chip) {
      o_.address_is_wide = flag(72, ".E");
      ignore(90, 1);
    } else
      ignore(72, 1);
    load_type();
    o_.a = general_source(24, o_.address_is_wide ? 2 : 1);
    o_.offset = long_offset ? take_signed(32, 32) : take_signed(40, 24);
    if (o_.space == Space::shared) {
      const std::uint8_t scale = choice(78, 2, {"", ".X4", ".X8", ".X16"});
      o_.shift = static_cast<std::uint8_t>(scale == 0 ? 0 : scale + 1);
    }
    if (has_uniform) {
      const std::uint8_t words = !on_chip && !descriptor && word_.bit(72) ? 2 : 1;
      const Source base = uniform_source(loads ? 32 : 64, words);
      if (!descriptor)
        o_.base = base;
    } else if (loads && !long_offset)
      ignore(32, 8);
    const std::uint8_t words = static_cast<std::uint8_t>((o_.bytes + 3) / 4);
    if (loads)
      destination(words);
    else
      o_.b = general_source(long_offset ? 64 : 32, words);
    // The order of memory and the caches' eviction.
    if (!on_chip) {
      order();
      ignore(84, 3);
      ignore(68, 4); // the size of prefetches
      if (loads && o_.space == Space::generic)
        ignore(81, 3); // LD has 0 there, and no predicate: what P0 holds outlives it
      else if (loads)
        o_.predicate_out[0] = small(81, 3);
      if (loads) {
        ignore(64, 4);
        if (word_.bits(64, 4) != 0 && !(has_uniform && false) && word_.bits(64, 3) != 7)
          refuse("a load under a predicate");
      }
      ignore(87, 3);
    } else {
      ignore(76, 2);
      ignore(80, 1);
      ignore(84, 3);
    }
  }

  /// The order of memory: up to sm_75 its scope and its strength, which is 2 for a strong access; then one
  /// number, of which 0 is weak, 4 read-only, 7 strong for the GPU and 10 for the system (Mesa's assembler,
  /// nak/sm70_encode.rs).
  void order() {
    const std::uint32_t order = take(77, 4);
    o_.is_strong = architecture_ < 80 ? order >> 2 == 2 : order != 0 && order != 4;
    o_.skips_l1 = architecture_ < 80 ? o_.is_strong && (order & 3) >= 2 : order == 7 || order == 10;
  }

  void atomic(std::uint32_t code) {
    const bool reduces = code == 0x18e || code == 0x1a6;
    const bool floats = code == 0x1a2 || code == 0x1a3 || code == 0x1a6;
    begin(Opcode::atom, reduces ? "RED" : code == 0x18a || code == 0x1a2 ? "ATOM" : "ATOMG");
    o_.space = space_of(code);
    o_.has_return = !reduces;
    const bool has_uniform = take(91, 1) != 0;
    // An atomic operation with a descriptor says at bit 63, from sm_100 on, that the register has 64 bits.
    const bool newest = architecture_ >= 100 && !reduces;
    const bool descriptor = has_uniform && architecture_ >= 80;
    if (newest && has_uniform) {
      o_.address_is_wide = take(63, 1) != 0;
      o_.offset = take_signed(40, 23);
      ignore(72, 1);
    } else {
      o_.address_is_wide = take(72, 1) != 0;
      o_.offset = take_signed(40, 24);
      if (has_uniform && !descriptor) // sm_75: a base
        o_.address_is_wide = take(90, 1) != 0;
    }
    if (o_.address_is_wide)
      name(".E");
    o_.a = general_source(24, o_.address_is_wide ? 2 : 1);
    if (has_uniform) {
      const Source base = uniform_source(64, descriptor ? 1 : word_.bit(72) ? 2 : 1);
      if (!descriptor)
        o_.base = base;
    } else
      ignore(64, 8);
    // Only an integer operation with a result has four bits, for the exchange; of others the fourth says that
    // the register has 64 bits.
    const std::uint8_t operation = reduces || (floats && architecture_ >= 100) ? small(87, 3) : small(87, 4);
    ignore(90, 1);
    if (architecture_ < 100)
      ignore(70, 2);
    if (floats)
      float_atomic(operation, code);
    else
      integer_atomic(operation);
    ignore(77, 4);
    ignore(84, 3);
    if (architecture_ != 90 || floats)
      ignore(76, 1); // the descriptor
    if (!reduces) {
      destination(static_cast<std::uint8_t>(o_.bytes / 4));
      o_.predicate_out[0] = small(81, 3);
    } else
      ignore(81, 3);
    o_.b = general_source(32, static_cast<std::uint8_t>(o_.bytes / 4));
  }
  void set_atomic(AtomicType type, std::uint8_t bytes, std::string_view text) {
    o_.atomic_type = type;
    o_.bytes = bytes;
    name(text);
  }
  void atomic_operation(std::uint8_t operation) {
    constexpr std::array<std::string_view, 9> names{".ADD", ".MIN", ".MAX", ".INC", ".DEC",
                                                    ".AND", ".OR",  ".XOR", ".EXCH"};
    if (operation >= names.size())
      return refuse(fmt::format("atomic operation {}", operation));
    o_.atomic = static_cast<AtomicOperation>(operation);
    name(names[operation]);
  }
  void integer_atomic(std::uint8_t operation) {
    atomic_operation(operation);
    const std::uint32_t type = architecture_ >= 100  ? take(73, 3)
                               : architecture_ >= 90 ? take(73, 4)
                                                     : take(73, 3);
    if (architecture_ >= 90) {
      switch (type) {
      case 0: return set_atomic(AtomicType::u32, 4, "");
      case 1: return set_atomic(AtomicType::s32, 4, ".S32");
      case 2: return set_atomic(AtomicType::u64, 8, ".64");
      case 3: return set_atomic(AtomicType::s64, 8, ".S64");
      case 4:
        if (operation == 8) // the exchange
          return set_atomic(AtomicType::u32, 16, ".128");
        [[fallthrough]];
      default: return refuse("type of an atomic operation");
      }
    }
    switch (type) {
    case 0: return set_atomic(AtomicType::u32, 4, "");
    case 1: return set_atomic(AtomicType::s32, 4, ".S32");
    case 2: return set_atomic(AtomicType::u64, 8, ".64");
    case 3: return set_atomic(AtomicType::f32, 4, ".F32.FTZ.RN"), void(o_.ftz = true);
    case 4: return set_atomic(AtomicType::f16x2, 4, ".F16x2.RN");
    case 5: return set_atomic(AtomicType::s64, 8, ".S64");
    case 6: return set_atomic(AtomicType::f64, 8, ".F64.RN");
    default: return refuse("type of an atomic operation");
    }
  }
  void float_atomic(std::uint8_t operation, std::uint32_t) {
    if (operation == 0)
      atomic_operation(0);
    else if (operation == 2)
      atomic_operation(1);
    else if (operation == 4)
      atomic_operation(2);
    else
      refuse(fmt::format("atomic operation {} of floats", operation));
    switch (take(73, 4)) {
    case 0: return set_atomic(AtomicType::f16x2, 4, ".F16x2.RN");
    case 1: return set_atomic(AtomicType::f16x2, 8, ".F16x4.RN");
    case 2: return set_atomic(AtomicType::f16x2, 16, ".F16x8.RN");
    case 4: return set_atomic(AtomicType::bf16x2, 8, ".BF16x4.RN");
    case 5: return set_atomic(AtomicType::bf16x2, 16, ".BF16x8.RN");
    case 10: return set_atomic(AtomicType::f32, 8, ".F32x2.FTZ.RN"), void(o_.ftz = true);
    case 11: return set_atomic(AtomicType::f32, 16, ".F32x4.FTZ.RN"), void(o_.ftz = true);
    case 13: return set_atomic(AtomicType::f32, 8, ".F32x2.RN");
    case 14: return set_atomic(AtomicType::f32, 16, ".F32x4.RN");
    case 3: return set_atomic(AtomicType::bf16x2, 4, ".BF16x2.RN");
    case 9: return set_atomic(AtomicType::f32, 4, ".F32.FTZ.RN"), void(o_.ftz = true);
    case 12: return set_atomic(AtomicType::f32, 4, ".F32.RN");
    case 15: return set_atomic(AtomicType::f64, 8, ".F64.RN");
    default: return refuse("type of an atomic operation of floats");
    }
  }
  void compare_and_swap(std::uint32_t code) {
    begin(Opcode::atom_cas, code == 0x18d ? "ATOMS" : code == 0x18b ? "ATOM.CAS" : "ATOMG.CAS");
    o_.space = space_of(code);
    o_.has_return = true;
    if (code == 0x18d) {
      const std::uint32_t type = take(73, 2);
      o_.bytes = take(75, 1) != 0 ? 16 : type == 2 ? 8 : 4;
      if (type != 0 && type != 2)
        refuse("type of ATOMS.CAS");
      // CAST.SPIN returns whether it has swapped.
      o_.function = flag(80) || word_.bits(87, 4) == 3;
      if (o_.function)
        name(".CAST.SPIN");
      if (!o_.function)
        name(".CAS");
      const std::uint8_t scale = choice(78, 2, {"", ".X4", ".X8", ".X16"});
      o_.shift = static_cast<std::uint8_t>(scale == 0 ? 0 : scale + 1);
      ignore(76, 4);
      ignore(72, 1);
      ignore(81, 10);
    } else {
      o_.address_is_wide = flag(72, ".E");
      const std::uint32_t type = architecture_ >= 90 && architecture_ < 100 ? take(73, 4) : take(73, 3);
      o_.bytes = architecture_ >= 90 && type == 4                             ? 16
                 : type == 2 || (architecture_ >= 90 ? type == 3 : type == 5) ? 8
                                                                              : 4;
      if (architecture_ >= 90 ? type > 4 : type != 0 && type != 1 && type != 2 && type != 5)
        refuse("type of a compare-and-swap");
      ignore(76, 5);
      o_.predicate_out[0] = small(81, 3);
      ignore(84, 7);
    }
    ignore(91, 1);
    if (o_.bytes > 4)
      name(o_.bytes == 8 ? ".64" : ".128");
    const std::uint8_t words = static_cast<std::uint8_t>(o_.bytes / 4);
    o_.a = general_source(24, o_.address_is_wide ? 2 : 1);
    o_.offset = take_signed(40, 24);
    // From sm_100 on a predicate says whether it has swapped, before a register does.
    if (o_.function && architecture_ >= 100) {
      o_.predicate_out[0] = small(81, 3);
      ignore(16, 8);
    } else
      destination(words);
    o_.b = general_source(32, words);
    o_.c = general_source(64, words);
  }
  void shared_atomic() {
    o_.space = Space::shared;
    o_.has_return = true;
    const bool has_uniform = take(91, 1) != 0;
    if (o_.form == 7) {
      // ATOMS.POPC.INC adds one for each lane; ATOMS.ARRIVE counts an arrival at a barrier in shared memory.
      const std::uint32_t operation = word_.bits(87, 4);
      const bool arrives = operation == 9;
      if (!arrives && operation != (architecture_ >= 90 ? 11u : 10u))
        refuse(fmt::format("operation {} of ATOMS", operation));
      begin(arrives ? Opcode::atoms_arrive : Opcode::atoms_popc_inc,
            arrives ? "ATOMS.ARRIVE.64" : "ATOMS.POPC.INC.32");
      o_.bytes = arrives ? 8 : 4;
      ignore(72, 6);
      ignore(80, 11);
    } else {
      begin(Opcode::atom, "ATOMS");
      const std::uint32_t type = take(73, 2);
      switch (type) {
      case 0: set_atomic(AtomicType::u32, 4, ""); break;
      case 1: set_atomic(AtomicType::s32, 4, ".S32"); break;
      case 2: set_atomic(AtomicType::u64, 8, ".64"); break;
      default: refuse("type of ATOMS");
      }
      atomic_operation(small(87, 4));
      ignore(72, 1);
      ignore(75, 3);
      ignore(80, 7);
      o_.b = general_source(32, static_cast<std::uint8_t>(o_.bytes / 4));
    }
    const std::uint8_t scale = choice(78, 2, {"", ".X4", ".X8", ".X16"});
    o_.shift = static_cast<std::uint8_t>(scale == 0 ? 0 : scale + 1);
    destination(static_cast<std::uint8_t>(o_.bytes / 4));
    o_.a = general_source(24);
    o_.offset = take_signed(40, 24);
    if (has_uniform)
      o_.base = uniform_source(64);
    else
      ignore(64, 8);
    if (o_.form == 7)
      ignore(32, 8);
  }

  void ldgsts() {
    begin(Opcode::ldgsts, "LDGSTS");
    const bool has_uniform = take(91, 1) != 0;
    flag(72, ".E");
    o_.address_is_wide = true;
    if (architecture_ >= 100) {
      const std::uint32_t size = take(74, 2);
      ignore(73, 1);
      o_.bytes = static_cast<std::uint8_t>(4 << size);
      if (size == 3)
        refuse("size of LDGSTS");
    } else
      load_type();
    flag(81, ".BYPASS");
    ignore(76, 5); // the descriptor, the order
    ignore(82, 5);
    o_.a = general_source(24, 2);
    o_.c = general_source(16);
    o_.offset = take_signed(32, 12);
    o_.second_offset = take_signed(44, 20);
    if (has_uniform)
      ignore(64, 8);
    predicate_in(); // false: zeros are written instead
    ignore(68, 4);
  }

  /// Barriers in shared memory of sm_90: words of 64 bits that count arrivals and bytes.
  void shared_barrier(std::uint32_t code) {
    if (code == 0x1b2) {
      begin(Opcode::syncs_exch, "SYNCS.EXCH");
      uniform_guard_ = true;
      if (!flag(72, ".64"))
        refuse("SYNCS.EXCH of 32 bits");
      o_.destination_words = 2;
      o_.destination_uniform = true;
      o_.destination = uniform_at(16);
      o_.base = uniform_source(24);
      o_.b = uniform_source(32, 2);
      o_.offset = take_signed(40, 24);
      ignore(91, 1);
    } else if (code == 0x1b1) {
      begin(Opcode::nop, "SYNCS.CCTL.IV");
      return ignore(16, 89);
    } else {
      o_.a = general_source(24);
      o_.offset = take_signed(40, 24);
      if (take(91, 1) != 0)
        o_.base = uniform_source(64);
      if (code == 0x1b0)
        arrival_of_copies();
      else if (o_.form == 2)
        phase_check();
      else
        arrival();
    }
    o_.space = Space::shared;
    o_.bytes = 8;
  }
  /// ARRIVES: a thread's asynchronous copies before it have arrived.
  void arrival_of_copies() {
    begin(Opcode::arrives, "ARRIVES.LDGSTSBAR.64");
    const unsigned bit = architecture_ >= 100 ? 76 : 70;
    const bool counts_arrival = take(bit, 1) != 0, counts_transaction = take(bit + 1, 1) != 0;
    if (architecture_ >= 90 && counts_arrival == counts_transaction)
      refuse("what ARRIVES counts");
    o_.function = counts_transaction ? 1 : 0;
    name(o_.function ? ".TRANSCNT" : ".ARVCNT");
    ignore(16, 8);
    ignore(32, 8);
    ignore(72, 4);
  }
  void phase_check() {
    begin(Opcode::syncs_phase, "SYNCS.PHASECHK.TRANS64");
    o_.function = flag(72, ".TRYWAIT") ? 1 : 0; // it waits for some time
    ignore(architecture_ >= 100 ? 76 : 70, 1);
    ignore(16, 8);
    o_.predicate_out[0] = small(81, 3);
    o_.b = general_source(32);
    unused_predicate(87, 90);
    ignore(84, 3);
  }
  void arrival() {
    begin(Opcode::syncs_arrive, "SYNCS.ARRIVE.TRANS64");
    flag(73, ".NOCOMPLETE");
    flag(74, ".RED");
    // One arrival and bytes of a register; one arrival; one transaction; bytes; bytes that are complete;
    // arrivals of a register.
    o_.function = choice(84, 3, {".A1TR", ".A1T0", ".A0T1", ".A0TR", ".A0TX", ".ART0", "?", "?"});
    destination(2);
    o_.b = general_source(32);
  }
  /// UBLKCP: a copy of many bytes at once.
  void bulk_copy() {
    begin(Opcode::ublkcp, "UBLKCP");
    uniform_guard_ = true;
    const bool to_shared = take(73, 1) != 0, from_shared = take(74, 1) != 0;
    if (!to_shared && !from_shared)
      refuse("the direction of UBLKCP");
    o_.function = !to_shared ? 0 : from_shared ? 2 : 1; // to global memory, from it, within the cluster
    name(!to_shared ? ".G.S" : from_shared ? ".S.S" : ".S.G");
    bulk_operands();
  }
  void bulk_operands() {
    o_.wraps = flag(75, ".MULTICAST");
    ignore(91, 1);
    cache_hint();
    o_.a = uniform_source(24, 2);
    o_.b = uniform_source(32, 2);
    o_.c = uniform_source(64);
    o_.space = Space::global;
  }
  void cache_hint() {
    if (take(76, 1) != 0)
      ignore(40, 8);
  }
  /// UBLKRED: many elements in global memory, each by an atomic operation.
  void bulk_reduction() {
    begin(Opcode::ublkred, "UBLKRED.G.S");
    uniform_guard_ = true;
    if (take(74, 1) == 0)
      refuse("the direction of UBLKRED");
    o_.type = small(81, 4);
    o_.atomic =
        AtomicOperation(choice(87, 3, {".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"}));
    bulk_operands();
  }
  /// UTMALDG, UTMASTG, UTMAREDG: a box of a tensor, whose map A is the address of. From B on are the address
  /// in shared memory, for a load that of the barrier, and the coordinates. C has the blocks of a multicast
  /// in its upper half, and offsets of im2col in its lower one.
  void tensor_copy(std::uint32_t code) {
    begin(code == 0x1b4   ? Opcode::utmaldg
          : code == 0x1b5 ? Opcode::utmastg
                          : Opcode::utmaredg,
          code == 0x1b4   ? "UTMALDG"
          : code == 0x1b5 ? "UTMASTG"
                          : "UTMAREDG");
    uniform_guard_ = true;
    o_.selector = std::uint8_t(1 + choice(79, 3, {".1D", ".2D", ".3D", ".4D", ".5D", "?", "?", "?"}));
    if (code == 0x1b6)
      o_.atomic =
          AtomicOperation(choice(87, 3, {".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"}));
    o_.extended = flag(82, ".IM2COL");
    const bool is_load = code == 0x1b4;
    o_.takes_four_rows = flag(is_load ? 84 : 83, is_load ? ".GATHER4" : ".SCATTER4");
    if (o_.takes_four_rows && (o_.selector != 2 || o_.extended || code == 0x1b6))
      refuse("four rows of another tensor");
    ignore(91, 1);
    o_.a = uniform_source(24, 2);
    // Four rows have a column in common, and then each its own second coordinate.
    o_.b = uniform_source(32, std::uint8_t((is_load ? 2 : 1) + (o_.takes_four_rows ? 5 : o_.selector)));
    o_.wraps = flag(75, ".MULTICAST");
    cache_hint();
    if (o_.form == 1 && code == 0x1b4)
      o_.c = uniform_source(64);
    else
      ignore(64, 8);
    o_.space = Space::global;
  }
  /// Instructions that only move data closer, or order accesses.
  void hint(std::string_view text) {
    begin(Opcode::nop, text);
    uniform_guard_ = true;
    ignore(16, 89);
  }

  // ---- tensor memory

  bool has_tensor_memory() const { return architecture_ >= 100 && architecture_ < 120; }

  void begin_tensor_memory(Opcode opcode, std::string_view its_name) {
    begin(opcode, its_name);
    uniform_guard_ = true;
    ignore(91, 1);
  }
  /// UTCHMMA, UTCIMMA, UTCQMMA, UTCOMMA: a product whose sum is in tensor memory. A is there or in shared
  /// memory, B in shared memory; C is two registers, of which the second one describes the product.
  void tensor_memory_product() {
    const std::uint32_t kind = take(72, 2);
    begin_tensor_memory(Opcode::utcmma, word_.bit(63) ? "UTCOMMA"
                                        : kind == 1   ? "UTCIMMA"
                                        : kind == 3   ? "UTCQMMA"
                                                      : "UTCHMMA");
    o_.type = static_cast<std::uint8_t>(kind);
    if (word_.bit(83))
      return refuse("tcgen05.mma.ws");
    const bool of_nibbles = flag(63), has_scales = o_.form == 6 || o_.form == 7 || of_nibbles;
    if (kind == 2 || (o_.form % 2 == 1 && o_.form != 7) || (has_scales && kind != (of_nibbles ? 0 : 3)))
      return refuse("tcgen05.mma of another kind");
    if (of_nibbles) {
      o_.type = static_cast<std::uint8_t>(TensorKind::nibbles);
      o_.product.scales_per_row = flag(62) ? 2 : 4;
      name(o_.product.scales_per_row == 2 ? ".2X" : ".4X");
    }
    o_.product.is_scaled = has_scales;
    const bool shares_a = o_.form == 2 || o_.form == 6;
    o_.of_two_blocks = flag(85, ".2CTA");
    o_.a = uniform_source(24, shares_a ? 2 : 1);
    o_.b = uniform_source(32, 2);
    o_.c = uniform_source(40, 2);
    o_.d = uniform_source(64);
    if (has_scales) // the addresses of A's scales and of B's
      o_.e = uniform_source(48, 2);
    else if (word_.bits(48, 8) != 0xff)
      o_.e = uniform_source(48, o_.of_two_blocks ? 8 : 4);
    else
      ignore(48, 8);
    o_.shift = small(75, 4);
    ignore(84, 1); // what the collector keeps of A
    ignore(86, 1);
    o_.predicate_in[0] = predicate_at(87, 90, true);
  }
  /// Reads the shape of LDTM and STTM; returns the number of words of a lane.
  std::uint8_t tensor_memory_shape() {
    constexpr std::array<std::string_view, 4> names{".16dp128bit", ".16dp256bit", ".32dp32bit", ".16dp64bit"};
    constexpr std::array<std::uint8_t, 4> words{2, 4, 1, 1};
    const std::uint32_t shape = take(81, 2), repetitions = 1u << take(83, 3);
    const bool is_split = take(87, 1) != 0;
    o_.function = static_cast<std::uint8_t>(is_split ? 4 + shape : shape);
    if (is_split && shape > 1)
      refuse("an access to tensor memory of another shape");
    name(is_split ? shape == 0 ? ".16dp32bit_t0_t15" : ".16dp32bit_t16_t31" : names[shape]);
    name(fmt::format(".x{}", repetitions));
    const std::uint32_t all = repetitions * (is_split ? 1 : words[shape]);
    if (all > 128)
      refuse("an access to tensor memory of more than 128 words");
    return static_cast<std::uint8_t>(std::min(all, 128u));
  }
  /// Reads an offset of 32 bits, which is added to an address of tensor memory.
  void tensor_memory_offset() {
    o_.offset = sign_extend(take(40, 24) | std::uint64_t{take(72, 8)} << 24, 32);
  }
  void tensor_memory(std::uint32_t code) {
    switch (code) {
    case 0x1ea: return tensor_memory_product();
    case 0x1e3:
      begin_tensor_memory(Opcode::utcatomsws, "UTCATOMSWS");
      o_.has_return = flag(75, ".FIND_AND_SET.ALIGN");
      if (!o_.has_return)
        name(".AND");
      o_.of_two_blocks = flag(85, ".2CTA");
      o_.b = uniform_source(32);
      uniform_destination();
      if (o_.has_return) {
        o_.predicate_out[0] = small(81, 3);
        o_.predicate_out_uniform = true;
      }
      return;
    case 0x1e9:
      begin_tensor_memory(Opcode::utcbar, "UTCBAR");
      o_.wraps = flag(75, ".MULTICAST");
      o_.of_two_blocks = flag(85, ".2CTA");
      o_.a = uniform_source(24);
      if (take(32, 8) != 0xff)
        refuse("UTCBAR with a further operand");
      o_.c = uniform_source(64);
      return;
    case 0x1e7: {
      begin_tensor_memory(Opcode::utccp, "UTCCP.T.S");
      o_.of_two_blocks = flag(85, ".2CTA");
      o_.type = choice(80, 2, {"", ".B4", ".B6", "?"}); // elements that become bytes
      const std::uint32_t shape = take(83, 2) | take(88, 1) << 2;
      constexpr std::array<std::string_view, 7> names{
          ".128dp256bit", "?", "?", ".128dp128bit", ".2x64dp128bitlw02lw13", ".2x64dp128bitlw01lw23",
          ".4x32dp128bit"};
      constexpr std::array<TensorCopyShape, 7> shapes{TensorCopyShape::rows128_bytes32,
                                                      TensorCopyShape::rows32,
                                                      TensorCopyShape::rows32,
                                                      TensorCopyShape::rows128_bytes16,
                                                      TensorCopyShape::rows64_of_pairs_02_13,
                                                      TensorCopyShape::rows64_of_pairs_01_23,
                                                      TensorCopyShape::rows32};
      if (shape >= names.size() || names[shape] == "?")
        return refuse(shape == 2 ? "tcgen05.cp.4x256b" : "tcgen05.cp of another shape");
      name(names[shape]);
      o_.function = static_cast<std::uint8_t>(shapes[shape]);
      tensor_memory_offset();
      o_.a = uniform_source(24);
      o_.b = uniform_source(32, 2);
      return;
    }
    case 0x1e6: begin_tensor_memory(Opcode::unknown, "UTCSHIFT"); return refuse("tcgen05.shift");
    case 0x1ee:
    case 0x1ed: {
      begin(code == 0x1ee ? Opcode::ldtm : Opcode::sttm, code == 0x1ee ? "LDTM" : "STTM");
      ignore(91, 1);
      const std::uint8_t words = tensor_memory_shape();
      o_.high = flag(80, code == 0x1ee ? ".PACK16BIT" : ".UNPACK16BIT");
      tensor_memory_offset();
      if (code == 0x1ee) {
        destination(words);
        o_.a = uniform_source(32);
        return;
      }
      o_.b = general_source(32, words);
      if (o_.b.index == zero_register)
        refuse("STTM of no register");
      o_.a = uniform_source(64);
      return;
    }
    default: return;
    }
  }

  // ---- textures and surfaces: fields after Mesa's assembler (nak/sm70_encode.rs), the order of the inputs
  // from what ptxas makes of immediate ones

  /// Reads a handle that is a constant or in a uniform register; returns whether it is one.
  bool image_handle() {
    if (o_.form == 5) {
      o_.c.kind = Source::Kind::constant;
      o_.c.offset = take(40, 14) * 4;
      o_.c.bank = small(54, 5);
      return true;
    }
    if (o_.form != 7)
      return false;
    ignore(91, 1);
    o_.c = uniform_source(40);
    if (architecture_ >= 100 && take(48, 8) != 0xff)
      refuse("a further uniform operand");
    return true;
  }

  void image_shape(std::initializer_list<std::pair<std::string_view, ImageShape>> shapes) {
    const std::uint8_t value = small(61, 3);
    if (value >= shapes.size() || shapes.begin()[value].first == "?")
      return refuse(fmt::format("images of kind {}", value));
    const auto& [text, shape] = shapes.begin()[value];
    name(text);
    o_.image.shape = shape;
    constexpr std::array<std::uint8_t, 7> coordinates{1, 2, 3, 3, 2, 3, 4};
    o_.image.coordinates = coordinates[unsigned(shape)];
  }

  /// Reads how TEX and TLD choose a level of detail: by derivatives, zero, with a bias, or as given. Returns
  /// whether an operand gives it.
  bool level_of_detail() {
    const std::uint32_t mode = architecture_ >= 100 ? take(59, 1) | take(87, 3) << 1 : take(87, 3);
    switch (mode) {
    case 0: return false;
    case 1: name(".LZ"); return false;
    case 3: name(".LL"); return true;
    default: refuse(fmt::format("a level of detail of kind {}", mode)); return false;
    }
  }

  void texture(TextureKind kind, std::string_view text) {
    begin(Opcode::texture, text);
    o_.image.kind = kind;
    image_shape({{".1D", ImageShape::line},
                 {".2D", ImageShape::plane},
                 {".3D", ImageShape::volume},
                 {".CUBE", ImageShape::cube},
                 {".ARRAY_1D", ImageShape::lines},
                 {".ARRAY_2D", ImageShape::planes},
                 {"?", ImageShape::line},
                 {".ARRAY_CUBE", ImageShape::cubes}});
    if (kind == TextureKind::element && o_.image.shape != ImageShape::line)
      refuse("elements of more than one dimension");
    if (kind == TextureKind::gather && o_.image.shape != ImageShape::plane)
      refuse("a gather of layers or cubes");
    o_.image.channels = small(72, 4);
    const auto channels = static_cast<std::uint8_t>(std::popcount(o_.image.channels));
    destination(std::min<std::uint8_t>(channels, 2));
    o_.second_destination = small(64, 8);
    if (take(76, 5) != 0)
      refuse("a texture with offsets, comparison, derivatives or halves");
    if (take(81, 3) != true_predicate)
      refuse("a texture that says whether its texels are resident");
    ignore(84, 3); // eviction
    ignore(90, 1); // .NODEP
    bool has_level = false;
    if (kind == TextureKind::gather)
      o_.image.component = choice(87, 2, {".R", ".G", ".B", ".A"});
    else if (kind != TextureKind::gradients)
      has_level = o_.image.has_level = level_of_detail();
    const bool has_handle = !image_handle();
    if (has_handle) {
      if (o_.form != 1 || take(59, 1) == 0)
        refuse("a form of textures");
      name(".B");
    }
    // Few inputs can be scattered, so that B begins before A has all coordinates.
    unsigned words_of_a = o_.image.coordinates, words_of_b = unsigned(has_handle) + unsigned(has_level);
    if (kind == TextureKind::gradients) {
      words_of_a += unsigned(has_handle);
      words_of_b = 4;
    }
    if (flag(60, ".SCR") && kind != TextureKind::gradients) {
      const unsigned all = words_of_a + words_of_b;
      words_of_a = all <= 2 ? 1 : all <= 4 ? 2 : 4;
      words_of_b = all - words_of_a;
    }
    o_.a = general_source(24, static_cast<std::uint8_t>(words_of_a));
    o_.b = general_source(32, static_cast<std::uint8_t>(words_of_b));
  }

  void surface(Opcode opcode, std::string_view text) {
    begin(opcode, text);
    o_.image.boundary = static_cast<Boundary>(choice(59, 2, {"", ".NEAR", ".TRAP", "?"}));
    image_shape({{".1D", ImageShape::line},
                 {"?", ImageShape::line},
                 {".1D_ARRAY", ImageShape::lines},
                 {".2D", ImageShape::plane},
                 {".2D_ARRAY", ImageShape::planes},
                 {".3D", ImageShape::volume}});
    if (take(72, 1) == 0)
      refuse("a surface by elements");
    name(".BA");
    load_type();
    order();
    ignore(84, 3); // eviction
    const auto words = static_cast<std::uint8_t>((o_.bytes + 3) / 4);
    if (opcode == Opcode::suld) {
      destination(words);
      if (take(81, 3) != true_predicate)
        refuse("a surface that says whether its texels are resident");
    } else
      o_.b = general_source(32, words);
    o_.a = general_source(24, o_.image.coordinates);
    if (image_handle())
      return;
    if (o_.form != 4)
      refuse("a form of surfaces");
    o_.c = general_source(64);
  }

  // ---- control

  std::int64_t relative_target() const {
    std::uint64_t field = word_.bits(34, 30) | std::uint64_t{word_.bits(64, 18)} << 30;
    std::int64_t distance = sign_extend(field, 48);
    if (architecture_ >= 90)
      distance = distance * 256 + word_.bits(16, 8);
    return std::int64_t{address_} + 16 + distance * 4;
  }
  void target() {
    use(34, 48);
    if (architecture_ >= 90)
      use(16, 8);
    o_.target = relative_target();
  }

  void control(std::uint32_t code) {
    switch (code) {
    case 0x147: return branch();
    case 0x149: // BRX
    case 0x14c: // JMX
      begin(Opcode::brx, code == 0x149 ? "BRX" : "JMX");
      if (code == 0x14c)
        refuse("an absolute indirect jump");
      o_.a = general_source(24, 2);
      predicate_in();
      ignore(82, 5);
      ignore(91, 1);
      ignore(32, 2);
      return target();
    case 0x144:
      if (o_.form == 1) {
        begin(Opcode::call_register, "CALL.REL");
        o_.a = general_source(24, 2);
      } else {
        begin(Opcode::call, "CALL.REL");
        ignore(24, 8);
      }
      ignore(32, 2);
      ignore(82, 9);
      return target();
    case 0x143:
      begin(o_.form == 1 ? Opcode::call_absolute_register : Opcode::call_absolute, "CALL.ABS");
      if (o_.form == 1) {
        o_.a = general_source(24, 2);
        ignore(34, 48);
      } else if (o_.form == 5 || o_.form == 3) {
        refuse("CALL.ABS of a constant");
      } else {
        // The address is in bits 32 to 81, and from sm_90 on the lowest 8 of its words' bits at 16.
        o_.target =
            static_cast<std::int64_t>(std::uint64_t{take(32, 32)} | std::uint64_t{take(64, 18)} << 32);
        if (architecture_ >= 90)
          ignore(16, 8);
        ignore(24, 8);
      }
      if (architecture_ >= 90)
        ignore(16, 8);
      ignore(32, 2);
      ignore(82, 9);
      return;
    case 0x150:
      begin(Opcode::ret, "RET");
      name(flag(85) ? ".ABS" : ".REL");
      o_.function = word_.bit(85);
      o_.a = general_source(24, 2);
      predicate_in();
      ignore(82, 5);
      ignore(32, 2);
      return target();
    case 0x14d:
      begin(Opcode::exit, "EXIT");
      ignore(84, 3);
      return predicate_in();
    case 0x145:
      begin(Opcode::bssy, "BSSY");
      if (architecture_ >= 100)
        choice(72, 2, {"", ".RELIABLE", ".RECONVERGENT", "?"});
      o_.selector = small(16, 4);
      o_.target = std::int64_t{address_} + 16 + sign_extend(word_.bits(34, 30), 30) * 4;
      use(34, 30);
      ignore(24, 8);
      ignore(64, 8);
      ignore(80, 4);
      return predicate_in();
    case 0x141:
    case 0x142:
      begin(code == 0x141 ? Opcode::bsync : Opcode::break_, code == 0x141 ? "BSYNC" : "BREAK");
      if (architecture_ >= 100)
        choice(72, 2, {"", ".RELIABLE", ".RECONVERGENT", "?"});
      o_.selector = small(16, 4);
      ignore(80, 4);
      return predicate_in();
    case 0x155:
      begin(Opcode::bmov_from_barrier, "BMOV");
      o_.function = flag(84, ".CLEAR");
      destination();
      o_.selector = small(24, 5);
      if (o_.selector >= 16)
        refuse("BMOV of another register");
      return;
    case 0x156:
      begin(Opcode::bmov_to_barrier, "BMOV");
      o_.selector = small(24, 5);
      if (o_.selector >= 16)
        refuse("BMOV of another register");
      ignore(84, 3);
      o_.b = slot_32(Modifiers::none);
      return;
    case 0x148: return warpsync();
    default: return;
    }
  }

  void branch() {
    const std::uint32_t mode = take(32, 2);
    const bool has_uniform = o_.form == 5 || word_.bit(91);
    begin(Opcode::bra, "BRA");
    ignore(91, 1);
    ignore(82, 5);
    predicate_in();
    if (mode == 1) {
      name(".U");
      o_.opcode = Opcode::bra_uniform;
      if (architecture_ >= 80)
        o_.predicate_in[1] = predicate_at(24, 27, true);
      if (word_.bits(12, 4) != true_predicate)
        name(".ANY");
    } else if (mode >= 2) {
      name(mode == 2 ? ".DIV" : ".CONV");
      o_.opcode = mode == 2 ? Opcode::bra_divergent : Opcode::bra_convergent;
      if (has_uniform)
        o_.b = uniform_source(24);
      else { // all lanes
        o_.b.kind = Source::Kind::immediate;
        o_.b.value = ~std::uint32_t{0};
      }
    } else
      ignore(24, 8);
    if (mode != 0 && architecture_ < 90)
      ignore(24, 8);
    target();
  }

  void warpsync() {
    begin(Opcode::warpsync, "WARPSYNC");
    predicate_in();
    if (architecture_ >= 90 && flag(86, ".COLLECTIVE")) {
      o_.opcode = Opcode::warpsync_collective;
      o_.a = general_source(24);
      ignore(32, 2);
      ignore(82, 4);
      return target();
    }
    if (architecture_ >= 90 && o_.form == 4) {
      name(".ALL");
      o_.function = 1;
      ignore(32, 32);
      ignore(64, 18);
      ignore(16, 16);
      ignore(82, 4);
      return;
    }
    if (architecture_ >= 90 && o_.form == 1)
      o_.b = general_source(24);
    else
      o_.b = slot_32(Modifiers::none);
    ignore(72, 1);
    if (flag(architecture_ >= 90 ? 85 : 86, ".EXCLUSIVE"))
      o_.type = 1;
  }

  void barrier(std::uint32_t code) {
    if (code == 0x11b) {
      begin(Opcode::end_collective, "ENDCOLLECTIVE");
      return ignore(16, 89);
    }
    if (code == 0x1c7) {
      begin(o_.form == 4 ? Opcode::cluster_arrive : Opcode::cluster_wait,
            o_.form == 4 ? "UCGABAR_ARV" : "UCGABAR_WAIT");
      uniform_guard_ = true;
      return ignore(16, 89);
    }
    begin(Opcode::bar, "BAR");
    o_.function = choice(77, 2, {".SYNC", ".ARV", ".RED", "?"});
    o_.type = choice(74, 2,
                     o_.function == 2 ? std::initializer_list<std::string_view>{".POPC", ".AND", ".OR"}
                                      : std::initializer_list<std::string_view>{"", "", ""});
    ignore(80, 1); // DEFER_BLOCKING
    ignore(79, 1);
    if (o_.function == 2)
      predicate_in();
    else
      unused_predicate(87, 90);
    // The barrier's number and the number of threads are immediates or in a register; form 1 has one register
    // of both, with the threads from bit 16 on.
    switch (o_.form) {
    case 1: o_.b = general_source(32); break;
    case 2:
      o_.b = general_source(32);
      o_.offset = take(42, 12);
      break;
    case 4:
      o_.c = general_source(32);
      o_.selector = small(54, 4);
      break;
    case 5:
      o_.selector = small(54, 4);
      o_.offset = take(42, 12);
      break;
    default: refuse("a form of BAR");
    }
  }

  Word word_, used_;
  std::uint32_t address_;
  int architecture_;
  std::string* modifiers_;
  Operands o_;
  bool uniform_guard_ = false;
};

} // namespace

Operands decode_operands(Word word, std::uint32_t address, int architecture) {
  return OperandDecoder(word, address, architecture, nullptr).run();
}

namespace {

std::string text_of(const PredicateSource& predicate) {
  const std::string_view file = predicate.uniform ? "U" : "";
  return predicate.index == true_predicate
             ? fmt::format("{}{}PT", predicate.negated ? "!" : "", file)
             : fmt::format("{}{}P{}", predicate.negated ? "!" : "", file, predicate.index);
}

std::string register_text(std::uint8_t index, bool uniform) {
  return index == zero_register ? (uniform ? "URZ" : "RZ") : fmt::format("{}R{}", uniform ? "U" : "", index);
}

std::string text_of(const Source& source) {
  std::string text;
  switch (source.kind) {
  case Source::Kind::none: return {};
  case Source::Kind::general:
  case Source::Kind::uniform: text = register_text(source.index, source.kind == Source::Kind::uniform); break;
  case Source::Kind::immediate: text = fmt::format("{:#x}", source.value); break;
  case Source::Kind::constant: text = fmt::format("c[{:#x}][{:#x}]", source.bank, source.offset); break;
  }
  if (source.words > 1 && source.kind != Source::Kind::immediate)
    text += fmt::format(".{}", 32 * source.words);
  constexpr std::array<std::string_view, 4> swizzles{"", ".F32", ".H0_H0", ".H1_H1"};
  text += swizzles[source.swizzle];
  if (source.absolute)
    text = "|" + text + "|";
  return source.negated ? "-" + text : text;
}

bool has_address(const Operands& o) {
  switch (o.opcode) {
  case Opcode::load:
  case Opcode::store:
  case Opcode::atom:
  case Opcode::atom_cas:
  case Opcode::atoms_popc_inc:
  case Opcode::atoms_arrive:
  case Opcode::qspc:
  case Opcode::ldsm:
  case Opcode::stsm:
  case Opcode::ldgsts:
  case Opcode::syncs_exch:
  case Opcode::syncs_arrive:
  case Opcode::syncs_phase:
  case Opcode::arrives:
  case Opcode::ldc: return true;
  default: return false;
  }
}

bool has_target(const Operands& o) {
  switch (o.opcode) {
  case Opcode::bra:
  case Opcode::bra_uniform:
  case Opcode::bra_divergent:
  case Opcode::bra_convergent:
  case Opcode::brx:
  case Opcode::call:
  case Opcode::call_register:
  case Opcode::call_absolute:
  case Opcode::ret:
  case Opcode::bssy:
  case Opcode::warpsync_collective: return true;
  default: return false;
  }
}

std::string address_text(const Operands& o) {
  std::string text = o.opcode == Opcode::ldc ? fmt::format("c[{:#x}][", o.b.bank) : "[";
  text += text_of(o.a);
  if (o.shift != 0)
    text += fmt::format(".X{}", 1 << o.shift);
  if (o.base.kind != Source::Kind::none)
    text += "+" + text_of(o.base);
  if (o.offset != 0)
    text += fmt::format("{}{:#x}", o.offset < 0 ? "-" : "+", o.offset < 0 ? -o.offset : o.offset);
  return text + "]";
}

} // namespace

std::string listing_of(Word word, std::uint32_t address, int architecture) {
  std::string name;
  const Operands o = OperandDecoder(word, address, architecture, &name).run();
  std::string text;
  if (o.guard.index != true_predicate || o.guard.negated)
    text = "@" + text_of(o.guard) + " ";
  if (o.opcode == Opcode::unknown)
    return fmt::format("{}? {:#018x} {:#018x}", text, word.low, word.high);
  text += name;
  std::string_view separator = " ";
  const auto operand = [&](const std::string& written) {
    if (written.empty())
      return;
    text += separator;
    text += written;
    separator = ", ";
  };
  if (o.destination_words != 0)
    operand(register_text(o.destination, o.destination_uniform));
  if (o.opcode == Opcode::texture) {
    operand(register_text(o.second_destination, false));
    operand(fmt::format("{:#x}", o.image.channels));
  }
  for (const std::uint8_t predicate : o.predicate_out)
    if (predicate != true_predicate)
      operand(text_of(PredicateSource{predicate, false, o.predicate_out_uniform}));
  if (o.selector != 0 || o.opcode == Opcode::bssy || o.opcode == Opcode::bsync)
    operand(fmt::format("{:#x}", o.selector));
  if (has_address(o)) {
    if (o.opcode == Opcode::ldgsts)
      operand(fmt::format("[{}{:+#x}]", text_of(o.c), o.second_offset));
    operand(address_text(o));
    if (o.opcode != Opcode::ldc)
      operand(text_of(o.b));
    if (o.opcode != Opcode::ldgsts)
      operand(text_of(o.c));
  } else {
    operand(text_of(o.a));
    operand(text_of(o.b));
    if (o.product.is_scaled)
      operand(text_of(o.base));
    if (o.opcode == Opcode::lea)
      operand(text_of(o.c)), operand(fmt::format("{:#x}", o.shift));
    else
      operand(text_of(o.c));
  }
  if (o.opcode == Opcode::lop3 || o.opcode == Opcode::plop3)
    operand(fmt::format("{:#x}", o.lut));
  for (const PredicateSource& predicate : o.predicate_in)
    if (predicate.index != true_predicate || predicate.negated)
      operand(text_of(predicate));
  if (has_target(o))
    operand(fmt::format("{:#x}", o.target));
  if (!o.is_known())
    text +=
        fmt::format(" ? {}{:#x} {:#x}", o.reason.empty() ? "" : o.reason + ", ", o.unread.low, o.unread.high);
  return text;
}

} // namespace warplens::sass
