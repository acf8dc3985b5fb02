#include "machine/execute.h"

#include "machine/block.h"
#include "sass/instruction.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <utility>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;

/// Runs blocks that are resident together, until all are done or one of their warps has to stop.
class Runner {
public:
  Runner(LaunchState& launch, std::span<Block> blocks)
      : launch_(launch), code_(*launch.code), options_(*launch.launch), blocks_(blocks) {}

  /// Returns the warp that stopped, or null.
  Warp* run() {
    for (;;) {
      bool all_done = true, has_progress = false;
      bool has_further_progress = false; // than what follows from a check that timed out
      for (Block& block : blocks_) {
        for (Warp& warp : block.warps) {
          if (warp.state == Warp::State::ready || warp.state == Warp::State::at_phase) {
            const std::uint64_t before = warp.executed;
            const bool timed_out = warp.phases_time_out;
            warp.state = Warp::State::ready;
            if (launch_.sink)
              run_warp<true>(warp);
            else
              run_warp<false>(warp);
            if (warp.is_stopped)
              return &warp;
            const bool goes_on = warp.state != Warp::State::at_phase || warp.executed != before;
            has_progress |= goes_on;
            has_further_progress |= goes_on && !timed_out;
          }
          all_done = all_done && warp.state == Warp::State::done;
        }
        has_progress = release_barriers(block) || has_progress;
      }
      if (all_done)
        return nullptr;
      if (has_further_progress)
        time_outs_ = 0;
      if (!has_progress && !release_clusters() && !let_checks_time_out())
        return deadlocked();
    }
  }

private:
  // ---- the loop

  template <bool is_observed> void run_warp(Warp& warp) {
    const Operation* const operations = code_.operations.data();
    std::uint64_t end = warp.executed + options_.quantum;
    std::size_t waiting = 0; // parts of the warp that wait for phases, one after the other
    while (warp.state == Warp::State::ready) {
      const std::uint32_t first = warp.pc;
      const Mask active = warp.active;
      const Operation* o = operations + first;
      for (;; ++o) {
        const Mask lanes = active & (warp.predicates[o->guard] ^ o->guard_negation);
        if (o->kind == OperationKind::compute) {
          if (lanes != 0)
            o->handler(warp, *o, lanes | o->widened);
          continue;
        }
        warp.pc = static_cast<std::uint32_t>(o - operations);
        if (o->kind == OperationKind::memory) {
          if (lanes == 0)
            continue;
          if constexpr (is_observed)
            observe(warp, *o, lanes);
          o->handler(warp, *o, lanes);
          if constexpr (is_observed)
            if (can_poll(*o->operands) && tell_answer(warp, *o, lanes))
              end = warp.executed; // it waits, and lets others go on
          if (!warp.is_stopped)
            continue;
        }
        break;
      }
      const bool waits = o->kind == OperationKind::wait && !checks_phase<is_observed>(warp, *o);
      const std::uint32_t count = warp.pc - first + (waits ? 0 : 1);
      warp.executed += count;
      if constexpr (is_observed) {
        warp.lanes_executed += std::uint64_t{count} * static_cast<std::uint32_t>(std::popcount(active));
        if (count != 0)
          launch_.sink->on_run({warp.block->index, warp.index}, first, count, active);
      }
      if (warp.is_stopped)
        return;
      waiting = count == 0 ? waiting : 0;
      if (waits) {
        if (waiting++ == warp.ready.size()) {
          warp.state = Warp::State::at_phase;
          return;
        }
        rotate_splits(warp, false);
        continue;
      }
      control(warp, *o);
      if (warp.is_stopped)
        return;
      if (warp.pc >= code_.operations.size())
        return warp.stop(Outcome::Kind::refused, "execution runs past the end of the code");
      if (warp.executed >= options_.instruction_limit && warp.state != Warp::State::done)
        return warp.stop(Outcome::Kind::limit_reached,
                         fmt::format("a warp executed {} instructions, the most that it may", warp.executed));
      if (warp.executed >= warp.refresh_at) {
        launch_.memory->refresh();
        warp.refresh_at *= 2;
      }
      if (warp.executed >= end && warp.state == Warp::State::ready) {
        rotate_splits(warp, false);
        return;
      }
    }
    if (warp.state == Warp::State::stuck)
      warp.stop(Outcome::Kind::deadlock, "lanes of a warp wait for lanes that never come");
  }

  /// Checks phases that the lanes wait for, unless they have to wait still: then it returns false. Hardware
  /// suspends them for some time before the check fails.
  template <bool is_observed> bool checks_phase(Warp& warp, const Operation& o) {
    const Mask lanes = warp.active & (warp.predicates[o.guard] ^ o.guard_negation);
    if (lanes == 0)
      return true;
    const bool times_out = std::exchange(warp.phases_time_out, false);
    if (!times_out && !finds_phases_over(warp, o, lanes))
      return false;
    if constexpr (is_observed)
      observe(warp, o, lanes);
    o.handler(warp, o, lanes);
    return true;
  }

  /// Lets the checks of phases fail of warps that wait for nothing else: they may do what others need.
  bool let_checks_time_out() {
    constexpr std::uint32_t most = 1u << 16; // in a row
    bool any = false;
    for (Block& block : blocks_)
      for (Warp& warp : block.warps)
        any |= warp.phases_time_out = warp.state == Warp::State::at_phase;
    return any && ++time_outs_ < most;
  }

