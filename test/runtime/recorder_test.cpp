// The recorder from end to end: runs a program under it and reads its trace.
#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"
#include "trace/reader.h"

#include <csignal>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace warplens;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Recorded {
  TemporaryDirectory folder = std::move(*TemporaryDirectory::create());
  std::filesystem::path trace = folder.path() / "t.trace";
  Finished finished;

  explicit Recorded(const std::string& what, Environment environment = {}) {
    environment.emplace_back("WARPLENS_TRACE", trace.string());
    finished =
        *run({.arguments = {RECORDED_PROGRAM, what}, .environment = environment, .capture_output = true});
  }
};

trace::Reader open(const std::filesystem::path& path) {
  auto reader = trace::Reader::open(path);
  if (!reader)
    FAIL(reader.error().message);
  return std::move(*reader);
}

std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> lines_per_warp(const trace::Reader& reader,
                                                                                std::uint32_t launch) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> lines;
  bool right = true;
  const auto read = reader.for_each_access(
      launch, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        const std::uint64_t count = lines[{block, warp}]++;
        right &= access.site == 1001 + count % 2 && access.active == 0xff && access.addresses[8] == 0 &&
                 access.addresses[1] == 0x1004 + block * 4096 + count * 128;
      });
  CHECK(read.has_value());
  CHECK(right);
  return lines;
}

} // namespace

TEST_CASE("A program's trace contains its kernels' accesses") {
  const Recorded recorded("plain");
  CHECK(recorded.finished.exit_code == 0);
  CHECK(recorded.finished.output == "done\n");
  const trace::Reader reader = open(recorded.trace);
  CHECK_FALSE(reader.truncated());
  CHECK(reader.program().backend == "cpu");
  CHECK(reader.program().name == RECORDED_PROGRAM);
  CHECK(reader.sites().size() == 2);
  REQUIRE(reader.allocations().size() == 1);
  CHECK(reader.allocations()[0].bytes == 40960);
  REQUIRE(reader.launches().size() == 2); // the first of each kernel
  CHECK(reader.launches()[0].kernel == "scale<float>");
  CHECK(reader.launches()[0].blocks == 10);
  CHECK(reader.launches()[1].kernel == "plain_name");
  const auto lines = lines_per_warp(reader, 0);
  REQUIRE(lines.size() == 20);
  for (const auto& [warp, count] : lines)
    CHECK(count == 300);
  const auto end = reader.end_of(0);
  REQUIRE(end);
  CHECK(end->complete);
  CHECK(end->executed_accesses == 100);
  CHECK(end->probed_accesses == 99);
  std::map<std::string, std::uint64_t> launches;
  for (const trace::KernelLaunches& kernel : reader.kernel_launches())
    launches[kernel.kernel] = kernel.launches;
  CHECK(launches == std::map<std::string, std::uint64_t>{{"plain_name", 1}, {"scale<float>", 2}});
}

TEST_CASE("A trace lists the uses of memory before each traced launch") {
  using Kind = trace::MemoryUse::Kind;
  const auto piece = [](std::uint32_t launch, Kind kind, std::uint64_t address) {
    return trace::MemoryUse{launch, kind, address, 4096, 4096, 1, ""};
  };
  // The second launch of the first kernel runs without tracing.
  CHECK(open(Recorded("plain").trace).memory_uses() ==
        std::vector<trace::MemoryUse>{piece(0, Kind::written, 0x1000),
                                      {1, Kind::unseen, 0, 0, 0, 0, "an untraced launch of scale<float>"},
                                      piece(1, Kind::read, 0x8000)});
  CHECK(open(Recorded("plain", {{"WARPLENS_LAUNCHES", "2"}}).trace).memory_uses() ==
        std::vector<trace::MemoryUse>{piece(0, Kind::written, 0x1000), piece(1, Kind::read, 0x1000),
                                      piece(2, Kind::read, 0x8000)});
}

TEST_CASE("The environment chooses launches and blocks") {
  const Recorded recorded(
      "plain", {{"WARPLENS_KERNEL", "scale"}, {"WARPLENS_LAUNCHES", "5"}, {"WARPLENS_SNAPSHOT_BLOCKS", "3"}});
  const trace::Reader reader = open(recorded.trace);
  REQUIRE(reader.launches().size() == 2);
  CHECK(reader.launches()[1].kernel == "scale<float>");
  CHECK(reader.end_of(1)->blocks == 3);
  CHECK(lines_per_warp(reader, 1).size() == 6);
}

