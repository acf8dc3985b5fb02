#include "trace/reader.h"

#include "trace/access_codec.h"
#include "trace/chunk_file.h"
#include "trace/metadata.h"

#include <map>
#include <set>

namespace warplens::trace {

struct Reader::State : RecordLists {
  explicit State(ChunkInput file) : input(std::move(file)) {}

  ChunkInput input;
  bool truncated = false;
  std::vector<IndexEntry> access_chunks, executed_chunks;
  std::set<std::uint32_t> launch_ids, ended_launches;
  std::uint64_t metadata_bytes = 0, metadata_records = 0;

  Expected<void> load_from_index(std::uint64_t index_offset);
  Expected<void> load_by_scanning();
  Expected<void> load_chunk(std::uint64_t offset, const ChunkHeader& header);
  Expected<void> check_launches(std::uint64_t offset, const ChunkHeader& header);
  Expected<void> check_memory_uses(std::uint64_t offset, const ChunkHeader& header);
  /// Lets the launches' machine codes refer to their cubins.
  void find_cubins();
  /// Returns a payload that is kept; there is a bound on all of them together.
  Expected<Bytes> metadata_at(std::uint64_t offset, const ChunkHeader& header);
};

namespace {

std::uint64_t end_of_chunk(std::uint64_t offset, const ChunkHeader& header) {
  return offset + chunk_header_bytes + header.stored_bytes;
}

} // namespace

Expected<Bytes> Reader::State::metadata_at(std::uint64_t offset, const ChunkHeader& header) {
  metadata_bytes += header.raw_bytes;
  metadata_records += header.records;
  if (metadata_bytes > max_metadata_bytes || metadata_records > max_metadata_records)
    return input.damage(offset, "more sites, allocations and launches than can be");
  return input.payload_at(offset, header);
}

Expected<void> Reader::State::load_chunk(std::uint64_t offset, const ChunkHeader& header) {
  if (programs.empty() != (header.type == ChunkType::program))
    return input.damage(offset, "it names no program at its start, or several");
  if (header.type == ChunkType::accesses || header.type == ChunkType::executed) {
    if (!launch_ids.count(header.launch))
      return input.damage(offset, fmt::format("accesses of launch {}, which did not begin", header.launch));
    (header.type == ChunkType::accesses ? access_chunks : executed_chunks)
        .push_back({header.type, header.launch, header.records, offset});
    return {};
  }
  TRY_LET(payload, metadata_at(offset, header));
  auto into = [&](auto& records) -> Expected<void> {
    if (auto decoded = decode(*payload, header.records, records); !decoded)
      return input.damage(offset, decoded.error().message);
    return {};
  };
  Expected<void> loaded;
  switch (header.type) {
#define WARPLENS_TRACE_RECORD(type, number, Record, list)                                                    \
  case ChunkType::type: loaded = into(list); break;
#include "trace/records.def"
#undef WARPLENS_TRACE_RECORD
  case ChunkType::accesses:
  case ChunkType::executed:
  case ChunkType::index: break;
  }
  if (!loaded)
    return loaded;
  if (header.type == ChunkType::memory_uses)
    return check_memory_uses(offset, header);
  if (header.type == ChunkType::execution && !launch_ids.count(executions.back().launch))
    return input.damage(offset, "a launch that did not begin executes machine code");
  return check_launches(offset, header);
}

/// Checks that memory uses stand before their launch, and so in the launches' order.
Expected<void> Reader::State::check_memory_uses(std::uint64_t offset, const ChunkHeader& header) {
  for (auto use = memory_uses.end() - header.records; use != memory_uses.end(); ++use)
    if (launch_ids.count(use->launch) || (use != memory_uses.begin() && use->launch < (use - 1)->launch))
      return input.damage(offset, fmt::format("memory used before launch {} comes too late", use->launch));
  return {};
}

Expected<void> Reader::State::check_launches(std::uint64_t offset, const ChunkHeader& header) {
  if (header.type == ChunkType::launch &&
      (header.records != 1 || !launch_ids.insert(launches.back().id).second))
    return input.damage(offset, "a launch begins twice");
  if (header.type == ChunkType::launch_end) {
    if (header.records != 1 || !launch_ids.count(launch_ends.back().launch))
      return input.damage(offset, "a launch ends that did not begin");
    if (!ended_launches.insert(launch_ends.back().launch).second)
      return input.damage(offset, "a launch ends twice");
  }
  return {};
}

void Reader::State::find_cubins() {
  std::map<std::uint64_t, std::string_view> by_id;
  for (const Cubin& cubin : cubins)
    by_id.emplace(cubin.id, cubin.bytes);
  for (Launch& launch : launches)
    for (MachineCode& code : launch.machine_code)
      if (const auto found = by_id.find(code.cubin_id); found != by_id.end())
        code.cubin = found->second;
}

Expected<void> Reader::State::load_from_index(std::uint64_t index_offset) {
  std::vector<IndexEntry> index;
  for (std::uint64_t offset = index_offset; !input.is_trailer(offset);) {
    TRY_LET(header, input.header_at(offset));
    if (header->type != ChunkType::index)
      return input.damage(offset, "there is no index where the trailer says");
    TRY_LET(payload, metadata_at(offset, *header));
    if (auto decoded = decode(*payload, header->records, index); !decoded)
      return input.damage(offset, decoded.error().message);
    offset = end_of_chunk(offset, *header);
  }
  std::uint64_t expected_offset = file_header_bytes;
  for (const IndexEntry& entry : index) {
    if (entry.offset != expected_offset)
      return input.damage(entry.offset, "the index does not name every chunk");
    TRY_LET(header, input.header_at(entry.offset));
    if (header->type != entry.type || header->launch != entry.launch || header->records != entry.records ||
        end_of_chunk(entry.offset, *header) > index_offset)
      return input.damage(entry.offset, "a chunk is not what the index says");
    TRY(load_chunk(entry.offset, *header));
    expected_offset = end_of_chunk(entry.offset, *header);
  }
  if (expected_offset != index_offset)
    return input.damage(expected_offset, "the index does not name every chunk");
  return {};
}

Expected<void> Reader::State::load_by_scanning() {
  truncated = true;
  bool whole = false;
  std::uint64_t offset = file_header_bytes;
  while (input.size() - offset >= chunk_header_bytes) {
    TRY_LET(header, input.header_at(offset));
    if (!input.is_complete(offset, *header))
      break;
    // A kill leaves a chunk whole or short. Accesses are checked here too: only their headers count them.
    if (header->type == ChunkType::accesses || header->type == ChunkType::executed)
      TRY(input.payload_at(offset, *header));
    TRY(load_chunk(offset, *header));
    offset = end_of_chunk(offset, *header);
    whole = header->type == ChunkType::index && input.size() - offset == trailer_bytes;
  }
  if (whole)
    return input.damage(offset, "there is no trailer behind the index");
  if (programs.empty())
    return input.cut_short();
  return {};
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Expected<Reader> Reader::open(const std::filesystem::path& path) {
  TRY_LET(input, ChunkInput::open(path));
  auto state = std::make_unique<State>(std::move(*input));
  TRY_LET(index, state->input.index_offset());
  TRY(*index ? state->load_from_index(*index) : state->load_by_scanning());
  if (state->programs.size() != 1)
    return state->input.damage(file_header_bytes, "it names no program at its start, or several");
  state->find_cubins();
  return Reader(std::move(state));
}

bool Reader::truncated() const {
  return state_->truncated;
}
const Program& Reader::program() const {
  return state_->programs.front();
}
const std::vector<Site>& Reader::sites() const {
  return state_->sites;
}
const std::vector<Launch>& Reader::launches() const {
  return state_->launches;
}
const RecordLists& Reader::records() const {
  return *state_;
}

std::optional<LaunchEnd> Reader::end_of(std::uint32_t launch) const {
  for (const LaunchEnd& end : state_->launch_ends)
    if (end.launch == launch)
      return end;
  return std::nullopt;
}

std::uint64_t Reader::access_count(std::uint32_t launch) const {
  std::uint64_t count = 0;
  for (const IndexEntry& chunk : state_->access_chunks)
    if (chunk.launch == launch)
      count += chunk.records;
  return count;
}

std::uint64_t Reader::file_bytes() const {
  return state_->input.size();
}

Expected<void> Reader::for_each_access(std::uint32_t launch, const Visit& visit) const {
  AccessDecoder decoder;
  for (const IndexEntry& chunk : state_->access_chunks) {
    if (chunk.launch != launch)
      continue;
    TRY_LET(header, state_->input.header_at(chunk.offset));
    TRY_LET(payload, state_->input.payload_at(chunk.offset, *header));
    if (auto decoded = decoder.decode(*payload, header->records, visit); !decoded)
      return state_->input.damage(chunk.offset, decoded.error().message);
  }
  return {};
}

const Execution* Reader::execution_of(std::uint32_t launch, std::uint32_t capability) const {
  for (const Execution& execution : state_->executions)
    if (execution.launch == launch && execution.capability == capability)
      return &execution;
  return nullptr;
}

Expected<void> Reader::for_each_executed(std::uint32_t launch, std::uint32_t capability,
                                         const VisitRuns& visit_runs, const Visit& visit_access) const {
  ExecutedDecoder decoder;
  for (const IndexEntry& chunk : state_->executed_chunks) {
    if (chunk.launch != launch)
      continue;
    TRY_LET(header, state_->input.header_at(chunk.offset));
    TRY_LET(payload, state_->input.payload_at(chunk.offset, *header));
    TRY_LET(of, ExecutedDecoder::capability_of(*payload));
    if (*of != capability)
      continue;
    if (auto decoded = decoder.decode(*payload, visit_runs, visit_access); !decoded)
      return state_->input.damage(chunk.offset, decoded.error().message);
  }
  return {};
}

} // namespace warplens::trace
