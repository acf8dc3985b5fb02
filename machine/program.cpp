#include "machine/program.h"

#include "machine/code.h"
#include "machine/phase_spins.h"
#include "machine/warp.h"
#include "sass/elf.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <tuple>

namespace warplens::machine {
namespace {

using sass::ByteReader;
using sass::Bytes;
using sass::Opcode;
using sass::Operands;
using sass::Source;

constexpr std::string_view text_prefix = ".text.";
constexpr std::uint32_t instruction_bytes = 16;
constexpr std::uint32_t no_bits = 8; // SHT_NOBITS

/// Attributes of .nv.info (CuAssembler's CuNVInfo.py).
enum : std::uint8_t {
  max_threads = 0x05,
  parameters_at = 0x0a,
  required_block = 0x10,
  frame_size = 0x11,
  stack_size = 0x12,
  parameter = 0x17,
  registers = 0x2f,
  cluster = 0x3d,
  wide_parameter = 0x45 ///< of kernels with more than 4 KiB of parameters
};

std::vector<std::byte> bytes_of(const sass::Section* section) {
  if (!section)
    return {};
  return {section->bytes.begin(), section->bytes.end()};
}

bool is_memory(Opcode opcode) {
  const bool in_shared_memory = opcode >= Opcode::syncs_exch && opcode <= Opcode::utmaredg;
  return in_shared_memory || is_image(opcode) || opcode == Opcode::utcmma || opcode == Opcode::utcbar ||
         (opcode >= Opcode::load && opcode <= Opcode::ldgsts && opcode != Opcode::movm &&
          opcode != Opcode::qspc);
}
bool is_control(Opcode opcode) {
  return opcode >= Opcode::bra;
}
bool has_relative_target(Opcode opcode) {
  switch (opcode) {
  case Opcode::bra:
  case Opcode::bra_uniform:
  case Opcode::bra_divergent:
  case Opcode::bra_convergent:
  case Opcode::call:
  case Opcode::warpsync_collective: return true;
  default: return false;
  }
}
bool negates_by_sign(Opcode opcode) {
  return (opcode >= Opcode::fadd && opcode <= Opcode::frnd) || opcode == Opcode::f2fp ||
         opcode == Opcode::sel;
}

/// Gives the operands of a kernel's instructions their places in rows.
class Lowering {
public:
  Lowering(Code& code, Engine engine) : code_(code), engine_(engine) {}

  void run() {
    measure();
    code_.operations.resize(code_.operands.size());
    code_.refusals.resize(code_.operands.size());
    for (std::uint32_t section = 0; section < code_.sections.size(); ++section)
      for (std::uint32_t i = code_.sections[section].begin; i < code_.sections[section].end; ++i)
        lower(i, section);
    // A warp that runs past the end meets an operation that is refused.
    static const Operands nothing;
    code_.operations.push_back({.kind = OperationKind::refused, .operands = &nothing});
    let_spins_wait(code_);
  }

private:
  static constexpr std::uint32_t row_bytes = sizeof(Row);
  static constexpr std::uint32_t widest = 8; ///< the rows of the widest operand

  static std::uint32_t end_of(const Source& source, Source::Kind kind) {
    return source.kind == kind && source.index != sass::zero_register
               ? std::uint32_t{source.index} + source.words
               : 0;
  }
  /// Finds how many registers of both files there are.
  void measure() {
    general_ = 8;
    uniform_ = 8;
    for (const Operands& x : code_.operands) {
      for (const Source* source : {&x.a, &x.b, &x.c, &x.d, &x.e, &x.base}) {
        general_ = std::max(general_, end_of(*source, Source::Kind::general));
        uniform_ = std::max(uniform_, end_of(*source, Source::Kind::uniform));
      }
      if (x.destination != sass::zero_register) {
        std::uint32_t& count = x.destination_uniform ? uniform_ : general_;
        count = std::max(count, std::uint32_t{x.destination} + x.destination_words);
      }
      if (x.second_destination != sass::zero_register) // of four words at most
        general_ = std::max(general_, std::uint32_t{x.second_destination} + 4);
      code_.uses_local = code_.uses_local || x.space == sass::Space::local || x.space == sass::Space::generic;
    }
    code_.zero_row = general_;
    code_.rows = general_ + 2 * widest + uniform_;
  }

