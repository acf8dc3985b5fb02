// The GPU back end's launch hook over a fake CUDA runtime: it traces the right launches, and never changes or
// hangs the program.
#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"
#include "trace/reader.h"

#include <fcntl.h>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace warplens;

namespace {

struct Run {
  Finished finished;
  trace::Reader trace;
};

Run run_traced(const std::string& what, const std::string& log_times = "") {
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create());
  const std::string path = (folder.path() / "t.trace").string();
  auto finished = run({.arguments = {FAKE_GPU_PROGRAM, what},
                       .environment = {{"WARPLENS_TRACE", path},
                                       {"WARPLENS_LAUNCHES", "1"},
                                       {"WARPLENS_STALL_SECONDS", "1"},
                                       {"WARPLENS_LOG_TIMES", log_times}},
                       .capture_output = true});
  REQUIRE(finished);
  CAPTURE(finished->output);
  CHECK(finished->exit_code == 0);
  auto trace = trace::Reader::open(path);
  REQUIRE(trace);
  return {std::move(*finished), std::move(*trace)};
}

/// Returns the launches of each kernel, of all shapes, by symbol.
std::vector<std::uint64_t> launches_by_kernel(const trace::Reader& trace) {
  std::map<std::string, std::uint64_t> launches;
  for (const trace::KernelLaunches& counted : trace.kernel_launches())
    launches[counted.symbol] += counted.launches;
  std::vector<std::uint64_t> counts;
  for (const auto& [symbol, count] : launches)
    counts.push_back(count);
  return counts;
}

std::uint64_t count_lines(const trace::Reader& trace, std::uint32_t launch) {
  std::uint64_t lines = 0;
  REQUIRE(trace.for_each_access(launch,
                                [&](std::uint64_t, std::uint32_t, const trace::WarpAccess&) { ++lines; }));
  return lines;
}

} // namespace

TEST_CASE("The first launch of a kernel is traced, all are counted") {
  const Run done = run_traced("plain");
  CHECK(done.finished.output == "done\n");
  CHECK(done.trace.program().backend == "gpu");
  CHECK(done.trace.program().device == "Fake GPU");
  REQUIRE(done.trace.allocations().size() == 1);
  CHECK(done.trace.allocations()[0].bytes == 4000);
  REQUIRE(done.trace.launches().size() == 1);
  const trace::Launch& launch = done.trace.launches()[0];
  CHECK(launch.kernel == "plain");
  CHECK(launch.blocks == 20);
  CHECK(launch.static_shared_bytes == 48);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 300);
  REQUIRE(done.trace.end_of(0));
  CHECK(done.trace.end_of(0)->complete);
  CHECK(done.trace.memory_uses().empty()); // it has copied nothing
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{3});
}

TEST_CASE("The times of a traced launch's steps are printed if they are wanted") {
  const Run done = run_traced("plain", "1");
  CHECK(done.finished.output.find(
            "warplens: milliseconds of a traced launch of plain: memory of the rings ") == 0);
  CHECK(done.finished.output.find(", kernel ") != std::string::npos);
}

TEST_CASE("A captured launch is not traced") {
  const Run done = run_traced("capturing");
  CHECK(done.trace.launches().empty());
}

TEST_CASE("A kernel that waits for the program's action after the launch does not hang") {
  const Run done = run_traced("waits-for-host");
  CHECK(done.finished.output.find("warplens: no access of waiting came for 1 s") == 0);
  REQUIRE_FALSE(done.trace.launches().empty());
  CHECK(done.trace.launches()[0].kernel == "waiting");
  REQUIRE(done.trace.end_of(0));
  CHECK_FALSE(done.trace.end_of(0)->complete);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 3);
}

TEST_CASE("A trace whose write never returns ends the tracing, not the program") {
  // A pipe without a reader simulates a failed disk: the snooper stays in its first large write.
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create());
  const std::string path = (folder.path() / "pipe").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  const auto finished = run(
      {.arguments = {"timeout", "60", FAKE_GPU_PROGRAM, "scattered"},
       .environment = {{"WARPLENS_TRACE", path}, {"WARPLENS_LAUNCHES", "1"}, {"WARPLENS_STALL_SECONDS", "1"}},
       .capture_output = true});
  close(reader);
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  CHECK(finished->output ==
        "warplens: the trace could not be written for 1 s: the tracing of scattered ends here, "
        "the program goes on\ndone\n");
}