  void observe(Warp& warp, const Operation& o, Mask lanes) {
    const Operands& x = *o.operands;
    if (x.opcode == Opcode::ldc)
      return observe_constant(warp, o, lanes);
    if (is_image(x.opcode) || is_tensor_copy(x.opcode) || x.opcode == Opcode::utcmma ||
        x.opcode == Opcode::utcbar)
      return; // whose addresses and phases are known where it is executed
    if (x.opcode == Opcode::try_cancel || x.opcode == Opcode::fill_shared)
      return; // what they write to shared memory takes no lane's access
    std::array<std::uint64_t, lane_count> addresses;
    compute_addresses(warp, o, addresses);
    Access access{.instruction = warp.pc,
                  .lanes = lanes,
                  .space = x.space,
                  .bytes = x.bytes,
                  .is_store =
                      x.opcode == Opcode::store || x.opcode == Opcode::stsm || x.opcode == Opcode::stas,
                  .is_atomic = x.opcode == Opcode::atom || x.opcode == Opcode::atom_cas ||
                               x.opcode == Opcode::atoms_popc_inc || x.opcode == Opcode::atoms_arrive ||
                               (x.opcode >= Opcode::syncs_exch && x.opcode <= Opcode::arrives &&
                                x.opcode != Opcode::syncs_phase),
                  .phase = phase_of(warp, o, lanes, addresses),
                  .addresses = addresses};
    const WarpId id{warp.block->index, warp.index};
    if (x.opcode == Opcode::ublkcp || x.opcode == Opcode::ublkred) {
      if (x.opcode == Opcode::ublkcp && x.function == 2) {
        addresses[0] = warp.row(o.b)[0];
        access.lanes = 1;
        access.space = sass::Space::shared;
        access.bytes = 16;
        access.is_store = true;
        access.phase = current_phase(warp, warp.row(o.b)[lane_count]);
        access.phase->bytes = 16 * (warp.row(o.c)[0] & 0xffff);
        return launch_.sink->on_access(id, access);
      }
      const RowPlace global = x.function != 0 ? o.a : o.b;
      addresses[0] = std::uint64_t{warp.row(global)[lane_count]} << 32 | warp.row(global)[0];
      access.lanes = 1;
      access.is_store = x.function == 0;
      access.is_atomic = x.opcode == Opcode::ublkred;
      access.bulk_bytes = 16 * (warp.row(o.c)[0] & 0xffff);
      if (x.opcode == Opcode::ublkcp && x.function != 0)
        put_phases_of_copy(warp, o, access.phase, access.further_phases);
    }
    if (x.opcode == Opcode::stas)
      access.phase = current_phase(warp, warp.row(o.a)[lane_count + first_lane(lanes)]);
    if (x.opcode == Opcode::ldsm || x.opcode == Opcode::stsm) {
      // The first lanes give the addresses of the matrices' rows, of 16 bytes each.
      const std::uint32_t rows = 8u * (x.bytes / 4u);
      access.bytes = 16;
      access.lanes = rows == lane_count ? all_lanes : (Mask{1} << rows) - 1;
    }
    if (x.opcode != Opcode::ldgsts)
      return launch_.sink->on_access(id, access);
    access.lanes = lanes & warp.predicate_in(o, 0);
    if (access.lanes != 0)
      launch_.sink->on_access(id, access);
    for (std::uint32_t lane = 0; lane < lane_count; ++lane)
      addresses[lane] = warp.row(o.c)[lane] + static_cast<std::uint32_t>(x.second_offset);
    access.lanes = lanes;
    access.space = sass::Space::shared;
    access.is_store = access.stores_copy = true;
    launch_.sink->on_access(id, access);
  }

  /// Returns the phase of a barrier in shared memory that an instruction arrives in, or has waited for: of
  /// several barriers, the block's own.
  std::optional<BarrierPhase> phase_of(Warp& warp, const Operation& o, Mask lanes,
                                       const std::array<std::uint64_t, lane_count>& addresses) const {
    const Opcode opcode = o.operands->opcode;
    const bool waits = opcode == Opcode::syncs_phase;
    if (code_.architecture < 90 || (!waits && opcode != Opcode::syncs_arrive && opcode != Opcode::arrives) ||
        (waits && !finds_phases_over(warp, o, lanes)))
      return std::nullopt;
    std::uint32_t lane = first_lane(lanes);
    for (Mask left = lanes; left != 0; left &= left - 1)
      if (block_of_shared(warp, addresses[first_lane(left)]) == warp.block) {
        lane = first_lane(left);
        break;
      }
    BarrierPhase phase = current_phase(warp, static_cast<std::uint32_t>(addresses[lane]));
    if (waits && phase.number-- == 0)
      return std::nullopt; // it waits for the phase before the first one
    return phase;
  }

  static bool can_poll(const Operands& x) {
    return (x.opcode == Opcode::load && x.is_strong) ||
           ((x.opcode == Opcode::atom || x.opcode == Opcode::atom_cas) && x.has_return);
  }