  std::uint32_t constant_row(const ConstantWord& word) {
    const auto key = std::tuple(word.source, word.bank, word.bank == 2 ? word.section : 0, word.value);
    const auto [found, is_new] =
        constants_.try_emplace(key, static_cast<std::uint32_t>(code_.constants.size()));
    if (is_new)
      code_.constants.push_back(word);
    return found->second;
  }
  /// Returns the rows of words that follow each other, which are new unless it is one word.
  RowPlace constant_place(const std::vector<ConstantWord>& words) {
    std::uint32_t first = 0;
    if (words.size() == 1)
      first = constant_row(words.front());
    else {
      first = static_cast<std::uint32_t>(code_.constants.size());
      code_.constants.insert(code_.constants.end(), words.begin(), words.end());
    }
    return {first * row_bytes, RowPlace::constants};
  }

  RowPlace place_of(const Source& source, std::uint32_t section) {
    const RowPlace zero{code_.zero_row * row_bytes, RowPlace::registers};
    switch (source.kind) {
    case Source::Kind::none: return zero;
    case Source::Kind::general:
      return source.index == sass::zero_register ? zero
                                                 : RowPlace{source.index * row_bytes, RowPlace::registers};
    case Source::Kind::uniform:
      return source.index == sass::zero_register ? zero
                                                 : RowPlace{uniform_row(source.index), RowPlace::registers};
    case Source::Kind::immediate: {
      std::vector<ConstantWord> words{{.value = static_cast<std::uint32_t>(source.value)}};
      if (source.words == 2)
        words.push_back({.value = static_cast<std::uint32_t>(source.value >> 32)});
      return constant_place(words);
    }
    case Source::Kind::constant: {
      std::vector<ConstantWord> words;
      for (std::uint32_t word = 0; word < source.words; ++word)
        words.push_back(
            {ConstantWord::Source::bank, source.bank, section, (source.offset + 4 * word) & 0xffff});
      return constant_place(words);
    }
    }
    return zero;
  }
  std::uint32_t uniform_row(std::uint32_t index) const { return (general_ + 2 * widest + index) * row_bytes; }

  static std::uint8_t predicate(std::uint8_t index, bool uniform) {
    return static_cast<std::uint8_t>(index + (uniform ? 8 : 0));
  }
  static SignChange sign_of(const Operands& x, const Source& source) {
    SignChange change;
    if (negates_by_sign(x.opcode)) {
      change.keep = source.absolute ? 0x7fffffffu : ~0u;
      change.flip = source.negated ? 0x80000000u : 0u;
    } else if (source.negated)
      change.flip = ~0u;
    return change;
  }

