// To which sites of the source the accesses of executed instructions belong: those of the same kind at a
// place that the compiler's line table names for the instruction, and of several there the one that accesses
// the same addresses.
#pragma once

#include "model/code/code.h"
#include "sass/code_table.h"
#include "trace/records.h"
#include "vocabulary/site.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace warplens::model {

class ExecutedSites {
public:
  ExecutedSites(const std::vector<Site>& sites, const sass::CodeTable& table, const Code& code);

  /// Adds an access that the source made, by its index into the trace's sites. Those of sampled warps are
  /// compared with the code's.
  void add_of_source(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                     const trace::WarpAccess& access, bool is_sampled);
  /// Adds an access that an instruction of the code made, in a sampled warp.
  void add_of_code(std::uint64_t block, std::uint32_t warp, std::uint32_t instruction,
                   const trace::WarpAccess& access);
  /// Says that an instruction makes such accesses, in any warp.
  void note(std::uint32_t instruction, const trace::WarpAccess& access);

  /// Returns the sites, the trace's and behind them those of instructions that no access of the source
  /// explains: spilled registers, and what the compiler made. Sets for each instruction and kind of use its
  /// site.
  std::vector<Site> choose();

  /// Returns the index of an access's site, after choose().
  std::uint32_t site_of(std::uint32_t instruction, const trace::WarpAccess& access) const;

private:
  enum class Use : std::uint8_t { load, store, atomic, barrier };
  enum class Memory : std::uint8_t { global, shared, local, constant, texture, none };
  struct Key {
    std::uint32_t instruction = 0;
    Use use = Use::load;
    auto operator<=>(const Key&) const = default;
  };
  struct Instruction {
    Memory memory = Memory::global;
    std::uint16_t bytes = 0;
    std::unordered_set<std::uint64_t> signatures; ///< of accesses in sampled warps
    std::uint32_t site = 0;
  };
  using SiteInFile = std::tuple<Use, std::string, std::uint32_t>; ///< file without folders, line

  static Use use_of(AccessKind kind);
  static Memory memory_of(const trace::WarpAccess& access, bool is_texture);
  bool reads_texture(std::uint32_t instruction) const;
  bool is_texture(std::uint32_t site) const { return sites_[site].cache_operator == CacheOperator::tex; }
  static std::uint64_t signature(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access,
                                 Memory memory);
  bool accepts(std::uint32_t site, Memory memory) const;
  /// How well a site's accesses explain an instruction's: the share of the instruction's that the site has,
  /// and then the share that both have of all.
  struct Likeness {
    double explained = 0, common = 0;
    auto operator<=>(const Likeness&) const = default;
  };
  Likeness likeness_of(const Instruction& instruction, std::uint32_t site) const;
  void add_sites_at(const SiteInFile& place, Memory memory, std::vector<std::uint32_t>& found) const;
  std::vector<std::uint32_t> candidates_at(std::uint32_t instruction, Use use, Memory memory) const;
  std::vector<std::uint32_t> candidates_near(std::uint32_t instruction, Use use, Memory memory) const;
  /// Returns whether it is an ATOMS.POPC.INC, which adds up the lanes of a warp that want the same word.
  bool counts_lanes(std::uint32_t instruction) const;
  std::uint32_t add_site(const Key& key, const Instruction& of);

  const std::vector<Site>& sites_;
  const sass::CodeTable& table_;
  const Code& code_;
  std::map<SiteInFile, std::vector<std::uint32_t>> at_; ///< sites
  std::map<Key, Instruction> instructions_;
  std::vector<std::uint8_t> seen_; ///< by site, a bit for each Memory
  bool has_seen_any_ = false;      ///< an access of the source; none where only the machine code ran
  std::vector<std::unordered_set<std::uint64_t>> signatures_; ///< by site
  std::vector<Site> all_;
};

} // namespace warplens::model
