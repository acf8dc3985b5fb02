#include "test/trace/patterns.h"
#include "trace/inspect.h"

#include <sstream>

using namespace warplens;
using namespace warplens::trace;
using namespace warplens::trace::test;

namespace {

/// Returns a trace of one launch of 2 blocks of 40 threads, with one access that `change` may invalidate.
Reader one_access(const std::string& name,
                  const std::function<void(Site&, Launch&, Record&, LaunchEnd&)>& change) {
  Site site = sample_site(1);
  Launch launch = sample_launch(0, 2);
  launch.block = {40, 1, 1};
  Record record{1, 1, make_access(1, 0xff, [](unsigned lane) { return 0x7f0000000000 + 4 * lane; })};
  LaunchEnd end{0, true, 8, 8};
  change(site, launch, record, end);
  const auto path = scratch_file(name);
  Writer writer = good(Writer::create(path, sample_program()));
  good(writer.add_sites(std::vector{site}));
  good(writer.add_memory_uses(sample_uses(0)));
  good(writer.begin_launch(launch));
  good(append(writer, 0, {record}));
  good(writer.end_launch(end));
  good(writer.finish({}));
  return good(Reader::open(path));
}

std::string first_finding(const std::function<void(Site&, Launch&, Record&, LaunchEnd&)>& change) {
  const Findings findings = good(check(one_access("finding", change)));
  return findings.first.empty() ? "nothing" : findings.first.front();
}

} // namespace

TEST_CASE("info summarises a trace") {
  const auto path = scratch_file("info");
  write_sample(path);
  std::ostringstream out;
  print_info(good(Reader::open(path)), out);
  const std::string text = out.str();
  INFO(text);
  CHECK(text.find("program      ./spmv u 1024\nback end     cpu\ndevice       A100\nstate        "
                  "complete\nsites        2\n"
                  "allocations  1 (4096 bytes)\nmemory uses  4 by copies and fills, 2 unseen\naccesses     "
                  "80 by warps, barriers included, in ") == 0);
  CHECK(text.find("  1  spmv(int const*, float*)  grid 64x1x1  block 256x1x1  blocks 0 to 63  40 accesses  "
                  "complete\n") != std::string::npos);
  CHECK(text.find("launched     5 times spmv(int const*, float*)  grid 1x1x1  block 1x1x1  about 0 accesses "
                  "each\n") != std::string::npos);
}

TEST_CASE("a dump has every record, one a line") {
  const Reader reader = one_access("dump", [](Site& site, Launch&, Record& record, LaunchEnd&) {
    site.expression = "val[\n\x1b[31mj]"; // must neither break the line nor colour the terminal
    record.access.active = 0x3;
    for (unsigned lane = 2; lane < 8; ++lane)
      record.access.addresses[lane] = 0;
  });
  std::ostringstream out;
  good(dump(reader, out));
  CHECK(out.str() ==
        "program ./spmv u 1024 backend cpu device A100\n"
        "site 0000000000000001 spmv.cu:21:7 load generic 4 bytes operator none sequence 2 copies 1 "
        "object val depends on none "
        "expression val[\\x0a\\x1b[31mj]\n"
        "before 0 unseen an untraced launch of f()\n"
        "before 0 written 7f0000000000 4096 bytes\n"
        "before 0 read 7f0000000100 7 rows of 100 bytes, 512 apart\n"
        "launch 0 spmv(int const*, float*) symbol _Z4spmvPKiPf grid 2x1x1 block 40x1x1 shared "
        "0+0 registers 0 first block 0 "
        "blocks 2\n"
        "access 0 1 1 load global 4 spmv.cu:21:7 00000003 7f0000000000 7f0000000004\n"
        "end 0 complete executed 8 probed 8 accesses 0 lines 0 blocks 2\n");
}

TEST_CASE("a dump has a barrier without addresses, which check accepts") {
  const auto to_barrier = [](Site& site, Launch&, Record& record, LaunchEnd&) {
    site.kind = AccessKind::barrier;
    record.access = make_barrier(1, 0xff);
  };
  std::ostringstream out;
  good(dump(one_access("barrier", to_barrier), out));
  CHECK(out.str().find("access 0 1 1 barrier generic 0 spmv.cu:21:7 000000ff\n") != std::string::npos);
  CHECK(first_finding(to_barrier) == "nothing");
}

TEST_CASE("counts are by launch and site, of warps and of lanes") {
  const auto path = scratch_file("counts");
  Writer writer = good(Writer::create(path, sample_program()));
  good(writer.add_sites(std::vector{sample_site(2), sample_site(1)}));
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    good(writer.begin_launch(sample_launch(launch, 2)));
    const auto record = [](std::uint64_t site, std::uint32_t active) {
      return Record{0, 0, make_access(site, active, [](unsigned lane) { return 0x7f0000000000 + 4 * lane; })};
    };
    std::vector<Record> records{record(2, 0xff), record(1, 0x3), record(1, ~0u)};
    records.resize(launch == 0 ? 3 : 1);
    good(append(writer, launch, records));
    good(writer.end_launch({launch, true, 0, 0}));
  }
  good(writer.finish({}));
  std::ostringstream out;
  good(print_counts(good(Reader::open(path)), out));
  const std::string kernel = "spmv(int const*, float*)";
  CHECK(out.str() == "0\t" + kernel + "\tspmv.cu:21:7\tload\tglobal\t2\t34\n0\t" + kernel +
                         "\tspmv.cu:22:7\tload\tglobal\t1\t8\n1\t" + kernel +
                         "\tspmv.cu:22:7\tload\tglobal\t1\t8\n");
}