  void lower(std::uint32_t index, std::uint32_t section) {
    const Operands& x = code_.operands[index];
    Operation& o = code_.operations[index];
    o.operands = &x;
    o.guard = predicate(x.guard.index, x.guard.uniform);
    o.guard_negation = x.guard.negated ? all_lanes : 0;
    for (unsigned which = 0; which < 3; ++which) {
      o.in[which] = predicate(x.predicate_in[which].index, x.predicate_in[which].uniform);
      o.in_negation[which] = x.predicate_in[which].negated ? all_lanes : 0;
    }
    for (unsigned which = 0; which < 2; ++which)
      if (x.predicate_out[which] != sass::true_predicate)
        o.out[which] = predicate(x.predicate_out[which], x.predicate_out_uniform);
    o.widened = x.uniform_datapath ? all_lanes : 0;
    if (x.destination == sass::zero_register)
      o.destination = (code_.zero_row + widest) * row_bytes;
    else
      o.destination = x.destination_uniform ? uniform_row(x.destination) : x.destination * row_bytes;
    o.offset = x.offset;
    o.bank = section;
    if (!x.is_known())
      return refuse(o, index, "not supported");
    o.a = place_of(x.a, section);
    o.b = place_of(x.b, section);
    o.c = place_of(x.c, section);
    o.d = place_of(x.d, section);
    o.e = place_of(x.e, section);
    o.base = place_of(x.base, section);
    o.sign_a = sign_of(x, x.a);
    o.sign_b = sign_of(x, x.b);
    o.sign_c = sign_of(x, x.c);
    if (!x.extended)
      o.addend = static_cast<std::uint32_t>(x.a.negated) + x.b.negated + x.c.negated;
    if (is_control(x.opcode)) {
      o.kind = OperationKind::control;
      o.target = code_.sections[section].begin;
      if (!has_relative_target(x.opcode))
        return;
      const std::uint32_t count = code_.sections[section].end - code_.sections[section].begin;
      if (x.target < 0 || x.target % instruction_bytes != 0 || x.target / instruction_bytes >= count)
        return refuse(o, index, "branches out of its section");
      o.target += static_cast<std::uint32_t>(x.target / instruction_bytes);
      return;
    }
    if (is_memory(x.opcode) || (x.opcode == Opcode::ldc && !x.uniform_datapath))
      o.kind =
          x.opcode == Opcode::syncs_phase && x.function != 0 ? OperationKind::wait : OperationKind::memory;
    if (x.opcode == Opcode::lepc) {
      o.kind = OperationKind::control;
      return;
    }
    o.handler = select_handler(x, engine_);
    if (!o.handler)
      refuse(o, index, "not supported");
  }

  void refuse(Operation& o, std::uint32_t index, std::string_view reason) {
    o.kind = OperationKind::refused;
    o.handler = nullptr;
    code_.refusals[index] = reason;
  }

  Code& code_;
  Engine engine_;
  std::uint32_t general_ = 0, uniform_ = 0;
  std::map<std::tuple<ConstantWord::Source, std::uint8_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      constants_;
};

} // namespace

class ProgramLoader {
public:
  ProgramLoader(const sass::Elf& elf, Engine engine) : elf_(elf), engine_(engine) {}

  Expected<Program> run() {
    if (!elf_.is_linked)
      return fail("the cubin is not linked: its functions' addresses are not known");
    program_.architecture_ = elf_.architecture;
    image_ = std::make_shared<Program::Image>();
    TRY(read_variables());
    read_banks();
    for (std::uint32_t i = 0; i < elf_.symbols.size(); ++i)
      if (elf_.symbols[i].is_kernel())
        TRY(add_kernel(i));
    program_.image_ = image_;
    return std::move(program_);
  }

private:
  // ---- data

  Expected<void> read_variables() {
    // The images of variables follow each other: those with initial values, then those without.
    std::uint64_t end = 0;
    for (const std::string_view name : {".nv.global.init", ".nv.global"})
      if (const sass::Section* section = elf_.find(name)) {
        constexpr std::uint64_t most = std::uint64_t{1} << 32;
        if (section->size > most)
          return fail("section {} of the cubin has {} bytes", name, section->size);
        image_base_[name] = end;
        end += (section->size + 255) / 256 * 256;
      }
    image_->private_bytes = end;
    if (end != 0) {
      image_->storage = std::make_unique<std::byte[]>(end + Memory::page_bytes);
      const auto start = reinterpret_cast<std::uintptr_t>(image_->storage.get());
      image_->private_image =
          image_->storage.get() + (Memory::page_bytes - start % Memory::page_bytes) % Memory::page_bytes;
    }
    if (const sass::Section* section = elf_.find(".nv.global.init"))
      std::ranges::copy(section->bytes, image_->private_image + image_base_[".nv.global.init"]);

    for (std::uint32_t i = 0; i < elf_.symbols.size(); ++i) {
      const sass::Symbol& symbol = elf_.symbols[i];
      constexpr std::uint8_t object = 1; // STT_OBJECT
      if (symbol.type != object || symbol.section == 0 || symbol.section >= elf_.sections.size())
        continue;
      const sass::Section& section = elf_.sections[symbol.section];
      const bool is_constant = section.name == ".nv.constant3";
      if (!is_constant && !image_base_.contains(section.name))
        continue;
      if (symbol.value > section.size || symbol.size > section.size - symbol.value)
        return fail("variable {} of the cubin is not inside its section", symbol.name);
      Variable variable{std::string(symbol.name), symbol.size, is_constant, {}};
      if (section.type != no_bits && symbol.value + symbol.size <= section.bytes.size()) {
        const Bytes initial = section.bytes.subspan(symbol.value, symbol.size);
        variable.initial.assign(initial.begin(), initial.end());
      }
      variable.initial.resize(symbol.size);
      variable_of_symbol_[i] = static_cast<std::uint32_t>(image_->variables.size());
      image_->variables.push_back(std::move(variable));
      image_->places.push_back({is_constant ? symbol.value : image_base_[section.name] + symbol.value});
    }
    // Pointers in initial values: to other variables' places in this image, and to functions.
    for (const auto& [name, base] : image_base_)
      for (const Relocation64& relocation : relocations_of(name, elf_.find(name)->bytes))
        if (relocation.offset + 8 <= elf_.find(name)->size) {
          const std::uint64_t value = private_value(relocation);
          std::memcpy(image_->private_image + base + relocation.offset, &value, 8);
        }
    return {};
  }

