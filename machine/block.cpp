// Prepares launches and blocks: banks of constants, and the state that a block's warps begin with.
#include "machine/block.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warplens::machine {
namespace {

/// Where bank 0 has what the driver puts there, by architecture.
struct BankLayout {
  std::uint32_t block, grid, shared_window, local_window, parameter_window, stack, workspace;
};
constexpr std::uint32_t no_place = ~0u;

BankLayout layout_of(int architecture) {
  if (architecture >= 100)
    return {0x360, 0x370, no_place, 0x2f8, 0x348, 0x37c, 0x254};
  if (architecture >= 90)
    return {0x00, 0x0c, no_place, 0x20, 0x198, 0x28, 0x44};
  return {0x00, 0x0c, 0x18, 0x20, no_place, 0x28, 0x8c};
}

template <class Number> void put(std::vector<std::byte>& bytes, std::uint32_t at, Number value) {
  if (at + sizeof value <= bytes.size())
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

void put_dimensions(std::vector<std::byte>& bank, std::uint32_t at, const Dimensions& dimensions) {
  put(bank, at, dimensions.x);
  put(bank, at + 4, dimensions.y);
  put(bank, at + 8, dimensions.z);
}

/// Puts what %cluster_nctaid, %nclusterid, %cluster_nctarank and %is_explicit_cluster are read from, and the
/// reciprocals that divide %ctaid by the first: where ptxas' code looks for them.
void put_clusters(std::vector<std::byte>& bank, int architecture, const Launch& launch) {
  const bool newest = architecture >= 100;
  const std::uint32_t sizes = newest ? 0x2a0 : 0x144, reciprocals = newest ? 0x2b0 : 0x150,
                      counts = newest ? 0x2c0 : 0x15c, rank = newest ? 0x2cc : 0x188,
                      is_explicit = newest ? 0x36c : 0x140;
  const std::uint32_t size[] = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
  const std::uint32_t grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
  for (std::uint32_t i = 0; i < 3; ++i) {
    // Rounded up, so that multiples of the size are divided exactly.
    const float reciprocal = 1.0f / static_cast<float>(size[i]);
    const bool is_less = static_cast<double>(reciprocal) * size[i] < 1;
    put(bank, sizes + 4 * i, size[i]);
    put(bank, reciprocals + 4 * i, is_less ? std::nextafter(reciprocal, 1.0f) : reciprocal);
    put(bank, counts + 4 * i, grid[i] / size[i]);
  }
  put(bank, rank, static_cast<std::uint32_t>(launch.cluster.count()));
  put(bank, is_explicit, static_cast<std::uint32_t>(launch.cluster.count() != 1));
}

std::vector<std::byte> make_bank0(const Code& code, const Kernel& kernel, const Launch& launch,
                                  std::uint32_t local_bytes) {
  const std::size_t parameters = std::max<std::size_t>(kernel.parameter_bytes, launch.parameters.size());
  std::vector<std::byte> bank(
      std::min<std::size_t>(0x10000, std::max<std::size_t>(0x400, code.parameter_base + parameters)));
  const BankLayout layout = layout_of(code.architecture);
  put_dimensions(bank, layout.block, launch.block);
  put_dimensions(bank, layout.grid, launch.grid);
  if (layout.shared_window != no_place)
    put(bank, layout.shared_window, shared_window);
  put(bank, layout.local_window, local_window);
  if (layout.parameter_window != no_place)
    put(bank, layout.parameter_window, parameter_window);
  put(bank, layout.stack, local_bytes);
  put(bank, layout.workspace, std::uint32_t(launch.workspace >> 32)); // %envreg1 and %envreg2
  put(bank, layout.workspace + 4, std::uint32_t(launch.workspace));
  if (code.architecture >= 90)
    put_clusters(bank, code.architecture, launch);
  if (code.parameter_base < bank.size())
    std::memcpy(bank.data() + code.parameter_base, launch.parameters.data(),
                std::min(launch.parameters.size(), bank.size() - code.parameter_base));
  return bank;
}

/// Returns where a relocation leads in this launch.
std::uint64_t value_of(const Relocation64& relocation, const Program::Image& image,
                       const std::vector<std::uint64_t>& addresses) {
  switch (relocation.to) {
  case Relocation64::To::variable:
    return relocation.addend + (relocation.index < addresses.size()
                                    ? addresses[relocation.index]
                                    : reinterpret_cast<std::uintptr_t>(image.private_image));
  case Relocation64::To::text: return relocation.addend;
  case Relocation64::To::builtin: return builtin_address + 16 * std::uint64_t{relocation.index};
  }
  return 0;
}

void relocate(std::vector<std::byte>& bank, const std::vector<Relocation64>& relocations,
              const Program::Image& image, const std::vector<std::uint64_t>& addresses) {
  for (const Relocation64& relocation : relocations)
    put(bank, relocation.offset, value_of(relocation, image, addresses));
}

} // namespace

std::uint32_t stack_bytes(const Kernel& kernel, const Launch& launch) {
  // The default of cudaLimitStackSize; the result is a multiple of the widest access.
  constexpr std::uint32_t least = 1024;
  return (std::max({least, kernel.local_bytes, launch.local_bytes}) + 15) / 16 * 16;
}

LaunchState prepare(const Program& program, const Kernel& kernel, const Launch& launch, Memory& memory,
                    Sink* sink) {
  const Program::Image& image = program.image();
  LaunchState state;
  state.program = &program;
  state.code = &kernel.code();
  state.launch = &launch;
  state.memory = &memory;
  state.sink = sink;
  state.local_bytes = stack_bytes(kernel, launch);
  state.cluster_blocks = static_cast<std::uint32_t>(launch.cluster.count());

  if (image.private_bytes != 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(image.private_image);
    if (!memory.contains(address, image.private_bytes))
      memory.add({address, image.private_bytes, image.private_image});
  }
  state.bank0 = make_bank0(*state.code, kernel, launch, state.local_bytes);
  state.bank1 = image.bank1;
  state.bank3 = image.bank3;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < image.variables.size(); ++i) {
    const Variable& variable = image.variables[i];
    const auto bound = launch.address_of ? launch.address_of(variable.name) : std::nullopt;
    addresses.push_back(
        bound.value_or(reinterpret_cast<std::uintptr_t>(image.private_image) + image.places[i].offset));
    const std::uint64_t offset = image.places[i].offset;
    if (variable.is_constant && bound && offset + variable.bytes <= state.bank3.size()) {
      memory.copy_from(*bound, std::span(state.bank3).subspan(offset, variable.bytes));
      state.bound_constants.push_back({offset, variable.bytes, *bound});
    }
  }
  state.bank4 = image.bank4;
  relocate(state.bank4, image.of_bank4, image, addresses);
  for (const CodeSection& section : state.code->sections) {
    const auto bank = image.bank2.find(section.name);
    state.bank2.push_back(bank == image.bank2.end() ? std::vector<std::byte>() : bank->second);
    if (bank != image.bank2.end())
      relocate(state.bank2.back(), image.of_bank2.at(section.name), image, addresses);
  }