  /// Returns whether the warp reads the same as the last time.
  bool tell_answer(Warp& warp, const Operation& o, Mask lanes) {
    std::array<std::uint64_t, lane_count> addresses;
    compute_addresses(warp, o, addresses);
    std::uint64_t answer = std::uint64_t{warp.pc} << 32 | lanes;
    const auto mix = [&](std::uint64_t number) {
      answer = (answer ^ number) * 0x9e3779b97f4a7c15;
      answer ^= answer >> 32;
    };
    const std::uint32_t words = std::max(o.operands->bytes / 4u, 1u);
    for (Mask left = lanes; left != 0; left &= left - 1) {
      const std::uint32_t lane = first_lane(left);
      mix(addresses[lane]);
      for (std::uint32_t word = 0; word < words; ++word)
        mix(warp.destination(o)[word * lane_count + lane]);
    }
    launch_.sink->on_answer({warp.block->index, warp.index}, warp.pc, warp.active, answer);
    return std::exchange(warp.last_answer, answer) == answer;
  }

  /// Loads from the banks of parameters and literals are operands, not accesses to memory of the program's.
  void observe_constant(const Warp& warp, const Operation& o, Mask lanes) {
    constexpr std::uint8_t variables_bank = 3;
    if (o.operands->b.bank != variables_bank || o.operands->destination_uniform)
      return;
    std::array<std::uint64_t, lane_count> addresses{};
    for (Mask left = lanes; left != 0; left &= left - 1)
      addresses[first_lane(left)] = launch_.address_of_constant(
          (warp.row(o.a)[first_lane(left)] + static_cast<std::uint32_t>(o.offset)) & 0xffff);
    const Access constant{.instruction = warp.pc,
                          .lanes = lanes,
                          .bytes = o.operands->bytes,
                          .is_constant = true,
                          .addresses = addresses};
    launch_.sink->on_access({warp.block->index, warp.index}, constant);
  }

  /// Executes the instruction that ends a run. Guards that are false leave nothing to do but to go on.
  void control(Warp& warp, const Operation& o) {
    const Operands& x = *o.operands;
    const Mask lanes = warp.active & (warp.predicates[o.guard] ^ o.guard_negation);
    const Mask conditional = lanes & warp.predicate_in(o, 0);
    if (o.kind == OperationKind::refused) {
      if (lanes == 0) {
        ++warp.pc;
        return;
      }
      return refuse(warp);
    }
    switch (x.opcode) {
    case Opcode::bra: return branch(warp, o.target, conditional, options_.branch_order);
    case Opcode::bra_uniform: // all lanes go where any goes
      return branch(warp, o.target, (conditional & warp.predicate_in(o, 1)) != 0 ? warp.active : 0,
                    options_.branch_order);
    case Opcode::bra_divergent:
    case Opcode::bra_convergent: {
      const bool converged = warp.active == (warp.row(o.b)[0] & warp.alive);
      const bool is_taken = converged == (x.opcode == Opcode::bra_convergent);
      return branch(warp, o.target, is_taken ? conditional : 0, options_.branch_order);
    }
    case Opcode::call: return branch(warp, o.target, lanes, BranchOrder::taken_first);
    case Opcode::call_register: return branch_relative(warp, o, lanes);
    case Opcode::brx: return branch_relative(warp, o, conditional);
    case Opcode::ret:
      return x.function != 0 ? branch_absolute(warp, o, conditional) : branch_relative(warp, o, conditional);
    case Opcode::call_absolute:
    case Opcode::call_absolute_register: return branch_absolute(warp, o, lanes);
    case Opcode::lepc: return load_pc(warp, o, lanes);
    case Opcode::exit:
      if (conditional == 0)
        ++warp.pc;
      else
        exit_lanes(warp, conditional);
      return;
    case Opcode::bssy:
      for (Mask left = lanes; left != 0; left &= left - 1)
        warp.participants[x.selector][first_lane(left)] = lanes;
      ++warp.pc;
      return;
    case Opcode::bsync: return synchronise(warp, x.selector, conditional);
    case Opcode::break_:
      for (Mask left = conditional; left != 0; left &= left - 1)
        for (Mask others = warp.participants[x.selector][first_lane(left)]; others != 0; others &= others - 1)
          warp.participants[x.selector][first_lane(others)] &= ~(Mask{1} << first_lane(left));
      ++warp.pc;
      if (!warp.waiting.empty())
        release_waiting(warp);
      return;
    case Opcode::bmov_from_barrier: {
      std::uint32_t* d = warp.destination(o);
      for (Mask left = lanes; left != 0; left &= left - 1) {
        Mask& participants = warp.participants[x.selector][first_lane(left)];
        d[first_lane(left)] = participants;
        if (x.function != 0) // .CLEAR
          participants = 0;
      }
      ++warp.pc;
      return;
    }
    case Opcode::bmov_to_barrier:
      for (Mask left = lanes; left != 0; left &= left - 1)
        warp.participants[x.selector][first_lane(left)] = warp.row(o.b)[first_lane(left)];
      ++warp.pc;
      return;
    case Opcode::warpsync: return synchronise_lanes(warp, o, conditional);
    case Opcode::warpsync_collective: return begin_collective(warp, o, conditional);
    case Opcode::end_collective: return end_collective(warp);
    case Opcode::yield:
    case Opcode::nanosleep: ++warp.pc; return yield_lanes(warp);
    case Opcode::syncs_phase: ++warp.pc; return; // it has been checked
    case Opcode::bar: return block_barrier(warp, o, lanes);
    case Opcode::warp_group_wait: return wait_for_warp_group(warp);
    case Opcode::cluster_arrive: ++warp.pc; return;
    case Opcode::cluster_wait:
      ++warp.pc;
      warp.state = Warp::State::at_cluster_barrier;
      return;
    case Opcode::trap:
      if (lanes == 0) {
        ++warp.pc;
        return;
      }
      return warp.stop(Outcome::Kind::trap, "the program stopped itself");
    default: return refuse(warp);
    }
  }

