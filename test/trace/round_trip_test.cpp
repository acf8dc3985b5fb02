#include "test/trace/patterns.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace warplens;
using namespace warplens::trace;
using namespace warplens::trace::test;

TEST_CASE("everything that is not an access is read back unchanged") {
  const auto path = scratch_file("metadata");
  Site site = sample_site(0xfedcba9876543210);
  site.kind = AccessKind::update;
  site.space = Space::shared;
  site.cache_operator = CacheOperator::nc;
  site.depends_on = {1, 0xffffffffffffffff};
  site.copies = 37;
  site.is_reduction = true;
  site.aggregation = LaneAggregation::counted;
  site.is_floating = true;
  site.waits = true;
  site.expression = std::string("a[\n\0\xff]", 6);
  Launch launch = sample_launch(0);
  launch.grid = {65535, 3, 2};
  launch.static_shared_bytes = 49152;
  launch.dynamic_shared_bytes = 227 * 1024;
  launch.registers_per_thread = 255;
  const std::string cubin("\x7f"
                          "ELF\0and so on",
                          14);
  launch.machine_code = {{80, 80, 96, 504, 564, 560, 4096, "_Z1kv", 0xfedcba9876543210, cubin},
                         {70, 75, 4000000000u, 1, 2, 3, 0, "_Z1kv", 0, {}}};
  launch.first_block = 1000;
  launch.blocks = 528;
  launch.window = AccessWindow{0x7f00'0000'1000, 0x7f00'0080'1000, 0.625, 30u << 20};
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.add_sites(std::vector{site, sample_site(1)}));
    good(writer.add_allocation({0x7f0000000000, 1ull << 40, "big"}));
    good(writer.add_memory_uses(sample_uses(0)));
    good(writer.begin_launch(launch));
    good(writer.add_memory_uses({}));
    good(writer.add_memory_uses(std::vector{sample_uses(1)[1]}));
    good(writer.add_allocation({0x7f1000000000, 1, ""}));
    good(writer.end_launch({0, true, 123456789012, 123456789000}));
    good(writer.finish(std::vector<KernelLaunches>{{"f()", "_Z1fv", 1}, {"g()", "_Z1gv", 1ull << 33}}));
  }
  const Reader reader = good(Reader::open(path));
  CHECK_FALSE(reader.truncated());
  CHECK(reader.program().name == "./spmv u 1024");
  CHECK(reader.program().backend == "cpu");
  CHECK(reader.program().device == "A100");

  REQUIRE(reader.sites().size() == 2);
  const Site& read_site = reader.sites()[0];
  CHECK(read_site.id == site.id);
  CHECK(read_site.file == site.file);
  CHECK(read_site.line == site.line);
  CHECK(read_site.column == site.column);
  CHECK(read_site.expression == site.expression);
  CHECK(read_site.kind == site.kind);
  CHECK(read_site.space == site.space);
  CHECK(read_site.element_bytes == site.element_bytes);
  CHECK(read_site.cache_operator == site.cache_operator);
  CHECK(read_site.sequence == site.sequence);
  CHECK(read_site.depends_on == site.depends_on);
  CHECK(read_site.object == site.object);
  CHECK(read_site.macro == site.macro);
  CHECK(read_site.in_template == site.in_template);
  CHECK(read_site.copies == 37);
  CHECK(read_site.is_reduction);
  CHECK(read_site.aggregation == LaneAggregation::counted);
  CHECK(read_site.is_floating);
  CHECK(read_site.waits);
  CHECK_FALSE(reader.sites()[1].waits);
  CHECK(reader.sites()[1].copies == 1);

  REQUIRE(reader.allocations().size() == 2);
  CHECK(reader.allocations()[0].bytes == 1ull << 40);
  CHECK(reader.allocations()[1].address == 0x7f1000000000);

  std::vector<MemoryUse> uses = sample_uses(0);
  uses.push_back(sample_uses(1)[1]);
  CHECK(reader.memory_uses() == uses);

  REQUIRE(reader.launches().size() == 1);
  const Launch& read_launch = reader.launches()[0];
  CHECK(read_launch.kernel == launch.kernel);
  CHECK(read_launch.symbol == launch.symbol);
  CHECK(read_launch.grid.count() == launch.grid.count());
  CHECK(read_launch.block.x == 256);
  CHECK(read_launch.static_shared_bytes == launch.static_shared_bytes);
  CHECK(read_launch.dynamic_shared_bytes == launch.dynamic_shared_bytes);
  CHECK(read_launch.registers_per_thread == launch.registers_per_thread);
  CHECK(read_launch.machine_code == launch.machine_code);
  CHECK(read_launch.first_block == launch.first_block);
  CHECK(read_launch.blocks == launch.blocks);
  CHECK(read_launch.window == launch.window);

  const auto end = reader.end_of(0);
  REQUIRE(end);
  CHECK(end->complete);
  CHECK(end->executed_accesses == 123456789012);
  CHECK(end->probed_accesses == 123456789000);
  CHECK_FALSE(reader.end_of(1));
  REQUIRE(reader.kernel_launches().size() == 2);
  CHECK(reader.kernel_launches()[1].launches == 1ull << 33);
}

