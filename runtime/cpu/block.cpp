#include "runtime/cpu/block.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <thread>
#include <utility>

namespace warplens::cpu {

namespace {

// Room for what a lane may call: printf with its formatting is the deepest.
constexpr std::size_t runtime_stack_bytes = 64 * 1024;
// Where the lowering could not see how deep calls nest. Only what is used is ever backed by memory.
constexpr std::size_t unknown_stack_bytes = 1024 * 1024;

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

} // namespace

Block& Block::of_this_thread() {
  static thread_local Block block;
  return block;
}

BlockStatus Block::run(const Grid& grid, std::uint64_t id, WarpAccessSink* sink) {
  begin(grid, id);
  if (grid.kernel->untraced_block && !sink) {
    run_as_loop(grid);
    if (status_ == BlockStatus::faulted)
      find_faulting_lane(grid);
  } else {
    start_lanes(grid, sink);
    run_lanes(grid);
  }
  return status_;
}

void Block::begin(const Grid& grid, std::uint64_t id) {
  status_ = BlockStatus::ok;
  id_ = id;
  kernel_ = grid.kernel;
  arguments_ = grid.arguments;
  alive_ = 0;
  executed_ = probed_ = 0;
  message_.clear();
  const trace::Dim3& in = grid.grid;
  const std::uint64_t index[3] = {id % in.x, id / in.x % in.y, id / in.x / in.y};
  const std::uint32_t grid_dim[3] = {in.x, in.y, in.z},
                      block_dim[3] = {grid.block.x, grid.block.y, grid.block.z};
  for (unsigned i = 0; i < 3; ++i) {
    context_.block_index[i] = static_cast<std::uint32_t>(index[i]);
    context_.grid_dim[i] = grid_dim[i];
    context_.block_dim[i] = block_dim[i];
  }
  thread_count_ = static_cast<std::uint32_t>(grid.block.count());
  context_.dynamic_shared_bytes = grid.dynamic_shared_bytes;
  context_.grid_workspace = grid.workspace;
  // CUDA aligns dynamic shared memory for every type; 128 also keeps bank numbers what they are on a GPU.
  constexpr std::size_t alignment = 128;
  const std::size_t static_bytes = (grid.kernel->static_shared_bytes + std::size_t{15}) & ~std::size_t{15};
  shared_memory_.reserve(static_bytes + grid.dynamic_shared_bytes + alignment);
  const std::uint64_t begin = (address_of(shared_memory_.data()) + alignment - 1) & ~(alignment - 1);
  context_.shared = reinterpret_cast<std::uint8_t*>(begin);
  context_.dynamic_shared = context_.shared + static_bytes;
  context_.scheduler = this;
  addresses_ = {.shared = {begin, static_bytes + grid.dynamic_shared_bytes},
                .stacks = &stacks_,
                .around_constants = around_constant_memory()};
}

void Block::run_as_loop(const Grid& grid) {
  const std::size_t frame_units =
      (grid.kernel->frame_bytes * thread_count_ + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  if (frames_.size() < frame_units)
    frames_.resize(frame_units);
  context_.frames = frames_.data();
  std::jmp_buf escape; // no frame between here and where fail() jumps from has anything to destroy
  escape_ = &escape;
  if (setjmp(escape) == 0)
    grid.kernel->untraced_block(grid.arguments, &context_);
  escape_ = nullptr;
  running_ = nullptr;
}

/// The loop does not keep the number of the thread that runs. The program is lost anyway, so the block runs
/// once more, in lanes, only to see which of them comes to grief.
void Block::find_faulting_lane(const Grid& grid) {
  struct : WarpAccessSink {
    void access(std::uint32_t, const ring::Line&) override {}
  } nowhere;
  const std::string without_lane = message_;
  status_ = BlockStatus::ok;
  start_lanes(grid, &nowhere);
  run_lanes(grid);
  if (status_ != BlockStatus::faulted) {
    status_ = BlockStatus::faulted;
    message_ = without_lane;
  }
}

void Block::start_lanes(const Grid& grid, WarpAccessSink* sink) {
  const KernelRecord& kernel = *grid.kernel;
  function_ = sink ? kernel.traced_lane : kernel.untraced_lane;
  alive_ = thread_count_;
  stacks_.reserve(thread_count_,
                  kernel.stack_bytes ? kernel.stack_bytes + runtime_stack_bytes : unknown_stack_bytes);
  if (lanes_.size() < thread_count_)
    lanes_.resize(thread_count_);
  warps_.resize((thread_count_ + trace::warp_lanes - 1) / trace::warp_lanes);
  for (Barrier& barrier : barriers_)
    barrier = {};
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    Lane& lane = lanes_[i];
    static_cast<LaneContext&>(lane) = {};
    lane.block = &context_;
    lane.linear_thread = i;
    lane.thread_index[0] = i % grid.block.x;
    lane.thread_index[1] = i / grid.block.x % grid.block.y;
    lane.thread_index[2] = i / grid.block.x / grid.block.y;
    lane.fiber = &lane.execution;
    lane.warp = &warps_[i / trace::warp_lanes];
    lane.number = i % trace::warp_lanes;
    lane.execution.prepare(stacks_.top(i), stacks_.usable_bytes(), lane_entry, &lane);
  }
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t first = w * trace::warp_lanes,
                        count = std::min(thread_count_ - first, trace::warp_lanes);
    warps_[w].begin(*this, w, &lanes_[first], count);
    if (!sink)
      continue;
    while (mergers_.size() <= w)
      mergers_.push_back(std::make_unique_for_overwrite<LogMerger>());
    std::array<LaneContext*, trace::warp_lanes> contexts{};
    for (std::uint32_t i = 0; i < count; ++i)
      contexts[i] = &lanes_[first + i];
    mergers_[w]->begin(w, contexts, count, kernel.keys, addresses_, *sink);
    warps_[w].trace(*mergers_[w]);
  }
}

