#include "sass/decode.h"

#include "sass/blocks.h"
#include "sass/elf.h"
#include "sass/instruction.h"
#include "sass/lines.h"

#include <algorithm>
#include <map>

namespace warplens::sass {
namespace {

/// The attributes of .nv.info that are read here (CuAssembler's CuNVInfo.py; what 0x4c is follows from
/// ptxas -v).
enum : std::uint8_t {
  frame_size = 0x11,
  stack_size = 0x12,
  register_count = 0x2f,
  branch_targets = 0x34,
  barrier_count = 0x4c
};

/// One attribute of a section .nv.info: a small number, or bytes.
struct Attribute {
  std::uint8_t code = 0;
  std::uint16_t value = 0;
  Bytes bytes;
};

std::vector<Attribute> attributes_of(const Elf& elf, std::string_view section) {
  constexpr std::uint8_t sized = 4; // EIFMT_SVAL
  std::vector<Attribute> attributes;
  const Section* found = elf.find(section);
  for (ByteReader reader(found ? found->bytes : Bytes()); !reader.at_end();) {
    const std::uint8_t format = reader.u8();
    Attribute attribute;
    attribute.code = reader.u8();
    attribute.value = reader.u16();
    if (format == sized)
      attribute.bytes = reader.take(attribute.value);
    if (!reader.failed())
      attributes.push_back(attribute);
  }
  return attributes;
}

constexpr std::string_view text_prefix = ".text.";

class CubinDecoder {
public:
  explicit CubinDecoder(const Elf& elf) : elf_(elf) {}

  Expected<CodeTable> run() {
    code_.architecture = elf_.architecture;
    TRY_LET(rows, read_lines(elf_, code_));
    rows_ = std::move(*rows);
    for (std::uint32_t i = 0; i < elf_.symbols.size(); ++i)
      if (elf_.symbols[i].is_kernel())
        TRY(add_kernel(i));
    return std::move(code_);
  }

private:
  /// The instructions of a section, within their kernel.
  struct Part {
    std::uint32_t section = 0;
    std::uint32_t begin = 0, end = 0;
  };

  Expected<void> add_kernel(std::uint32_t symbol) {
    Kernel kernel;
    kernel.name = elf_.symbols[symbol].name;
    parts_.clear();
    targets_.clear();
    TRY(add_section(kernel, elf_.symbols[symbol].section));
    // The list grows while the sections of called functions are added.
    bool has_virtual = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      TRY(add_called(kernel, parts_[i]));
      if (!has_virtual && calls_by_address(kernel, parts_[i])) {
        has_virtual = true;
        TRY(add_named_by_data(kernel));
      }
    }
    for (const auto& [instruction, target] : targets_)
      kernel.instructions[instruction].target = target;
    describe(kernel, symbol);
    find_blocks(kernel, indirect_targets());
    code_.kernels.push_back(std::move(kernel));
    return {};
  }

  Expected<void> add_section(Kernel& kernel, std::uint32_t index) {
    if (index >= elf_.sections.size() || !elf_.sections[index].name.starts_with(text_prefix))
      return fail("kernel {} of the cubin has no code", kernel.name);
    const Section& section = elf_.sections[index];
    if (section.bytes.empty() || section.bytes.size() % instruction_bytes != 0)
      return fail("the code of {} in the cubin ends within an instruction", kernel.name);
    Part part{index, static_cast<std::uint32_t>(kernel.instructions.size()), 0};
    const auto count = static_cast<std::uint32_t>(section.bytes.size() / instruction_bytes);
    part.end = part.begin + count;
    kernel.instructions.reserve(part.end);
    ByteReader reader(section.bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
      Word word;
      word.low = reader.u64();
      word.high = reader.u64();
      DecodedInstruction decoded = decode_instruction(word, i * instruction_bytes, elf_.architecture);
      decoded.instruction.word = word;
      decoded.instruction.position = position_at(rows_, index, decoded.instruction.address);
      kernel.unknown_instructions += decoded.instruction.operation == 0;
      if (decoded.target)
        if (const std::uint32_t target = instruction_at(part, *decoded.target); target != none)
          targets_.emplace_back(part.begin + i, target);
      kernel.instructions.push_back(decoded.instruction);
    }
    add_functions(kernel, part);
    parts_.push_back(part);
    return {};
  }

  /// Returns the index of the instruction at an address; `none` if there is none.
  static std::uint32_t instruction_at(const Part& part, std::int64_t address) {
    if (address < 0 || address % instruction_bytes != 0 ||
        address / instruction_bytes >= part.end - part.begin)
      return none;
    return part.begin + static_cast<std::uint32_t>(address / instruction_bytes);
  }

  /// Adds the functions of a section: the symbols that are inside.
  void add_functions(Kernel& kernel, const Part& part) const {
    std::map<std::uint32_t, std::string_view> begins; // instruction → name
    for (const Symbol& symbol : elf_.symbols)
      if (symbol.is_function() && symbol.section == part.section)
        if (const std::uint32_t begin = instruction_at(part, static_cast<std::int64_t>(symbol.value));
            begin != none)
          begins.emplace(begin, symbol.name);
    begins.emplace(part.begin, elf_.sections[part.section].name.substr(text_prefix.size()));
    for (auto entry = begins.begin(); entry != begins.end(); ++entry)
      kernel.functions.push_back({std::string(entry->second), entry->first,
                                  std::next(entry) == begins.end() ? part.end : std::next(entry)->first});
  }

