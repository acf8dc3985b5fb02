#include "trace/metadata.h"

#include <bit>

namespace warplens::trace {
namespace {

void put_dim3(Bytes& payload, const Dim3& dim) {
  for (std::uint32_t number : {dim.x, dim.y, dim.z})
    put_varint(payload, number);
}

Dim3 read_dim3(ByteReader& reader) {
  Dim3 dim;
  dim.x = reader.varint32();
  dim.y = reader.varint32();
  dim.z = reader.varint32();
  return dim;
}

void put_work(Bytes& payload, const LaunchWork& work) {
  put_varint(payload, work.accesses);
  put_varint(payload, work.lines);
}

LaunchWork read_work(ByteReader& reader) {
  LaunchWork work;
  work.accesses = reader.varint();
  work.lines = reader.varint();
  return work;
}

/// Reads an enumeration; returns false if the number is none of its values.
template <class Enumeration> bool read_enumeration(ByteReader& reader, Enumeration& value, Enumeration last) {
  const std::uint8_t number = reader.byte();
  value = static_cast<Enumeration>(number);
  return number <= static_cast<std::uint8_t>(last);
}

bool read(ByteReader& reader, Program& program) {
  program.name = reader.string();
  program.backend = reader.string();
  program.device = reader.string();
  return true;
}

bool read(ByteReader& reader, Site& site) {
  site.id = reader.fixed<std::uint64_t>();
  site.file = reader.string();
  site.line = reader.varint32();
  site.column = reader.varint32();
  site.expression = reader.string();
  const bool known = read_enumeration(reader, site.kind, AccessKind::mark) &&
                     read_enumeration(reader, site.space, Space::constant) &&
                     read_enumeration(reader, site.cache_operator, CacheOperator::async_cg);
  site.element_bytes = reader.varint32();
  site.sequence = reader.varint32();
  const std::uint64_t count = reader.varint();
  if (!known || count > reader.left() / sizeof(std::uint64_t))
    return false;
  for (std::uint64_t i = 0; i < count; ++i)
    site.depends_on.push_back(reader.fixed<std::uint64_t>());
  site.object = reader.string();
  site.macro = reader.string();
  site.in_template = reader.varint32() != 0;
  site.copies = reader.varint32();
  site.is_reduction = reader.varint32() != 0;
  const bool known_aggregation = read_enumeration(reader, site.aggregation, LaneAggregation::counted);
  site.is_floating = reader.varint32() != 0;
  site.last_line = reader.varint32();
  site.step = reader.varint32();
  site.waits = reader.varint32() != 0;
  return (site.copies != 0 && known_aggregation) || !reader.ok();
}

bool read(ByteReader& reader, Allocation& allocation) {
  allocation.address = reader.fixed<std::uint64_t>();
  allocation.bytes = reader.varint();
  allocation.label = reader.string();
  return true;
}

MachineCode read_machine_code(ByteReader& reader) {
  MachineCode code;
  for (std::uint32_t* field : {&code.capability, &code.architecture, &code.registers, &code.stack_bytes,
                               &code.spill_store_bytes, &code.spill_load_bytes, &code.shared_bytes})
    *field = reader.varint32();
  code.symbol = reader.string();
  code.cubin_id = reader.fixed<std::uint64_t>();
  return code;
}

bool read_window(ByteReader& reader, std::optional<AccessWindow>& window) {
  const std::uint64_t bytes = reader.varint();
  if (bytes == 0)
    return true;
  window.emplace().begin = reader.fixed<std::uint64_t>();
  window->end = window->begin + bytes;
  window->hit_ratio = std::bit_cast<double>(reader.fixed<std::uint64_t>());
  window->set_aside_bytes = reader.varint();
  return window->end > window->begin && window->hit_ratio >= 0 && window->hit_ratio <= 1;
}

void put_window(Bytes& payload, const std::optional<AccessWindow>& window) {
  put_varint(payload, window ? window->end - window->begin : 0);
  if (!window)
    return;
  put_fixed(payload, window->begin);
  put_fixed(payload, std::bit_cast<std::uint64_t>(window->hit_ratio));
  put_varint(payload, window->set_aside_bytes);
}

bool read(ByteReader& reader, Launch& launch) {
  launch.id = reader.varint32();
  launch.kernel = reader.string();
  launch.symbol = reader.string();
  launch.grid = read_dim3(reader);
  launch.block = read_dim3(reader);
  launch.static_shared_bytes = reader.varint32();
  launch.dynamic_shared_bytes = reader.varint32();
  launch.registers_per_thread = reader.varint32();
  launch.first_block = reader.varint();
  launch.blocks = reader.varint();
  const std::uint64_t count = reader.varint();
  if (count > reader.left())
    return false;
  for (std::uint64_t i = 0; i < count; ++i)
    launch.machine_code.push_back(read_machine_code(reader));
  return read_window(reader, launch.window) || !reader.ok();
}

bool read(ByteReader& reader, LaunchEnd& end) {
  end.launch = reader.varint32();
  const std::uint8_t complete = reader.byte();
  end.complete = complete == 1;
  end.executed_accesses = reader.varint();
  end.probed_accesses = reader.varint();
  end.blocks = reader.varint();
  const std::uint64_t count = reader.varint();
  if (count > reader.left())
    return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    BlockWindow& window = end.windows.emplace_back();
    window.first = reader.varint();
    window.blocks = reader.varint();
    window.stands_for = reader.varint();
  }
  end.work = read_work(reader);
  const std::uint8_t leaves_out = reader.byte();
  end.leaves_out = leaves_out == 1;
  return complete <= 1 && leaves_out <= 1;
}

bool read(ByteReader& reader, KernelLaunches& launches) {
  launches.kernel = reader.string();
  launches.symbol = reader.string();
  launches.launches = reader.varint();
  launches.grid = read_dim3(reader);
  launches.block = read_dim3(reader);
  launches.dynamic_shared_bytes = reader.varint32();
  launches.work = read_work(reader);
  return true;
}

bool read(ByteReader& reader, IndexEntry& entry) {
  entry.type = static_cast<ChunkType>(reader.varint32());
  entry.launch = reader.varint32();
  entry.records = reader.varint32();
  entry.offset = reader.varint();
  return true;
}

bool read(ByteReader& reader, Execution& execution) {
  execution.launch = reader.varint32();
  execution.capability = reader.varint32();
  const std::uint64_t count = reader.varint();
  if (count > reader.left())
    return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    Execution::Section& section = execution.sections.emplace_back();
    section.name = reader.string();
    section.begin = reader.varint32();
    section.end = reader.varint32();
    if (section.begin > section.end || section.end > max_executed_instructions)
      return false;
  }
  execution.failure = reader.string();
  for (std::uint64_t* number : {&execution.blocks, &execution.warp_instructions, &execution.words,
                                &execution.different_words, &execution.different_atomics})
    *number = reader.varint();
  execution.largest_difference = std::bit_cast<double>(reader.fixed<std::uint64_t>());
  return true;
}

