// Main memory: the mapping of addresses, the cost of opening a row, and how long requests wait for each
// other.
#pragma once

#include "model/cache/set_store.h"
#include "model/dram/dram_map.h"
#include "model/dram/queues.h"
#include "numeric/instructions.h"
#include "numeric/random.h"
#include "vocabulary/geometry.h"

#include <vector>

namespace warplens::model {

/// Serves requests in batches, which are in flight at once: up to one group per SM that has work, each of up
/// to 32 transactions of 32 bytes, both numbers uniformly random (Baghsorkhi et al., PPoPP 2012). Rows stay
/// open from one request to the next. The GPU file chooses how long a request waits for its bank and its
/// channel's data bus: as in a batch that arrives at once, on idle banks, or by Kingman's approximation at
/// the load of a whole round.
class Dram {
public:
  Dram(const Gpu& gpu, std::uint32_t busy_sms, const Random& random);

  /// Returns whether the waits depend on the load of a whole round; else request() includes them.
  bool by_load() const { return by_load_; }

  struct Service {
    float ns; ///< from the SM and back until the last sector has arrived, without the waits below
    std::uint32_t channel, bank; ///< the bank among all
  };
  /// Reads or writes the sectors of one line.
  Service request(std::uint32_t line, unsigned sectors) {
    Service service;
    const auto all_sectors = [&](std::size_t) { return sectors; };
    const auto keep = [&](std::size_t, const Service& its) { service = its; };
    if (by_load_)
      request_all<PlainInstructions, true, true>(&line, 1, all_sectors, keep);
    else
      request_all<PlainInstructions, false, true>(&line, 1, all_sectors, keep);
    return service;
  }

  /// Serves many requests, one after the other. Calls sectors_of(i) and then served(i, service) for the line
  /// of index i. `by_load` is what by_load() returns; where it is true, only batch() depends on `batches`.
  template <class Instructions, bool by_load, bool batches, class SectorsOf, class Served>
  void request_all(const std::uint32_t* lines, std::size_t count, SectorsOf&& sectors_of, Served&& served) {
    static_assert(by_load || batches);
    // Copies, which the compiler knows that no store in between changes.
    const DramMap map = map_;
    float arrival = arrivals_;
    std::int64_t left_in_batch = left_in_batch_;
    constexpr std::size_t together = 128; // whose places are computed in a loop of their own
    std::uint32_t channels[together], banks[together], rows[together];
    for (std::size_t first = 0; first < count; first += together) {
      const std::size_t end = std::min(count - first, together);
      for (std::size_t i = 0; i < end; ++i) {
        const DramMap::BankRow place = map(lines[first + i]);
        channels[i] = place.channel;
        banks[i] = place.bank;
        rows[i] = place.row;
      }
      for (std::size_t i = 0; i < end; ++i) {
        const std::uint32_t channel = channels[i], row = rows[i];
        const unsigned sectors = sectors_of(first + i);
        if constexpr (batches) {
          if (left_in_batch <= 0) {
            start_batch();
            left_in_batch += left_in_batch_;
          }
          left_in_batch -= std::int64_t(Instructions::sector_count(sectors));
        }
        Bank& bank = bank_[banks[i]];
        const Work* work = &work_[sectors][bank.open_row != row];
        if (bank.open_row == no_line) [[unlikely]]
          work = &work_[sectors][row_closed];
        bank.open_row = row;
        if constexpr (by_load) {
          bank.arrivals.add(arrival, work->bank_service);
          bank.bus_arrivals += Arrivals::arriving(arrival, last_on_bus_[channel], work->bus_service);
          arrival += 1;
          served(first + i, Service{work->alone_ns, channel, banks[i]});
        } else {
          float& bus_ready_ns = bus_ready_ns_[channel];
          const float done = std::max(bank.ready_ns + work->opening_ns, bus_ready_ns) + work->bursts_ns;
          bank.ready_ns = bus_ready_ns = done;
          served(first + i, Service{path_ns_ + done, channel, banks[i]});
        }
      }
    }
    arrivals_ = arrival;
    left_in_batch_ = left_in_batch;
  }

  /// Computes how long the round's requests waited for each other, from its load.
  void end_round(const Load& load);
  /// Returns how long a request of the round that ended waited for this bank and its bus, which is to be
  /// added to Service::ns.
  float wait_ns(std::uint32_t bank) const { return waits_ns_[bank]; }

  /// Returns the number of batches so far, the current one included.
  std::uint64_t batch() const { return batch_; }

private:
  /// Draws the next batch's number of transactions, and sets left_in_batch_ to it.
  void start_batch();

  struct alignas(64) Bank {
    Arrivals arrivals;             ///< in this round
    Arrivals::Sums bus_arrivals{}; ///< at its channel's bus, of the bank's requests
    std::uint32_t open_row = no_line;
    float ready_ns = 0; ///< since the batch's arrival
  };

  /// State of a request's row: open, another one open, none open.
  enum Opening { row_open, row_other, row_closed, openings };
  /// Service times of a request, by Opening and by its sectors.
  struct alignas(64) Work {
    Arrivals::Sums bank_service{}, bus_service{};
    float opening_ns = 0, bursts_ns = 0, alone_ns = 0;
  };

  Random random_; ///< draws the batches
  std::uint32_t busy_sms_;
  DramMap map_;
  bool by_load_;
  float path_ns_; ///< of an access to an open row, without its burst
  Work work_[whole_line + 1][std::bit_ceil(unsigned(openings))];
  std::vector<Bank> bank_;
  std::vector<float> bus_ready_ns_; ///< by channel
  std::vector<float> last_on_bus_;  ///< by channel: its last arrival in this round
  Queues banks_wait_, buses_wait_;
  std::vector<float> waits_ns_;    ///< by bank, in the round that ended
  float arrivals_ = 0;             ///< in this round; exact to 2^24
  std::int64_t left_in_batch_ = 0; ///< transactions
  std::uint64_t batch_ = 0;
};

} // namespace warplens::model