  std::uint64_t private_value(const Relocation64& relocation) const {
    switch (relocation.to) {
    case Relocation64::To::variable:
      return reinterpret_cast<std::uintptr_t>(image_->private_image) + relocation.addend +
             (relocation.index < image_->places.size() ? image_->places[relocation.index].offset : 0);
    case Relocation64::To::text: return relocation.addend;
    case Relocation64::To::builtin: return builtin_address + 16 * std::uint64_t{relocation.index};
    }
    return 0;
  }

  /// Returns the relocations of a section that fill in 64-bit addresses.
  std::vector<Relocation64> relocations_of(std::string_view section, Bytes bytes) {
    std::vector<Relocation64> all;
    for (const sass::Relocation& relocation : elf_.relocations_of(section)) {
      if (relocation.symbol >= elf_.symbols.size() || relocation.offset > 0xffffffff - 8)
        continue;
      Relocation64 found;
      found.offset = static_cast<std::uint32_t>(relocation.offset);
      found.addend = relocation.addend;
      if (!relocation.has_addend)
        if (ByteReader reader(bytes, std::min<std::size_t>(bytes.size(), relocation.offset));
            !reader.at_end())
          found.addend = reader.u64();
      const sass::Symbol& symbol = elf_.symbols[relocation.symbol];
      if (symbol.section == 0) {
        found.to = Relocation64::To::builtin;
        found.index = builtin_index(symbol.name);
      } else if (symbol.section < elf_.sections.size() &&
                 elf_.sections[symbol.section].name.starts_with(text_prefix)) {
        found.to = Relocation64::To::text;
        found.addend += text_address(symbol.section) + symbol.value;
        referenced_text_.push_back(symbol.section);
      } else if (const auto variable = variable_of_symbol_.find(relocation.symbol);
                 variable != variable_of_symbol_.end())
        found.index = variable->second;
      else { // a section's own symbol: a place in the private image
        const auto base = symbol.section < elf_.sections.size()
                              ? image_base_.find(elf_.sections[symbol.section].name)
                              : image_base_.end();
        found.index = ~0u;
        found.addend += symbol.value + (base == image_base_.end() ? 0 : base->second);
      }
      all.push_back(found);
    }
    return all;
  }
  std::uint32_t builtin_index(std::string_view name) {
    const auto found = std::ranges::find(image_->builtins, name);
    if (found == image_->builtins.end()) {
      image_->builtins.emplace_back(name);
      return static_cast<std::uint32_t>(image_->builtins.size() - 1);
    }
    return static_cast<std::uint32_t>(found - image_->builtins.begin());
  }
  static std::uint64_t text_address(std::uint32_t section) { return text_stride * (section + 1); }

