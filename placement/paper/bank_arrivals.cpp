#include "placement/paper/bank_arrivals.h"

#include "model/dram/dram_map.h"
#include "model/snapshot/coalesce.h"
#include "model/snapshot/snapshot.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

namespace warplens::placement {
namespace {

struct LineRequest {
  std::uint64_t line = 0; ///< address / 128
  std::uint8_t sectors = 0;
  bool loads = true; ///< else it only writes
};

/// The accesses of one warp: each with the number of its requests, which is 0 of shared and constant memory.
struct WarpRequests {
  std::vector<std::uint16_t> requests_by_access;
  std::vector<LineRequest> requests;
};

/// An L2 of sectored lines; the sets are chosen by a hash.
class SimpleL2 {
public:
  explicit SimpleL2(const model::Gpu& gpu)
      : ways_(std::max(1u, gpu.l2.ways)),
        sets_(std::max<std::size_t>(1,
                                    std::size_t(double(gpu.l2_bytes) * gpu.l2.usable / line_bytes / ways_))) {
  }

  /// Looks the sectors up and brings them in; returns those that were not there.
  std::uint8_t access(std::uint64_t line, std::uint8_t sectors) {
    std::vector<Entry>& set = sets_[(line * 0x9e37'79b9'7f4a'7c15u >> 20) % sets_.size()];
    auto found = std::ranges::find(set, line, &Entry::line);
    if (found == set.end()) {
      if (set.size() >= ways_)
        set.pop_back();
      found = set.insert(set.end(), Entry{line, 0});
    }
    const auto missing = std::uint8_t(sectors & ~found->sectors);
    found->sectors |= sectors;
    std::rotate(set.begin(), found, found + 1);
    return missing;
  }

private:
  struct Entry {
    std::uint64_t line = 0;
    std::uint8_t sectors = 0;
  };
  std::size_t ways_;
  std::vector<std::vector<Entry>> sets_; ///< the last used first
};

/// A bank while requests arrive.
struct Bank {
  BankArrivals arrivals;
  std::uint64_t last_step = 0;
  std::uint32_t open_row = ~0u;
  double intervals = 0, sum = 0, squares = 0;

  void arrive(std::uint64_t step, std::uint32_t row, unsigned sectors) {
    (open_row == row ? arrivals.hits : open_row == ~0u ? arrivals.misses : arrivals.conflicts) += 1;
    arrivals.sectors += sectors;
    if (arrivals.requests() > 1) {
      const auto interval = double(step - last_step);
      ++intervals;
      sum += interval;
      squares += interval * interval;
    }
    open_row = row;
    last_step = step;
  }
  BankArrivals finished() {
    if (intervals > 0) {
      arrivals.interval = sum / intervals;
      arrivals.interval_deviation =
          std::sqrt(std::max(0.0, squares / intervals - arrivals.interval * arrivals.interval));
    }
    return arrivals;
  }
};

/// Numbers the pages in the order of their addresses, as physical ones are not known.
class Pages {
public:
  void add(std::uint64_t line) { numbers_.try_emplace(line >> model::page_shift); }
  void number() {
    std::uint32_t next = 0;
    for (auto& [page, number] : numbers_)
      number = next++;
  }
  std::uint32_t line_of(std::uint64_t line) const {
    return numbers_.at(line >> model::page_shift) << model::page_shift |
           std::uint32_t(line & ((std::uint64_t{1} << model::page_shift) - 1));
  }

private:
  std::map<std::uint64_t, std::uint32_t> numbers_;
};

using WarpsOfBlock = std::map<std::uint32_t, WarpRequests>;

Expected<std::map<std::uint64_t, WarpsOfBlock>> requests_of(const trace::AccessSource& source,
                                                            const trace::Launch& launch, std::uint64_t blocks,
                                                            const model::Gpu& gpu, Pages& pages) {
  std::map<std::uint64_t, WarpsOfBlock> warps_by_block;
  TRY(source.for_each_access(
      launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (block - launch.first_block >= blocks || access.active == 0 || !is_access(access.kind) ||
            !model::has_possible_width(access))
          return;
        WarpRequests& all = warps_by_block[block][warp];
        all.requests_by_access.push_back(0);
        if (access.space == Space::shared || access.space == Space::constant)
          return;
        const model::Coalesced touched = model::coalesce(access, gpu.lanes);
        all.requests_by_access.back() = std::uint16_t(touched.count);
        for (unsigned i = 0; i < touched.count; ++i) {
          pages.add(touched.lines[i].line);
          all.requests.push_back({touched.lines[i].line, std::uint8_t(touched.lines[i].sectors()),
                                  access.kind != AccessKind::store});
        }
      }));
  return warps_by_block;
}

/// A warp on an SM, with the access and the request that are next.
struct Running {
  const WarpRequests* warp = nullptr;
  std::size_t access = 0, request = 0;
};

} // namespace

Expected<std::vector<BankArrivals>> bank_arrivals(const trace::AccessSource& source,
                                                  const trace::Launch& launch, std::uint64_t blocks,
                                                  std::uint64_t resident, const model::Gpu& gpu, bool even) {
  Pages pages;
  TRY_LET(warps_by_block, requests_of(source, launch, blocks, gpu, pages));
  pages.number();
  const model::DramMap map(gpu);
  SimpleL2 l2(gpu);
  std::vector<Bank> banks(std::size_t{gpu.dram.channels} * gpu.dram.banks);
  std::size_t in_turn = 0;
  std::uint64_t step = 0;
  const auto arrive = [&](const LineRequest& request) {
    const std::uint8_t missing = l2.access(request.line, request.sectors);
    if (missing == 0 || !request.loads)
      return;
    const model::DramMap::BankRow place = map(pages.line_of(request.line));
    Bank& bank = banks[even ? in_turn++ % banks.size() : place.bank];
    bank.arrive(step, place.row, unsigned(std::popcount(missing)));
  };
  auto next_block = warps_by_block->begin();
  while (next_block != warps_by_block->end()) {
    std::vector<std::vector<Running>> sms(gpu.sms);
    for (std::uint64_t n = 0; n < std::max<std::uint64_t>(1, resident) && next_block != warps_by_block->end();
         ++n, ++next_block)
      for (const auto& [number, warp] : next_block->second)
        sms[n % sms.size()].push_back({&warp});
    std::vector<std::size_t> turn(sms.size());
    for (bool runs = true; runs; ++step) {
      runs = false;
      for (std::size_t sm = 0; sm < sms.size(); ++sm) {
        std::vector<Running>& warps = sms[sm];
        for (std::size_t tried = 0; tried < warps.size(); ++tried) {
          Running& warp = warps[turn[sm]++ % warps.size()];
          if (warp.access == warp.warp->requests_by_access.size())
            continue;
          for (unsigned n = warp.warp->requests_by_access[warp.access++]; n > 0; --n)
            arrive(warp.warp->requests[warp.request++]);
          runs = true;
          break;
        }
      }
    }
  }
  std::vector<BankArrivals> arrivals;
  for (Bank& bank : banks)
    arrivals.push_back(bank.finished());
  return arrivals;
}

MemoryLatency memory_latency(const std::vector<BankArrivals>& banks, const ArrivalRate& rate,
                             const model::Gpu& gpu, Reading reading) {
  const model::Gpu::Dram& dram = gpu.dram;
  const RowLatencies from_sm{dram.latency_ns - dram.activate_ns, dram.latency_ns,
                             dram.latency_ns + dram.precharge_ns};
  MemoryLatency result;
  double all = 0;
  for (const BankArrivals& bank : banks)
    all += bank.requests();
  if (all == 0)
    return {.nanoseconds = dram.latency_ns};
  std::vector<BankLatency> latencies;
  result.min_variation = INFINITY;
  for (const BankArrivals& bank : banks) {
    const double requests = bank.requests();
    if (requests == 0)
      continue;
    const RowShares rows{bank.hits / requests, bank.misses / requests, bank.conflicts / requests};
    const double burst = dram.burst_ns * bank.sectors / requests;
    const RowLatencies bank_latencies{burst, burst + dram.activate_ns,
                                      burst + dram.precharge_ns + dram.activate_ns};
    const RowLatencies& served = reading == Reading::literal ? from_sm : bank_latencies;
    const double service = mean_service(served, rows); // (8)
    const double squares = served.hit * served.hit * rows.hit + served.miss * served.miss * rows.miss +
                           served.conflict * served.conflict * rows.conflict;
    const double slower = rate.misses > 0 ? 1 / rate.misses : 1;
    const BankTraffic traffic{.interval = bank.interval * rate.step_ns * slower,
                              .interval_deviation = bank.interval_deviation * rate.step_ns * slower,
                              .service = service,
                              .service_deviation = std::sqrt(std::max(0.0, squares - service * service))};
    const double most = std::max(0.0, rate.requests_in_flight * requests / all - 1) * service;
    const double wait =
        traffic.interval > 0 ? std::min(most, mean_wait(traffic, reading).value_or(most)) : 0.0; // (9)
    latencies.push_back({requests, wait + mean_service(from_sm, rows)});                         // (6)
    if (bank.interval > 0) {
      const double variation = bank.interval_deviation / bank.interval; // (10)
      result.arrival_variation += variation * requests / all;
      result.min_variation = std::min(result.min_variation, variation);
      result.max_variation = std::max(result.max_variation, variation);
    }
    result.rows.hit += bank.hits / all;
    result.rows.miss += bank.misses / all;
    result.rows.conflict += bank.conflicts / all;
  }
  if (std::isinf(result.min_variation))
    result.min_variation = 0;
  result.nanoseconds = mean_latency(latencies); // (7)
  return result;
}

} // namespace warplens::placement
