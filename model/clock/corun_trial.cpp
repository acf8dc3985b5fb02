#include "model/clock/corun_trial.h"

#include "model/clock/clocked_machine.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace warplens::model {
namespace {

std::optional<TimedCode> timed_code(const JoinedSnapshot& joined, const Gpu& gpu, const CorunWhatIf& what_if,
                                    ClockFigures& figures) {
  figures.sm.front_end = what_if.front_end;
  figures.sm.kernels = what_if.kernels_in_turn ? std::uint32_t(joined.launches.size()) : 1;
  if (!joined.snapshot.code || !gpu.pipes)
    return std::nullopt;
  TimedCode code(*joined.snapshot.code, *gpu.pipes, figures);
  if (what_if.own_queues) {
    std::vector<std::uint32_t> first;
    for (const LaunchRange& launch : joined.launches)
      first.push_back(launch.first_instruction);
    code.give_own_queues(first, figures);
  }
  return code;
}

/// The blocks that an SM holds, and the room that they leave.
struct SmLoad {
  SmShare taken;
  std::vector<std::uint32_t> blocks; ///< by kernel

  bool has_room(const SmShare& block, const SmShare& room) const {
    return taken.warps + block.warps <= room.warps && taken.blocks + block.blocks <= room.blocks &&
           taken.registers + block.registers <= room.registers &&
           taken.shared_bytes + block.shared_bytes <= room.shared_bytes;
  }
  void add(const SmShare& block, int sign) {
    taken.warps += std::uint32_t(sign) * block.warps;
    taken.blocks += std::uint32_t(sign) * block.blocks;
    taken.registers += std::uint32_t(sign) * block.registers;
    taken.shared_bytes += std::uint32_t(sign) * block.shared_bytes;
  }
};

/// Returns the most shared memory that one SM's resident blocks take at once where all kernels fill it, for
/// the L1 that is left.
std::uint32_t shared_bytes_at_most(std::span<const CorunKernel> kernels, const JoinedSnapshot& joined,
                                   const Gpu& gpu) {
  const SmShare room = sm_resources(gpu);
  SmLoad load{{}, {}};
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::uint32_t sms = std::max(1u, kernels[k].sms);
    const std::uint32_t per_sm = std::min(kernels[k].max_per_sm, (joined.launches[k].blocks + sms - 1) / sms);
    for (std::uint32_t block = 0; block < per_sm && load.has_room(kernels[k].block, room); ++block)
      load.add(kernels[k].block, 1);
  }
  return load.taken.shared_bytes;
}

/// Returns what each kernel issued: at its instructions, and at its sites, which are behind those of all.
std::vector<std::uint64_t> issued_by_kernels(const JoinedSnapshot& joined,
                                             std::span<const StateCounts> states) {
  const std::size_t instructions = joined.snapshot.code ? joined.snapshot.code->lines.size() : 0;
  const auto sum = [&](std::size_t from, std::size_t to) {
    std::uint64_t issued = 0;
    for (std::size_t place = from; place < to && place < states.size(); ++place)
      issued += states[place].issued();
    return issued;
  };
  std::vector<std::uint64_t> issued;
  for (std::size_t k = 0; k < joined.launches.size(); ++k) {
    const LaunchRange& launch = joined.launches[k];
    const std::size_t end = instructions == 0                 ? 0
                            : k + 1 == joined.launches.size() ? instructions
                                                              : joined.launches[k + 1].first_instruction;
    issued.push_back(sum(instructions == 0 ? 0 : launch.first_instruction, end) +
                     sum(instructions + launch.first_site, instructions + launch.first_site + launch.sites));
  }
  return issued;
}

static_assert(max_joined_launches <= MemoryRequest::max_launches);

/// Returns the launch of each site.
std::vector<std::uint16_t> launch_of_sites(const JoinedSnapshot& joined) {
  std::vector<std::uint16_t> launches(joined.snapshot.sites.size());
  for (std::size_t k = 0; k < joined.launches.size(); ++k)
    std::fill_n(launches.begin() + joined.launches[k].first_site, joined.launches[k].sites, std::uint16_t(k));
  return launches;
}

class CorunTrial {
public:
  CorunTrial(const JoinedSnapshot& joined, const Gpu& gpu, std::span<const CorunKernel> kernels,
             const CorunWhatIf& what_if, Random random, TrialObserver* observer)
      : joined_(joined), kernels_(kernels), in_turn_(what_if.kernels_in_turn && joined.launches.size() > 1),
        machine_(
            joined.snapshot, gpu,
            [&](ClockFigures& figures) { return timed_code(joined, gpu, what_if, figures); }, {}, random,
            observer),
        room_(sm_resources(gpu)), loads_(gpu.sms, {{}, std::vector<std::uint32_t>(kernels.size())}),
        left_(kernels.size()), running_(kernels.size()), waiting_(kernels.size()), last_end_(kernels.size()),
        restarts_(kernels.size()),
        counts_{std::vector<Cycle>(kernels.size(), 0), std::vector<Cycle>(kernels.size(), never), {}, {}} {
    machine_.add_sms(gpu.sms, l1_bytes_beside(gpu, shared_bytes_at_most(kernels, joined, gpu)), random);
    machine_.tell_apart(launch_of_sites(joined), kernels.size());
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      start(k);
      deal(k, 0);
    }
  }

  CorunCounts run() {
    while (std::ranges::find(counts_.cycles, Cycle{0}) != counts_.cycles.end() && machine_.run_epoch()) {
      take_ended_blocks();
      start_ended_kernels();
    }
    counts_.counts = machine_.counts(machine_.sms());
    counts_.issued = issued_by_kernels(joined_, counts_.counts.states);
    return std::move(counts_);
  }