  void read_banks() {
    image_->bank1 = bytes_of(elf_.find(".nv.constant1"));
    image_->bank3 = bytes_of(elf_.find(".nv.constant3"));
    image_->bank4 = bytes_of(elf_.find(".nv.constant4"));
    image_->of_bank4 = relocations_of(".nv.constant4", image_->bank4);
    for (const sass::Section& section : elf_.sections)
      if (constexpr std::string_view prefix = ".nv.constant2."; section.name.starts_with(prefix)) {
        const std::string function(section.name.substr(prefix.size()));
        image_->bank2[function] = bytes_of(&section);
        image_->of_bank2[function] = relocations_of(section.name, section.bytes);
      }
  }

  // ---- code

  Expected<void> add_kernel(std::uint32_t symbol) {
    Kernel kernel;
    kernel.name = elf_.symbols[symbol].name;
    auto code = std::make_shared<Code>();
    code->architecture = elf_.architecture;
    std::vector<std::uint32_t> sections{elf_.symbols[symbol].section};
    for (const std::uint32_t section : referenced_text_)
      if (!is_kernel_section(section) && std::ranges::find(sections, section) == sections.end())
        sections.push_back(section);
    for (std::size_t i = 0; i < sections.size(); ++i) { // the list grows
      TRY(add_section(kernel, *code, sections[i]));
      for (const sass::Relocation& relocation : elf_.relocations_of(elf_.sections[sections[i]].name))
        if (relocation.symbol < elf_.symbols.size()) {
          const std::uint32_t section = elf_.symbols[relocation.symbol].section;
          if (section != 0 && section < elf_.sections.size() &&
              elf_.sections[section].name.starts_with(text_prefix) &&
              std::ranges::find(sections, section) == sections.end())
            sections.push_back(section);
        }
    }
    describe(kernel, *code, symbol);
    Lowering(*code, engine_).run();
    for (std::uint32_t i = 0; i < code->words.size(); ++i)
      if (code->operations[i].kind == OperationKind::refused)
        kernel.unsupported_.push_back(
            {i, sass::listing_of(code->words[i], (i - code->section_of(i)->begin) * instruction_bytes,
                                 code->architecture)});
    kernel.code_ = std::move(code);
    program_.kernels_.push_back(std::move(kernel));
    return {};
  }

  bool is_kernel_section(std::uint32_t section) const {
    return std::ranges::any_of(elf_.symbols, [&](const sass::Symbol& symbol) {
      return symbol.is_kernel() && symbol.section == section;
    });
  }

  Expected<void> add_section(const Kernel& kernel, Code& code, std::uint32_t index) {
    if (index >= elf_.sections.size() || !elf_.sections[index].name.starts_with(text_prefix))
      return fail("kernel {} of the cubin has no code", kernel.name);
    const sass::Section& section = elf_.sections[index];
    if (section.bytes.empty() || section.bytes.size() % instruction_bytes != 0)
      return fail("the code of {} in the cubin ends within an instruction", kernel.name);
    if (section.bytes.size() >= text_stride)
      return fail("the code of {} in the cubin is too long", kernel.name);
    CodeSection part;
    part.name = section.name.substr(text_prefix.size());
    part.begin = static_cast<std::uint32_t>(code.words.size());
    part.text_address = text_address(index);
    std::vector<std::byte> bytes(section.bytes.begin(), section.bytes.end());
    std::map<std::uint32_t, std::uint64_t> targets;
    const std::map<std::uint32_t, std::string> unknown = relocate(section.name, bytes, targets);
    ByteReader reader(bytes);
    for (std::uint32_t address = 0; address < bytes.size(); address += instruction_bytes) {
      sass::Word word;
      word.low = reader.u64();
      word.high = reader.u64();
      code.words.push_back(word);
      code.operands.push_back(sass::decode_operands(word, address, code.architecture));
      if (const auto reason = unknown.find(address); reason != unknown.end())
        code.operands.back().reason = reason->second;
      if (const auto target = targets.find(address); target != targets.end())
        code.operands.back().target = static_cast<std::int64_t>(target->second);
    }
    part.end = static_cast<std::uint32_t>(code.words.size());
    code.sections.push_back(std::move(part));
    return {};
  }