  void refuse(Warp& warp) {
    if (warp.pc >= code_.words.size())
      return warp.stop(Outcome::Kind::refused, "execution runs past the end of the code");
    const std::string& reason = code_.refusals[warp.pc];
    const CodeSection* section = code_.section_of(warp.pc);
    const std::uint32_t address = section ? (warp.pc - section->begin) * 16 : 0;
    std::string listing = sass::listing_of(code_.words[warp.pc], address, code_.architecture);
    if (listing.starts_with('?')) // the table of operations knows more names than have operands
      listing.replace(
          0, 1,
          sass::name_of(
              sass::decode_instruction(code_.words[warp.pc], address, code_.architecture).instruction));
    warp.stop(Outcome::Kind::refused,
              fmt::format("{}: {}", listing, reason.empty() ? "not supported" : reason));
  }

  // ---- branches whose targets differ by lane

  void branch_relative(Warp& warp, const Operation& o, Mask lanes) {
    // The register and the displacement give an offset in the section.
    const CodeSection* section = code_.section_of(warp.pc);
    const std::uint32_t* a = warp.row(o.a);
    std::array<std::uint32_t, lane_count> targets{};
    for (Mask left = lanes; left != 0; left &= left - 1) {
      const std::uint32_t lane = first_lane(left);
      const std::uint64_t offset = (std::uint64_t{a[lane_count + lane]} << 32 | a[lane]) +
                                   static_cast<std::uint64_t>(o.operands->target);
      // Registers that hold 32 bits of an offset leave the upper word to the instruction's own.
      const auto low = static_cast<std::uint32_t>(offset);
      if (low % 16 != 0 || low / 16 >= section->end - section->begin)
        return warp.stop(Outcome::Kind::refused,
                         fmt::format("a branch to {:#x}, outside of the code", offset));
      targets[lane] = section->begin + low / 16;
    }
    branch_by_lane(warp, lanes, targets);
  }

  void branch_absolute(Warp& warp, const Operation& o, Mask lanes) {
    const std::uint32_t* a = warp.row(o.a);
    const bool in_register = o.operands->opcode != Opcode::call_absolute;
    std::array<std::uint32_t, lane_count> targets{};
    for (Mask left = lanes; left != 0; left &= left - 1) {
      const std::uint32_t lane = first_lane(left);
      const std::uint64_t address = in_register ? std::uint64_t{a[lane_count + lane]} << 32 | a[lane]
                                                : static_cast<std::uint64_t>(o.operands->target);
      if (address >= builtin_address) {
        call_builtin(warp, lane, address);
        if (warp.is_stopped)
          return;
        targets[lane] = warp.pc + 1;
        continue;
      }
      const auto section = std::ranges::find_if(code_.sections, [&](const CodeSection& candidate) {
        return address >= candidate.text_address &&
               address - candidate.text_address < std::uint64_t{candidate.end - candidate.begin} * 16;
      });
      if (section == code_.sections.end() || address % 16 != 0)
        return warp.stop(Outcome::Kind::refused,
                         fmt::format("a branch to {:#x}, outside of the code", address));
      targets[lane] = section->begin + static_cast<std::uint32_t>((address - section->text_address) / 16);
    }
    branch_by_lane(warp, lanes, targets);
  }

  void load_pc(Warp& warp, const Operation& o, Mask lanes) {
    const CodeSection* section = code_.section_of(warp.pc);
    const std::uint64_t address = section->text_address + static_cast<std::uint64_t>(o.operands->target);
    std::uint32_t* d = warp.destination(o);
    for (Mask left = lanes; left != 0; left &= left - 1) {
      d[first_lane(left)] = static_cast<std::uint32_t>(address);
      d[lane_count + first_lane(left)] = static_cast<std::uint32_t>(address >> 32);
    }
    ++warp.pc;
  }

