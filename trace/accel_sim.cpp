#include "trace/accel_sim.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::trace {
namespace {

/// The architecture whose names of instructions the reader is to know: 80 is Ampere's.
constexpr std::uint32_t binary_version = 80;
constexpr std::uint32_t tracer_version = 3;

/// The places of shared and local memory among generic addresses, which the reader wants to know; no
/// instruction here has generic addresses.
constexpr std::uint64_t shared_base = 0x7000'0000'0000, local_base = 0x7100'0000'0000;

constexpr std::uint32_t bytes_of_instruction = 16; // since Maxwell
constexpr std::uint32_t max_source_registers = 4;  // of the reader
constexpr std::uint32_t result_registers = 200;    // of the 255 that a thread can have
constexpr std::uint32_t registers_if_unknown = 32;

/// The forms of an instruction's addresses.
constexpr int list_all = 0, base_and_stride = 1;

std::string tuple_of(const Dim3& dim) {
  return fmt::format("({},{},{})", dim.x, dim.y, dim.z);
}

/// Returns the part of an instruction's name that says how wide an access is.
const char* width_of(std::uint32_t bytes) {
  switch (bytes) {
  case 1: return ".U8";
  case 2: return ".U16";
  case 8: return ".64";
  case 16: return ".128";
  default: return "";
  }
}

/// Returns the distance between the addresses of neighbouring lanes, if the active lanes are neighbours and
/// all have the same.
std::optional<std::int32_t> stride_of(const WarpAccess& access) {
  const unsigned first = unsigned(std::countr_zero(access.active));
  const unsigned lanes = unsigned(std::popcount(access.active));
  if (lanes < 2 || (std::uint64_t{access.active} >> first) + 1 != std::uint64_t{1} << lanes)
    return std::nullopt;
  const std::int64_t stride = std::int64_t(access.addresses[first + 1] - access.addresses[first]);
  for (unsigned lane = first + 1; lane < first + lanes; ++lane)
    if (std::int64_t(access.addresses[lane] - access.addresses[lane - 1]) != stride)
      return std::nullopt;
  return std::in_range<std::int32_t>(stride) ? std::optional(std::int32_t(stride)) : std::nullopt;
}

std::string addresses_of(const WarpAccess& access) {
  const unsigned first = unsigned(std::countr_zero(access.active));
  if (const auto stride = stride_of(access))
    return fmt::format("{} {:#x} {}", base_and_stride, access.addresses[first], *stride);
  std::string text = fmt::format("{}", list_all);
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (access.active >> lane & 1)
      text += fmt::format(" {:#x}", access.addresses[lane]);
  return text;
}

/// The instructions of a launch, as lines, by block and warp.
class Instructions {
public:
  Instructions(const std::vector<Site>& sites, const Launch& launch)
      : sites_(sites), warps_(warplens::warps_of(launch.block.count())) {
    for (std::uint32_t i = 0; i < sites.size(); ++i)
      numbers_.emplace(sites[i].id, i);
  }

  void add(std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
    const auto site = numbers_.find(access.site);
    if (site == numbers_.end() || warp >= warps_ || access.active == 0 || access.kind == AccessKind::mark)
      return;
    std::vector<Warp>& block_warps = warps_of(block);
    const bool is_shared = access.space == Space::shared;
    const std::string width = width_of(access.bytes);
    const auto put = [&](bool has_result, const std::string& name) {
      append(block_warps[warp], site->second, access, has_result, name);
    };
    switch (access.kind) {
    case AccessKind::load:
      if (access.space == Space::constant)
        return put_constant(block_warps[warp], site->second, access);
      return put(true, (is_shared ? "LDS" : "LDG.E") + width);
    case AccessKind::store: return put(false, (is_shared ? "STS" : "STG.E") + width);
    case AccessKind::update:
      put(true, (is_shared ? "LDS" : "LDG.E") + width);
      return put(false, (is_shared ? "STS" : "STG.E") + width);
    case AccessKind::atomic:
      if (is_shared)
        return put(true, "ATOMS.ADD" + width);
      return sites_[site->second].is_reduction ? put(false, "RED.E.ADD" + width)
                                               : put(true, "ATOMG.E.ADD" + width);
    case AccessKind::barrier:
      ++block_warps[warp].instructions;
      block_warps[warp].lines +=
          fmt::format("{:04x} {:08x} 0 BAR.SYNC 0 0 \n", site->second * bytes_of_instruction, access.active);
      return;
    case AccessKind::mark: return;
    }
  }

  /// Appends the blocks from `first` on, each with the position that `position` returns for it.
  template <class Position>
  void print(std::uint64_t first, std::uint64_t count, std::uint32_t threads, std::string& text,
             Position position) {
    for (std::uint64_t block = first; block < first + count; ++block) {
      std::vector<Warp>& block_warps = warps_of(block);
      text += fmt::format("\n#BEGIN_TB\n\nthread block = {}\n", position(block));
      for (std::uint32_t warp = 0; warp < warps_; ++warp) {
        const std::uint32_t lanes = std::min<std::uint32_t>(warp_lanes, threads - warp * warp_lanes);
        const std::uint32_t mask = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
        text += fmt::format("\nwarp = {}\ninsts = {}\n{}{:04x} {:08x} 0 EXIT 0 0 \n", warp,
                            block_warps[warp].instructions + 1, block_warps[warp].lines,
                            sites_.size() * bytes_of_instruction, mask);
      }
      text += "\n#END_TB\n";
      block_warps = std::vector<Warp>(); // its memory
    }
  }

private:
  struct Warp {
    std::uint64_t instructions = 0;
    std::string lines;
  };