  /// Fills in addresses in code, and finds the targets of calls; returns why instructions cannot be
  /// completed.
  std::map<std::uint32_t, std::string> relocate(std::string_view section, std::vector<std::byte>& bytes,
                                                std::map<std::uint32_t, std::uint64_t>& targets) {
    std::map<std::uint32_t, std::string> unknown;
    for (const sass::Relocation& relocation : elf_.relocations_of(section)) {
      const std::uint64_t at = relocation.offset / instruction_bytes * instruction_bytes;
      if (at + instruction_bytes > bytes.size() || relocation.symbol >= elf_.symbols.size())
        continue;
      const sass::Symbol& symbol = elf_.symbols[relocation.symbol];
      constexpr std::uint32_t low_half = 56, high_half = 57; // R_CUDA_ABS32_LO_32, R_CUDA_ABS32_HI_32
      const bool is_text = symbol.section != 0 && symbol.section < elf_.sections.size() &&
                           elf_.sections[symbol.section].name.starts_with(text_prefix);
      constexpr std::uint32_t of_call = 58; // R_CUDA_ABS55_16_34
      if ((relocation.type != low_half && relocation.type != high_half && relocation.type != of_call) ||
          !(is_text || symbol.section == 0)) {
        unknown[static_cast<std::uint32_t>(at)] =
            fmt::format("relocation {} to {}", relocation.type, symbol.name);
        continue;
      }
      std::uint64_t value = is_text ? text_address(symbol.section) + symbol.value + relocation.addend
                                    : builtin_address + 16 * std::uint64_t{builtin_index(symbol.name)};
      if (relocation.type == of_call) {
        targets[static_cast<std::uint32_t>(at)] = value;
        continue;
      }
      if (relocation.type == high_half)
        value >>= 32;
      const auto word = static_cast<std::uint32_t>(value);
      std::memcpy(bytes.data() + at + 4, &word, 4);
    }
    return unknown;
  }

  void describe(Kernel& kernel, Code& code, std::uint32_t symbol) const {
    for_each_attribute(".nv.info", [&](std::uint8_t number, ByteReader reader) {
      if (reader.u32() != symbol || reader.failed())
        return;
      const std::uint32_t value = reader.u32();
      if (number == registers)
        kernel.registers = value;
      else if ((number == stack_size || number == frame_size) && value < (1u << 20))
        kernel.local_bytes = std::max(kernel.local_bytes, value);
    });
    for_each_attribute(".nv.info." + kernel.name, [&](std::uint8_t number, ByteReader reader) {
      if (number == parameters_at) {
        reader.u32(); // the section's symbol
        code.parameter_base = reader.u16();
        kernel.parameter_bytes = reader.u16();
      } else if (number == cluster) {
        const Dimensions sizes{reader.u32(), reader.u32(), reader.u32()};
        if (!reader.failed() && sizes.x != 0 && sizes.y != 0 && sizes.z != 0)
          kernel.cluster = sizes;
      } else if (number == max_threads || number == required_block) {
        const Dimensions sizes{reader.u32(), reader.u32(), reader.u32()};
        if (!reader.failed())
          (number == max_threads ? kernel.max_block : kernel.required_block) = sizes;
      } else if (number == parameter || number == wide_parameter) {
        reader.u32();
        const std::uint16_t ordinal = reader.u16(), offset = reader.u16();
        const std::uint32_t packed = reader.u32();
        if (ordinal < 4096) {
          kernel.parameters.resize(std::max<std::size_t>(kernel.parameters.size(), ordinal + 1u));
          kernel.parameters[ordinal] = {offset, number == parameter ? packed >> 18 : packed & 0xffff};
        }
      }
    });
    const sass::Section* shared = elf_.find(".nv.shared." + kernel.name);
    const std::uint64_t reserved = elf_.architecture >= 90 ? 1024 : 0;
    kernel.shared_bytes =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(shared ? shared->size : 0, reserved, 1u << 20));
  }