bool read(ByteReader& reader, Cubin& cubin) {
  cubin.id = reader.fixed<std::uint64_t>();
  cubin.bytes = reader.string();
  return cubin.id != 0 || !reader.ok();
}

/// Reads a memory use; refuses addresses that no address space has.
bool read(ByteReader& reader, MemoryUse& use) {
  use.launch = reader.varint32();
  const bool known = read_enumeration(reader, use.kind, MemoryUse::Kind::unseen);
  use.address = reader.varint();
  use.row_bytes = reader.varint();
  use.pitch = reader.varint();
  use.rows = reader.varint();
  use.what = reader.string();
  if (!known || use.rows == 0 || use.row_bytes == 0)
    return known && use.rows == 0 && use.row_bytes == 0;
  std::uint64_t last_row = 0, end = 0;
  return !__builtin_mul_overflow(use.pitch, use.rows - 1, &last_row) &&
         !__builtin_add_overflow(last_row, use.row_bytes, &end) &&
         !__builtin_add_overflow(end, use.address, &end) && (use.rows == 1 || use.pitch >= use.row_bytes);
}

} // namespace

void encode(Bytes& payload, const Program& program) {
  put_string(payload, program.name);
  put_string(payload, program.backend);
  put_string(payload, program.device);
}

void encode(Bytes& payload, const Site& site) {
  put_fixed(payload, site.id);
  put_string(payload, site.file);
  put_varint(payload, site.line);
  put_varint(payload, site.column);
  put_string(payload, site.expression);
  payload.push_back(static_cast<std::uint8_t>(site.kind));
  payload.push_back(static_cast<std::uint8_t>(site.space));
  payload.push_back(static_cast<std::uint8_t>(site.cache_operator));
  put_varint(payload, site.element_bytes);
  put_varint(payload, site.sequence);
  put_varint(payload, site.depends_on.size());
  for (const std::uint64_t id : site.depends_on)
    put_fixed(payload, id);
  put_string(payload, site.object);
  put_string(payload, site.macro);
  put_varint(payload, site.in_template ? 1 : 0);
  put_varint(payload, site.copies);
  put_varint(payload, site.is_reduction ? 1 : 0);
  payload.push_back(static_cast<std::uint8_t>(site.aggregation));
  put_varint(payload, site.is_floating ? 1 : 0);
  put_varint(payload, site.last_line);
  put_varint(payload, site.step);
  put_varint(payload, site.waits ? 1 : 0);
}

