#include "calibration/gpu_file.h"

#include <fmt/ranges.h>

namespace warplens::calibration {
namespace {

const char* yes_or_no(bool value) {
  return value ? "yes" : "no";
}

} // namespace

document::Document findings_document(const Curves& curves, const Findings& findings) {
  document::Table table{{{"property"}, {"finding"}}};
  table.has_headings = false;
  const auto add = [&](std::string property, std::string finding) {
    table.rows.push_back({{document::words(std::move(property)), document::words(std::move(finding))}});
  };
  const auto& levels = findings.levels;
  double before = levels.hit_cycles;
  for (std::size_t i = 0; i < levels.levels.size(); ++i) {
    const Level& level = levels.levels[i];
    const bool is_last = i + 1 == levels.levels.size();
    const char* const name = i == 0 ? "L1" : is_last ? "L2" : "L2, one partition";
    add(name, fmt::format("{:.1f} KiB fit, {} ways in effect, {:.0f} cycles", level.kib, level.ways, before));
    before = level.beyond_cycles;
  }
  add("memory", fmt::format("{:.0f} cycles", before));
  add("sizes within 5 %", fmt::format("{:.1f} % of the chase", 100 * levels.within_5_percent));
  if (findings.line_bytes)
    add("L1 line", fmt::format("{} bytes", *findings.line_bytes));
  if (findings.l1_sector_bytes)
    add("a miss in the L1 brings", fmt::format("{} bytes", *findings.l1_sector_bytes));
  if (findings.l2_fetch_bytes)
    add("a miss in the L2 brings", fmt::format("{} bytes", *findings.l2_fetch_bytes));
  if (findings.prefetches)
    add("fetched ahead of that", yes_or_no(*findings.prefetches));
  if (const auto& policies = findings.policies) {
    add("a store's line in the L1",
        fmt::format("{} if it is not resident, {} if it is",
                    policies->l1_allocates_stores ? "is allocated" : "is not allocated",
                    policies->l1_keeps_stored ? "stays" : "does not stay"));
    add("a store's sector in the L2", policies->l2_allocates_stores ? "is allocated" : "is not allocated");
    add("L2 includes the L1", yes_or_no(policies->inclusive));
    add("a load fills L1 and L2", yes_or_no(policies->fills_both));
  }
  if (const auto& distances = findings.distances) {
    if (distances->far_share == 0)
      add("near and far", "no: every SM is as near");
    else
      add("near and far",
          fmt::format("{:.0f} and {:.0f} cycles; {:.0f} % of first loads are far, {}", distances->near_cycles,
                      distances->far_cycles, 100 * distances->far_share,
                      distances->keeps_replicas ? "the second is near" : "and so is the second"));
  }
  if (const auto& rows = findings.rows) {
    add("rows", fmt::format("open {:.0f}, none open {:.0f}, another open {:.0f} cycles", rows->hit_cycles,
                            rows->miss_cycles, rows->conflict_cycles));
    add("address bits",
        fmt::format("columns {}; banks and channels {}; rows {}", fmt::join(rows->column_bits, " "),
                    fmt::join(rows->bank_bits, " "), fmt::join(rows->row_bits, " ")));
  } else if (!curves.bits.empty()) {
    add("rows", "open, closed and conflicting rows cannot be distinguished");
  }
  for (std::size_t i = 0; i < findings.batches.size();) { // one line for each number of SMs
    const unsigned sms = findings.batches[i].sms;
    std::vector<std::string> times;
    for (; i < findings.batches.size() && findings.batches[i].sms == sms; ++i)
      times.push_back(fmt::format("{} in {:.0f}", findings.batches[i].requests, findings.batches[i].cycles));
    add(fmt::format("lines from {} SM{}", sms, sms == 1 ? "" : "s"),
        fmt::format("{} cycles", fmt::join(times, ", ")));
  }
  if (curves.read_gb_per_s > 0)
    add("memory, read", fmt::format("{:.0f} GB/s", curves.read_gb_per_s));
  return {"Calibration", {{"", {std::move(table)}}}};
}

} // namespace warplens::calibration