  /// Returns the byte at a generic address of a lane; nothing where there is no memory.
  std::optional<std::byte> byte_at(Warp& warp, std::uint32_t lane, std::uint64_t address) const {
    const std::uint64_t window = window_of(address), offset = address & 0xffff'ffff;
    std::byte byte{};
    if (window == local_window)
      return offset < warp.local_bytes ? std::optional(reinterpret_cast<const std::byte*>(
                                             warp.local + offset / 4 * lane_count + lane)[offset % 4])
                                       : std::nullopt;
    if (window == shared_window) {
      const std::byte* const at = shared_bytes_at(warp, offset, 1);
      return at ? std::optional(*at) : std::nullopt;
    }
    return launch_.memory->copy_from(address, std::span(&byte, 1)) ? std::optional(byte) : std::nullopt;
  }
  /// Writes bytes from a generic address of a lane on; returns whether there is memory.
  bool write_at(Warp& warp, std::uint32_t lane, std::uint64_t address, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint64_t at = address + i, offset = at & 0xffff'ffff;
      std::byte* to = nullptr;
      if (window_of(at) == local_window)
        to = offset < warp.local_bytes
                 ? reinterpret_cast<std::byte*>(warp.local + offset / 4 * lane_count + lane) + offset % 4
                 : nullptr;
      else
        to = window_of(at) == shared_window ? shared_bytes_at(warp, offset, 1)
                                            : launch_.memory->write(at, 1, warp.pc);
      if (!to)
        return false;
      *to = bytes[i];
    }
    return true;
  }
  /// Returns as many bytes as a buffer of printf's arguments may have, zeros where there is no memory.
  std::vector<std::byte> bytes_at(Warp& warp, std::uint32_t lane, std::uint64_t address) const {
    std::vector<std::byte> bytes(1024);
    for (std::uint64_t i = 0; i < bytes.size(); ++i)
      bytes[i] = byte_at(warp, lane, address + i).value_or(std::byte{});
    return bytes;
  }
  std::string text_at(Warp& warp, std::uint32_t lane, std::uint64_t address) const {
    constexpr std::size_t longest = 1 << 16;
    std::string text;
    while (text.size() < longest) {
      const auto byte = byte_at(warp, lane, address + text.size());
      if (!byte || *byte == std::byte{})
        break;
      text += static_cast<char>(*byte);
    }
    return text;
  }

  /// Calls a function of the outside world for one lane: arguments from R4 on, the result in R4 and R5.
  void call_builtin(Warp& warp, std::uint32_t lane, std::uint64_t address) {
    const std::uint64_t index = (address - builtin_address) / 16;
    const std::vector<std::string>& names = launch_.program->image().builtins;
    const std::string name = index < names.size() ? names[index] : "?";
    auto* registers = reinterpret_cast<std::uint32_t*>(warp.rows);
    const auto word = [&](std::uint32_t number) -> std::uint32_t& {
      return registers[number * lane_count + lane];
    };
    const auto pair = [&](std::uint32_t number) {
      return number + 1 < code_.zero_row ? std::uint64_t{word(number + 1)} << 32 | word(number) : 0;
    };
    const Builtins& builtins = options_.builtins;
    constexpr std::string_view of_runtime = "__cuda_syscall_cnpv2"; // libcudadevrt's, of dynamic parallelism
    if (name.starts_with(of_runtime) && builtins.launch && builtins.malloc)
      return call_device_runtime(warp, lane, std::string_view(name).substr(of_runtime.size()));
    if (name == "vprintf" && builtins.vprintf)
      word(4) = static_cast<std::uint32_t>(
          builtins.vprintf(pair(4), bytes_at(warp, lane, pair(6)),
                           [&](std::uint64_t text) { return text_at(warp, lane, text); }));
    else if (name == "malloc" && builtins.malloc) {
      const std::uint64_t result = builtins.malloc(pair(4));
      word(4) = static_cast<std::uint32_t>(result);
      word(5) = static_cast<std::uint32_t>(result >> 32);
    } else if (name == "free" && builtins.free) {
      if (!builtins.free(pair(4)))
        warp.stop(Outcome::Kind::trap, "free of a pointer that malloc did not return");
    } else if (name == "__assertfail" && builtins.assert_fail) {
      builtins.assert_fail(pair(4), pair(6), 8 < code_.zero_row ? word(8) : 0, pair(10));
      warp.stop(Outcome::Kind::trap, "an assertion failed");
    } else
      warp.stop(Outcome::Kind::refused, fmt::format("a call of {}, which the cubin does not have", name));
  }

  /// Calls a function of CUDA's runtime in device code for one lane. A structure of three words is three
  /// registers.
  void call_device_runtime(Warp& warp, std::uint32_t lane, std::string_view name) {
    auto* registers = reinterpret_cast<std::uint32_t*>(warp.rows);
    const std::uint32_t last = name == "GetParameterBufferV2" ? 12 : 7; // register of an argument
    if (last >= code_.zero_row)
      return warp.stop(Outcome::Kind::refused,
                       "a launch by a kernel with fewer registers than its arguments");
    const auto word = [&](std::uint32_t number) -> std::uint32_t& {
      return registers[number * lane_count + lane];
    };
    const auto pair = [&](std::uint32_t number) {
      return std::uint64_t{word(number + 1)} << 32 | word(number);
    };
    if (name == "GetParameterBufferV2") {
      const Kernel* const kernel = kernel_at(pair(4));
      NestedLaunch nested{.grid = {word(6), word(7), word(8)},
                          .block = {word(9), word(10), word(11)},
                          .dynamic_shared_bytes = word(12)};
      std::uint64_t buffer = 0;
      if (kernel != nullptr) {
        nested.kernel = kernel->name;
        nested.parameters.resize(kernel->parameter_bytes);
        for (const Parameter& parameter : kernel->parameters)
          nested.places.push_back({parameter.offset, parameter.bytes});
        buffer = options_.builtins.malloc(std::max<std::uint64_t>(kernel->parameter_bytes, 1));
      }
      if (buffer != 0)
        launch_.nested[buffer] = std::move(nested);
      word(4) = static_cast<std::uint32_t>(buffer);
      word(5) = static_cast<std::uint32_t>(buffer >> 32);
    } else if (name == "LaunchDeviceV2") {
      constexpr std::uint32_t invalid_value = 1; // cudaErrorInvalidValue
      const std::uint64_t buffer = pair(4);
      const auto found = launch_.nested.find(buffer);
      if (found == launch_.nested.end()) {
        word(4) = invalid_value;
        return;
      }
      NestedLaunch nested = std::move(found->second);
      launch_.nested.erase(found);
      nested.stream = pair(6);
      if (!launch_.memory->copy_from(buffer, nested.parameters))
        return warp.stop(Outcome::Kind::fault, "a launch's parameters are outside of memory", buffer);
      options_.builtins.free(buffer);
      word(4) = options_.builtins.launch(std::move(nested));
    } else if (name == "StreamCreateWithFlags" || name == "EventCreateWithFlags") {
      // Launches from kernels run in their order, so that streams and events are names only. Those of 1 to 4
      // are CUDA's own.
      const std::uint64_t made = 0x100 + launch_.made_streams++;
      if (!write_at(warp, lane, pair(4), std::as_bytes(std::span(&made, 1))))
        return warp.stop(Outcome::Kind::fault, "a stream's place is outside of memory", pair(4));
      word(4) = 0;
    } else if (name == "StreamDestroy" || name == "EventDestroy" || name == "EventRecord" ||
               name == "EventRecordWithFlags" || name == "StreamWaitEvent" || name == "GetLastError" ||
               name == "PeekAtLastError")
      word(4) = 0;
    else
      warp.stop(Outcome::Kind::refused,
                fmt::format("a call of cuda{} in device code, which is not supported", name));
  }

  /// Returns the kernel whose code is at an address; null if there is none.
  const Kernel* kernel_at(std::uint64_t address) const {
    for (const Kernel& kernel : launch_.program->kernels())
      if (kernel.code().sections.front().text_address == address)
        return &kernel;
    return nullptr;
  }

  // ---- lanes that meet

  void synchronise(Warp& warp, std::uint8_t barrier, Mask lanes) {
    if (lanes == 0) {
      ++warp.pc;
      return;
    }
    const Mask needed = warp.participants[barrier][first_lane(lanes)] & warp.alive;
    if ((needed & ~lanes) == 0 && lanes == warp.active) {
      ++warp.pc;
      return;
    }
    wait_for(warp, {warp.pc, lanes, Waiting::For::convergence_barrier, barrier, 0});
  }

  void synchronise_lanes(Warp& warp, const Operation& o, Mask lanes) {
    if (lanes == 0) {
      ++warp.pc;
      return;
    }
    if (o.operands->type != 0)
      return synchronise_exclusively(warp, o, lanes);
    const Mask all = o.operands->function != 0 ? all_lanes : warp.row(o.b)[first_lane(lanes)];
    if ((all & warp.alive & ~lanes) == 0 && lanes == warp.active) {
      ++warp.pc;
      return;
    }
    wait_for(warp, {warp.pc, lanes, Waiting::For::warpsync, 0, all});
  }

  /// WARPSYNC.EXCLUSIVE: lanes whose masks differ go on apart, each group when it is complete.
  void synchronise_exclusively(Warp& warp, const Operation& o, Mask lanes) {
    const std::uint32_t* masks = warp.row(o.b);
    if (const Mask rest = warp.active & ~lanes; rest != 0)
      warp.ready.push_back({warp.pc + 1, rest});
    for (Mask left = lanes; left != 0;) {
      const Mask all = masks[first_lane(left)];
      Mask group = 0;
      for (Mask others = left; others != 0; others &= others - 1)
        if (masks[first_lane(others)] == all)
          group |= Mask{1} << first_lane(others);
      left &= ~group;
      warp.waiting.push_back({warp.pc, group, Waiting::For::warpsync, 0, all});
    }
    release_waiting(warp);
    if (!run_next_split(warp))
      warp.state = Warp::State::stuck;
  }

  void begin_collective(Warp& warp, const Operation& o, Mask lanes) {
    if (lanes == 0) {
      ++warp.pc;
      return;
    }
    const Mask needed = warp.row(o.a)[first_lane(lanes)] & warp.alive;
    for (Mask left = lanes; left != 0; left &= left - 1)
      warp.resume_at[first_lane(left)] = o.target;
    Mask arrived = lanes;
    for (const Waiting& group : warp.waiting)
      if (group.what == Waiting::For::collective)
        arrived |= group.lanes;
    if ((needed & ~arrived) != 0)
      return wait_for(warp, {warp.pc, lanes, Waiting::For::collective, 0, needed});
    std::erase_if(warp.waiting, [](const Waiting& group) { return group.what == Waiting::For::collective; });
    if (const Mask rest = warp.active & ~lanes; rest != 0)
      warp.ready.push_back({warp.pc + 1, rest});
    warp.active = arrived;
    ++warp.pc;
  }
  void end_collective(Warp& warp) { branch_by_lane(warp, warp.active, warp.resume_at); }

  // ---- blocks

  static std::uint32_t alive_threads(const Block& block) {
    std::uint32_t count = 0;
    for (const Warp& warp : block.warps)
      count += static_cast<std::uint32_t>(std::popcount(warp.alive));
    return count;
  }

  void block_barrier(Warp& warp, const Operation& o, Mask lanes) {
    if (lanes == 0) {
      ++warp.pc;
      return;
    }
    const Operands& x = *o.operands;
    Block& block = *warp.block;
    std::uint32_t number = x.selector, threads = static_cast<std::uint32_t>(x.offset);
    switch (x.form) {
    case 1: {
      const std::uint32_t both = warp.row(o.b)[first_lane(lanes)];
      number = both & 0xf;
      threads = both >> 16 & 0xfff;
      break;
    }
    case 2: number = warp.row(o.b)[first_lane(lanes)] & 0xf; break;
    case 4: threads = warp.row(o.c)[first_lane(lanes)] & 0xfff; break;
    default: break;
    }
    NamedBarrier& barrier = block.barriers[number];
    const Mask votes = warp.predicate_in(o, 0) & lanes; // all but of BAR.RED
    barrier.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
    barrier.count += static_cast<std::uint32_t>(std::popcount(votes));
    barrier.all = barrier.all && votes == lanes;
    barrier.any = barrier.any || votes != 0;
    barrier.expected = threads;
    constexpr std::uint8_t arrives_only = 1;
    if (launch_.sink) {
      Arrival arrival{.instruction = warp.pc, .lanes = lanes, .waits = x.function != arrives_only};
      if (threads != 0 && threads < block.warps.size() * lane_count)
        arrival.phase = BarrierPhase{BarrierPhase::of_block | number, barrier.times, block.index};
      launch_.sink->on_barrier({block.index, warp.index}, arrival);
    }
    if (x.function == 2)
      barrier.reduction = x.type;
    ++warp.pc;
    if (x.function != arrives_only) {
      barrier.waiting.push_back(warp.index);
      warp.state = Warp::State::at_barrier;
      if (const Mask rest = warp.active & ~lanes; rest != 0) {
        warp.ready.push_back({warp.pc, rest});
        warp.active = lanes;
      }
    }
    release_barrier(block, barrier);
  }

  /// The products of a warp group are done once all of its warps have issued theirs, which here end where
  /// they are issued: the warps wait for each other.
  void wait_for_warp_group(Warp& warp) {
    Block& block = *warp.block;
    const std::uint32_t group = warp.index / 4;
    const auto warps = std::min<std::uint32_t>(4, static_cast<std::uint32_t>(block.warps.size()) - 4 * group);
    NamedBarrier& barrier = block.barriers[Block::named_barriers + group];
    barrier.arrived += lane_count;
    barrier.expected = warps * lane_count;
    barrier.waiting.push_back(warp.index);
    ++warp.pc;
    warp.state = Warp::State::at_barrier;
    release_barrier(block, barrier);
  }

  /// Lets the warps of a barrier go on if all that it waits for have arrived.
  static bool release_barrier(Block& block, NamedBarrier& barrier) {
    const std::uint32_t threads = barrier.expected != 0 ? barrier.expected : alive_threads(block);
    if (barrier.arrived == 0 || barrier.arrived < threads)
      return false;
    const std::uint32_t result = barrier.reduction == 0   ? barrier.count
                                 : barrier.reduction == 1 ? static_cast<std::uint32_t>(barrier.all)
                                                          : static_cast<std::uint32_t>(barrier.any);
    for (const std::uint32_t index : barrier.waiting) {
      block.warps[index].state = Warp::State::ready;
      block.warps[index].barrier_result = result;
    }
    barrier = {.times = barrier.times + 1};
    return true;
  }
  /// Looks at all barriers again, since threads that exit no longer count.
  static bool release_barriers(Block& block) {
    bool has_progress = false;
    for (NamedBarrier& barrier : block.barriers)
      if (barrier.arrived != 0 && barrier.expected == 0)
        has_progress = release_barrier(block, barrier) || has_progress;
    return has_progress;
  }

  /// Lets clusters go on whose warps all wait for each other or are done.
  bool release_clusters() {
    bool has_progress = false;
    for (std::size_t first = 0; first < blocks_.size(); first += launch_.cluster_blocks) {
      const std::span<Block> cluster =
          blocks_.subspan(first, std::min<std::size_t>(launch_.cluster_blocks, blocks_.size() - first));
      bool all_wait = true, any_waits = false;
      for (const Block& block : cluster)
        for (const Warp& warp : block.warps) {
          any_waits = any_waits || warp.state == Warp::State::at_cluster_barrier;
          all_wait =
              all_wait && (warp.state == Warp::State::at_cluster_barrier || warp.state == Warp::State::done);
        }
      if (!all_wait || !any_waits)
        continue;
      for (Block& block : cluster)
        for (Warp& warp : block.warps)
          if (warp.state == Warp::State::at_cluster_barrier)
            warp.state = Warp::State::ready;
      has_progress = true;
    }
    return has_progress;
  }

  Warp* deadlocked() {
    for (Block& block : blocks_)
      for (Warp& warp : block.warps)
        if (warp.state != Warp::State::done) {
          warp.stop(Outcome::Kind::deadlock, "warps wait at a barrier for what never comes");
          return &warp;
        }
    return nullptr;
  }

  LaunchState& launch_;
  const Code& code_;
  const Launch& options_;
  std::span<Block> blocks_;
  std::uint32_t time_outs_ = 0; ///< of checks of phases, since anything else went on
};

