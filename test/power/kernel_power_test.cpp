#include "power/kernel_power.h"
#include "test/catch.h"

using namespace warplens;
using namespace warplens::power;

namespace {

/// A kernel of 40 blocks on 80 SMs that takes 10 µs, half of them in the snapshot; all in its line 3 but the
/// loads in line 5.
KernelResult made_kernel() {
  KernelResult kernel;
  kernel.name = "kernel";
  kernel.gpu = "gpu";
  kernel.grid = {40, 1, 1};
  kernel.occupancy.sms = 80;
  kernel.snapshot.blocks = 20;
  kernel.time.emplace().microseconds.mean = 10;
  Events& events = kernel.events.emplace();
  events.instructions[std::size_t(InstructionKind::fp32)] = {1e6, 32e6};
  events.memory[std::size_t(MemoryEvent::l2_read_miss)] = 1e4;
  events.memory[std::size_t(MemoryEvent::dram_read)] = 1e4;
  LineTime line{"a.cu", 3, 1e6};
  line.states[0] = 0.25;
  line.work.emplace()[std::size_t(InstructionKind::fp32)] = {1e6, 32e6};
  LineTime loads{"a.cu", 5, 0};
  loads.states[0] = 0.75;
  kernel.lines = {line, loads};
  SiteResult site;
  site.site.file = std::string("a.cu");
  site.site.line = 5;
  site.events.emplace()[std::size_t(MemoryEvent::l2_read_miss)] = 1e4;
  site.time.emplace().occupied[std::size_t(Resource::dram)] = 1;
  kernel.sites = {site};
  return kernel;
}

Energies made_energies() {
  Energies energies;
  energies.clock_mhz = 1000;
  energies.constant_w = {30, 28, 32};
  energies.sm_w = {0.5, 0.4, 0.6};
  energies.idle_sm_w = {0.25, 0.1, 0.4};
  energies.lane_pj[std::size_t(InstructionKind::fp32)] = {10, 8, 12};
  energies.event_pj[std::size_t(MemoryEvent::l2_read_miss)] = {200, 100, 300};
  energies.event_pj[std::size_t(MemoryEvent::dram_read)] = {2000, 1500, 2500};
  energies.error = 0.1;
  return energies;
}

} // namespace

TEST_CASE("The parts of a kernel's power") {
  const auto power = kernel_power(made_kernel(), made_energies(), 1000);
  REQUIRE(power);
  CHECK(power->watts.constant == 30);
  CHECK(power->watts.sms == Approx(20));          // of 40 SMs
  CHECK(power->watts.instructions == Approx(64)); // 320 µJ in 5 µs
  CHECK(power->watts.l2 == Approx(0.4));          // 2 µJ
  CHECK(power->watts.dram == Approx(4));          // 20 µJ
  CHECK(power->watts.shared == 0);
  CHECK(power->watts.idle_sms == Approx(10)); // the other 40
  CHECK(power->total.value == Approx(128.4));
  CHECK(power->total.high == Approx(128.4 * 1.1959964));
  CHECK(power->joules.value == Approx(1.284e-3));
}

TEST_CASE("The energy of lines adds up to the kernel's") {
  const auto power = kernel_power(made_kernel(), made_energies(), 1000);
  REQUIRE(power);
  REQUIRE(power->lines.size() == 2);
  CHECK(power->lines[0].line == 3);
  CHECK(power->lines[0].events_joules == Approx(640e-6));
  CHECK(power->lines[0].rest_joules == Approx(150e-6));
  CHECK(power->lines[1].events_joules == Approx(44e-6));
  CHECK(power->lines[0].joules() + power->lines[1].joules() == Approx(power->joules.value));
}

TEST_CASE("Amounts and coefficients give the same power") {
  const KernelResult kernel = made_kernel();
  const std::vector<double> amounts = event_amounts(kernel);
  const std::vector<Estimate> coefficients = coefficients_of(made_energies());
  REQUIRE(amounts.size() == term_names().size());
  REQUIRE(coefficients.size() == amounts.size());
  double watts = 0;
  for (std::size_t term = 0; term < amounts.size(); ++term)
    watts += amounts[term] * coefficients[term].value;
  CHECK(watts == Approx(128.4));
  CHECK(term_names()[3] == "fp32_pj");
}

TEST_CASE("Kernels beside each other have their events at the rates that are left") {
  const Activity alone = activity_of(made_kernel());
  const std::vector<Activity> both{alone, alone};
  const Parts together = parts_of(beside(both, std::vector<double>{1, 2}), made_energies());
  CHECK(together.constant == 30);
  CHECK(together.sms == Approx(40)); // each has 40 of the 80 SMs
  CHECK(together.idle_sms == 0);
  CHECK(together.instructions == Approx(64 * 1.5));
  CHECK(together.dram == Approx(4 * 1.5));
  CHECK(power_of(beside(both, std::vector<double>{1, 1}), made_energies()).value ==
        Approx(30 + 40 + 2 * 68.4));
}

TEST_CASE("Another clock takes a voltage") {
  Energies energies = made_energies();
  const auto unknown = kernel_power(made_kernel(), energies, 500);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "kernel on gpu: the energies are those of 1000 MHz, and the GPU's file "
                                   "has no [power] voltage for 500 MHz");
  energies.voltages = {{400, 0.8}, {600, 0.9}, {1000, 1}};
  CHECK(*squared_voltage(energies, 500) == Approx(0.85 * 0.85));
  CHECK(*squared_voltage(energies, 300) == Approx(0.64));
  CHECK(*squared_voltage(energies, 1000) == 1);
  const auto slower = kernel_power(made_kernel(), energies, 500);
  REQUIRE(slower);
  CHECK(slower->watts.constant == 30);
  CHECK(slower->watts.sms == Approx(20 * 0.5 * 0.85 * 0.85));
  CHECK(slower->watts.idle_sms == Approx(10 * 0.85 * 0.85)); // which leak, and whose clock is gated
  CHECK(slower->watts.dram == Approx(4));
  CHECK(slower->watts.instructions == Approx(64 * 0.85 * 0.85));
}

TEST_CASE("A result without time or events says what it lacks") {
  KernelResult kernel = made_kernel();
  kernel.events.reset();
  kernel.code_unknown = "the trace has no machine code of the kernel";
  CHECK(kernel_power(kernel, made_energies(), 1000).error().message ==
        "kernel on gpu: the result has no events, as the trace has no machine code of the kernel: power "
        "needs the "
        "instructions that the kernel executes");
  kernel.time.reset();
  kernel.snapshot.warp_accesses = 1;
  CHECK(kernel_power(kernel, made_energies(), 1000).error().message ==
        "kernel on gpu: power needs a time, which is not known, because the trials had no clock (--schedule "
        "paper)");
}
