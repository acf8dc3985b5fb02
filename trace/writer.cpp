#include "trace/writer.h"

#include "trace/chunk_file.h"
#include "trace/metadata.h"

#include <map>
#include <set>

namespace warplens::trace {
namespace {

/// The type of a chunk of such records.
template <class Record> constexpr ChunkType type_of = ChunkType::index;
#define WARPLENS_TRACE_RECORD(type, number, Record, list)                                                    \
  template <> constexpr ChunkType type_of<Record> = ChunkType::type;
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD

/// Metadata chunks are written once they are this long, so that a flush has little to do.
constexpr std::size_t metadata_chunk_bytes = 1u << 20;

} // namespace

struct Writer::State {
  explicit State(ChunkOutput file) : output(std::move(file)) {}

  ChunkOutput output;
  Packer packer; ///< for everything but accesses
  std::set<std::uint32_t> begun;
  std::map<std::uint64_t, std::string_view> cubins; ///< of the launches so far, by id
  std::set<std::uint64_t> written_cubins;
  Bytes allocations;
  std::uint32_t allocation_count = 0;
  std::uint64_t metadata_bytes = 0, metadata_records = 0;
  std::vector<IndexEntry> index;
  Expected<void> result; ///< the first failure, kept for later calls

  Expected<void> write(ChunkType type, std::uint32_t launch, const PackedPayload& payload) {
    if (!result)
      return result;
    if (!output.is_open())
      return result = fail("the trace is closed already");
    const auto offset = output.write(type, launch, payload);
    if (!offset)
      return result = tl::unexpected(offset.error());
    index.push_back({type, launch, payload.records, *offset});
    return result;
  }

  Expected<void> write_metadata(ChunkType type, std::uint32_t launch, std::uint32_t records,
                                std::span<const Bytes> payload) {
    metadata_bytes += payload.front().size();
    metadata_records += records;
    if (result && (metadata_bytes > max_metadata_bytes || metadata_records > max_metadata_records))
      return result = fail("the trace is full: it can have {} MiB or {} of sites, allocations and launches",
                           max_metadata_bytes >> 20, max_metadata_records);
    const auto packed = packer.pack(records, payload);
    return packed ? write(type, launch, *packed) : result = tl::unexpected(packed.error());
  }

  Expected<void> write_allocations() {
    if (allocation_count == 0)
      return result;
    const auto written = write_metadata(ChunkType::allocations, 0, allocation_count, {&allocations, 1});
    allocations.clear();
    allocation_count = 0;
    return written;
  }

  /// Writes the pending allocations, then one record.
  template <class Record>
  Expected<void> write_record(ChunkType type, std::uint32_t launch, const Record& record) {
    TRY(write_allocations());
    Bytes payload;
    encode(payload, record);
    return write_metadata(type, launch, 1, {&payload, 1});
  }

  /// Writes the cubins of the launches so far that the trace does not have and that fit.
  Expected<void> write_cubins() {
    constexpr std::size_t record_bytes = 32; // more than a cubin's record takes beside the bytes
    for (const auto& [id, cubin] : cubins)
      if (const std::size_t bytes = cubin.size() + record_bytes;
          bytes <= max_chunk_bytes && metadata_bytes + bytes <= max_metadata_with_cubins &&
          written_cubins.insert(id).second)
        TRY(write_record(ChunkType::cubin, 0, Cubin{id, std::string(cubin)}));
    return result;
  }

  /// Writes the records in the necessary number of chunks.
  template <class Record> Expected<void> write_records(ChunkType type, std::span<const Record> records) {
    Bytes payload;
    std::uint32_t count = 0;
    for (const Record& record : records) {
      encode(payload, record);
      ++count;
      if (payload.size() < metadata_chunk_bytes && &record != &records.back())
        continue;
      if (auto written = write_metadata(type, 0, count, {&payload, 1}); !written)
        return written;
      payload.clear();
      count = 0;
    }
    return result;
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Writer::~Writer() {
  if (state_ && state_->output.is_open())
    (void)state_->write_allocations();
}

Expected<Writer> Writer::create(const std::filesystem::path& path, const Program& program) {
  TRY_LET(output, ChunkOutput::create(path));
  auto state = std::make_unique<State>(std::move(*output));
  TRY(state->write_record(ChunkType::program, 0, program));
  return Writer(std::move(state));
}

template <class Record> Expected<void> Writer::add(std::span<const Record> records) {
  return state_->write_records(type_of<Record>, records);
}

Expected<void> Writer::add_allocation(const Allocation& allocation) {
  encode(state_->allocations, allocation);
  ++state_->allocation_count;
  return state_->allocations.size() < metadata_chunk_bytes ? state_->result : state_->write_allocations();
}

Expected<void> Writer::begin_launch(const Launch& launch) {
  if (!state_->begun.insert(launch.id).second)
    return fail("launch {} begins twice in the trace", launch.id);
  for (const MachineCode& code : launch.machine_code)
    if (!code.cubin.empty())
      state_->cubins.emplace(code.cubin_id, code.cubin);
  return state_->write_record(ChunkType::launch, launch.id, launch);
}

Expected<void> Writer::append_chunk(std::uint32_t launch, const PackedPayload& accesses) {
  if (!state_->begun.count(launch))
    return fail("launch {} has accesses in the trace before it begins", launch);
  return state_->write(ChunkType::accesses, launch, accesses);
}

Expected<void> Writer::append_executed(std::uint32_t launch, const PackedPayload& executed) {
  if (!state_->begun.count(launch))
    return fail("launch {} executes machine code in the trace before it begins", launch);
  return state_->write(ChunkType::executed, launch, executed);
}

Expected<void> Writer::add_execution(const Execution& execution) {
  if (!state_->begun.count(execution.launch))
    return fail("launch {} executes machine code in the trace before it begins", execution.launch);
  return state_->write_record(ChunkType::execution, execution.launch, execution);
}

Expected<void> Writer::end_launch(const LaunchEnd& end) {
  if (!state_->begun.count(end.launch))
    return fail("launch {} ends in the trace before it begins", end.launch);
  TRY(state_->write_record(ChunkType::launch_end, end.launch, end));
  return state_->write_cubins();
}

Expected<void> Writer::flush() {
  return state_->write_allocations();
}

Expected<void> Writer::finish(std::span<const KernelLaunches> counts) {
  State& state = *state_;
  TRY(state.write_allocations());
  TRY(state.write_cubins());
  TRY(state.write_records(ChunkType::kernel_launches, counts));
  const std::vector<IndexEntry> index = state.index;
  TRY(state.write_records(ChunkType::index, std::span(index)));
  const std::uint64_t index_offset = state.index[index.size()].offset;
  if (auto written = state.output.write_trailer(index_offset); !written)
    return state.result = written;
  if (auto closed = state.output.close(); !closed)
    return state.result = closed;
  return {};
}

#define WARPLENS_TRACE_RECORD(type, number, Record, list)                                                    \
  template Expected<void> Writer::add(std::span<const Record>);
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD

} // namespace warplens::trace