void Block::lane_entry(void* argument) {
  auto& lane = *static_cast<Lane*>(argument);
  auto& block = *static_cast<Block*>(lane.block->scheduler);
  block.function_(block.arguments_, &lane);
  lane.warp->exit(lane);
}

void Block::run_lanes(const Grid& grid) {
  using Clock = std::chrono::steady_clock;
  // As long as a wait for an mbarrier may take where the program gives up waiting after some time.
  constexpr auto patience = std::chrono::seconds(5);
  std::optional<Clock::time_point> polling_since;
  while (alive_ && !failed()) {
    Progress progress = Progress::none;
    for (Warp& warp : warps_) {
      progress = std::max(progress, warp.run());
      if (failed())
        break;
    }
    if (!failed() && progress == Progress::spinning && grid.stopped && *grid.stopped)
      status_ = BlockStatus::failed;    // not the first to: its message is not the launch's
    if (progress == Progress::spinning) // what they wait for is another block's to do
      grid.turns ? grid.turns->pass(id_) : std::this_thread::yield();
    if (progress != Progress::polling)
      polling_since.reset();
    else if (!polling_since)
      polling_since = Clock::now();
    const bool stuck =
        progress == Progress::none || (polling_since && Clock::now() - *polling_since > patience);
    if (!failed() && stuck && alive_) {
      status_ = BlockStatus::deadlocked;
      message_ = fmt::format("block {}: deadlock: {}", place(), describe_waiting());
    }
    if (!failed() && alive_ && interrupted()) {
      status_ = BlockStatus::interrupted;
      message_ = fmt::format("block {}: interrupted", place());
    }
  }
  for (Warp& warp : warps_)
    warp.flush_log();
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    executed_ += lanes_[i].executed_accesses;
    probed_ += lanes_[i].probed_accesses;
  }
}

/// All lanes that wait, by what they wait for and where.
std::string Block::describe_waiting() const {
  std::vector<Waiting> groups;
  for (const Warp& warp : warps_)
    warp.add_waiting(groups);
  std::string text;
  for (const Waiting& group : groups)
    text += fmt::format("{}{} thread{} of {} {} at {}, {}", text.empty() ? "" : "; ", group.threads,
                        group.threads == 1 ? "" : "s",
                        group.first_warp == group.last_warp
                            ? fmt::format("warp {}", group.first_warp)
                            : fmt::format("warps {} to {}", group.first_warp, group.last_warp),
                        group.threads == 1 ? "waits" : "wait", group.place, group.what);
  return text;
}

std::string Block::place() const {
  return fmt::format("({}, {}, {})", context_.block_index[0], context_.block_index[1],
                     context_.block_index[2]);
}