  state.constant_rows.resize(state.code->constants.size());
  for (std::size_t i = 0; i < state.constant_rows.size(); ++i) {
    const ConstantWord& word = state.code->constants[i];
    std::uint32_t value = word.value;
    if (word.source == ConstantWord::Source::bank) {
      value = 0;
      const std::span<const std::byte> bank = state.bank(word.bank, word.section);
      if (std::uint64_t{word.value} + 4 <= bank.size())
        std::memcpy(&value, bank.data() + word.value, 4);
    }
    std::ranges::fill(state.constant_rows[i].lane, value);
  }
  return state;
}

namespace {

/// The system's part of shared memory has what a pair of blocks allocates tensor memory by: in compiled code
/// the block of odd rank waits at its barrier there with the phase behind it, which lets it pass at first,
/// allocates for both, and sends the address to the other one, which waits at its own.
void initialise_pair(Block& block) {
  constexpr std::uint32_t barrier_at = 0x48, phase_at = 0x50;
  constexpr std::uint64_t barrier_of_one_arrival = 0x7ffff800'001ffffe;
  const std::uint32_t phase = block.rank % 2;
  if (block.shared_bytes < phase_at + sizeof phase)
    return;
  std::memcpy(block.shared + barrier_at, &barrier_of_one_arrival, sizeof barrier_of_one_arrival);
  std::memcpy(block.shared + phase_at, &phase, sizeof phase);
}

} // namespace

void start_block(Block& block, LaunchState& launch, const Kernel& kernel, std::uint64_t index,
                 std::uint32_t rank) {
  const Code& code = *launch.code;
  const Dimensions &grid = launch.launch->grid, &shape = launch.launch->block;
  block.launch = &launch;
  block.index = index;
  block.rank = rank;
  block.id = {static_cast<std::uint32_t>(index % grid.x), static_cast<std::uint32_t>(index / grid.x % grid.y),
              static_cast<std::uint32_t>(index / grid.x / grid.y)};
  block.shared_bytes = kernel.shared_bytes + launch.launch->dynamic_shared_bytes;
  // Vector code may read a row's length at once.
  block.shared_storage.assign(block.shared_bytes + sizeof(Row), std::byte{0});
  block.shared = block.shared_storage.data();
  block.barriers = {};
  block.phases_over.clear();
  block.tensor_memory.keep(0);
  if (code.architecture >= 100 && code.architecture < 120)
    initialise_pair(block);

  const auto threads = static_cast<std::uint32_t>(shape.count());
  const std::uint32_t warps = (threads + lane_count - 1) / lane_count;
  block.rows.assign(std::size_t{warps} * code.rows, Row{});
  const std::uint32_t local_words = code.uses_local ? launch.local_bytes / 4 * lane_count : 0;
  block.local_storage.assign(std::size_t{warps} * local_words, 0);
  block.warps.clear();
  block.warps.resize(warps);
  for (std::uint32_t i = 0; i < warps; ++i) {
    Warp& warp = block.warps[i];
    warp.rows = reinterpret_cast<std::byte*>(block.rows.data() + std::size_t{i} * code.rows);
    warp.bases[RowPlace::registers] = warp.rows;
    warp.bases[RowPlace::constants] = reinterpret_cast<const std::byte*>(launch.constant_rows.data());
    warp.predicates.fill(0);
    warp.predicates[sass::true_predicate] = warp.predicates[sass::true_predicate + 8] = all_lanes;
    const std::uint32_t here = std::min(threads - i * lane_count, lane_count);
    warp.active = warp.alive = here == lane_count ? all_lanes : (Mask{1} << here) - 1;
    warp.block = &block;
    warp.index = i;
    warp.local = block.local_storage.data() + std::size_t{i} * local_words;
    warp.local_bytes = code.uses_local ? launch.local_bytes : 0;
  }
}

} // namespace warplens::machine
