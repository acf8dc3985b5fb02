// Main memory: the mapping of addresses, the cost of rows, the waits of requests for each other.
#include "evaluated.h"
#include "model/dram/dram.h"
#include "model/replay/observers/dram_latencies.h"

#include <cmath>
#include <set>
#include <tuple>

using namespace warplens;
using test::gpu;
using test::MadeTrace;

TEST_CASE("A request pays for its row: open, none open, another one open") {
  for (const auto queue : {model::DramQueue::batch, model::DramQueue::kingman}) {
    model::Gpu on = gpu("v100");
    on.dram.queue = queue;
    on.dram.channel_index = on.dram.bank_index = model::DramIndex::modulo;
    Random random(1, 0, 0);
    model::Dram dram(on, on.sms, random);
    // One line each from a row of channel 0: bank 0, the next row of bank 0, bank 0 again.
    const std::uint32_t row = on.dram.row_bytes / 128 * on.dram.channels, next = row * on.dram.banks;
    const auto alone = [&](std::uint32_t line) { return dram.request(line, 1).ns; };
    const float idle = alone(0);
    CHECK(idle == Approx(on.dram.latency_ns));
    if (queue == model::DramQueue::batch)
      continue; // the second one waits for the first
    CHECK(alone(1) == Approx(on.dram.latency_ns - on.dram.activate_ns));
    CHECK(alone(next) == Approx(on.dram.latency_ns + on.dram.precharge_ns));
    CHECK(alone(row) == Approx(on.dram.latency_ns)); // another bank
    CHECK(dram.request(0, whole_line).ns ==
          Approx(on.dram.latency_ns + on.dram.precharge_ns + 3 * on.dram.burst_ns));
  }
}

TEST_CASE("In a batch each request queues behind those before it") {
  model::Gpu on = gpu("v100");
  on.dram.queue = model::DramQueue::batch;
  on.dram.channel_index = on.dram.bank_index = model::DramIndex::modulo;
  Random random(1, 0, 0);
  model::Dram dram(on, on.sms, random);
  float before = 0;
  const auto batch = [&] { return dram.batch(); };
  for (std::uint32_t i = 0; i < 20; ++i) {
    const float ns = dram.request(0, 1).ns;
    if (i > 0 && batch() == 1)
      CHECK(ns == Approx(before + on.dram.burst_ns).epsilon(1e-4));
    before = ns;
  }
}

TEST_CASE("Every line has a place of its own, and strides use all channels where they are permuted") {
  for (const char* name : {"c2050", "v100", "h100-sxm"})
    for (const auto index : {model::DramIndex::modulo, model::DramIndex::permuted}) {
      INFO(name << ", index " << int(index));
      model::Gpu on = gpu(name);
      on.dram.channel_index = on.dram.bank_index = index;
      const model::DramMap map(on);
      const std::uint32_t lines = 1u << 18, per_row = on.dram.row_bytes / 128;
      std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> rows;
      for (std::uint32_t line = 0; line < lines; ++line) {
        const auto place = map(line);
        CHECK_FALSE((place.channel >= on.dram.channels || place.bank / on.dram.banks != place.channel));
        ++rows[{place.channel, place.bank, place.row}];
      }
      std::uint32_t fullest = 0;
      for (const auto& [row, count] : rows)
        fullest = std::max(fullest, count);
      CHECK(fullest == per_row);
      std::set<std::uint32_t> channels;
      const std::uint32_t stride = on.dram.channels * on.dram.interleave_bytes / 128;
      for (std::uint32_t i = 0; i < 4096; ++i)
        channels.insert(map(i * stride).channel);
      CHECK(channels.size() == (index == model::DramIndex::modulo ? 1 : on.dram.channels));
    }
}

TEST_CASE("Division by multiplication is exact") {
  Random random(4, 0, 0);
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t d = i < 200 ? std::uint32_t(i + 1) : random.next() | 1u << random.below(32);
    const Divisor divisor(d);
    for (const std::uint32_t n : {0u, 1u, d - 1, d, d + 1, 2 * d - 1, 0x7fff'ffffu, 0x8000'0000u, ~0u})
      CHECK(divisor.quotient_in_loop(n) == n / d);
    for (int k = 0; k < 1000; ++k) {
      const std::uint32_t n = random.next();
      CHECK_FALSE(divisor.quotient_in_loop(n) != n / d);
    }
  }
}