  template <class F> void for_each_attribute(std::string_view section, F f) const {
    constexpr std::uint8_t sized = 4; // EIFMT_SVAL
    const sass::Section* found = elf_.find(section);
    for (ByteReader reader(found ? found->bytes : Bytes()); !reader.at_end();) {
      const std::uint8_t format = reader.u8(), number = reader.u8();
      const std::uint16_t value = reader.u16();
      if (format != sized)
        continue;
      const Bytes bytes = reader.take(value);
      if (!reader.failed())
        f(number, ByteReader(bytes));
    }
  }

  const sass::Elf& elf_;
  Engine engine_;
  Program program_;
  std::shared_ptr<Program::Image> image_;
  std::map<std::string_view, std::uint64_t> image_base_; ///< by section
  std::map<std::uint32_t, std::uint32_t> variable_of_symbol_;
  std::vector<std::uint32_t> referenced_text_;
};

Expected<Program> Program::load(std::span<const std::byte> cubin, Engine engine) {
  TRY_LET(elf, sass::read_elf(cubin));
  return ProgramLoader(*elf, engine).run();
}

const Kernel* Program::find(std::string_view kernel) const {
  const auto found = std::ranges::find(kernels_, kernel, &Kernel::name);
  return found == kernels_.end() ? nullptr : &*found;
}

std::pair<const Variable*, std::uint64_t> Program::constant_at(std::uint64_t offset) const {
  for (std::size_t i = 0; i < image_->variables.size(); ++i)
    if (const std::uint64_t begin = image_->places[i].offset;
        image_->variables[i].is_constant && offset - begin < image_->variables[i].bytes)
      return {&image_->variables[i], offset - begin};
  return {nullptr, 0};
}

std::span<const Variable> Program::variables() const {
  return image_->variables;
}

std::uint32_t Kernel::instruction_count() const {
  return static_cast<std::uint32_t>(code_->words.size());
}

std::uint32_t Kernel::address_of(std::uint32_t instruction) const {
  const CodeSection* section = code_->section_of(instruction);
  return section ? (instruction - section->begin) * instruction_bytes : 0;
}

std::vector<Kernel::Section> Kernel::sections() const {
  std::vector<Section> sections;
  for (const CodeSection& section : code_->sections)
    sections.push_back({section.name, section.begin, section.end});
  return sections;
}

std::vector<Kernel::ConstantOperand> Kernel::constant_operands() const {
  constexpr std::uint8_t variables_bank = 3;
  std::vector<ConstantOperand> found;
  for (std::uint32_t i = 0; i < code_->operands.size(); ++i) {
    const Operands& x = code_->operands[i];
    if (x.opcode == Opcode::ldc)
      continue; // an access
    for (const Source* source : {&x.a, &x.b, &x.c})
      if (source->kind == Source::Kind::constant && source->bank == variables_bank)
        found.push_back({i, source->offset, 4u * source->words});
  }
  return found;
}

bool Kernel::is_atomic(std::uint32_t instruction) const {
  if (instruction >= code_->operands.size())
    return false;
  const Opcode opcode = code_->operands[instruction].opcode;
  return opcode == Opcode::atom || opcode == Opcode::atom_cas || opcode == Opcode::atoms_popc_inc;
}

std::string Kernel::listing_of(std::uint32_t instruction) const {
  if (instruction >= code_->words.size())
    return {};
  return sass::listing_of(code_->words[instruction], address_of(instruction), code_->architecture);
}

Handler select_handler(const Operands& operands, Engine engine) {
  Handler handler = nullptr;
#ifdef WARPLENS_MACHINE_X86_64_V3
  if (engine == Engine::vector && __builtin_cpu_supports("x86-64-v3"))
    handler = x86_64_v3::select(operands);
#endif
  if (!handler && engine != Engine::reference)
    handler = portable::select(operands);
  return handler ? handler : select_warp_operation(operands);
}

} // namespace warplens::machine