TEST_CASE("random accesses are read back unchanged, in order") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  const std::size_t count = GENERATE(0, 1, 3000);
  const auto path = scratch_file("random");
  const auto first = random_records(seed, count), second = random_records(seed + 100, count);
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(writer.begin_launch(sample_launch(1)));
    good(append(writer, 0, first));
    if (seed % 2)
      good(writer.flush());
    good(append(writer, 1, second));
    good(append(writer, 0, second));
    good(writer.finish({}));
  }
  const Reader reader = good(Reader::open(path));
  auto expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  CHECK(reader.access_count(0) == expected.size());
  CHECK(read_all(reader, 0) == expected);
  CHECK(read_all(reader, 1) == second);
  CHECK(read_all(reader, 2).empty());
}

TEST_CASE("accesses that fill several chunks are read back unchanged") {
  const auto path = scratch_file("chunks");
  std::mt19937_64 random(5);
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < 60000; ++i) // more shapes than a chunk may have, and more bytes
    records.push_back({i % 7, 0, make_access(i % 9000, ~0u, [&](unsigned) { return random(); })});
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(append(writer, 0, records));
    good(writer.finish({}));
  }
  const Reader reader = good(Reader::open(path));
  CHECK(read_all(reader, 0) == records);
}

TEST_CASE("a killed program leaves the flushed records") {
  const auto path = scratch_file("killed");
  const auto records = random_records(9, 500);
  const pid_t child = fork();
  if (child == 0) {
    Writer writer = Writer::create(path, sample_program()).value();
    (void)writer.begin_launch(sample_launch(0));
    (void)append(writer, 0, records);
    (void)writer.add_allocation({0x1000, 16, "not flushed"});
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const Reader reader = good(Reader::open(path));
  CHECK(reader.truncated());
  CHECK_FALSE(reader.end_of(0));
  CHECK(reader.allocations().empty());
  CHECK(reader.access_count(0) == records.size());
  CHECK(read_all(reader, 0) == records);
}

TEST_CASE("a writer without finish() leaves all its records") {
  const auto path = scratch_file("unfinished");
  const auto records = random_records(10, 100);
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(append(writer, 0, records));
  }
  const Reader reader = good(Reader::open(path));
  CHECK(reader.truncated());
  CHECK(read_all(reader, 0) == records);
}

TEST_CASE("records that no reader would accept are not written") {
  Writer writer = good(Writer::create(scratch_file("disorder"), sample_program()));
  const std::vector<Record> one{{0, 0, make_access(1, 1, [](unsigned) { return 4; })}};
  CHECK_FALSE(append(writer, 0, one));
  CHECK_FALSE(writer.end_launch({0, true, 0, 0}));
  good(writer.begin_launch(sample_launch(0)));
  CHECK_FALSE(writer.begin_launch(sample_launch(0)));
  good(append(writer, 0, one));
  good(writer.finish({}));
  CHECK(read_all(good(Reader::open(scratch_file("disorder"))), 0).size() == 1);
  CHECK_FALSE(append(writer, 0, one));
}

TEST_CASE("a cubin is there once, and one that is too large is left out") {
  const auto path = scratch_file("cubins");
  const std::string small(1000, 'c'), large(std::size_t{max_chunk_bytes} + 1, 'l');
  {
    Writer writer = good(Writer::create(path, sample_program()));
    for (std::uint32_t id = 0; id < 3; ++id) {
      Launch launch = sample_launch(id);
      launch.machine_code = {{.capability = 80, .symbol = "_Z1kv", .cubin_id = 1, .cubin = small},
                             {.capability = 90, .symbol = "_Z1kv", .cubin_id = 2, .cubin = large}};
      good(writer.begin_launch(launch));
    }
    good(writer.finish({}));
  }
  const Reader reader = good(Reader::open(path));
  CHECK(reader.file_bytes() < 2000);
  REQUIRE(reader.launches().size() == 3);
  for (const Launch& launch : reader.launches()) {
    CHECK(launch.machine_code[0].cubin == small);
    CHECK(launch.machine_code[0].cubin.data() == reader.launches()[0].machine_code[0].cubin.data());
    CHECK(launch.machine_code[1].cubin_id == 2);
    CHECK(launch.machine_code[1].cubin.empty());
  }
}

TEST_CASE("a full disk is an error that stays") {
  const auto full = Writer::create("/dev/full", sample_program());
  REQUIRE_FALSE(full);
  CHECK(full.error().message == "cannot write the trace /dev/full: No space left on device");
  CHECK(Writer::create("/nonexistent/trace", sample_program()).error().message ==
        "cannot write the trace /nonexistent/trace: No such file or directory");
}

TEST_CASE("a disk that fills up later is remembered, and what was written can be read") {
  const auto path = scratch_file("limited");
  const pid_t child = fork();
  if (child == 0) { // RLIMIT_FSIZE imitates a full disk: EFBIG instead of ENOSPC, at any byte
    std::signal(SIGXFSZ, SIG_IGN);
    Writer writer = Writer::create(path, sample_program()).value();
    (void)writer.begin_launch(sample_launch(0));
    (void)writer.flush();
    const rlimit limit{40000, 40000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto records = random_records(11, 4000);
    bool failed = false;
    for (const Record& record : records)
      failed |= !append(writer, 0, {record});
    const bool stays = !writer.flush() && !writer.end_launch({}) && !writer.finish({});
    _exit(failed && stays ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  const Reader reader = good(Reader::open(path));
  CHECK(reader.truncated());
  const auto read = read_all(reader, 0);
  const auto written = random_records(11, 4000);
  REQUIRE(read.size() > 50);
  REQUIRE(read.size() < written.size());
  CHECK(std::equal(read.begin(), read.end(), written.begin()));
}
