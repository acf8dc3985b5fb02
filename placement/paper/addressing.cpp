#include "placement/paper/addressing.h"

#include <algorithm>
#include <set>
#include <toml++/toml.h>
#include <utility>

namespace warplens::placement {
namespace {

bool is_global(PlacementSpace space) {
  return space == PlacementSpace::global || space == PlacementSpace::read_only ||
         space == PlacementSpace::persisting;
}

double global_instructions(const IndexedAccess& access, const Addressing& of) {
  double count = access.wide_index ? of.global_wide_index : of.global;
  if (access.element_bytes == 1)
    count = std::max(count, of.global_byte);
  return count;
}

double instructions_of_one(const IndexedAccess& access, const Addressing& of) {
  switch (access.space) {
  case PlacementSpace::texture: return of.texture + (access.constant_offset ? of.texture_constant_offset : 0);
  case PlacementSpace::texture_2d: return of.texture + 2 * of.coordinate;
  case PlacementSpace::constant: return of.constant;
  case PlacementSpace::shared: return of.shared;
  default: return global_instructions(access, of);
  }
}

} // namespace

double addressing_instructions(std::span<const IndexedAccess> accesses, const Addressing& of,
                               Reading reading) {
  double count = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> addresses; // indices, each with its array
  std::set<std::uint32_t> constant_indices, shared_indices;
  for (const IndexedAccess& access : accesses) {
    if (reading == Reading::literal) {
      count += instructions_of_one(access, of);
      continue;
    }
    // An access at an index plus a constant has the constant in the instruction, except of a fetch.
    if (access.constant_offset && access.space != PlacementSpace::texture &&
        access.space != PlacementSpace::texture_2d)
      continue;
    const bool is_first = is_global(access.space) ? addresses.emplace(access.index, access.array).second
                          : access.space == PlacementSpace::constant
                              ? constant_indices.insert(access.index).second
                          : access.space == PlacementSpace::shared
                              ? shared_indices.insert(access.index).second || !of.shared_shares_index
                              : true;
    if (is_first)
      count += instructions_of_one(access, of);
  }
  return count;
}

double waiting_instructions(PlacementSpace place, const Addressing& of) {
  // Newer GPUs serve read-only loads as any others.
  const bool waits = place == PlacementSpace::texture || place == PlacementSpace::texture_2d ||
                     (place == PlacementSpace::read_only && of.architecture < 70);
  return waits ? of.texture_wait : 0;
}

Expected<std::vector<Addressing>> load_addressing(const std::filesystem::path& file) {
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    return fail("{}:{}: {}", file.string(), error.source().begin.line, error.description());
  }
  std::vector<Addressing> all;
  for (const auto& [name, node] : table) {
    const toml::table* const of = node.as_table();
    if (of == nullptr || !name.str().starts_with("sm_"))
      continue;
    Addressing counts;
    for (const char digit : name.str().substr(3))
      counts.architecture = counts.architecture * 10 + (digit - '0');
    const auto read = [&, &key_of = name](std::string_view key, double& into) -> Expected<void> {
      const std::optional<double> value = (*of)[key].value<double>();
      if (!value || *value < 0 || *value > 16)
        return fail("{}: [{}] needs '{}', a number of instructions from 0 to 16", file.string(), key_of.str(),
                    key);
      into = *value;
      return {};
    };
    TRY(read("global", counts.global));
    TRY(read("global_wide_index", counts.global_wide_index));
    TRY(read("global_byte", counts.global_byte));
    TRY(read("texture", counts.texture));
    TRY(read("texture_wait", counts.texture_wait));
    TRY(read("texture_constant_offset", counts.texture_constant_offset));
    TRY(read("coordinate", counts.coordinate));
    TRY(read("constant", counts.constant));
    TRY(read("shared", counts.shared));
    counts.shared_shares_index = (*of)["shared_shares_index"].value_or(true);
    all.push_back(counts);
  }
  if (all.empty())
    return fail("{}: no section [sm_NN] with instruction counts", file.string());
  std::ranges::sort(all, {}, &Addressing::architecture);
  return all;
}

const Addressing& addressing_of(std::span<const Addressing> all, int architecture) {
  const auto newer = std::ranges::upper_bound(all, architecture, {}, &Addressing::architecture);
  return newer == all.begin() ? *newer : *std::prev(newer);
}

} // namespace warplens::placement