Outcome refused(std::string reason) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = std::move(reason);
  return outcome;
}

/// Returns why a launch is impossible; empty if it is not.
std::string check(const Program& program, const Kernel& kernel, const Launch& launch) {
  const auto is_empty = [](const Dimensions& dimensions) {
    return dimensions.x == 0 || dimensions.y == 0 || dimensions.z == 0;
  };
  if (is_empty(launch.grid) || is_empty(launch.block) || is_empty(launch.cluster))
    return "a dimension of the launch is zero";
  constexpr std::uint32_t max_threads = 1024, max_shared = 256 * 1024;
  if (launch.block.x > max_threads || launch.block.y > max_threads || launch.block.z > max_threads ||
      launch.block.count() > max_threads)
    return fmt::format("a block of {} threads", launch.block.count());
  if (launch.cluster.x > 64 || launch.cluster.y > 64 || launch.cluster.z > 64 || launch.cluster.count() > 64)
    return "a cluster of more than 64 blocks";
  if (launch.grid.x % launch.cluster.x != 0 || launch.grid.y % launch.cluster.y != 0 ||
      launch.grid.z % launch.cluster.z != 0)
    return "the grid is no multiple of the clusters";
  if (launch.dynamic_shared_bytes > max_shared || kernel.shared_bytes > max_shared)
    return "too much shared memory";
  if (launch.local_bytes > 512 * 1024)
    return "too much local memory";
  if (launch.parameters.size() > 32764)
    return "too many bytes of parameters";
  if (!std::ranges::any_of(program.kernels(), [&](const Kernel& one) { return &one == &kernel; }))
    return "the kernel is not one of the program";
  return {};
}

} // namespace

