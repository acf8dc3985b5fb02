#include "model/snapshot/executed_sites.h"

#include "sass/instruction_traits.h"
#include "sass/operands.h"
#include "support/files.h"
#include "support/hash.h"
#include "vocabulary/spilled_registers.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace warplens::model {
namespace {

/// How far a compiler's line may lie from that of the access: statements of several lines.
constexpr int max_lines_away = 8;
constexpr std::size_t max_signatures = 1u << 16; ///< of an instruction or a site

/// Mixes a number into a hash (splitmix64's steps; Steele, Lea, Flood: OOPSLA 2014).
std::uint64_t combined_hash(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) + 0x9e3779b97f4a7c15;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return hash ^ hash >> 31;
}

} // namespace

ExecutedSites::ExecutedSites(const std::vector<Site>& sites, const sass::CodeTable& table, const Code& code)
    : sites_(sites), table_(table), code_(code), seen_(sites.size()), signatures_(sites.size()) {
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    const Site& site = sites[i];
    if (site.kind == AccessKind::mark)
      continue;
    const std::string file = file_name(site.file);
    at_[{use_of(site.kind), file, site.line}].push_back(i);
    if (site.kind == AccessKind::update) // two instructions
      at_[{Use::store, file, site.line}].push_back(i);
  }
}

ExecutedSites::Use ExecutedSites::use_of(AccessKind kind) {
  switch (kind) {
  case AccessKind::store: return Use::store;
  case AccessKind::atomic: return Use::atomic;
  case AccessKind::barrier: return Use::barrier;
  default: return Use::load;
  }
}

ExecutedSites::Memory ExecutedSites::memory_of(const trace::WarpAccess& access, bool is_texture) {
  if (access.kind == AccessKind::barrier)
    return Memory::none;
  if (is_texture)
    return Memory::texture;
  switch (access.space) {
  case Space::shared: return Memory::shared;
  case Space::local: return Memory::local;
  case Space::constant: return Memory::constant;
  default: return Memory::global;
  }
}

/// Returns a number that two accesses of one warp have in common if they are likely the same one. Addresses
/// in shared and local memory differ by where each compiler puts an array: there the distances of the lanes
/// count. Fetches at an edge begin with one texel: all of theirs count.
std::uint64_t ExecutedSites::signature(std::uint64_t block, std::uint32_t warp,
                                       const trace::WarpAccess& access, Memory memory) {
  const auto first = unsigned(std::countr_zero(access.active));
  if (memory == Memory::global || memory == Memory::constant)
    return combined_hash(combined_hash(block, warp), access.addresses[first]);
  const bool has_place = memory == Memory::texture;
  std::uint64_t hash = has_place ? combined_hash(block, warp) : memory == Memory::shared;
  const std::uint64_t from = has_place ? 0 : access.addresses[first];
  for (std::uint32_t left = access.active; left != 0; left &= left - 1)
    hash = combined_hash(hash, access.addresses[unsigned(std::countr_zero(left))] - from);
  return hash;
}

void ExecutedSites::add_of_source(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                                  const trace::WarpAccess& access, bool is_sampled) {
  const Memory memory = memory_of(access, is_texture(site));
  seen_[site] |= std::uint8_t(1u << unsigned(memory));
  has_seen_any_ = true;
  if (is_sampled && is_access(access.kind) && signatures_[site].size() < max_signatures)
    signatures_[site].insert(signature(block, warp, access, memory));
}

void ExecutedSites::note(std::uint32_t instruction, const trace::WarpAccess& access) {
  const auto [found, is_new] = instructions_.try_emplace(Key{instruction, use_of(access.kind)});
  if (is_new)
    found->second.memory = memory_of(access, reads_texture(instruction));
  found->second.bytes = std::max(found->second.bytes, access.bytes);
}

void ExecutedSites::add_of_code(std::uint64_t block, std::uint32_t warp, std::uint32_t instruction,
                                const trace::WarpAccess& access) {
  Instruction& of = instructions_[Key{instruction, use_of(access.kind)}];
  if (is_access(access.kind) && of.signatures.size() < max_signatures)
    of.signatures.insert(signature(block, warp, access, memory_of(access, reads_texture(instruction))));
}

bool ExecutedSites::reads_texture(std::uint32_t instruction) const {
  return sass::traits_of(code_.kernel.instructions[instruction].kind).space == sass::AddressSpace::texture;
}

bool ExecutedSites::accepts(std::uint32_t site, Memory memory) const {
  if (has_seen_any_)
    return (seen_[site] >> unsigned(memory) & 1) != 0;
  switch (sites_[site].space) { // as the source's types say
  case Space::shared: return memory == Memory::shared;
  case Space::local: return memory == Memory::local;
  case Space::constant: return memory == Memory::constant;
  default: return (memory == Memory::texture) == is_texture(site);
  }
}

/// Adds the sites at a place that access such memory.
void ExecutedSites::add_sites_at(const SiteInFile& place, Memory memory,
                                 std::vector<std::uint32_t>& found) const {
  if (const auto here = at_.find(place); here != at_.end())
    std::ranges::copy_if(here->second, std::back_inserter(found),
                         [&](std::uint32_t site) { return accepts(site, memory); });
}

