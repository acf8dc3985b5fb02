#include "sass/lines.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace warplens::sass {
namespace {

// Standard opcodes (DWARF 2, "Line Number Information").
enum : std::uint8_t {
  extended = 0,
  copy = 1,
  advance_pc = 2,
  advance_line = 3,
  set_file = 4,
  constant_add_pc = 8,
  fixed_advance_pc = 9,
};
// Extended opcodes; the last is NVIDIA's (elfutils' dwarf.h: DW_LNE_NVIDIA_inlined_call).
enum : std::uint8_t { end_sequence = 1, set_address = 2, inlined_call = 0x90 };

/// Reads the units of the section, one after the other.
class LineReader {
public:
  LineReader(const Elf& elf, CodeTable& code) : elf_(elf), code_(code) {
    if (const Section* strings = elf.find(".debug_str"))
      strings_ = strings->bytes;
    for (const Relocation& relocation : elf.relocations_of(".debug_line"))
      if (relocation.symbol < elf.symbols.size())
        relocations_.emplace(relocation.offset, relocation);
  }

  Expected<LineRows> read(Bytes section) {
    for (ByteReader units(section); !units.at_end();) {
      const std::uint32_t length = units.u32();
      const std::size_t begin = units.position();
      const Bytes unit = units.take(length);
      if (units.failed())
        return fail("a unit of the cubin's .debug_line is not inside it");
      TRY(read_unit(unit, begin));
    }
    std::ranges::stable_sort(rows_, {},
                             [](const LineRow& row) { return std::tuple(row.section, row.address); });
    return std::move(rows_);
  }

private:
  struct State {
    std::uint32_t section = none;
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::int64_t line = 1;
    std::uint64_t context = 0;  ///< the row of the call that the code is inlined at, from 1 in its sequence
    std::uint64_t function = 0; ///< its name's offset
  };

  Expected<void> read_unit(Bytes unit, std::size_t begin) {
    ByteReader header(unit);
    const std::uint16_t version = header.u16();
    const std::uint32_t header_bytes = header.u32();
    const std::size_t program_at = header.position() + std::size_t{header_bytes};
    minimum_length_ = header.u8();
    header.u8(); // whether rows are statements at first
    line_base_ = static_cast<std::int8_t>(header.u8());
    line_range_ = header.u8();
    opcode_base_ = header.u8();
    if (header.failed() || version < 2 || version > 3 || line_range_ == 0 || opcode_base_ == 0 ||
        program_at > unit.size())
      return fail("a unit of the cubin's .debug_line has a header that is not understood");
    arguments_.assign(std::size_t{opcode_base_} - 1, 0);
    for (std::uint8_t& count : arguments_)
      count = header.u8();
    read_files(header);
    if (header.failed())
      return fail("the table of files of the cubin's .debug_line does not end");
    sequence_rows_.clear();
    ByteReader program(unit, program_at);
    for (State state; !program.at_end();)
      step(program, state, begin);
    if (program.failed())
      return fail("the program of the cubin's .debug_line does not end");
    return {};
  }

  void read_files(ByteReader& header) {
    std::vector<std::string_view> folders{""};
    for (std::string_view folder = header.text(); !folder.empty(); folder = header.text())
      folders.push_back(folder);
    files_.clear();
    for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
      const std::uint64_t folder = header.unsigned_leb128();
      header.unsigned_leb128(); // time
      header.unsigned_leb128(); // size
      std::string path(name);
      if (!name.starts_with('/') && folder < folders.size() && folder != 0)
        path = std::string(folders[static_cast<std::size_t>(folder)]) + "/" + path;
      files_.push_back(index_of(path, file_ids_, code_.files));
    }
  }