TEST_CASE("Waits in a queue are those of theory") {
  Random random(3, 0, 0);
  constexpr float service = 10;
  // Requests to 50 servers at random: Poisson arrivals at each. Constant service: Pollaczek and Khinchine's
  // formula is exact then.
  model::Queues queues(50);
  std::vector<model::Arrivals> servers(50);
  constexpr std::uint32_t requests = 500'000;
  for (std::uint32_t i = 0; i < requests; ++i)
    servers[random.below(50)].add(float(i), model::Arrivals::taking(service));
  queues.close_round(servers, 1);
  for (const double load : {0.1, 0.5, 0.9}) {
    const double round = service * requests / 50 / load;
    CHECK(queues.mean_wait_ns(round) == Approx(load / (1 - load) * double(service) / 2).epsilon(0.05));
  }
  const double busy = queues.busy_ns();
  CHECK(busy == Approx(service * requests / 50.0).epsilon(0.03));
  queues.compute_waits(2 * busy);
  CHECK(queues.wait_ns(7) == Approx(service / 2).epsilon(0.1));
  servers.assign(50, {});
  queues.close_round(servers, 1);
  CHECK(queues.busy_ns() == 0);

  // Requests that arrive at even intervals and are served within one never wait.
  for (std::uint32_t i = 0; i < 1000; ++i)
    servers[i % 10].add(float(i), model::Arrivals::taking(service));
  queues.close_round(servers, 1);
  CHECK(queues.mean_wait_ns(2 * 100 * service) == Approx(0).margin(0.1));
}

TEST_CASE("Waits in a queue are those of a simulated one") {
  // One server, first come, first served: each request waits for what is left of the work before it
  // (Lindley's recursion). Poisson arrivals; service that varies as they do (M/M/1), is constant (M/D/1), or
  // is one of two lengths.
  const auto exponential = [](Random& random, double mean) {
    return -mean * std::log(1 - random.fraction());
  };
  const auto service_of = [&](Random& random, int kind) {
    return kind == 0 ? exponential(random, 10) : kind == 1 ? 10 : random.below(2) ? 17.5 : 2.5;
  };
  for (int kind = 0; kind < 3; ++kind)
    for (const double load : {0.3, 0.6, 0.85}) {
      INFO("service " << kind << ", load " << load);
      Random random(5, std::uint32_t(kind), std::uint32_t(100 * load));
      model::Queues queue(1);
      std::vector<model::Arrivals> server(1);
      constexpr int requests = 400'000;
      double now = 0, work = 0, waited = 0;
      for (int i = 0; i < requests; ++i) {
        const double gap = exponential(random, 10 / load);
        now += gap;
        work = std::max(0.0, work - gap);
        waited += work;
        const double service = service_of(random, kind);
        work += service;
        server[0].add(float(std::floor(now)),
                      model::Arrivals::taking(float(service))); // whole numbers, of any unit
      }
      queue.close_round(server, 1);
      CHECK(queue.busy_ns() / now == Approx(load).epsilon(0.02));
      CHECK(queue.mean_wait_ns(now) == Approx(waited / requests).epsilon(0.06));
    }
}

TEST_CASE("A trial's latencies of memory are reported as a distribution, with its mode") {
  model::DramLatencies latencies;
  CHECK_FALSE(latencies.distribution());
  for (unsigned i = 0; i < 400; ++i) // three of 390 ns to one of 1000 ns, and a single long one
    latencies.read_memory(i % 4 == 0 ? 1000.5f : 390.5f);
  latencies.read_memory(4389.9f);
  const auto distribution = latencies.distribution();
  REQUIRE(distribution);
  REQUIRE(distribution->histogram.counts.size() == 40); // 4000 ns in steps of 100
  CHECK(distribution->histogram.edges.front() == 390);
  CHECK(distribution->histogram.edges.back() == 4390);
  CHECK(distribution->histogram.counts[0] == 300);
  CHECK(distribution->histogram.counts[6] == 100);
  CHECK(distribution->histogram.counts[39] == 1);
  CHECK(distribution->mode_ns == 440);
  CHECK(distribution->mode_share == Approx(300.0 / 401));

  // The distribution of a whole trial has as many reads, and the same mean.
  MadeTrace made(40, 128);
  const auto load = made.site();
  for (std::uint64_t block = 0; block < 40; ++block)
    for (std::uint32_t warp = 0; warp < 4; ++warp)
      for (std::uint64_t i = 0; i < 20; ++i)
        made.access(block, warp, load, 4,
                    [=](unsigned lane) { return (((block * 4 + warp) * 20 + i) * 32 + lane) * 4096; });
  for (const char* name : {"c2050", "v100"}) {
    const KernelResult kernel = evaluate(made, gpu(name), 2);
    REQUIRE(kernel.totals.dram_latencies);
    const auto& [edges, counts] = kernel.totals.dram_latencies->histogram;
    double sum = 0, reads = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sum += double(counts[i]) * (edges[i] + edges[i + 1]) / 2;
      reads += double(counts[i]);
    }
    CHECK(reads == 40 * 4 * 20 * 32);
    CHECK(sum / reads == Approx(*kernel.trial_values.dram_latency_ns[0]).margin(edges[1] - edges[0]));
  }
}

