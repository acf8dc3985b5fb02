#include "trace/inspect.h"

#include <bit>
#include <iterator>
#include <map>
#include <ostream>
#include <tuple>
#include <unordered_map>

namespace warplens::trace {
namespace {

std::string text_of(const Dim3& dim) {
  return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z);
}

/// Makes a name or expression from the traced program printable: it must not end a line or steer the
/// terminal.
std::string printable(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      result += c;
  return result;
}

const char* name_of(MemoryUse::Kind kind) {
  switch (kind) {
  case MemoryUse::Kind::read: return "read";
  case MemoryUse::Kind::written: return "written";
  case MemoryUse::Kind::unseen: return "unseen";
  }
  return "?";
}

std::string text_of(const MemoryUse& use) {
  std::string text = fmt::format("before {} {}", use.launch, name_of(use.kind));
  if (use.rows == 1)
    text += fmt::format(" {:x} {} bytes", use.address, use.row_bytes);
  else if (use.rows != 0)
    text +=
        fmt::format(" {:x} {} rows of {} bytes, {} apart", use.address, use.rows, use.row_bytes, use.pitch);
  return use.what.empty() ? text : text + " " + printable(use.what);
}

std::string place_of(const Site& site) {
  return fmt::format("{}:{}:{}", printable(site.file), site.line, site.column);
}

template <class... Args> void line(std::ostream& out, fmt::format_string<Args...> text, Args&&... args) {
  out << fmt::format(text, std::forward<Args>(args)...) << '\n';
}

} // namespace

void print_info(const Reader& reader, std::ostream& out) {
  const Program& program = reader.program();
  line(out, "program      {}", printable(program.name));
  line(out, "back end     {}", printable(program.backend));
  line(out, "device       {}", printable(program.device));
  line(out, "state        {}",
       reader.truncated() ? "cut short: it ends with its last complete chunk" : "complete");
  std::uint64_t allocated = 0, accesses = 0;
  for (const Allocation& allocation : reader.allocations())
    allocated += allocation.bytes;
  for (const Launch& launch : reader.launches())
    accesses += reader.access_count(launch.id);
  line(out, "sites        {}", reader.sites().size());
  line(out, "allocations  {} ({} bytes)", reader.allocations().size(), allocated);
  std::uint64_t unseen = 0;
  for (const MemoryUse& use : reader.memory_uses())
    unseen += use.kind == MemoryUse::Kind::unseen;
  line(out, "memory uses  {} by copies and fills, {} unseen", reader.memory_uses().size() - unseen, unseen);
  line(out, "accesses     {} by warps, barriers included, in {} bytes of file ({:.2f} each)", accesses,
       reader.file_bytes(),
       accesses ? static_cast<double>(reader.file_bytes()) / static_cast<double>(accesses) : 0.0);
  line(out, "launches     {} traced", reader.launches().size());
  for (const Launch& launch : reader.launches()) {
    const auto end = reader.end_of(launch.id);
    const std::uint64_t collected = end && end->blocks ? end->blocks : launch.blocks;
    line(out, "  {}  {}  grid {}  block {}  blocks {} to {}  {} accesses  {}", launch.id,
         printable(launch.kernel), text_of(launch.grid), text_of(launch.block), launch.first_block,
         launch.first_block + collected - (collected ? 1 : 0), reader.access_count(launch.id),
         !end            ? "no end"
         : end->complete ? "complete"
                         : "incomplete");
    for (const BlockWindow& window : end ? end->windows : std::vector<BlockWindow>())
      line(out, "     and blocks {} to {}, for {}", window.first, window.first + window.blocks - 1,
           window.stands_for);
  }
  for (const KernelLaunches& kernel : reader.kernel_launches())
    line(out, "launched     {} times {}  grid {}  block {}  about {} accesses each", kernel.launches,
         printable(kernel.kernel), text_of(kernel.grid), text_of(kernel.block), kernel.work.accesses);
}