namespace {

/// Lets the launch read its parameters by generic addresses, as long as it runs.
class ReadableParameters {
public:
  explicit ReadableParameters(LaunchState& state) : memory_(*state.memory) {
    const std::uint32_t begin = state.code->parameter_base;
    if (begin < state.bank0.size())
      memory_.add({parameter_window, state.bank0.size() - begin, state.bank0.data() + begin, false});
  }
  ReadableParameters(const ReadableParameters&) = delete;
  ReadableParameters& operator=(const ReadableParameters&) = delete;
  ~ReadableParameters() { memory_.remove(parameter_window); }

private:
  Memory& memory_;
};

} // namespace

std::vector<std::uint64_t> cluster_of(const Launch& launch, std::uint64_t block) {
  const std::uint64_t x = block % launch.grid.x / launch.cluster.x * launch.cluster.x;
  const std::uint64_t y = block / launch.grid.x % launch.grid.y / launch.cluster.y * launch.cluster.y;
  const std::uint64_t z = block / launch.grid.x / launch.grid.y / launch.cluster.z * launch.cluster.z;
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t k = 0; k < launch.cluster.z; ++k)
    for (std::uint64_t j = 0; j < launch.cluster.y; ++j)
      for (std::uint64_t i = 0; i < launch.cluster.x; ++i)
        blocks.push_back(((z + k) * launch.grid.y + y + j) * launch.grid.x + x + i);
  return blocks;
}