void encode(Bytes& payload, const Allocation& allocation) {
  put_fixed(payload, allocation.address);
  put_varint(payload, allocation.bytes);
  put_string(payload, allocation.label);
}

void encode(Bytes& payload, const Launch& launch) {
  put_varint(payload, launch.id);
  put_string(payload, launch.kernel);
  put_string(payload, launch.symbol);
  put_dim3(payload, launch.grid);
  put_dim3(payload, launch.block);
  put_varint(payload, launch.static_shared_bytes);
  put_varint(payload, launch.dynamic_shared_bytes);
  put_varint(payload, launch.registers_per_thread);
  put_varint(payload, launch.first_block);
  put_varint(payload, launch.blocks);
  put_varint(payload, launch.machine_code.size());
  for (const MachineCode& code : launch.machine_code) {
    for (const std::uint32_t field : {code.capability, code.architecture, code.registers, code.stack_bytes,
                                      code.spill_store_bytes, code.spill_load_bytes, code.shared_bytes})
      put_varint(payload, field);
    put_string(payload, code.symbol);
    put_fixed(payload, code.cubin_id);
  }
  put_window(payload, launch.window);
}

void encode(Bytes& payload, const LaunchEnd& end) {
  put_varint(payload, end.launch);
  payload.push_back(end.complete);
  put_varint(payload, end.executed_accesses);
  put_varint(payload, end.probed_accesses);
  put_varint(payload, end.blocks);
  put_varint(payload, end.windows.size());
  for (const BlockWindow& window : end.windows)
    for (const std::uint64_t number : {window.first, window.blocks, window.stands_for})
      put_varint(payload, number);
  put_work(payload, end.work);
  payload.push_back(end.leaves_out);
}

void encode(Bytes& payload, const KernelLaunches& launches) {
  put_string(payload, launches.kernel);
  put_string(payload, launches.symbol);
  put_varint(payload, launches.launches);
  put_dim3(payload, launches.grid);
  put_dim3(payload, launches.block);
  put_varint(payload, launches.dynamic_shared_bytes);
  put_work(payload, launches.work);
}

void encode(Bytes& payload, const IndexEntry& entry) {
  put_varint(payload, static_cast<std::uint32_t>(entry.type));
  put_varint(payload, entry.launch);
  put_varint(payload, entry.records);
  put_varint(payload, entry.offset);
}

void encode(Bytes& payload, const MemoryUse& use) {
  put_varint(payload, use.launch);
  payload.push_back(static_cast<std::uint8_t>(use.kind));
  put_varint(payload, use.address);
  put_varint(payload, use.row_bytes);
  put_varint(payload, use.pitch);
  put_varint(payload, use.rows);
  put_string(payload, use.what);
}

void encode(Bytes& payload, const Execution& execution) {
  put_varint(payload, execution.launch);
  put_varint(payload, execution.capability);
  put_varint(payload, execution.sections.size());
  for (const Execution::Section& section : execution.sections) {
    put_string(payload, section.name);
    put_varint(payload, section.begin);
    put_varint(payload, section.end);
  }
  put_string(payload, execution.failure);
  for (const std::uint64_t number : {execution.blocks, execution.warp_instructions, execution.words,
                                     execution.different_words, execution.different_atomics})
    put_varint(payload, number);
  put_fixed(payload, std::bit_cast<std::uint64_t>(execution.largest_difference));
}

void encode(Bytes& payload, const Cubin& cubin) {
  put_fixed(payload, cubin.id);
  put_string(payload, cubin.bytes);
}

template <class Record>
Expected<void> decode(std::span<const std::uint8_t> payload, std::uint32_t count,
                      std::vector<Record>& records) {
  ByteReader reader(payload);
  for (std::uint32_t i = 0; i < count; ++i) {
    Record record;
    if (!read(reader, record))
      return fail("record {} of a chunk has an impossible value", i);
    if (!reader.ok())
      return fail("a chunk states {} records and ends within record {}", count, i);
    records.push_back(std::move(record));
  }
  if (!reader.at_end())
    return fail("a chunk goes on behind its last record");
  return {};
}

#define WARPLENS_TRACE_RECORD(type, number, Record, list)                                                    \
  template Expected<void> decode(std::span<const std::uint8_t>, std::uint32_t, std::vector<Record>&);
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
template Expected<void> decode(std::span<const std::uint8_t>, std::uint32_t, std::vector<IndexEntry>&);

} // namespace warplens::trace