std::string name_of(const LaneContext& lane) {
  return fmt::format("thread ({}, {}, {})", lane.thread_index[0], lane.thread_index[1], lane.thread_index[2]);
}

void Block::resume(Lane& lane) {
  running_ = &lane;
  lane.execution.resume();
  running_ = nullptr;
}

void Block::fail(std::string message, BlockStatus status) {
  status_ = status;
  message_ = fmt::format("block {}: {}", place(), std::exchange(message, {}));
  if (escape_)
    std::longjmp(*static_cast<std::jmp_buf*>(escape_), 1);
  static_cast<Lane*>(running_)->execution.suspend(); // for good: the block is abandoned
  std::abort();
}

void Block::fail_by_fault(int signal, std::uint64_t address) {
  fail(fault_message(signal, address), BlockStatus::faulted);
}

std::string Block::fault_message(int signal, std::uint64_t address) const {
  const std::string who = running_ ? name_of(*running_) : "a thread";
  if (signal == SIGILL)
    return who + " executes an illegal instruction";
  if (stacks_.guards(address))
    return who + " has more on its stack than fits: does a recursion end?";
  return fmt::format("{} accesses memory that is not there, at {} (--memcheck tells the line)", who,
                     address < 4096 ? "a null pointer or an address that no memory can have"
                                    : fmt::format("{:#x}", address));
}

bool Block::is_local(std::uint64_t address) const {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const std::uint64_t frames = address_of(frames_.data());
  return stacks_.contains(address) || address - frames < frames_.size() * sizeof(frames_.front()) ||
         (escape_ && address > here && address < address_of(escape_));
}

AddressRange Block::shared_range() const {
  const std::uint64_t begin = address_of(context_.shared), dynamic = context_.dynamic_shared_bytes;
  return {begin,
          dynamic ? address_of(context_.dynamic_shared) + dynamic - begin : kernel_->static_shared_bytes};
}

bool Block::in_parameters(std::uint64_t address) const {
  for (std::uint32_t i = 0; i < kernel_->parameter_count; ++i)
    if (address - address_of(arguments_[i]) < kernel_->largest_struct_bytes)
      return true;
  return false;
}

bool Block::is_complete(const Barrier& barrier) const {
  const auto arrived = static_cast<std::uint32_t>(barrier.waiting.size()) + barrier.passed;
  // The hardware counts whole warps, so a partial last one counts for more than its threads.
  return arrived && (arrived == alive_ || (barrier.threads && arrived >= barrier.threads));
}

Block::Barrier& Block::barrier(std::uint32_t id, std::uint32_t threads) {
  if (id >= barriers_.size())
    fail(fmt::format("barrier {} does not exist; a block has {}", id, cluster_barrier));
  barriers_[id].threads = threads;
  return barriers_[id];
}

void Block::arrive_at_barrier(std::uint32_t id, std::uint32_t threads) {
  Barrier& barrier = this->barrier(id, threads);
  ++barrier.passed;
  if (is_complete(barrier))
    release(barrier);
}

std::uint32_t Block::wait_at_barrier(Lane& lane, std::uint32_t id, std::uint32_t threads, Reduction operation,
                                     bool predicate) {
  Barrier& barrier = this->barrier(id, threads);
  barrier.waiting.push_back(&lane);
  barrier.predicates += predicate;
  if (is_complete(barrier)) {
    release(barrier);
    lane.warp->go_on(lane);
  } else {
    lane.warp->wait_at_barrier(lane);
  }
  const auto true_predicates = static_cast<std::uint32_t>(lane.result),
             arrived = static_cast<std::uint32_t>(lane.result >> 32);
  switch (operation) {
  case Reduction::and_: return true_predicates == arrived;
  case Reduction::or_: return true_predicates != 0;
  default: return true_predicates;
  }
}

void Block::release(Barrier& barrier) {
  for (Lane* lane : barrier.waiting) {
    lane->result = barrier.predicates | (barrier.waiting.size() + barrier.passed) << 32;
    lane->warp->wake(*lane);
  }
  barrier.waiting.clear();
  barrier.passed = 0;
  barrier.predicates = 0;
}

void Block::lane_exited() {
  --alive_;
  for (Barrier& barrier : barriers_)
    if (is_complete(barrier))
      release(barrier);
}

} // namespace warplens::cpu