  /// Adds the sections of the functions whose addresses a section's code takes. A call of one, which the
  /// linker would complete, has its target from the relocation.
  Expected<void> add_called(Kernel& kernel, const Part caller) {
    for (const Relocation& relocation : elf_.relocations_of(elf_.sections[caller.section].name)) {
      if (relocation.symbol >= elf_.symbols.size())
        continue;
      const Symbol& symbol = elf_.symbols[relocation.symbol];
      if (!symbol.is_function() || symbol.section == 0 || symbol.section >= elf_.sections.size())
        continue;
      if (std::ranges::find(parts_, symbol.section, &Part::section) == parts_.end())
        TRY(add_section(kernel, symbol.section));
      const Part& callee = *std::ranges::find(parts_, symbol.section, &Part::section);
      const std::uint32_t call = instruction_at(
          caller, static_cast<std::int64_t>(relocation.offset - relocation.offset % instruction_bytes));
      const std::uint32_t entry = instruction_at(callee, static_cast<std::int64_t>(symbol.value));
      if (call != none && entry != none && name_of(kernel.instructions[call]).starts_with("CALL"))
        targets_.emplace_back(call, entry);
    }
    return {};
  }

  /// Returns whether a part's code calls functions that no relocation of its own names.
  bool calls_by_address(const Kernel& kernel, const Part& part) const {
    for (std::uint32_t i = part.begin; i < part.end; ++i)
      if (name_of(kernel.instructions[i]).starts_with("CALL") &&
          std::ranges::find(targets_, i, &std::pair<std::uint32_t, std::uint32_t>::first) == targets_.end())
        return true;
    return false;
  }

  /// Adds the functions whose addresses data have: tables of virtual functions, and of pointers to functions.
  Expected<void> add_named_by_data(Kernel& kernel) {
    for (const Section& section : elf_.sections) {
      if (section.name.starts_with(text_prefix))
        continue;
      for (const Relocation& relocation : elf_.relocations_of(section.name)) {
        if (relocation.symbol >= elf_.symbols.size())
          continue;
        const Symbol& symbol = elf_.symbols[relocation.symbol];
        if (symbol.is_function() && !symbol.is_kernel() && symbol.section != 0 &&
            symbol.section < elf_.sections.size() &&
            std::ranges::find(parts_, symbol.section, &Part::section) == parts_.end())
          TRY(add_section(kernel, symbol.section));
      }
    }
    return {};
  }

  void describe(Kernel& kernel, std::uint32_t symbol) const {
    bool has_stack = false;
    for (const Attribute& attribute : attributes_of(elf_, ".nv.info")) {
      ByteReader reader(attribute.bytes);
      if (reader.u32() != symbol || reader.failed())
        continue;
      const std::uint32_t value = reader.u32();
      if (attribute.code == register_count)
        kernel.registers = value;
      else if (attribute.code == stack_size || (attribute.code == frame_size && !has_stack))
        kernel.local_bytes = value;
      has_stack |= attribute.code == stack_size;
    }
    for (const Attribute& attribute : attributes_of(elf_, ".nv.info." + kernel.name))
      if (attribute.code == barrier_count)
        kernel.barriers = attribute.value & 0xff;
    if (const Section* shared = elf_.find(".nv.shared." + kernel.name))
      kernel.shared_bytes =
          static_cast<std::uint32_t>(shared->size - std::min(shared->size, reserved_shared_bytes()));
  }

  /// Returns the bytes of shared memory that the system reserves in each block, and that the sections of
  /// linked code for sm_90 and later hold (CUDA's Programming Guide, "Shared Memory": 1 KB per block).
  std::uint64_t reserved_shared_bytes() const { return elf_.is_linked && elf_.architecture >= 90 ? 1024 : 0; }

  /// Returns the tables of branches that ptxas notes for each function: the branch's address, a zero, the
  /// number of targets, their addresses.
  IndirectTargets indirect_targets() const {
    IndirectTargets all;
    for (const Part& part : parts_) {
      const std::string name(elf_.sections[part.section].name.substr(text_prefix.size()));
      for (const Attribute& attribute : attributes_of(elf_, ".nv.info." + name)) {
        if (attribute.code != branch_targets)
          continue;
        for (ByteReader reader(attribute.bytes); !reader.at_end();) {
          const std::uint32_t branch = instruction_at(part, reader.u32());
          reader.u32();
          std::vector<std::uint32_t> targets;
          for (std::uint32_t left = reader.u32(); left > 0 && !reader.at_end(); --left)
            if (const std::uint32_t target = instruction_at(part, reader.u32()); target != none)
              targets.push_back(target);
          if (branch != none && !reader.failed())
            all[branch] = std::move(targets);
        }
      }
    }
    return all;
  }

  const Elf& elf_;
  CodeTable code_;
  LineRows rows_;
  // of the kernel
  std::vector<Part> parts_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> targets_; ///< instruction, its target
};

} // namespace

Expected<CodeTable> decode(std::span<const std::byte> cubin) {
  TRY_LET(elf, read_elf(cubin));
  return CubinDecoder(*elf).run();
}

} // namespace warplens::sass
