#include "model/clock/clock_figures.h"
#include "model/gpu/sm_clock.h"
#include "test/catch.h"
#include "test/model/made_trace.h"

using namespace warplens;
using namespace warplens::model;

TEST_CASE("What lies on the SMs' side keeps its cycles, memory its time") {
  for (const char* name : {"v100", "a100", "k40"}) {
    const Gpu before = test::gpu(name);
    Gpu after = before;
    set_sm_clock(after, before.clock_mhz / 2);
    const ClockFigures fast(before), slow(after);
    CHECK(slow.ns_per_cycle == Approx(2 * fast.ns_per_cycle));
    CHECK(slow.l1 == fast.l1);
    CHECK(slow.shared == fast.shared);
    CHECK(slow.constant == fast.constant);
    CHECK(slow.sector_read == fast.sector_read);
    CHECK(after.cycles(after.l2.latency_ns) == Approx(before.cycles(before.l2.latency_ns)));
    CHECK(after.l2.bytes_per_ns == Approx(before.l2.bytes_per_ns / 2));
    // Behind the L2.
    CHECK(after.dram.latency_ns - after.l2.latency_ns ==
          Approx(before.dram.latency_ns - before.l2.latency_ns));
    CHECK(after.dram.burst_ns == before.dram.burst_ns);
    CHECK(after.machines.size() == before.machines.size());
    for (const Gpu& machine : after.machines)
      CHECK(machine.clock_mhz == after.clock_mhz);
    set_sm_clock(after, before.clock_mhz);
    CHECK(after.dram.latency_ns == Approx(before.dram.latency_ns));
  }
}

TEST_CASE("An L2 with a clock of its own keeps its time") {
  Gpu gpu = test::gpu("v100");
  gpu.l2.has_sm_clock = false;
  const Gpu before = gpu;
  set_sm_clock(gpu, 405);
  CHECK(gpu.l2.latency_ns == before.l2.latency_ns);
  CHECK(gpu.l2.bytes_per_ns == before.l2.bytes_per_ns);
  CHECK(gpu.dram.latency_ns == before.dram.latency_ns);
}

TEST_CASE("The way between memory and the L2 limits memory at low clocks only") {
  const Gpu::Dram& dram = test::gpu("v100").dram;
  CHECK(dram.cycles_of_sector() == Approx(32.0 * 32 / 870));
  CHECK(dram.cycles_of_sector() < 1.38 * dram.burst_ns / dram.achieved);
  CHECK(dram.cycles_of_sector() > 0.405 * dram.burst_ns / dram.achieved);
  CHECK(test::gpu("a100").dram.cycles_of_sector() == 0);
}
