#include "runtime/cpu/run_grid.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <thread>
#include <vector>

namespace warplens::cpu {

namespace {

unsigned wanted_threads() {
  const auto cores = static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()));
  const char* text = std::getenv("WARPLENS_CPU_THREADS");
  unsigned wanted = 0;
  if (!text || std::from_chars(text, text + std::strlen(text), wanted).ec != std::errc{} || wanted == 0)
    return cores;
  return std::min(wanted, cores);
}

} // namespace

unsigned worker_threads() {
  static const unsigned threads = wanted_threads();
  return threads;
}

namespace {

[[maybe_unused]] tbb::task_arena& arena() {
  static tbb::task_arena all_cores(static_cast<int>(worker_threads()));
  return all_cores;
}

/// What the workers of one launch share.
class Work {
public:
  Work(const Grid& grid, const Tracing* tracing)
      : grid_(grid), tracing_(tracing), blocks_(grid.grid.count()) {
    grid_.stopped = &stop_;
    if (grid.workspace && worker_threads() == 1)
      grid_.turns = &turns_.emplace(blocks_);
    // Blocks are taken in runs, so that counting them costs little where they are short. Where a block waits
    // for an earlier one this is as good as one by one: the earliest unfinished block never waits for another
    // of its own run.
    const std::uint64_t runs_per_worker = 16;
    run_ =
        grid.workspace ? 1 : std::clamp<std::uint64_t>(blocks_ / (runs_per_worker * worker_threads()), 1, 64);
  }

  std::uint64_t blocks() const { return blocks_; }

  void run_blocks() {
    const PartInLaunch here;
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::uint64_t first = next_.fetch_add(run_, std::memory_order_relaxed);
      if (first >= blocks_)
        return;
      if (interrupted())
        return end(BlockStatus::interrupted, "interrupted");
      for (std::uint64_t id = first;
           id < std::min(first + run_, blocks_) && !stop_.load(std::memory_order_relaxed); ++id)
        run_block(id);
    }
  }

  GridResult take_result() { return std::move(result_); }

private:
  void run_block(std::uint64_t id) {
    Block& block = Block::of_this_thread();
    std::unique_ptr<WarpAccessSink> sink;
    if (tracing_ && id - tracing_->first_block < tracing_->blocks)
      sink = tracing_->open_block(id);
    if (turns_)
      turns_->begin(id);
    const BlockStatus status = block.run(grid_, id, sink.get());
    if (turns_)
      turns_->end(id);
    if (!sink && status == BlockStatus::ok)
      return;
    std::unique_lock lock(mutex_);
    result_.executed_accesses += block.executed_accesses();
    result_.probed_accesses += block.probed_accesses();
    lock.unlock();
    if (status != BlockStatus::ok)
      end(status, block.message());
  }

  /// The first to end the launch says why.
  void end(BlockStatus status, const std::string& message) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (result_.status == BlockStatus::ok) {
      result_.status = status;
      result_.message = message;
    }
  }

  Grid grid_;
  std::optional<Turns> turns_;
  const Tracing* tracing_;
  const std::uint64_t blocks_;
  std::uint64_t run_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  GridResult result_;
};

/// Each worker is an OS thread of its own; where a block spins, it lets the others run.
void run_in_threads(Work& work, std::uint64_t workers) {
  std::vector<std::jthread> threads;
  for (std::uint64_t worker = 1; worker < workers; ++worker)
    threads.emplace_back([&work] { work.run_blocks(); });
  work.run_blocks();
}

#if defined(__SANITIZE_THREAD__)
/// The thread sanitizer does not see how TBB, which was built without it, hands work over.
void run_on_cores(Work& work, unsigned workers) {
  run_in_threads(work, workers);
}
#else
void run_on_cores(Work& work, unsigned workers) {
  arena().execute([&] {
    tbb::task_group group;
    for (unsigned i = 1; i < workers; ++i)
      group.run([&] { work.run_blocks(); });
    work.run_blocks();
    group.wait();
  });
}
#endif

} // namespace

GridResult run_grid(const Grid& grid, const Tracing* tracing) {
  Work work(grid, tracing);
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(worker_threads(), work.blocks()));
  if (grid.workspace)
    run_in_threads(work, work.blocks()); // they may wait for each other
  else if (workers <= 1)
    work.run_blocks();
  else
    run_on_cores(work, workers);
  return work.take_result();
}

} // namespace warplens::cpu
