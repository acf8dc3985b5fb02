// A program as the CPU back end would run it: a few launches whose blocks push lines. Its first argument
// selects its actions; it prints "done" and exits with 0 if it reaches its end.
#include "runtime/host/recorder.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace warplens;

namespace {

const SiteRecord sites[] = {
    {1001, "program.cu", 3, 5, "a[i]", 0, 1, 0, 4, 0, "a", nullptr, 0},
    {1002, "program.cu", 3, 12, "b[i]", 1, 1, 0, 4, 0, "b", nullptr, 0},
};
const RegisterSites register_sites(sites, 2);
const RegisterSites register_sites_again(sites,
                                         2); // another object that includes the same header does so, too

void run_block(ring::Channel* channel, std::uint64_t block, std::uint64_t lines) {
  ring::BlockBuffer* const buffer = ring::enter(channel, block, 64);
  if (!buffer)
    return;
  for (std::uint64_t count = 0; count < lines; ++count)
    for (std::uint32_t warp = 0; warp < 2; ++warp) {
      ring::Line line{
          .site = sites[count % 2].id, .active = 0xff, .bytes = 4, .space = 1, .kind = sites[count % 2].kind};
      for (unsigned lane = 0; lane < 32; ++lane)
        line.addresses[lane] = 0x1000 + block * 4096 + count * 128 + lane * 4;
      ring::push(buffer, warp, line);
    }
  ring::leave(buffer, 64);
}

/// Begins a launch as blocks of this process write it, or as those of a GPU, in memory of the caller's.
ring::Channel* begin(trace::Launch& launch, bool is_placed) {
  if (!is_placed)
    return runtime::Recorder::instance().begin_launch(launch, 2);
  static std::vector<std::uint64_t> local(1 << 17), shared(1 << 21);
  return runtime::Recorder::instance().begin_launch(
      launch, {local.data(), local.size() * 8, shared.data(), shared.size() * 8});
}

void launch(const char* symbol, std::uint64_t lines, bool is_placed = false) {
  runtime::Recorder& recorder = runtime::Recorder::instance();
  trace::Launch launch;
  launch.symbol = symbol;
  launch.grid = {5, 2, 1};
  launch.block = {64, 1, 1};
  ring::Channel* const channel = begin(launch, is_placed);
  if (!channel)
    return recorder.count_launch(launch, {});
  const std::uint64_t blocks = recorder.goal(launch).max_blocks;
  std::vector<std::thread> workers;
  for (std::uint64_t first = 0; first < 2; ++first)
    workers.emplace_back([=] {
      for (std::uint64_t block = first; block < blocks; block += 2)
        run_block(channel, block, lines);
    });
  for (std::thread& worker : workers)
    worker.join();
  recorder.end_launch({.launch = launch.id,
                       .complete = true,
                       .executed_accesses = 100,
                       .probed_accesses = 99,
                       .blocks = blocks});
}

} // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  runtime::Recorder::instance().note_allocation(0x1000, 40960, "a");
  if (what == "endless") // ends when it is killed
    for (;;)
      launch("_Z5scaleIfEvPT_i", 1u << 20);
  if (what == "conflict") {
    const SiteRecord other{1001, "other.cu", 1, 1, "c[i]", 0, 1, 0, 4, 0, "c", nullptr, 0};
    __warplens_register_sites(&other, 1);
  }
  const auto use = [](trace::MemoryUse::Kind kind, std::uint64_t address) {
    runtime::Recorder::instance().note_memory_use(
        {.kind = kind, .address = address, .row_bytes = 4096, .pitch = 4096, .rows = 1});
  };
  if (what == "placed") {
    launch("_Z5scaleIfEvPT_i", 300, true);
    return 0;
  }
  use(trace::MemoryUse::Kind::written, 0x1000);
  launch("_Z5scaleIfEvPT_i", 300);
  use(trace::MemoryUse::Kind::read, 0x1000);
  launch("_Z5scaleIfEvPT_i", 300);
  use(trace::MemoryUse::Kind::read, 0x8000);
  if (what == "fork") {
    if (fork() == 0) {
      launch("_Z8of_childv", 300);
      std::exit(0);
    }
    wait(nullptr);
  }
  if (what == "start-another") {
    const std::string command = std::string(arguments[0]) + " plain > /dev/null";
    if (std::system(command.c_str()) != 0)
      return 1;
  }
  launch("plain_name", 20);
  if (what == "exit-within-launch") {
    trace::Launch unfinished;
    unfinished.symbol = "unfinished";
    unfinished.grid = {1, 1, 1};
    unfinished.block = {64, 1, 1};
    run_block(runtime::Recorder::instance().begin_launch(unfinished, 1), 0, 10);
  }
  if (what == "exit-from-a-thread" || what == "quick-exit-from-a-thread") {
    // Launches until the process has exited: launches begin, run and end while another thread exits.
    std::thread([] {
      for (;;)
        launch("_Z4busyv", 2000);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::puts("done");
    std::fflush(stdout);
    std::thread([&] {
      if (what == "exit-from-a-thread")
        std::exit(0);
      std::quick_exit(0);
    }).join();
  }
  std::puts("done");
  std::exit(what == "exit-code" ? 7 : 0);
}