private:
  /// Lets all blocks of a kernel wait for room.
  void start(std::size_t k) {
    waiting_[k] = joined_.launches[k].first_block;
    left_[k] = joined_.launches[k].blocks;
  }

  std::size_t kernel_of(std::uint32_t block) const {
    const auto after = std::ranges::upper_bound(joined_.launches, block, {}, &LaunchRange::first_block);
    return std::size_t(after - joined_.launches.begin()) - 1;
  }

  /// Returns the SM with the fewest warps that has room for a block of the kernel.
  std::optional<std::uint32_t> sm_for(std::size_t k) const {
    const CorunKernel& kernel = kernels_[k];
    std::optional<std::uint32_t> best;
    for (std::uint32_t sm = kernel.first_sm; sm < kernel.first_sm + kernel.sms && sm < loads_.size(); ++sm)
      if (loads_[sm].blocks[k] < kernel.max_per_sm && loads_[sm].has_room(kernel.block, room_) &&
          (!best || loads_[sm].taken.warps < loads_[*best].taken.warps))
        best = sm;
    return best;
  }

  /// Deals the kernel's waiting blocks as far as there is room.
  void deal(std::size_t k, Cycle at) {
    while (left_[k] != 0) {
      const auto sm = sm_for(k);
      if (!sm)
        return;
      const Cycle begin = machine_.dispatch(*sm, {waiting_[k]++, 0, 1}, at, in_turn_ ? std::uint32_t(k) : 0);
      counts_.first_block[k] = std::min(counts_.first_block[k], begin);
      loads_[*sm].add(kernels_[k].block, 1);
      ++loads_[*sm].blocks[k];
      ++running_[k];
      --left_[k];
    }
  }

  /// Returns the kernels in the order in which they were launched: one that starts again comes behind those
  /// that wait.
  std::vector<std::size_t> in_turn() const {
    std::vector<std::size_t> kernels(kernels_.size());
    std::iota(kernels.begin(), kernels.end(), std::size_t{0});
    std::ranges::stable_sort(kernels, {}, [&](std::size_t k) { return restarts_[k]; });
    return kernels;
  }

  /// Frees the places of the blocks that ended, and deals others to them.
  void take_ended_blocks() {
    ended_.clear();
    machine_.take_ended(ended_);
    for (const Sm::EndedBlock& one : ended_) {
      const std::size_t k = kernel_of(one.block);
      loads_[one.sm].add(kernels_[k].block, -1);
      --loads_[one.sm].blocks[k];
      --running_[k];
      last_end_[k] = one.at;
      for (const std::size_t next : in_turn())
        deal(next, machine_.begin_behind(one.at));
    }
  }

  /// Starts each kernel again of which all blocks have ended and all stores are there.
  void start_ended_kernels() {
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      if (running_[k] != 0 || left_[k] != 0)
        continue;
      const std::optional<Cycle> stored = machine_.last_store(k);
      if (!stored)
        continue;
      const Cycle last = std::max(last_end_[k], *stored);
      if (counts_.cycles[k] == 0)
        counts_.cycles[k] = last;
      start(k);
      ++restarts_[k];
      deal(k, machine_.begin_behind(last));
    }
  }

  const JoinedSnapshot& joined_;
  std::span<const CorunKernel> kernels_;
  bool in_turn_; ///< kernels take turns to issue
  ClockedMachine machine_;
  SmShare room_;
  std::vector<SmLoad> loads_;                 ///< by SM
  std::vector<std::uint32_t> left_, running_; ///< blocks of each kernel that wait, and that are on SMs
  std::vector<std::uint32_t> waiting_;        ///< the first of those that wait
  std::vector<Cycle> last_end_;               ///< of each kernel's blocks
  std::vector<std::uint32_t> restarts_;       ///< of each kernel
  std::vector<Sm::EndedBlock> ended_;
  CorunCounts counts_;
};

} // namespace

CorunCounts run_corun_trial(const JoinedSnapshot& joined, const Gpu& gpu,
                            std::span<const CorunKernel> kernels, const CorunWhatIf& what_if, Random random,
                            TrialObserver* observer) {
  return CorunTrial(joined, gpu, kernels, what_if, random, observer).run();
}

bool can_run(std::span<const CorunKernel> kernels, const Gpu& gpu) {
  const SmShare room = sm_resources(gpu);
  return std::ranges::all_of(kernels, [&](const CorunKernel& kernel) {
    return kernel.sms != 0 && kernel.first_sm < gpu.sms && kernel.max_per_sm != 0 &&
           SmLoad{{}, {}}.has_room(kernel.block, room);
  });
}

} // namespace warplens::model
