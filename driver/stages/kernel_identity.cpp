#include "driver/stages/kernel_identity.h"

#include "driver/stages/manifest.h"
#include "sass/decode.h"
#include "support/hash.h"
#include "toolchain/version.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <bit>
#include <fmt/ranges.h>
#include <map>
#include <span>
#include <unordered_map>

namespace warplens::driver {
namespace {

std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;
  return (std::rotl(state, 29) ^ value) * multiplier;
}

/// Hashes what the warps of a launch do: in order within a warp, and in any order of the warps, since the
/// host's threads take turns as they please.
class WarpHashes {
public:
  void add(std::uint64_t block, std::uint32_t warp, std::uint64_t value) {
    const std::uint64_t key = block * warps_per_block + warp;
    if (last_ == nullptr || key != last_key_) {
      last_ = &by_warp_[key];
      last_key_ = key;
    }
    *last_ = mixed(*last_, value);
  }

  std::uint64_t sum() const {
    std::uint64_t sum = by_warp_.size();
    for (const auto& [key, hash] : by_warp_)
      sum += mixed(mixed(key, hash), key);
    return sum;
  }

private:
  static constexpr std::uint64_t warps_per_block = 64;       ///< 1024 threads are 32
  std::unordered_map<std::uint64_t, std::uint64_t> by_warp_; ///< elements keep their places
  std::uint64_t* last_ = nullptr;
  std::uint64_t last_key_ = 0;
};

/// Hashes an access without its site.
std::uint64_t hash_of(const trace::WarpAccess& access) {
  std::uint64_t state = std::uint64_t{access.active} << 32 | std::uint64_t{access.bytes} << 16 |
                        std::uint64_t(access.space) << 8 | std::uint64_t(access.kind);
  for (const std::uint64_t address : access.addresses)
    state = mixed(state, address);
  return state;
}

/// Hashes of the sites by their ids, without their lines: code that moves is the same code.
std::unordered_map<std::uint64_t, std::uint64_t> hashes_of(const std::vector<Site>& sites) {
  std::unordered_map<std::uint64_t, std::uint64_t> hashes;
  for (const Site& site : sites)
    hashes[site.id] = stable_hash(fmt::format("{}|{}|{}|{}|{}", site.expression, int(site.kind),
                                              int(site.space), site.element_bytes, site.sequence));
  return hashes;
}

/// Hashes the source's accesses of a launch.
Expected<std::uint64_t> accesses_hash(const trace::Reader& trace, std::uint32_t launch) {
  WarpHashes hashes;
  TRY(trace.for_each_access(launch, [&, sites = hashes_of(trace.sites())](std::uint64_t block,
                                                                          std::uint32_t warp,
                                                                          const trace::WarpAccess& access) {
    const auto site = sites.find(access.site);
    hashes.add(block, warp, mixed(site == sites.end() ? access.site : site->second, hash_of(access)));
  }));
  return hashes.sum();
}

/// Hashes what the launch executed in its machine code for that capability.
Expected<std::uint64_t> executed_hash(const trace::Reader& trace, std::uint32_t launch,
                                      std::uint32_t capability) {
  WarpHashes runs, accesses;
  TRY(trace.for_each_executed(
      launch, capability,
      [&](std::uint64_t block, std::uint32_t warp, std::span<const trace::ExecutedRun> executed) {
        for (const trace::ExecutedRun& run : executed)
          runs.add(block, warp, mixed(std::uint64_t{run.first} << 32 | run.count, std::uint64_t{run.lanes}));
      },
      [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        accesses.add(block, warp, mixed(access.site, hash_of(access)));
      }));
  return mixed(runs.sum(), accesses.sum());
}

/// Hashes the machine code of a symbol: its instructions with those of the functions that it calls, and what
/// the kernel takes of an SM. Empty: it cannot be decoded.
std::string code_hash(const trace::MachineCode& code) {
  const auto table = sass::decode(std::as_bytes(std::span(code.cubin)));
  const sass::Kernel* const kernel = table ? sass::find_kernel(*table, code.symbol) : nullptr;
  if (kernel == nullptr)
    return "";
  std::string bytes =
      fmt::format("{} {} {} {} {} {}", table->architecture, kernel->registers, kernel->shared_bytes,
                  kernel->local_bytes, kernel->barriers, kernel->functions.size());
  for (const sass::Function& function : kernel->functions)
    bytes += fmt::format(" {}", function.end - function.begin);
  for (const sass::Instruction& instruction : kernel->instructions)
    bytes.append(reinterpret_cast<const char*>(&instruction.word), sizeof instruction.word);
  return content_hash(bytes);
}

/// Returns the text of what device memory was used for before a launch.
std::string uses_before(const trace::Reader& trace, std::uint32_t launch) {
  std::string text;
  for (const trace::MemoryUse& use : trace.memory_uses())
    if (use.launch == launch)
      text += fmt::format("{} {} {} {} {} {}\n", int(use.kind), use.address, use.row_bytes, use.pitch,
                          use.rows, use.what);
  return text;
}

std::string windows_text(const trace::LaunchEnd& end) {
  std::string text;
  for (const trace::BlockWindow& window : end.windows)
    text += fmt::format(" {}+{}/{}", window.first, window.blocks, window.stands_for);
  return text;
}

/// Returns what the trace says of a launch beside its accesses.
std::string shape_of(const trace::Reader& trace, const trace::Launch& launch) {
  std::string text = fmt::format("{} {} {} {} {} {} shared {} {} registers {} blocks {} {}\n", launch.grid.x,
                                 launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
                                 launch.static_shared_bytes, launch.dynamic_shared_bytes,
                                 launch.registers_per_thread, launch.first_block, launch.blocks);
  if (launch.window)
    text += fmt::format("window {} {} {} {}\n", launch.window->begin, launch.window->end,
                        launch.window->hit_ratio, launch.window->set_aside_bytes);
  if (const auto end = trace.end_of(launch.id))
    text += fmt::format("end {} {} {} {} {} {} {}{}\n", end->complete, end->executed_accesses,
                        end->probed_accesses, end->blocks, end->work.accesses, end->work.lines,
                        end->leaves_out, windows_text(*end));
  return text;
}

/// Returns the words of all that changes figures beside the program.
std::string model_text(const model::Gpu& gpu, const ModelOptions& options) {
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("-"); };
  const model::Confidence confidence = confidence_of(options);
  const auto policy = options.policy ? std::optional(int(*options.policy)) : std::nullopt;
  return fmt::format("{} {} clock {} {} {} {} {} trials {} confidence {} {} l2 {} registers {} seed {} "
                     "blocks {}",
                     toolchain::version, gpu.id, options.without_clock, number(policy), options.placement,
                     options.start, number(options.sm_clock_mhz), number(options.trials), confidence.rate,
                     confidence.latency, int(options.l2_begin), number(options.registers), options.seed,
                     number(options.snapshot_blocks));
}