TEST_CASE("Launches of many threads on many streams all succeed, one of them traced") {
  const Run done = run_traced("many-streams");
  CHECK(done.finished.output == "done\n");
  REQUIRE(done.trace.launches().size() == 1);
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{16 * 200});
}

TEST_CASE("A program on a GPU that is killed within a launch leaves the trace collected by then") {
  for (const char* signal : {"KILL", "TERM"}) {
    INFO(signal);
    const TemporaryDirectory folder = std::move(*TemporaryDirectory::create());
    const std::string path = (folder.path() / "t.trace").string();
    const auto finished = run({.arguments = {"timeout", "--signal", signal, "1", FAKE_GPU_PROGRAM, "endless"},
                               .environment = {{"WARPLENS_TRACE", path}, {"WARPLENS_LAUNCHES", "1000000"}},
                               .capture_output = true});
    REQUIRE(finished);
    CHECK(finished->exit_code == (signal == std::string("KILL") ? 137 : 124));
    const auto trace = trace::Reader::open(path);
    REQUIRE(trace);
    CHECK(trace->truncated());
    REQUIRE_FALSE(trace->launches().empty());
    CHECK(count_lines(*trace, 0) > 0);
  }
}

TEST_CASE("A kernel that waits for another kernel does not hang, and stays complete") {
  const Run done = run_traced("waits-for-kernel");
  CHECK(done.finished.output == "done\n");
  REQUIRE(done.trace.launches().size() == 1);
  CHECK(done.trace.end_of(0)->complete);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 303);
}

TEST_CASE("Traced kernels know the program's textures and surfaces") {
  // Arrays get addresses of their own; the texture and the surface of one array have the same. Row 1 of an
  // array lies 16 bytes after row 0, and so does the texel 4 bytes after its beginning.
  constexpr std::uint64_t array = std::uint64_t{1} << 60;
  const Run done = run_traced("textures");
  CHECK(done.finished.output == "done\n");
  std::map<std::uint64_t, std::uint64_t> addresses;
  REQUIRE(done.trace.for_each_access(0, [&](std::uint64_t, std::uint32_t, const trace::WarpAccess& access) {
    addresses[access.site] = access.addresses[0];
  }));
  CHECK(addresses ==
        std::map<std::uint64_t, std::uint64_t>{
            {10, 0x10000 + 5 * 4}, {11, 0x20000 + 512 + 4}, {12, array + 16 + 4}, {13, array + 16 + 4}});
  REQUIRE(done.trace.allocations().size() == 1);
  CHECK(done.trace.allocations()[0].address == array);
  CHECK(done.trace.allocations()[0].bytes == 64 * 32 * 4);

  const Run destroyed = run_traced("textures-destroyed");
  CHECK(destroyed.finished.output ==
        "warplens: a traced kernel uses a texture or surface that was made where Warplens does not see it "
        "(in a source "
        "that warplens did not compile, or by the driver API): these accesses are not in the trace\ndone\n");
  CHECK(count_lines(destroyed.trace, 0) == 3);
}