Expected<void> dump(const Reader& reader, std::ostream& out) {
  const Program& program = reader.program();
  line(out, "program {} backend {} device {}", printable(program.name), printable(program.backend),
       printable(program.device));
  std::unordered_map<std::uint64_t, std::string> places;
  for (const Site& site : reader.sites()) {
    places.emplace(site.id, place_of(site));
    std::string depends_on;
    for (const std::uint64_t id : site.depends_on)
      depends_on += fmt::format(" {:016x}", id);
    line(out,
         "site {:016x} {} {} {} {} bytes operator {} sequence {} copies {} {}{}object {} depends on{} "
         "expression "
         "{}",
         site.id, place_of(site), name_of(site.kind), name_of(site.space), site.element_bytes,
         name_of(site.cache_operator), site.sequence, site.copies,
         site.kind != AccessKind::atomic
             ? ""
             : fmt::format("{}{}aggregation {} ", site.is_floating ? "floating-point " : "",
                           site.is_reduction ? "reduction " : "", name_of(site.aggregation)),
         site.waits ? "waits " : "", site.object.empty() ? "-" : printable(site.object),
         depends_on.empty() ? " none" : depends_on, printable(site.expression));
  }
  for (const Allocation& allocation : reader.allocations())
    line(out, "allocation {:x} {} bytes {}", allocation.address, allocation.bytes,
         printable(allocation.label));

  for (const MemoryUse& use : reader.memory_uses())
    line(out, "{}", text_of(use));

  fmt::memory_buffer text; // one line, reused: only one access at a time is in memory
  for (const Launch& launch : reader.launches()) {
    line(out, "launch {} {} symbol {} grid {} block {} shared {}+{} registers {} first block {} blocks {}",
         launch.id, printable(launch.kernel), printable(launch.symbol), text_of(launch.grid),
         text_of(launch.block), launch.static_shared_bytes, launch.dynamic_shared_bytes,
         launch.registers_per_thread, launch.first_block, launch.blocks);
    if (const auto& window = launch.window)
      line(out, "window {} {:x} {} bytes, of which a share of {} persists in {} bytes of the L2", launch.id,
           window->begin, window->end - window->begin, window->hit_ratio, window->set_aside_bytes);
    for (const MachineCode& code : launch.machine_code)
      line(out,
           "machine code {} on {} for {} registers {} stack {} spills {}+{} shared {} cubin {:016x} {} bytes",
           launch.id, code.capability, code.architecture, code.registers, code.stack_bytes,
           code.spill_store_bytes, code.spill_load_bytes, code.shared_bytes, code.cubin_id,
           code.cubin.size());
    auto print = [&](std::uint64_t block, std::uint32_t warp, const WarpAccess& access) {
      if (!out)
        return;
      text.clear();
      auto end = std::back_inserter(text);
      fmt::format_to(end, "access {} {} {} {} {} {} ", launch.id, block, warp, name_of(access.kind),
                     name_of(access.space), access.bytes);
      const auto place = places.find(access.site);
      if (place == places.end())
        fmt::format_to(end, "site {:016x}", access.site);
      else
        fmt::format_to(end, "{}", place->second);
      fmt::format_to(end, " {:08x}", access.active);
      for (unsigned lane = 0; lane < warp_lanes && access.kind != AccessKind::barrier; ++lane)
        if (access.active >> lane & 1)
          fmt::format_to(end, " {:x}", access.addresses[lane]);
      text.push_back('\n');
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
    };
    TRY(reader.for_each_access(launch.id, print));
    for (const Execution& execution : reader.records().executions)
      if (execution.launch == launch.id)
        line(out, "executed {} for {} blocks {} instructions {} words {} different {}{}", launch.id,
             execution.capability, execution.blocks, execution.warp_instructions, execution.words,
             execution.different_words, execution.is_complete() ? "" : ": " + printable(execution.failure));
    if (const auto end = reader.end_of(launch.id)) {
      line(out, "end {} {} executed {} probed {} accesses {} lines {} blocks {}", launch.id,
           end->complete ? "complete" : "incomplete", end->executed_accesses, end->probed_accesses,
           end->work.accesses, end->work.lines, end->blocks ? end->blocks : launch.blocks);
      for (const BlockWindow& window : end->windows)
        line(out, "window {} blocks {} from {} for {}", launch.id, window.blocks, window.first,
             window.stands_for);
    }
  }
  for (const KernelLaunches& kernel : reader.kernel_launches())
    line(out, "launched {} times {} symbol {} grid {} block {} dynamic shared {} accesses {} lines {}",
         kernel.launches, printable(kernel.kernel), printable(kernel.symbol), text_of(kernel.grid),
         text_of(kernel.block), kernel.dynamic_shared_bytes, kernel.work.accesses, kernel.work.lines);
  if (reader.truncated())
    line(out, "cut short here");
  out.flush();
  if (!out)
    return fail("cannot write the dump: the output does not take it");
  return {};
}

Expected<void> print_counts(const Reader& reader, std::ostream& out) {
  std::unordered_map<std::uint64_t, const Site*> sites;
  for (const Site& site : reader.sites())
    sites.emplace(site.id, &site);
  struct Count {
    std::uint64_t warps = 0, lanes = 0;
  };
  using SourceKey = std::tuple<std::string, std::uint32_t, std::uint32_t, AccessKind, Space>;
  for (const Launch& launch : reader.launches()) {
    std::map<std::tuple<std::uint64_t, AccessKind, Space>, Count> by_site;
    const auto read =
        reader.for_each_access(launch.id, [&](std::uint64_t, std::uint32_t, const WarpAccess& access) {
          Count& count = by_site[{access.site, access.kind, access.space}];
          ++count.warps;
          count.lanes += static_cast<std::uint64_t>(std::popcount(access.active));
        });
    if (!read)
      return read;
    std::map<SourceKey, Count> by_source;
    for (const auto& [key, counted] : by_site) {
      const auto& [id, kind, space] = key;
      const auto site = sites.find(id);
      Count& count =
          by_source[site == sites.end() ? SourceKey{fmt::format("site {:016x}", id), 0, 0, kind, space}
                                        : SourceKey{printable(site->second->file), site->second->line,
                                                    site->second->column, kind, space}];
      count.warps += counted.warps;
      count.lanes += counted.lanes;
    }
    for (const auto& [place, count] : by_source) {
      const auto& [file, row, column, kind, space] = place;
      line(out, "{}\t{}\t{}:{}:{}\t{}\t{}\t{}\t{}", launch.id, printable(launch.kernel), file, row, column,
           name_of(kind), name_of(space), count.warps, count.lanes);
    }
  }
  return {};
}

} // namespace warplens::trace