/// Returns the hash of the model for each of the GPUs.
std::vector<std::string> model_hashes(const std::vector<model::Gpu>& gpus, const ModelOptions& options) {
  std::map<std::string, std::uint64_t> files;
  for (const NamedHash& file : make_manifest(options.gpus).gpus)
    files[std::filesystem::path(file.name).stem().string()] = file.hash;
  std::vector<std::string> hashes;
  for (const model::Gpu& gpu : gpus)
    hashes.push_back(content_hash(fmt::format("{} file {:x}", model_text(gpu, options), files[gpu.id])));
  return hashes;
}

} // namespace

Expected<std::vector<KernelIdentity>>
identities_of(const trace::Reader& trace, const std::vector<model::Gpu>& gpus, const ModelOptions& options,
              const std::function<bool(const trace::Launch&)>& wants_launch) {
  const std::vector<std::string> models = model_hashes(gpus, options);
  std::map<std::pair<std::uint64_t, std::string>, std::string> codes; // by cubin and symbol
  std::vector<KernelIdentity> identities;
  std::string before; // a hash of all that used device memory so far
  for (const trace::Launch& launch : trace.launches()) {
    before = content_hash(before + uses_before(trace, launch.id));
    std::map<std::uint32_t, std::uint64_t> executed_hashes; // by capability
    std::optional<std::uint64_t> hash_of_accesses;
    const auto accesses = [&]() -> Expected<std::uint64_t> {
      if (!hash_of_accesses) {
        TRY_LET(hash, accesses_hash(trace, launch.id));
        hash_of_accesses = *hash;
      }
      return *hash_of_accesses;
    };
    for (std::size_t index = 0; wants_launch(launch) && index < gpus.size(); ++index) {
      const model::Gpu& gpu = gpus[index];
      KernelIdentity& identity = identities.emplace_back();
      identity.model = models[index];
      const trace::MachineCode* const code =
          trace::machine_code_for(launch.machine_code, gpu.capability(), gpu.registers.max_per_thread);
      const bool has_code = code != nullptr && !code->cubin.empty();
      if (has_code) {
        const auto [found, is_new] = codes.try_emplace({code->cubin_id, code->symbol});
        if (is_new)
          found->second = code_hash(*code);
        identity.code = found->second;
      }
      const trace::Execution* const execution =
          has_code ? trace.execution_of(launch.id, code->capability) : nullptr;
      const bool was_executed = execution != nullptr && execution->is_complete();
      if (was_executed && !executed_hashes.contains(code->capability)) {
        TRY_LET(hash, executed_hash(trace, launch.id, code->capability));
        executed_hashes[code->capability] = *hash;
      }
      TRY_LET(work,
              was_executed ? Expected<std::uint64_t>(executed_hashes.at(code->capability)) : accesses());
      identity.work =
          content_hash(fmt::format("{} {} {} {}", before, shape_of(trace, launch), was_executed, *work));
    }
    if (&launch != &trace.launches().back()) {
      TRY_LET(touched, accesses());
      before = content_hash(fmt::format("{} {}", before, *touched));
    }
  }
  return identities;
}

const KernelResult* find_equal(const Result& known, const KernelIdentity& identity, const std::string& name,
                               const std::string& gpu) {
  const auto found = std::ranges::find_if(known.kernels, [&](const KernelResult& kernel) {
    return kernel.name == name && kernel.gpu == gpu && kernel.identity == identity;
  });
  return found == known.kernels.end() ? nullptr : &*found;
}

} // namespace warplens::driver
