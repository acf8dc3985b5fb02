#include "model/gpu/parameters.h"

#include "model/gpu/execution_pipes.h"
#include "model/gpu/toml_figures.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <utility>

namespace warplens::model {
namespace {

constexpr double any_latency = 100'000;
constexpr double any_rate = 1'000'000, min_rate = 0.001; // per ns
constexpr std::uint32_t any_cycles = 1'000, any_sms = 1'024, any_lanes = 1'024;
constexpr std::uint32_t any_cache = 1u << 24;
constexpr const char *bytes = "bytes", *cycles = "cycles", *ns = "ns", *number = "";

/// The condition of a parameter that may be left out: the file has its key.
Condition if_given(std::string key) {
  return [key = std::move(key)](const TomlFigures& figures, const Gpu&) { return figures.has_key(key); };
}

/// Makes a list of rows; a row that shares the meaning of the next one has none.
class Rows {
public:
  template <class Number>
  void add(std::string path, const char* unit, Number low, Number high, Member<Number> member,
           std::string meaning, Condition is_needed = nullptr) {
    add_row({std::move(path), unit, InRange<Number>{low, high, std::move(member)}, std::move(meaning),
             std::move(is_needed)});
  }
  void whole(std::string path, const char* unit, std::uint32_t low, std::uint32_t high,
             Member<std::uint32_t> member, std::string meaning = "", Condition is_needed = nullptr) {
    add<std::uint32_t>(std::move(path), unit, low, high, std::move(member), std::move(meaning),
                       std::move(is_needed));
  }
  void size(std::string path, std::uint64_t low, std::uint64_t high, Member<std::uint64_t> member,
            std::string meaning = "") {
    add<std::uint64_t>(std::move(path), bytes, low, high, std::move(member), std::move(meaning));
  }
  void real(std::string path, const char* unit, double low, double high, Member<double> member,
            std::string meaning = "", Condition is_needed = nullptr) {
    add<double>(std::move(path), unit, low, high, std::move(member), std::move(meaning),
                std::move(is_needed));
  }
  void flag(std::string path, Member<bool> member, std::string meaning, Condition is_needed = nullptr) {
    add_row({std::move(path), number, Flag{std::move(member)}, std::move(meaning), std::move(is_needed)});
  }
  /// `set` gets the enumerator of the word's number.
  template <class Enumeration>
  void word(std::string path, std::vector<std::string> words, Member<Enumeration> member,
            std::string meaning = "", Condition is_needed = nullptr) {
    const auto set = [member = std::move(member)](Gpu& gpu, std::size_t index) {
      member(gpu) = static_cast<Enumeration>(index);
    };
    add_row({std::move(path), number, Word{std::move(words), set}, std::move(meaning), std::move(is_needed)});
  }
  void add_row(Parameter row) { rows_.push_back(std::move(row)); }
  std::vector<Parameter> take() { return std::move(rows_); }

private:
  std::vector<Parameter> rows_;
};

// A member by its path in Gpu.
#define WARPLENS_MEMBER(path) [](Gpu& gpu) -> auto& { return gpu.path; }

template <Named Enumeration> std::vector<std::string> words_of() {
  return {names_of<Enumeration>.begin(), names_of<Enumeration>.end()};
}

const std::vector<std::string> index_words{"modulo", "xor_fold"};
const std::vector<std::string> dram_index_words{"modulo", "permuted"};

/// Refuses other policies.
Parameter replacement(std::string path, std::string meaning) {
  return {std::move(path), number, Word{{"lru"}, [](Gpu&, std::size_t) {}}, std::move(meaning)};
}

void add_sm(Rows& rows) {
  rows.real("sm.compute_capability", number, 1, 99.9, WARPLENS_MEMBER(compute_capability),
            "selects which of the architectures in a command is compiled for the CPU back end; also what the "
            "program sees, unless its kernels were compiled for a newer one");
  rows.real("sm.clock_mhz", "MHz", 1, 10'000, WARPLENS_MEMBER(clock_mhz),
            "the SM clock at which the latencies were measured; on the CPU back end also the clock that the "
            "program sees");
  rows.whole("sm.count", number, 1, any_sms, WARPLENS_MEMBER(sms),
             "streaming multiprocessors that are switched on");
  rows.whole("sm.max_threads", number, warp_lanes, 8192, WARPLENS_MEMBER(max_threads_per_sm));
  rows.whole("sm.max_blocks", number, 1, 256, WARPLENS_MEMBER(max_blocks_per_sm),
             "resident at once on one SM");
  rows.whole("sm.max_threads_per_block", number, warp_lanes, 8192, WARPLENS_MEMBER(max_threads_per_block),
             "a launch with more is refused");
  rows.whole("sm.coalesced_bytes", bytes, sector_bytes, 512, WARPLENS_MEMBER(lanes.coalesced_bytes),
             "lanes that together request this many bytes are coalesced; a wider access is several requests "
             "(128 on Fermi and Kepler: half-warps of 8 bytes, quarter-warps of 16; 32 on Maxwell and "
             "Pascal; 512 is a whole warp of any width)");
}

void add_schedule(Rows& rows) {
  rows.word<BlockPlacement>("schedule.placement", block_placements(), WARPLENS_MEMBER(schedule.placement),
                            "without a clock: how blocks are assigned to SMs");
  rows.word<BlockStart>("schedule.start", block_starts(), WARPLENS_MEMBER(schedule.start),
                        "without a clock: how the first blocks of an SM are shifted against each other "
                        "([scheduling.md](scheduling.md))");
}

void add_issue(Rows& rows) {
  rows.whole("issue.schedulers", number, 1, 64, WARPLENS_MEMBER(issue.schedulers),
             "warp schedulers of an SM, each of which issues one instruction per cycle at most; a scheduler "
             "has at most 64 of the warps of `sm.max_threads`");
  rows.word<IssuePolicy>("issue.policy", words_of<IssuePolicy>(), WARPLENS_MEMBER(issue.policy),
                         "the order in which a scheduler looks for a warp that can issue: [a word of "
                         "`--schedule`](scheduling.md#on-a-clock)");
  rows.whole("issue.cycles_per_access", cycles, 0, any_cycles, WARPLENS_MEMBER(issue.cycles_per_access),
             "between two accesses of a warp, for the instructions between them, which are not known");
  rows.whole("issue.barrier_cycles", cycles, 0, any_cycles, WARPLENS_MEMBER(issue.barrier_cycles));
  rows.whole("issue.barrier_interval", cycles, 0, any_cycles, WARPLENS_MEMBER(issue.barrier_interval),
             "from the arrival of a block's last warp at a barrier to the release; between the arrivals of "
             "two warps of an SM");
  rows.whole("issue.turnover_cycles", cycles, 0, 100 * any_cycles, WARPLENS_MEMBER(issue.turnover_cycles),
             "from the end of a block, when its last stores have left the SM's memory pipeline, to the first "
             "instruction of the next one in its place");
  rows.real("issue.launch_ns", ns, 0, any_latency, WARPLENS_MEMBER(issue.launch_ns),
            "what any launch takes, also one that does nothing: until its first block begins, and from the "
            "end of its last one on");
}

ExecutionPipes& pipes_of(Gpu& gpu) {
  return gpu.pipes ? *gpu.pipes : gpu.pipes.emplace();
}

void add_pipes(Rows& rows) {
  const Condition has_pipes = [](const TomlFigures& figures, const Gpu&) { return figures.has("pipes"); };
  const auto add = [&](std::string path, const char* unit, std::uint32_t high,
                       std::uint32_t ExecutionPipes::* member, std::string meaning) {
    if (member != nullptr)
      rows.whole(
          "pipes." + std::move(path), unit, 1, high,
          [member](Gpu& gpu) -> std::uint32_t& { return pipes_of(gpu).*member; }, std::move(meaning),
          has_pipes);
  };
  std::string before = "results of all of an SM's pipes of a kind: ",
              after = "; a file without `[pipes]` is of a GPU for which no compiler makes machine code, of "
                      "which only accesses "
                      "are modelled";
  for (const ExecutionPipe& pipe : execution_pipes)
    add(std::string(pipe.name), "per cycle", any_lanes, pipe.results,
        std::exchange(before, "likewise: ") + std::string(pipe.meaning) + std::exchange(after, ""));
  rows.flag(
      "pipes.multiply_add_in_fp32", [](Gpu& gpu) -> bool& { return pipes_of(gpu).multiply_add_in_fp32; },
      "whether integer products take the pipes of single precision", has_pipes);
  const auto first_with = [](std::uint32_t ExecutionPipes::* latency) {
    return std::ranges::find(execution_pipes, latency, &ExecutionPipe::latency);
  };
  for (const ExecutionPipe& pipe : execution_pipes) {
    if (&pipe == first_with(pipe.latency)) // two pipes may share one
      add(std::string(pipe.name) + "_cycles", cycles, any_cycles, pipe.latency,
          "from the issue to the result, where compilers do not schedule by a fixed time: " +
              std::string(pipe.meaning));
    add(std::string(pipe.name) + "_cycles", cycles, any_cycles, pipe.interval,
        "between two instructions of a scheduler for " + std::string(pipe.meaning));
  }
  rows.flag(
      "pipes.tensor_singles_halved", [](Gpu& gpu) -> bool& { return pipes_of(gpu).tensor_singles_halved; },
      "whether matrix products with sums of single precision take twice as long, as NVIDIA's GPUs for games "
      "do; may be left out: `false`",
      if_given("pipes.tensor_singles_halved"));
  rows.whole(
      "pipes.tensor_result_cycles", cycles, 1, any_cycles,
      [](Gpu& gpu) -> std::uint32_t& { return pipes_of(gpu).tensor_result_cycles; },
      "from the issue of a matrix product to its sums, where compilers do not schedule by a fixed time; may "
      "be "
      "left out: by architecture",
      if_given("pipes.tensor_result_cycles"));
}

void add_lsu(Rows& rows) {
  rows.whole("lsu.queue_entries", number, 1, 1024, WARPLENS_MEMBER(lsu.queue_entries),
             "accesses of a scheduler that wait for the SM's memory pipeline; where the queue is full, the "
             "scheduler issues no other access");
  rows.whole("lsu.scheduler_cycles", cycles, 1, any_cycles, WARPLENS_MEMBER(lsu.scheduler_cycles),
             "between two accesses of one scheduler");
  rows.whole(
      "lsu.cycles", cycles, 1, any_cycles, WARPLENS_MEMBER(lsu.cycles),
      "between two accesses in the memory pipeline, which the schedulers share, at least; each takes a "
      "cycle for each pass, and has as many passes as rows of the banks in which its words lie, or as "
      "groups of `lsu.tags_per_pass` lines, whichever is more");
  rows.whole("lsu.tags_per_pass", number, 1, warp_lanes, WARPLENS_MEMBER(lanes.tags_per_pass),
             "lines of an access that the L1 looks up at once");
  rows.whole("lsu.misses", number, 0, 1u << 20, WARPLENS_MEMBER(lsu.misses),
             "entries of an SM for what is on its way from the L2, one for each sector that an L1 waits for, "
             "or each line if it has no sectors, and one for each other access; while all are taken, no "
             "access issues; 0: any number");
  rows.whole("lsu.stores", number, 1, 1u << 20, WARPLENS_MEMBER(lsu.stores),
             "requests of an SM for which no warp waits (stores, reductions) that can be on their way at "
             "once");
  rows.real("lsu.l2_bytes_per_cycle", bytes, 1, 4096, WARPLENS_MEMBER(lsu.l2_bytes_per_cycle),
            "that the SM's port to the L2 moves into it per cycle");
  rows.real("lsu.l2_write_bytes_per_cycle", bytes, 1, 4096, WARPLENS_MEMBER(lsu.l2_write_bytes_per_cycle),
            "that it moves out of it per cycle");
}

void add_registers(Rows& rows) {
  rows.whole("registers.per_sm", number, 1, 1u << 24, WARPLENS_MEMBER(registers.per_sm));
  rows.whole("registers.per_block", number, 1, 1u << 24, WARPLENS_MEMBER(registers.per_block));
  rows.whole("registers.max_per_thread", number, 1, 1024, WARPLENS_MEMBER(registers.max_per_thread),
             "32-bit registers; at most in a block, in a thread");
  rows.whole("registers.allocation_unit", "registers", 1, 4096, WARPLENS_MEMBER(registers.allocation_unit),
             "a warp's need is rounded up to it");
  rows.whole("registers.sub_partitions", number, 1, 16, WARPLENS_MEMBER(registers.sub_partitions),
             "register files per SM; a warp's registers lie in one");
}

void add_shared(Rows& rows) {
  rows.add_row({"shared.carveout_bytes", bytes,
                AscendingList{0, any_cache, WARPLENS_MEMBER(shared.carveout_bytes)},
                "list of the sizes that an SM can set aside for shared memory; the smallest that holds the "
                "resident blocks' is taken"});
  rows.whole("shared.max_bytes_per_block", bytes, 0, any_cache, WARPLENS_MEMBER(shared.max_bytes_per_block),
             "including what the system reserves");
  rows.whole("shared.reserved_bytes_per_block", bytes, 0, 1u << 20,
             WARPLENS_MEMBER(shared.reserved_bytes_per_block), "what the system reserves");
  rows.whole("shared.allocation_unit", bytes, 1, 1u << 20, WARPLENS_MEMBER(shared.allocation_unit),
             "a block's need is rounded up to it");
  rows.whole("shared.bank_bytes", bytes, 4, 8, WARPLENS_MEMBER(lanes.bank_bytes));
  rows.whole("shared.bank_stride_bytes", bytes, 4, 8, WARPLENS_MEMBER(lanes.bank_stride_bytes),
             "what each of the 32 banks serves at once, 4 or 8; after how many bytes the next bank comes "
             "(Kepler's two modes)");
  rows.real("shared.latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(shared.latency_ns));
  rows.real("shared.pass_ns", ns, 0, any_latency, WARPLENS_MEMBER(shared.pass_ns),
            "an access without bank conflicts; what each further pass over the banks adds");
}

void add_constant(Rows& rows) {
  rows.whole("constant.bytes", bytes, sector_bytes, any_cache, WARPLENS_MEMBER(constant.bytes));
  rows.whole("constant.line_bytes", bytes, sector_bytes, line_bytes, WARPLENS_MEMBER(constant.line_bytes));
  rows.whole("constant.ways", number, 1, max_ways, WARPLENS_MEMBER(constant.ways),
             "the cache for constant memory in each SM; its lines have 32, 64 or 128 bytes; LRU, sets by the "
             "line's number");
  rows.real("constant.latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(constant.latency_ns));
  rows.real("constant.pass_ns", ns, 0, any_latency, WARPLENS_MEMBER(constant.pass_ns),
            "a hit in it; what each further address of an access adds");
  rows.whole("constant.group_sms", number, 1, any_sms, WARPLENS_MEMBER(constant.group.sms),
             "the number of SMs, neighbours by number, that share the cache behind it (in NVIDIA's words the "
             "GPC's constant cache, in papers the L1.5)");
  rows.whole("constant.group_bytes", bytes, line_bytes, any_cache, WARPLENS_MEMBER(constant.group.bytes));
  rows.whole("constant.group_line_bytes", bytes, line_bytes, 4096,
             WARPLENS_MEMBER(constant.group.line_bytes));
  rows.whole("constant.group_ways", number, 1, max_ways, WARPLENS_MEMBER(constant.group.ways),
             "that cache; its lines have 128 bytes or more, a power of two");
  rows.real("constant.group_latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(constant.group.latency_ns),
            "a hit in it, from the SM and back");
}

void add_l1(Rows& rows) {
  rows.whole("l1.with_shared_bytes", bytes, line_bytes, any_cache, WARPLENS_MEMBER(l1.with_shared_bytes),
             "L1 and shared memory together; the L1 gets what the carve-out leaves");
  rows.whole("l1.ways", number, 1, max_ways, WARPLENS_MEMBER(l1.ways));
  rows.real("l1.usable", number, 0.1, 1, WARPLENS_MEMBER(l1.usable),
            "lines in a set, which stays the same for all carve-outs, while the number of sets changes; the "
            "share of the size that holds lines, of 128 bytes");
  rows.real("l1.early_usable", number, 0, 1, WARPLENS_MEMBER(l1.early_usable),
            "where a part of the lines overflows first: the share of the size from which it does "
            "([replacement.md](replacement.md)), from 0.5 to `l1.usable`, with at most 8 `l1.ways` and "
            "`l1.index` `modulo`; 0: all sets are alike");
  rows.flag("l1.sectored", WARPLENS_MEMBER(l1.sectored),
            "`true`: a miss brings in the requested sectors; `false`: the whole line");
  rows.word<IndexHash>("l1.index", index_words, WARPLENS_MEMBER(l1.index),
                       "how a line finds its set: `modulo`, or `xor_fold`, which folds the line number's "
                       "higher bits into the lower ones");
  rows.add_row(replacement("l1.replacement", "the line that was used least recently is evicted"));
  rows.word<L1Stores>("l1.stores", {"bypass", "update_on_hit", "evict_on_hit", "allocate"},
                      WARPLENS_MEMBER(l1.stores),
                      "`bypass`: a store leaves the L1 unchanged; `update_on_hit`: it updates a line that is "
                      "there (write-through); `evict_on_hit`: it invalidates the sectors that it writes "
                      "(write-evict); `allocate`: it brings in the line that it writes (write-through)");
  rows.word<LocalStores>("l1.local_stores", {"as_global", "write_back"}, WARPLENS_MEMBER(l1.local_stores),
                         "what a store to local memory does: `as_global`, the same as `l1.stores`; "
                         "`write_back`: its line takes it, and goes to the L2 when it is evicted (Fermi, "
                         "Kepler)");
  rows.flag("l1.global_loads", WARPLENS_MEMBER(lanes.global_loads_in_l1),
            "`true`: loads from global memory look up the L1; `false`: only those with the cache operator "
            "`ca` do (Kepler)");
  rows.real("l1.latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(l1.latency_ns),
            "a hit, from the SM and back");
}

/// Adds a cache of each SM that only some GPUs have.
void add_own_cache(Rows& rows, const std::string& table, Member<Gpu::ReadOnly> cache,
                   const Condition& is_needed) {
  rows.whole(
      table + ".bytes", bytes, line_bytes, any_cache,
      [cache](Gpu& gpu) -> std::uint32_t& { return cache(gpu).bytes; }, "", is_needed);
  rows.whole(
      table + ".line_bytes", bytes, sector_bytes, line_bytes,
      [cache](Gpu& gpu) -> std::uint32_t& { return cache(gpu).line_bytes; }, "", is_needed);
  rows.whole(
      table + ".ways", number, 1, max_ways, [cache](Gpu& gpu) -> std::uint32_t& { return cache(gpu).ways; },
      "that cache, in each SM; as `constant.bytes` …", is_needed);
  rows.real(
      table + ".latency_ns", ns, 0, any_latency,
      [cache](Gpu& gpu) -> double& { return cache(gpu).latency_ns; }, "a hit in it", is_needed);
}

void add_read_only_and_texture(Rows& rows) {
  rows.word<bool>(
      "read_only.cache", {"l1", "own"}, WARPLENS_MEMBER(lanes.own_read_only_cache),
      "where loads with the cache operator `nc` (`__ldg`) go first: `l1`, or `own` (Kepler), which "
      "needs the next two lines");
  add_own_cache(rows, "read_only", WARPLENS_MEMBER(read_only),
                [](const TomlFigures&, const Gpu& gpu) { return gpu.lanes.own_read_only_cache; });
  rows.word<TextureCache>("texture.cache", {"l1", "read_only", "own"}, WARPLENS_MEMBER(lanes.texture_cache),
                          "where texture fetches and loads from surfaces go first: `l1` (since Maxwell), "
                          "`read_only` (Kepler, where that is `own`), or `own` (Fermi), which needs the next "
                          "two lines");
  add_own_cache(rows, "texture", WARPLENS_MEMBER(texture), [](const TomlFigures&, const Gpu& gpu) {
    return gpu.lanes.texture_cache == TextureCache::own;
  });
  rows.whole("texture.lanes", number, 1, warp_lanes, WARPLENS_MEMBER(lanes.texture_lanes),
             "lanes of a fetch that are served at once: the texture units of an SM");
}

void add_l2(Rows& rows) {
  const Condition has_partitions = [](const TomlFigures&, const Gpu& gpu) { return gpu.l2.partitions > 1; };
  rows.size("l2.bytes", sector_bytes, std::uint64_t{1} << 34, WARPLENS_MEMBER(l2_bytes), "the whole L2");
  rows.whole("l2.line_bytes", bytes, sector_bytes, line_bytes, WARPLENS_MEMBER(l2.line_bytes),
             "128 (four sectors of 32) or 32");
  rows.whole("l2.ways", number, 1, max_ways, WARPLENS_MEMBER(l2.ways));
  rows.real("l2.usable", number, 0.1, 1.2, WARPLENS_MEMBER(l2.usable),
            "of the L2, or of each of its partitions");
  rows.real("l2.set_aside", number, 0, 0.9, WARPLENS_MEMBER(l2.set_aside),
            "that programs can set aside, at most, for lines that persist (cudaDeviceProp's "
            "persistingL2CacheMaxSize); 0 where it is left out: none, as before compute capability 8.0",
            if_given("l2.set_aside"));
  rows.whole("l2.partitions", number, 1, 2, WARPLENS_MEMBER(l2.partitions),
             "1, or 2, each of which keeps what its SMs read; a line belongs to one of them ([the "
             "evidence](replacement.md))");
  rows.real("l2.early_usable", number, 0, 1, WARPLENS_MEMBER(l2.early_usable),
            "only with partitions: where half of the lines overflows first, the share of the size from which "
            "it does, while `l2.usable` is that of the other half and may be more than 1 "
            "([replacement.md](replacement.md#two-halves-of-a-partition)); 0 where all sets are alike",
            has_partitions);
  rows.real("l2.hop_ns", ns, 0, any_latency, WARPLENS_MEMBER(l2.hop_ns),
            "from one partition to the other and back: what a hit in the far one takes longer (with 2 "
            "partitions only)",
            has_partitions);
  rows.real("l2.hop_bytes_per_ns", "bytes/ns", min_rate, any_rate, WARPLENS_MEMBER(l2.hop_bytes_per_ns),
            "that can cross to the other partition, in one direction (with 2 partitions only)",
            has_partitions);
  rows.word<IndexHash>("l2.index", index_words, WARPLENS_MEMBER(l2.index),
                       "as in the L1; `modulo` only where `l2.line_bytes` is 32");
  rows.add_row(replacement("l2.replacement", "as in the L1"));
  rows.word<L2Stores>("l2.stores", {"memory_update", "allocate"}, WARPLENS_MEMBER(l2.stores),
                      "`allocate`: a store takes a sector without reading memory; `memory_update`: it hits "
                      "only in a block that an earlier write brought in, otherwise it updates memory "
                      "(Fermi)");
  rows.word<PartialWrites>("l2.partial_writes", {"whole", "mask", "fill", "fetch"},
                           WARPLENS_MEMBER(l2.partial_writes),
                           "a store of a part of a sector that is not there ([what the words "
                           "mean](what-is-a-hit.md#the-totals))");
  rows.whole("l2.fetch_bytes", bytes, sector_bytes, line_bytes, WARPLENS_MEMBER(l2.fetch_bytes),
             "32, 64 or 128: what a load miss brings in, aligned, with each requested sector (sector "
             "promotion)");
  rows.whole("l2.slices", number, 1, 1024, WARPLENS_MEMBER(l2.slices));
  rows.word<SliceHash>("l2.slice_index", {"modulo", "xor_fold", "polynomial"},
                       WARPLENS_MEMBER(l2.slice_index),
                       "into how many slices lines are distributed, and how (`model/gpu/slices.h`); the "
                       "time-lapse shows each slice");
  rows.real("l2.latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(l2.latency_ns),
            "a hit, from the SM and back");
  rows.real("l2.bytes_per_ns", "bytes/ns", min_rate, any_rate, WARPLENS_MEMBER(l2.bytes_per_ns),
            "that all slices together read");
  rows.whole(
      "l2.pass_bytes", bytes, sector_bytes, line_bytes, WARPLENS_MEMBER(l2.pass_bytes),
      "may be left out: 32, 64 or 128, what a slice reads or writes at a time; a part takes as long (32)",
      if_given("l2.pass_bytes"));
  rows.real("l2.write_bytes_per_ns", "bytes/ns", min_rate, any_rate, WARPLENS_MEMBER(l2.write_bytes_per_ns),
            "that all slices together write");
  rows.real("l2.partial_write_cost", number, 1, 100, WARPLENS_MEMBER(l2.partial_write_cost),
            "may be left out: how often the time of a pass a slice takes for one that writes a part of a "
            "sector, since it must read it first (1)",
            if_given("l2.partial_write_cost"));
  rows.real(
      "l2.read_cost", number, 0, 1, WARPLENS_MEMBER(l2.read_cost),
      "may be left out: of the time of a pass that a slice writes, what one that it reads keeps it from "
      "writing: 0 if it reads and writes at a time, 1 if one after the other (0.3, as measured on A100 "
      "and GH200)",
      if_given("l2.read_cost"));
  rows.real("l2.atomics_per_ns", "1/ns", min_rate, any_rate, WARPLENS_MEMBER(l2.atomics_per_ns),
            "atomic operations that all slices together perform, each for one sector; lanes with the same "
            "address count one each");
  rows.real(
      "l2.float_sum_cost", number, 1, 100, WARPLENS_MEMBER(l2.float_sum_cost),
      "may be left out: how often the time of an atomic a floating-point sum takes before the next one in "
      "its line; the slice executes others meanwhile (1)",
      if_given("l2.float_sum_cost"));
  rows.add_row({"l2.clock", number,
                Word{{"sm", "own"}, [](Gpu& gpu, std::size_t index) { gpu.l2.has_sm_clock = index == 0; }},
                "may be left out: `sm`, the L2's clock goes with the SMs' (`--sm-clock`), or `own`",
                if_given("l2.clock")});
}

void add_dram(Rows& rows) {
  rows.size("dram.bytes", 1u << 20, std::uint64_t{1} << 44, WARPLENS_MEMBER(dram.bytes));
  rows.whole("dram.bus_bits", "bits", 8, 1u << 16, WARPLENS_MEMBER(dram.bus_bits),
             "all of global memory, and the width of its bus: for the program on the CPU back end");
  rows.whole("dram.channels", number, 1, 4096, WARPLENS_MEMBER(dram.channels));
  rows.whole("dram.banks", number, 1, 1024, WARPLENS_MEMBER(dram.banks),
             "independent channels; banks in each");
  rows.whole("dram.row_bytes", bytes, line_bytes, 1u << 20, WARPLENS_MEMBER(dram.row_bytes), "of one bank");
  rows.whole("dram.interleave_bytes", bytes, line_bytes, 1u << 20, WARPLENS_MEMBER(dram.interleave_bytes),
             "how many consecutive bytes lie on one channel");
  rows.word<DramIndex>("dram.channel_index", dram_index_words, WARPLENS_MEMBER(dram.channel_index));
  rows.word<DramIndex>("dram.bank_index", dram_index_words, WARPLENS_MEMBER(dram.bank_index),
                       "`modulo`: consecutive pieces (rows) go around the channels (banks); `permuted`: the "
                       "same, but each turn begins somewhere else, so that strides do not stay on one");
  rows.word<DramQueue>("dram.queue", {"batch", "kingman"}, WARPLENS_MEMBER(dram.queue),
                       "how requests wait for each other ([what the words mean](what-is-a-hit.md#latency))");
  rows.real(
      "dram.latency_ns", ns, 0, any_latency, WARPLENS_MEMBER(dram.latency_ns),
      "from the SM and back, nothing else in flight, no row open (so it includes `activate_ns` and "
      "`burst_ns`); with two partitions of memory that belongs to the SM's own, that of the other takes "
      "`l2.hop_ns` longer");
  rows.real("dram.activate_ns", ns, 0, any_latency, WARPLENS_MEMBER(dram.activate_ns));
  rows.real("dram.precharge_ns", ns, 0, any_latency, WARPLENS_MEMBER(dram.precharge_ns),
            "tRCD: opening a row; tRP: closing another one first");
  rows.real("dram.burst_ns", ns, 0, any_latency, WARPLENS_MEMBER(dram.burst_ns),
            "32 bytes on one channel's bus: 32 / (bandwidth / channels)");
  rows.real(
      "dram.achieved", number, 0.01, 1, WARPLENS_MEMBER(dram.achieved),
      "the share of the bandwidth that reads alone reach, and writes alone, but for rows that are opened: "
      "the rest goes into refreshing rows");
  rows.real("dram.copies_achieved", number, 0.01, 1, WARPLENS_MEMBER(dram.copies_achieved),
            "the share that copies reach, no more than that: as much as is read is written, and the bus has "
            "to be turned round");
  rows.real("dram.opening_ns", "ns", 0, 1000, WARPLENS_MEMBER(dram.opening_ns),
            "may be left out: for how long a channel's bus transfers nothing where a bank opens a row (0)",
            if_given("dram.opening_ns"));
  rows.whole("dram.write_batch_sectors", number, 1, 1u << 16, WARPLENS_MEMBER(dram.write_batch_sectors),
             "that a channel collects, to write them in one go; what is read then waits for all of them");
  rows.real("dram.bytes_per_cycle", bytes, 1, any_rate, WARPLENS_MEMBER(dram.bytes_per_cycle),
            "may be left out: what all channels together can move to and from the L2 in a cycle of the SMs' "
            "clock; it limits memory where `--sm-clock` is low",
            if_given("dram.bytes_per_cycle"));
}

#undef WARPLENS_MEMBER

std::vector<Parameter> make_parameters() {
  Rows rows;
  for (const auto add : {add_sm, add_schedule, add_issue, add_pipes, add_lsu, add_registers, add_shared,
                         add_constant, add_l1, add_read_only_and_texture, add_l2, add_dram})
    add(rows);
  return rows.take();
}

/// Reads the parameter's figure into its member.
struct ReadFigure {
  TomlFigures& figures;
  const std::string& path;
  Gpu& gpu;

  template <class Number> void operator()(const InRange<Number>& range) const {
    figures.number(path, range.member(gpu), range.low, range.high);
  }
  void operator()(const AscendingList& list) const {
    figures.numbers(path, list.member(gpu), list.low, list.high);
  }
  void operator()(const Flag& flag) const { figures.boolean(path, flag.member(gpu)); }
  void operator()(const Word& word) const { word.set(gpu, figures.choice(path, word.words)); }
};

/// Returns the values that the parameter may have, in Markdown.
struct PrintValues {
  template <class Number> std::string operator()(const InRange<Number>& range) const {
    return fmt::format("{} to {}", range.low, range.high);
  }
  std::string operator()(const AscendingList& list) const {
    return fmt::format("ascending, {} to {}", list.low, list.high);
  }
  std::string operator()(const Flag&) const { return "`true`, `false`"; }
  /// A long list of words stands where they are explained.
  std::string operator()(const Word& word) const {
    constexpr std::size_t max_shown = 5;
    return word.words.size() > max_shown ? "a word" : fmt::format("`{}`", fmt::join(word.words, "`, `"));
  }
};

/// Appends the text to a list without those that it has already.
void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end())
    list.push_back(std::move(text));
}

} // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = make_parameters();
  return all;
}

void read_parameters(TomlFigures& figures, Gpu& gpu) {
  for (const Parameter& parameter : parameters())
    if (!parameter.is_needed || parameter.is_needed(figures, gpu))
      std::visit(ReadFigure{figures, parameter.path, gpu}, parameter.values);
}

std::string parameters_in_markdown() {
  std::string rows = "| key | unit | values | meaning |\n|---|---|---|---|\n";
  std::vector<std::string> paths, units, values;
  for (const Parameter& parameter : parameters()) {
    paths.push_back('`' + parameter.path + '`');
    if (!parameter.unit.empty())
      add_once(units, parameter.unit);
    add_once(values, std::visit(PrintValues{}, parameter.values));
    if (parameter.meaning.empty())
      continue;
    rows += fmt::format("| {} | {} | {} | {} |\n", fmt::join(paths, ", "), fmt::join(units, ", "),
                        fmt::join(values, "; "), parameter.meaning);
    paths.clear(), units.clear(), values.clear();
  }
  return rows;
}

} // namespace warplens::model