/// Returns the sites at the instruction's place, from the innermost function outwards.
std::vector<std::uint32_t> ExecutedSites::candidates_at(std::uint32_t instruction, Use use,
                                                        Memory memory) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = code_.kernel.instructions[instruction].position; at != sass::none && found.empty();
       at = table_.positions[at].inlined_at) {
    const sass::Position& position = table_.positions[at];
    add_sites_at({use, file_name(table_.files[position.file]), position.line}, memory, found);
  }
  return found;
}

/// Returns the sites of the lines around the instruction's, and around the calls that were inlined, the
/// closest first: compilers name the line of a statement, not always that of the operand.
std::vector<std::uint32_t> ExecutedSites::candidates_near(std::uint32_t instruction, Use use,
                                                          Memory memory) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = code_.kernel.instructions[instruction].position; at != sass::none;
       at = table_.positions[at].inlined_at) {
    const sass::Position& position = table_.positions[at];
    const std::string file = file_name(table_.files[position.file]);
    for (int away = 1; away <= max_lines_away; ++away)
      for (const int line : {int(position.line) - away, int(position.line) + away})
        add_sites_at({use, file, std::uint32_t(std::max(line, 0))}, memory, found);
  }
  return found;
}

ExecutedSites::Likeness ExecutedSites::likeness_of(const Instruction& instruction, std::uint32_t site) const {
  const auto code_signatures = double(instruction.signatures.size()),
             site_signatures = double(signatures_[site].size());
  const auto equal = double(std::ranges::count_if(
      instruction.signatures, [&](std::uint64_t one) { return signatures_[site].contains(one); }));
  return equal == 0 ? Likeness{}
                    : Likeness{equal / code_signatures, equal / (code_signatures + site_signatures - equal)};
}

std::uint32_t ExecutedSites::add_site(const Key& key, const Instruction& of) {
  const std::uint32_t instruction = key.instruction;
  const sass::Instruction& code = code_.kernel.instructions[instruction];
  SourceLine line;
  for (std::uint32_t i = instruction + 1; i-- > 0 && line.line == 0;) // the closest one before it
    line = code_.lines[i];
  for (std::uint32_t i = instruction; i < code_.lines.size() && line.line == 0; ++i)
    line = code_.lines[i];
  Site site;
  site.file = line.line == 0 || code_.files.empty() ? std::string() : code_.files[line.file];
  site.line = line.line;
  site.column = 1;
  site.element_bytes = of.bytes;
  site.kind = key.use == Use::store     ? AccessKind::store
              : key.use == Use::atomic  ? AccessKind::atomic
              : key.use == Use::barrier ? AccessKind::barrier
                                        : AccessKind::load;
  site.space = of.memory == Memory::shared     ? Space::shared
               : of.memory == Memory::local    ? Space::local
               : of.memory == Memory::constant ? Space::constant
                                               : Space::global;
  if (of.memory == Memory::texture)
    site.cache_operator = CacheOperator::tex;
  else if (key.use == Use::load &&
           sass::decode_operands(code.word, code.address, table_.architecture).skips_l1)
    site.cache_operator = CacheOperator::cv;
  site.expression = of.memory == Memory::local && code.frame_offset != sass::Instruction::not_in_frame
                        ? std::string(spilled_registers)
                        : std::string(sass::name_of(code));
  site.id = stable_hash(fmt::format("{}:{}:{}:{}:{}:{}", site.expression, site.file, site.line,
                                    unsigned(site.kind), unsigned(site.space), site.element_bytes));
  for (std::uint32_t i = std::uint32_t(sites_.size()); i < all_.size(); ++i)
    if (all_[i].id == site.id)
      return i;
  all_.push_back(std::move(site));
  return std::uint32_t(all_.size() - 1);
}

bool ExecutedSites::counts_lanes(std::uint32_t instruction) const {
  const sass::Instruction& code = code_.kernel.instructions[instruction];
  return sass::decode_operands(code.word, code.address, table_.architecture).opcode ==
         sass::Opcode::atoms_popc_inc;
}

std::vector<Site> ExecutedSites::choose() {
  all_ = sites_;
  for (auto& [key, instruction] : instructions_) {
    std::optional<std::uint32_t> chosen;
    Likeness best;
    const auto take = [&](const std::vector<std::uint32_t>& candidates) {
      for (const std::uint32_t site : candidates)
        if (const Likeness likeness = likeness_of(instruction, site); !chosen || likeness > best) {
          chosen = site;
          best = likeness;
        }
    };
    take(candidates_at(key.instruction, key.use, instruction.memory));
    if (best.explained < 1)
      take(candidates_near(key.instruction, key.use, instruction.memory));
    instruction.site = chosen ? *chosen : add_site(key, instruction);
  }
  for (Site& site : all_) // the machine code has done what the compiler makes of these
    site.aggregation = LaneAggregation::none;
  for (const auto& [key, instruction] : instructions_) // but one instruction leaves it to the hardware
    if (key.use == Use::atomic && counts_lanes(key.instruction))
      all_[instruction.site].aggregation = LaneAggregation::counted;
  return all_;
}

std::uint32_t ExecutedSites::site_of(std::uint32_t instruction, const trace::WarpAccess& access) const {
  return instructions_.at(Key{instruction, use_of(access.kind)}).site;
}

} // namespace warplens::model
