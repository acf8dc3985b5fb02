#include "runtime/cpu/execution/run_grid.h"

#include "runtime/cpu/execution/global_races.h"
#include "runtime/cpu/execution/signals.h"
#include "runtime/host/settings.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <thread>
#include <vector>

namespace warplens::cpu {

namespace {

unsigned wanted_threads() {
  const auto cores = static_cast<unsigned>(std::max(1, tbb::info::default_concurrency()));
  const auto wanted = runtime::count_in_environment("WARPLENS_CPU_THREADS");
  if (!wanted)
    std::fprintf(stderr, "warplens: %s; all cores are used\n", wanted.error().message.c_str());
  return wanted && *wanted ? static_cast<unsigned>(std::min<std::uint64_t>(**wanted, cores)) : cores;
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

/// A block of a cooperative launch: it is kept until it has ended, while others run.
struct Resident {
  explicit Resident(std::uint64_t number) : id(number) {}
  std::uint64_t id;
  std::unique_ptr<WarpAccessSink> sink;
  std::unique_ptr<Block> block; ///< null: it has not started
};

/// The shared state of a launch's workers.
class Work {
public:
  Work(const Grid& grid, const Tracing* tracing)
      : grid_(grid), tracing_(tracing), blocks_(grid.grid.count()) {
    grid_.stopped = &stop_;
    // Workers take blocks in runs, so that counting costs little if blocks are short. If a block waits for an
    // earlier one this is as good as one by one: the earliest unfinished block never waits for another of its
    // own run.
    const std::uint64_t runs_per_worker = 16;
    run_ = std::clamp<std::uint64_t>(blocks_ / (runs_per_worker * worker_threads()), 1, 64);
  }

  std::uint64_t blocks() const { return blocks_; }

  /// Runs blocks until all have been taken.
  void run_blocks() {
    with_memory([this] {
      while (!stopped()) {
        const std::uint64_t first = next_.fetch_add(run_, std::memory_order_relaxed);
        if (first >= end_)
          return;
        if (interrupted())
          return end(BlockStatus::interrupted, "interrupted");
        for (std::uint64_t id = first; id < std::min<std::uint64_t>(first + run_, end_) && !stopped(); ++id)
          run_block(id);
      }
    });
  }

  /// Runs, in a cooperative launch, every `workers`-th block from number `worker` on, all of them at the same
  /// time: each until it waits for others. So a few OS threads suffice for any number of blocks.
  void run_residents(std::uint64_t worker, std::uint64_t workers) {
    with_memory([&] {
      std::deque<Resident> residents;
      std::unique_ptr<Block> spare; // an ended block, whose stacks serve the next
      for (std::uint64_t id = worker; id < blocks_; id += workers)
        residents.emplace_back(id);
      while (!residents.empty() && !stopped()) {
        bool all_wait = true;
        std::erase_if(residents, [&](Resident& resident) {
          if (stopped())
            return false;
          if (!resident.block)
            start(resident, std::move(spare));
          const bool ended = resident.block->advance() == Block::Stage::ended;
          all_wait &= !ended;
          if (ended) {
            finish(*resident.block, resident.sink);
            spare = std::move(resident.block);
          }
          return ended;
        });
        if (all_wait && workers > 1)
          std::this_thread::yield(); // the blocks wait for another worker
      }
      for (Resident& resident : residents)
        if (resident.block) {
          resident.block->abandon();
          finish(*resident.block, resident.sink);
        }
    });
  }

  /// Ends the launch; the first caller's message is kept.
  void end(BlockStatus status, const std::string& message) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (result_.status == BlockStatus::ok) {
      result_.status = status;
      result_.message = message;
    }
  }

  GridResult take_result() { return std::move(result_); }

private:
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }

  /// Fails the launch if memory for its blocks is exhausted.
  template <class Run> void with_memory(Run run) {
    const LaunchParticipation here;
    try {
      run();
    } catch (const std::bad_alloc&) {
      end(BlockStatus::no_memory, "no memory for the threads that run at the same time");
    }
  }

  std::unique_ptr<WarpAccessSink> sink_for(std::uint64_t id) const {
    return tracing_ ? tracing_->open_block(id) : nullptr;
  }

  void run_block(std::uint64_t id) {
    Block& block = Block::of_this_thread();
    std::unique_ptr<WarpAccessSink> sink = sink_for(id);
    if (!sink && tracing_ && tracing_->only_these) {
      for (std::uint64_t end = end_; id < end && !end_.compare_exchange_weak(end, id);) {
      }
      return;
    }
    block.run(grid_, id, sink && sink->observes() ? sink.get() : nullptr);
    finish(block, sink);
  }

  void start(Resident& resident, std::unique_ptr<Block> block) {
    resident.block = block ? std::move(block) : std::make_unique<Block>();
    resident.sink = sink_for(resident.id);
    resident.block->start(grid_, resident.id, resident.sink.get());
  }

  void finish(const Block& block, const std::unique_ptr<WarpAccessSink>& sink) {
    if (sink && sink->is_recorded()) {
      const std::lock_guard lock(mutex_);
      result_.executed_accesses += block.executed_accesses();
      result_.probed_accesses += block.probed_accesses();
    }
    if (block.status() != BlockStatus::ok)
      end(block.status(), block.message());
  }

  Grid grid_;
  const Tracing* tracing_;
  const std::uint64_t blocks_;
  std::uint64_t run_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> end_ = blocks_; ///< the first block that need not run
  std::mutex mutex_;
  GridResult result_;
};

/// Calls `run(number)` for each worker, the first on the calling thread; each is an OS thread of its own.
template <class Run> void run_in_threads(Work& work, std::uint64_t workers, Run run) {
  std::vector<std::jthread> threads;
  try {
    for (std::uint64_t worker = 1; worker < workers; ++worker)
      threads.emplace_back([&run, worker] { run(worker); });
  } catch (const std::system_error&) {
    work.end(BlockStatus::no_memory, "the system starts no more threads");
  }
  run(std::uint64_t{0});
}

#if defined(__SANITIZE_THREAD__)
/// The thread sanitizer does not see TBB's synchronisation, since TBB was built without it.
void run_on_cores(Work& work, unsigned workers) {
  run_in_threads(work, workers, [&](std::uint64_t) { work.run_blocks(); });
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
  if (Checks(grid.kernel->checks).has(Check::races))
    GlobalRaces::instance().begin_launch();
  Work work(grid, tracing);
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(worker_threads(), work.blocks()));
  if (grid.workspace)
    run_in_threads(work, workers, [&](std::uint64_t worker) { work.run_residents(worker, workers); });
  else if (workers <= 1)
    work.run_blocks();
  else
    run_on_cores(work, workers);
  return work.take_result();
}

} // namespace warplens::cpu