TEST_CASE("No request waits for more than is in flight") {
  model::Queues queues(1);
  std::vector<model::Arrivals> server(1);
  constexpr std::uint32_t requests = 1000;
  for (std::uint32_t i = 0; i < requests; ++i) // half of them in a burst
    server[0].add(float(i < requests / 2 ? i : 100 * i), model::Arrivals::taking(10));
  for (const double share : {1.0, 0.1}) {
    queues.close_round(server, share);
    CHECK(queues.mean_wait_ns(queues.busy_ns() * 1.0001) == Approx(share * (requests - 1) * 10));
  }
}

TEST_CASE("A round takes as long as its requests and their waits say") {
  Random random(6, 0, 0);
  for (const unsigned bulks : {1u, 30u, 1'000u, 30'000u})
    for (const double warps : {1.0, 64.0, 8'000.0})
      for (const bool varied : {false, true}) {
        INFO(bulks << " bulks of " << warps << " warps, " << (varied ? "varied" : "even"));
        std::vector<model::Arrivals> of_banks(64), of_buses(8);
        for (unsigned i = 0; i < bulks; ++i) {
          const float service = varied && random.below(4) != 0 ? 2.0f : 30.0f;
          const std::uint32_t bank = varied ? random.below(64) * random.below(64) / 64 : i % 64;
          of_banks[bank].add(float(i), model::Arrivals::taking(service));
          of_buses[bank / 8].add(float(i), model::Arrivals::taking(2));
        }
        model::Queues banks(64), buses(8);
        const double share = std::min(1.0, warps / bulks);
        banks.close_round(of_banks, share);
        buses.close_round(of_buses, share);
        const model::Load load{warps, double(bulks), double(bulks), 500.0 * bulks};
        const auto [ns, more] = model::round_time(load, banks, buses);
        CHECK(ns >= banks.busy_ns());
        CHECK(more >= 0);
        const double wait = banks.mean_wait_ns(ns) + buses.mean_wait_ns(ns) + more;
        CHECK((load.latency_ns + load.waiting * wait) / load.warps == Approx(ns).epsilon(1e-5));
      }
}

TEST_CASE("A saturated memory makes its requests wait as long as its bandwidth says") {
  // Every warp loads whole lines that no other one loads.
  const model::Gpu on = gpu("v100");
  const auto latency = [&](unsigned blocks) {
    MadeTrace made(blocks, 1024);
    const auto load = made.site();
    for (std::uint64_t block = 0; block < blocks; ++block)
      for (std::uint32_t warp = 0; warp < 32; ++warp)
        for (std::uint64_t i = 0; i < 30; ++i)
          made.access(block, warp, load, 4,
                      [=](unsigned lane) { return ((block * 32 + warp) * 30 + i) * 128 + 4 * lane; });
    return evaluate(made, on, 4).sites[0].latency_ns->mean;
  };
  const double few = latency(4), half = latency(40), all = latency(160);
  const double opening = on.dram.activate_ns + on.dram.precharge_ns;
  CHECK(few < on.dram.latency_ns + opening + 10);
  CHECK(half > few);
  CHECK(all > 1.15 * half);
  // Little's law: the data in flight is what memory transfers within one latency.
  const double bandwidth = on.dram.bytes_per_ns();
  const double in_flight = 80 * 64 * 128;
  CHECK(all > in_flight / bandwidth);
  CHECK(all < 1.5 * in_flight / bandwidth);
}