TEST_CASE("Without WARPLENS_TRACE a program runs as it is") {
  const auto finished =
      run({.arguments = {RECORDED_PROGRAM, "plain"}, .environment = {}, .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  CHECK(finished->output == "done\n");
}

TEST_CASE("A GPU's snapshot that is cut off is reported and stays incomplete") {
  const Recorded recorded("placed", {{"WARPLENS_SNAPSHOT_ACCESSES", "100"}});
  CHECK(recorded.finished.exit_code == 0);
  CHECK(recorded.finished.output.find(
            "warplens: the snapshot of scale<float> is cut off after 100 warp accesses") == 0);
  const trace::Reader reader = open(recorded.trace);
  REQUIRE(reader.end_of(0));
  CHECK_FALSE(reader.end_of(0)->complete);
}

TEST_CASE("A full disk ends the tracing, not the program") {
  const auto finished = run({.arguments = {RECORDED_PROGRAM, "exit-code"},
                             .environment = {{"WARPLENS_TRACE", "/dev/full"}},
                             .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->exit_code == 7);
  CHECK(finished->output.find("warplens: ") != std::string::npos);
  CHECK(finished->output.find("warplens: ") == finished->output.rfind("warplens: ")); // reported once
  CHECK(finished->output.find("done\n") != std::string::npos);
}

TEST_CASE("A path that cannot be written ends the tracing, not the program") {
  const auto finished = run({.arguments = {RECORDED_PROGRAM, "plain"},
                             .environment = {{"WARPLENS_TRACE", "/nowhere/at/all.trace"}},
                             .capture_output = true});
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  CHECK(finished->output.find("/nowhere/at/all.trace") != std::string::npos);
}

TEST_CASE("A malformed variable is reported, and the program runs") {
  const Recorded recorded("plain", {{"WARPLENS_LAUNCHES", "many"}});
  CHECK(recorded.finished.exit_code == 0);
  CHECK(recorded.finished.output.find("warplens: WARPLENS_LAUNCHES=many: ") == 0);
  CHECK_FALSE(std::filesystem::exists(recorded.trace));
}

TEST_CASE("Two sites with one id stop the program") {
  const Recorded recorded("conflict");
  CHECK(recorded.finished.exit_code == 1);
  CHECK(recorded.finished.output.find("program.cu:3:5 (a[i]) and other.cu:1:1 (c[i])") != std::string::npos);
}

TEST_CASE("The child of a fork leaves the trace alone, and so does a program that is started") {
  const std::string what = GENERATE("fork", "start-another");
  const Recorded recorded(what);
  CHECK(recorded.finished.exit_code == 0);
  const trace::Reader reader = open(recorded.trace);
  CHECK_FALSE(reader.truncated());
  CHECK(reader.launches().size() == 2);
  CHECK(reader.kernel_launches().size() == 2);
  CHECK(lines_per_warp(reader, 0).size() == 20);
}

TEST_CASE("A program that exits within a launch leaves a complete file with an incomplete launch") {
  const Recorded recorded("exit-within-launch");
  CHECK(recorded.finished.exit_code == 0);
  const trace::Reader reader = open(recorded.trace);
  CHECK_FALSE(reader.truncated());
  REQUIRE(reader.launches().size() == 3);
  REQUIRE(reader.end_of(2));
  CHECK_FALSE(reader.end_of(2)->complete);
}

TEST_CASE("A program that exits while another of its threads launches kernels leaves a complete file") {
  const std::string what = GENERATE("exit-from-a-thread", "quick-exit-from-a-thread");
  for (int round = 0; round < 5; ++round) {
    const Recorded recorded(what, {{"WARPLENS_LAUNCHES", "100000"}});
    INFO(recorded.finished.output);
    CHECK(recorded.finished.exit_code == 0);
    const trace::Reader reader = open(recorded.trace);
    CHECK_FALSE(reader.truncated());
    CHECK(reader.launches().size() > 3);
    for (const trace::Launch& launch : reader.launches())
      CHECK(lines_per_warp(reader, launch.id).size() <= 20);
  }
}

TEST_CASE("A killed program leaves the trace collected by then") {
  const int signal = GENERATE(SIGKILL, SIGTERM);
  const auto folder = std::move(*TemporaryDirectory::create());
  const std::string trace = (folder.path() / "t.trace").string();
  const pid_t child = fork();
  if (child == 0) {
    setenv("WARPLENS_TRACE", trace.c_str(), 1);
    execl(RECORDED_PROGRAM, RECORDED_PROGRAM, "endless", nullptr);
    _exit(127);
  }
  // Waits until a chunk of accesses is on the disk; the recorder flushes every 100 ms.
  for (int tries = 0; tries < 500; ++tries) {
    std::error_code none_yet;
    if (std::filesystem::file_size(trace, none_yet) > 20'000 && !none_yet)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == signal));
  const trace::Reader reader = open(trace);
  CHECK(reader.truncated());
  CHECK(reader.sites().size() == 2);
  REQUIRE(reader.launches().size() == 1);
  CHECK_FALSE(reader.end_of(0).has_value());
  CHECK_FALSE(lines_per_warp(reader, 0).empty());
}