TEST_CASE("Copies and fills precede the launch, in their order, with their addresses") {
  const Run done = run_traced("copies");
  std::uint64_t array = 0, variable = 0;
  std::istringstream(done.finished.output) >> std::hex >> array >> variable;
  REQUIRE(array != 0);
  using Kind = trace::MemoryUse::Kind;
  const auto piece = [](Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t rows = 1,
                        std::uint64_t pitch = 0) {
    return trace::MemoryUse{.kind = kind,
                            .address = address,
                            .row_bytes = bytes,
                            .pitch = rows == 1 ? bytes : pitch,
                            .rows = rows};
  };
  const std::vector<trace::MemoryUse> expected{
      {.kind = Kind::unseen, .what = "a copy or fill of managed memory"},
      piece(Kind::written, array, 101),
      piece(Kind::read, array + 0x1000, 102),
      piece(Kind::written, array + 0x2000, 50, 3, 512),
      piece(Kind::read, array + 0x10000 + (16 * 1 + 2) * 256 + 4, 20, 4, 256),
      piece(Kind::read, array + 0x10000 + (16 * 2 + 2) * 256 + 4, 20, 4, 256),
      piece(Kind::written, variable + 16, 103),
      piece(Kind::read, variable + 8, 104),
      piece(Kind::written, array + 0x3000, 105),
      piece(Kind::written, array + 0x4000, 106),
      piece(Kind::written, array + 0x5000, 107),
      piece(Kind::written, array + 0x6000, 109),
      piece(Kind::written, array + 0x7000, 110, 2, 1024),
      piece(Kind::written, array + 0x20000, 111, 2, 128),
      piece(Kind::written, array + 0x20000 + 8 * 128, 111, 2, 128)};
  CHECK(done.trace.memory_uses() == expected);
}

TEST_CASE("A graph's accesses are not seen") {
  const Run done = run_traced("graph");
  REQUIRE(done.trace.memory_uses().size() == 2);
  CHECK(done.trace.memory_uses()[0].what == "a launch of a CUDA graph");
  CHECK(done.trace.memory_uses()[1].row_bytes == 100);
}

TEST_CASE("With two GPUs the first that is launched on is traced, the other runs as ever") {
  const Run done = run_traced("two-devices");
  CHECK(done.finished.output ==
        "warplens: launches on GPU 1 stay untraced: those on GPU 0, which came first, "
        "are traced\ndone\n");
  REQUIRE(done.trace.launches().size() == 1);
  CHECK(done.trace.launches()[0].kernel == "plain");
  CHECK(done.trace.end_of(0)->complete);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 300);
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{101, 101});
}

TEST_CASE("With many tiny launches the first of each kernel is traced, all are counted") {
  const Run done = run_traced("tiny");
  CHECK(done.finished.output == "done\n");
  CHECK(done.trace.launches().size() == 2);
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{5000, 5000});
}

TEST_CASE("Untraced launches are counted, and what was copied before the last of them is forgotten") {
  const Run done = run_traced("untraced");
  CHECK(done.finished.output == "done\n");
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{1, 4});
  const auto uses = done.trace.memory_uses();
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].kind == trace::MemoryUse::Kind::unseen);
  CHECK(uses[0].what == "an untraced launch of plain");
  CHECK(uses[1].bytes() == 103);
  CHECK(uses[1].launch == 1);
}

TEST_CASE("The program sees a trap in a traced kernel; the trace before it is kept") {
  const Run done = run_traced("trap");
  CHECK(done.finished.output == "done\n");
  REQUIRE(done.trace.launches().size() == 1);
  REQUIRE(done.trace.end_of(0));
  CHECK_FALSE(done.trace.end_of(0)->complete);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 3);
}

TEST_CASE("A launch that CUDA refuses is refused with CUDA's error") {
  const Run done = run_traced("bad-launch");
  CHECK(done.finished.output == "done\n");
}

TEST_CASE("A traced launch runs the variant with probes, every other the user's own") {
  const Run done = run_traced("two-variants");
  CHECK(done.finished.output == "done\n");
  REQUIRE(done.trace.launches().size() == 1);
  CHECK(done.trace.launches()[0].kernel == "both");
  CHECK(done.trace.launches()[0].dynamic_shared_bytes == 100000);
  CHECK(count_lines(done.trace, 0) == 20 * 2 * 3);
  CHECK(launches_by_kernel(done.trace) == std::vector<std::uint64_t>{2});
}

TEST_CASE("Where the variant with probes does not fit, the user's own runs, and a later launch is traced") {
  for (const char* what : {"two-variants-too-large", "two-variants-cooperative"}) {
    const Run done = run_traced(what);
    CHECK(done.finished.output == "warplens: _Z4bothv: with probes it does not fit where it does without: a "
                                  "launch stays untraced\ndone\n");
    REQUIRE(done.trace.launches().size() == 1);
    CHECK(done.trace.launches()[0].block.x == 64);
    CHECK(count_lines(done.trace, 0) == 20 * 2 * 3);
  }
}