TEST_CASE("a dump stops when its output fails") {
  const auto path = scratch_file("full");
  write_sample(path);
  std::ofstream full("/dev/full");
  CHECK_FALSE(dump(good(Reader::open(path)), full));
}

TEST_CASE("check finds each broken promise") {
  CHECK(first_finding([](Site&, Launch&, Record&, LaunchEnd&) {}) == "nothing");
  const std::string at = "launch 0 block 1 warp 1 site 0000000000000001: ";
  CHECK(first_finding([](Site& site, Launch&, Record&, LaunchEnd&) { site.id = 2; }) == at + "no such site");
  CHECK(first_finding([](Site& site, Launch&, Record&, LaunchEnd&) { site.depends_on = {9}; }) ==
        "site 0000000000000001 depends on 0000000000000009, which is not there");
  CHECK(first_finding([](Site& site, Launch&, Record&, LaunchEnd&) { site.line = 0; }) ==
        "site 0000000000000001: line 0, column 7");
  CHECK(first_finding([](Site& site, Launch&, Record&, LaunchEnd&) { site.kind = AccessKind::store; }) ==
        at + "a load at a site that is a store");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) { record.access.active = 0; }) ==
        at + "no lane is active");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) { record.access.active = 0x1ff; }) ==
        at + "mask 000001ff has lanes beyond the block's 40 threads");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) { record.warp = 2; }) ==
        "launch 0 block 1 warp 2 site 0000000000000001: a block has 40 threads, hence no such warp");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) { record.block = 2; }) ==
        "launch 0 block 2 warp 1 site 0000000000000001: the block is outside the snapshot");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) { record.access.bytes = 12; }) ==
        at + "12 bytes a lane");
  CHECK(first_finding([](Site& site, Launch&, Record& record, LaunchEnd&) {
          site.kind = AccessKind::barrier;
          record.access = make_barrier(1, 0xff);
          record.access.bytes = 4;
        }) == at + "4 bytes a lane");
  CHECK(first_finding([](Site&, Launch&, Record& record, LaunchEnd&) {
          record.access.addresses[3] = ~0ull;
        }) == at + "lane 3 has address ffffffffffffffff, beyond the end of its space");
  CHECK(first_finding([](Site&, Launch& launch, Record& record, LaunchEnd&) {
          launch.dynamic_shared_bytes = 31;
          record.access.space = Space::shared;
          for (unsigned lane = 0; lane < 8; ++lane)
            record.access.addresses[lane] = 4 * lane;
        }) == at + "lane 7 has address 1c, beyond the end of its space");
  CHECK(first_finding([](Site&, Launch& launch, Record&, LaunchEnd&) { launch.block = {1025, 1, 1}; }) ==
        "launch 0: 1025 threads a block");
  CHECK(first_finding([](Site&, Launch& launch, Record&, LaunchEnd&) { launch.blocks = 3; }) ==
        "launch 0: blocks 0 and 3 following, of a grid of 2");
  CHECK(first_finding([](Site&, Launch&, Record&, LaunchEnd& end) { end.probed_accesses = 9; }) ==
        "launch 0: 9 accesses probed of 8 executed");
  CHECK(first_finding([](Site&, Launch&, Record&, LaunchEnd& end) { end.blocks = 3; }) ==
        "launch 0: 3 blocks collected of 2");
  CHECK(first_finding([](Site&, Launch&, Record&, LaunchEnd& end) { end.windows = {{1, 2, 2}}; }) ==
        "launch 0: a window of 2 blocks from 1 on for 2");
}

TEST_CASE("check accepts a launch without an end only if the trace was cut") {
  const auto path = scratch_file("endless");
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(writer.finish({}));
  }
  const Findings complete = good(check(good(Reader::open(path))));
  REQUIRE(complete.count == 1);
  CHECK(complete.first[0] == "launch 0 has no end, yet the trace is complete");
  FileBytes bytes = file_bytes(path);
  bytes.resize(bytes.size() - 1);
  write_file(path, bytes);
  CHECK(good(check(good(Reader::open(path)))).count == 0);
}

TEST_CASE("check finds memory uses without a launch or an address") {
  const auto path = scratch_file("uses");
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.add_memory_uses(std::vector<MemoryUse>{{0, MemoryUse::Kind::written, 0, 0, 0, 0, ""},
                                                       {1, MemoryUse::Kind::unseen, 0, 0, 0, 0, "f()"}}));
    good(writer.begin_launch(sample_launch(0)));
    good(writer.end_launch({0, true, 0, 0}));
    good(writer.finish({}));
  }
  const Findings findings = good(check(good(Reader::open(path))));
  CHECK(findings.first == std::vector<std::string>{"memory used before launch 0: 0 rows of it",
                                                   "memory was used before launch 1, which is not there"});
}

TEST_CASE("all findings are counted, the first are listed") {
  const auto path = scratch_file("many");
  {
    Writer writer = good(Writer::create(path, sample_program()));
    good(writer.begin_launch(sample_launch(0)));
    good(
        append(writer, 0,
               std::vector<Record>(500, {0, 0, make_access(1, 1, [](unsigned) { return 0x7f0000000000; })})));
    good(writer.end_launch({0, true, 0, 0}));
    good(writer.finish({}));
  }
  const Findings findings = good(check(good(Reader::open(path))));
  CHECK(findings.count == 500);
  CHECK(findings.first.size() == 100);
}