Outcome execute(const Program& program, const Kernel& kernel, const Launch& launch,
                std::span<const std::uint64_t> blocks, Memory& memory, Sink* sink) {
  if (std::string reason = check(program, kernel, launch); !reason.empty())
    return refused(std::move(reason));
  if (std::ranges::any_of(blocks, [&](std::uint64_t block) { return block >= launch.grid.count(); }))
    return refused("a block that the grid does not have");
  LaunchState state = prepare(program, kernel, launch, memory, sink);
  const ReadableParameters parameters(state);

  // With clusters each group of blocks is whole clusters, each once.
  std::vector<std::uint64_t> order;
  for (const std::uint64_t block : blocks)
    if (state.cluster_blocks == 1)
      order.push_back(block);
    else if (std::ranges::find(order, block) == order.end())
      for (const std::uint64_t other : cluster_of(launch, block))
        order.push_back(other);
  const std::size_t together = launch.runs_blocks_together ? order.size() : state.cluster_blocks;

  Outcome outcome;
  std::vector<Block> resident(together);
  for (std::size_t first = 0; first < order.size(); first += together) {
    for (std::size_t i = 0; i < together; ++i) {
      start_block(resident[i], state, kernel, order[first + i],
                  static_cast<std::uint32_t>(i % state.cluster_blocks));
      resident[i].cluster =
          std::span(resident).subspan(i / state.cluster_blocks * state.cluster_blocks, state.cluster_blocks);
    }
    const Warp* stopped = Runner(state, resident).run();
    for (const Block& block : resident)
      for (const Warp& warp : block.warps) {
        outcome.warp_instructions += warp.executed;
        outcome.thread_instructions += warp.lanes_executed;
      }
    if (stopped) {
      outcome.kind = stopped->stop_kind;
      outcome.reason = stopped->stop_reason;
      outcome.instruction = stopped->pc;
      outcome.block = stopped->block->index;
      outcome.address = stopped->stop_address;
      return outcome;
    }
  }
  return outcome;
}

Outcome execute(const Program& program, const Kernel& kernel, const Launch& launch, Memory& memory,
                Sink* sink) {
  if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0 ||
      launch.grid.count() > (std::uint64_t{1} << 32))
    return refused("a grid without blocks, or of too many");
  std::vector<std::uint64_t> blocks(launch.grid.count());
  std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
  return execute(program, kernel, launch, blocks, memory, sink);
}

} // namespace warplens::machine