  std::vector<Warp>& warps_of(std::uint64_t block) {
    std::vector<Warp>& block_warps = blocks_[block];
    block_warps.resize(warps_);
    return block_warps;
  }

  static std::uint32_t register_of(std::uint32_t site) { return 1 + site % result_registers; }

  /// Returns the registers that the access at a site waits for, as a list that begins with their number.
  std::string sources_of(std::uint32_t site) const {
    std::vector<std::uint32_t> registers;
    for (const std::uint64_t id : sites_[site].depends_on)
      if (const auto found = numbers_.find(id);
          found != numbers_.end() && registers.size() < max_source_registers)
        registers.push_back(register_of(found->second));
    std::string text = fmt::format("{} ", registers.size());
    for (const std::uint32_t number : registers)
      text += fmt::format("R{} ", number);
    return text;
  }

  std::string head_of(std::uint32_t site, const WarpAccess& access, bool has_result,
                      const std::string& name) {
    const std::string result = has_result ? fmt::format("1 R{} ", register_of(site)) : "0 ";
    return fmt::format("{:04x} {:08x} {}{} {}", site * bytes_of_instruction, access.active, result, name,
                       sources_of(site));
  }

  void append(Warp& warp, std::uint32_t site, const WarpAccess& access, bool has_result,
              const std::string& name) {
    ++warp.instructions;
    warp.lines += fmt::format("{}{} {} \n", head_of(site, access, has_result, name), access.bytes,
                              addresses_of(access));
  }

  /// The reader takes no addresses of constants.
  void put_constant(Warp& warp, std::uint32_t site, const WarpAccess& access) {
    ++warp.instructions;
    warp.lines += head_of(site, access, true, "LDC") + "0 \n";
  }

  const std::vector<Site>& sites_;
  std::uint64_t warps_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_; ///< Site::id → index
  std::unordered_map<std::uint64_t, std::vector<Warp>> blocks_;
};

/// Returns a name that stays within its line.
std::string one_line(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return name;
}

/// Returns the text of a launch's file. Where the trace has only a part of the grid, that part is a grid of
/// one dimension of its own: the reader expects every block.
Expected<std::string> kernel_text(const Reader& reader, const Launch& launch) {
  Instructions instructions(reader.sites(), launch);
  TRY(reader.for_each_access(launch.id,
                             [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
                               instructions.add(block, warp, access);
                             }));
  const auto end = reader.end_of(launch.id);
  const std::uint64_t blocks = end && end->blocks ? end->blocks : launch.blocks;
  const bool is_whole = launch.first_block == 0 && blocks == launch.grid.count();
  const std::uint32_t registers = launch.registers_per_thread != 0 ? launch.registers_per_thread
                                  : launch.machine_code.empty()    ? registers_if_unknown
                                                                   : launch.machine_code.front().registers;
  const Dim3 grid = is_whole ? launch.grid : Dim3{std::uint32_t(blocks), 1, 1};
  std::string text = fmt::format(
      "-kernel name = {}\n-kernel id = {}\n-grid dim = {}\n-block dim = {}\n-shmem = {}\n-nregs = {}\n"
      "-binary version = {}\n-cuda stream id = 0\n-shmem base_addr = {:#x}\n-local mem base_addr = {:#x}\n"
      "-nvbit version = none\n-accelsim tracer version = {}\n\n#traces format = PC mask dest_num [reg_dests] "
      "opcode src_num [reg_srcs] mem_width [address_mode] [mem_addresses]\n",
      one_line(launch.kernel), launch.id + 1, tuple_of(grid), tuple_of(launch.block),
      launch.static_shared_bytes + launch.dynamic_shared_bytes, registers, binary_version, shared_base,
      local_base, tracer_version);
  instructions.print(
      launch.first_block, blocks, std::uint32_t(launch.block.count()), text, [&](std::uint64_t block) {
        const std::uint64_t number = block - launch.first_block;
        return fmt::format("{},{},{}", number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y);
      });
  return text;
}

/// Appends the copies into device memory before a launch, which warm the simulator's L2.
void add_copies(const Reader& reader, std::uint32_t launch, std::string& list) {
  for (const MemoryUse& use : reader.memory_uses())
    if (use.launch == launch && use.kind == MemoryUse::Kind::written)
      for (std::uint64_t row = 0; row < use.rows; ++row)
        list += fmt::format("MemcpyHtoD,{:#018x},{}\n", use.address + row * use.pitch, use.row_bytes);
}

} // namespace

Expected<void> export_accel_sim(const Reader& reader, const WriteFile& write_file) {
  std::string list;
  for (const Launch& launch : reader.launches()) {
    add_copies(reader, launch.id, list);
    const std::string name = fmt::format("kernel-{}.traceg", launch.id + 1);
    TRY_LET(text, kernel_text(reader, launch));
    TRY(write_file(name, *text));
    list += name + '\n';
  }
  return write_file("kernelslist.g", list);
}

} // namespace warplens::trace