  void step(ByteReader& program, State& state, std::size_t unit_begin) {
    const std::uint8_t opcode = program.u8();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = static_cast<unsigned>(opcode - opcode_base_);
      advance(state, adjusted / line_range_);
      add_line(state, line_base_ + static_cast<int>(adjusted % line_range_));
      append(state);
      return;
    }
    switch (opcode) {
    case extended: step_extended(program, state, unit_begin); break;
    case copy: append(state); break;
    case advance_pc: advance(state, program.unsigned_leb128()); break;
    case advance_line: add_line(state, program.signed_leb128()); break;
    case set_file: state.file = program.unsigned_leb128(); break;
    case constant_add_pc: advance(state, (255u - opcode_base_) / line_range_); break;
    case fixed_advance_pc: state.address += program.u16(); break;
    default: // of no use here
      for (std::uint8_t i = 0; i < arguments_[std::size_t{opcode} - 1]; ++i)
        program.unsigned_leb128();
    }
  }

  void step_extended(ByteReader& program, State& state, std::size_t unit_begin) {
    const std::uint64_t size = program.unsigned_leb128(); // 0: padding
    const std::size_t operands_at = unit_begin + program.position() + 1;
    ByteReader operands(program.take(size));
    if (operands.at_end())
      return;
    switch (operands.u8()) {
    case end_sequence:
      rows_.push_back({state.section, state.address, none});
      sequence_rows_.clear();
      state = {};
      break;
    case set_address: set_section(state, operands.u64(), operands_at); break;
    case inlined_call:
      state.context = operands.unsigned_leb128();
      state.function = operands.unsigned_leb128();
      break;
    default: break;
    }
  }

  /// Takes the section from the relocation of the address, whose operand is at `at` in .debug_line.
  void set_section(State& state, std::uint64_t value, std::size_t at) {
    state.address = value;
    const auto found = relocations_.find(at);
    if (found == relocations_.end())
      return;
    const Symbol& symbol = elf_.symbols[found->second.symbol];
    state.section = symbol.section;
    state.address += symbol.value + found->second.addend;
  }

  void advance(State& state, std::uint64_t units) const { state.address += units * minimum_length_; }

  /// Adds to the line; a sum that is no line stands for none.
  static void add_line(State& state, std::int64_t lines) {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
    state.line = std::clamp(state.line + std::clamp(lines, -limit, limit), -limit, limit);
  }

  void append(const State& state) {
    Position position;
    position.file = state.file >= 1 && state.file <= files_.size()
                        ? files_[static_cast<std::size_t>(state.file - 1)]
                        : none;
    position.line = static_cast<std::uint32_t>(std::max<std::int64_t>(state.line, 0));
    if (state.context >= 1 && state.context <= sequence_rows_.size()) {
      position.inlined_at = sequence_rows_[static_cast<std::size_t>(state.context - 1)];
      position.function =
          index_of(std::string(text_at(strings_, state.function)), function_ids_, code_.inlined_functions);
    }
    const std::uint32_t id = position.file == none ? none : id_of(position);
    sequence_rows_.push_back(id);
    rows_.push_back({state.section, state.address, id});
  }

  std::uint32_t id_of(const Position& position) {
    const auto [found, added] = position_ids_.emplace(
        std::tuple(position.file, position.line, position.inlined_at, position.function),
        static_cast<std::uint32_t>(code_.positions.size()));
    if (added)
      code_.positions.push_back(position);
    return found->second;
  }

  static std::uint32_t index_of(const std::string& text, std::unordered_map<std::string, std::uint32_t>& ids,
                                std::vector<std::string>& all) {
    const auto [found, added] = ids.emplace(text, static_cast<std::uint32_t>(all.size()));
    if (added)
      all.push_back(text);
    return found->second;
  }

  const Elf& elf_;
  CodeTable& code_;
  Bytes strings_;
  std::map<std::uint64_t, Relocation> relocations_;
  LineRows rows_;
  std::unordered_map<std::string, std::uint32_t> file_ids_, function_ids_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      position_ids_;

  // of the unit
  unsigned minimum_length_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<std::uint8_t> arguments_;
  std::vector<std::uint32_t> files_;
  std::vector<std::uint32_t> sequence_rows_; ///< the positions of the sequence's rows so far
};

} // namespace

Expected<LineRows> read_lines(const Elf& elf, CodeTable& code) {
  const Section* section = elf.find(".debug_line");
  if (!section)
    return LineRows();
  return LineReader(elf, code).read(section->bytes);
}

std::uint32_t position_at(const LineRows& rows, std::uint32_t section, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(rows, std::tuple(section, address), {}, [](const LineRow& row) {
    return std::tuple(row.section, row.address);
  });
  if (after == rows.begin() || std::prev(after)->section != section)
    return none;
  return std::prev(after)->position;
}

} // namespace warplens::sass
