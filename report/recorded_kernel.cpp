#include "report/recorded_kernel.h"

#include "judge/costly_lines.h"
#include "judge/kernel_findings.h"
#include "report/rule_id.h"
#include "result/headroom.h"
#include "result/names.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace warplens::report {
namespace {

constexpr std::size_t max_accesses = 4;    ///< of a kernel
constexpr double notable_share = 0.05;     ///< of an access in the kernel's time
constexpr std::size_t max_expression = 80; ///< bytes

std::vector<std::string> ids_of(const std::vector<judge::Finding>& findings) {
  std::vector<std::string> ids;
  for (const judge::Finding& finding : findings)
    if (std::string id(id_of(finding.rule)); std::ranges::find(ids, id) == ids.end())
      ids.push_back(std::move(id));
  std::ranges::sort(ids); // their order follows from figures that a change moves
  return ids;
}

std::uint64_t whole(double number) {
  return std::isfinite(number) && number > 0 && number < 0x1p63 ? std::uint64_t(std::llround(number)) : 0;
}

void put_exact(RecordedKernel& recorded, const KernelResult& kernel) {
  auto& exact = recorded.exact;
  if (kernel.compiled) {
    exact["registers"] = kernel.compiled->registers;
    if (kernel.compiled->architecture != 0) {
      exact["spill_bytes"] =
          std::uint64_t{kernel.compiled->spill_store_bytes} + kernel.compiled->spill_load_bytes;
      exact["stack_bytes"] = kernel.compiled->stack_bytes;
    }
  }
  exact["shared_bytes"] = kernel.occupancy.shared_bytes;
  exact["warps_per_sm"] = kernel.occupancy.warps_per_sm;
  const double scale = blocks_per_snapshot_block(kernel);
  if (kernel.executed)
    exact["instructions"] = whole(scale * double(kernel.executed->instructions));
  if (kernel.events)
    for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
      if (const double warps = kernel.events->instructions[kind].warps; warps != 0)
        exact[fmt::format("instructions.{}", name_of(InstructionKind(kind)))] = whole(scale * warps);
  double sectors = 0, conflicts = 0;
  for (const SiteResult& site : kernel.sites) {
    sectors += double(site.executions) * site.sectors_per_request.value_or(0);
    conflicts += double(site.executions) * site.bank_conflicts.value_or(0);
  }
  exact["sectors"] = whole(scale * sectors);
  exact["bank_conflicts"] = whole(scale * conflicts);
}

/// Returns the number with three digits: more would change where nothing does that a person sees.
double shown(double number) {
  return std::round(1000 * number) / 1000;
}

void put_accesses(RecordedKernel& recorded, const KernelResult& kernel) {
  const SiteMetric& cost = judge::cost_metric(kernel);
  std::vector<std::pair<double, const SiteResult*>> sites;
  for (const SiteResult& site : kernel.sites)
    if (const auto share = cost.value(site); share && share->mean >= notable_share)
      sites.emplace_back(share->mean, &site);
  std::ranges::stable_sort(sites, std::ranges::greater(), &std::pair<double, const SiteResult*>::first);
  sites.resize(std::min(sites.size(), max_accesses));
  for (const auto& [share, site] : sites)
    recorded.accesses.push_back({std::filesystem::path(site->site.file).filename().string(),
                                 site->site.expression.substr(0, max_expression), shown(share),
                                 shown(site->sectors_per_request.value_or(0)),
                                 shown(site->bank_conflicts.value_or(0)),
                                 ids_of(judge::findings_on(*site, kernel))});
}

RecordedKernel record_of(const KernelResult& kernel) {
  RecordedKernel recorded;
  if (kernel.time) {
    const Statistic& time = kernel.time->microseconds;
    for (const double number : {time.mean, time.ci95[0], time.ci95[1]})
      recorded.time_us.push_back(std::max(0.0, rounded_as_recorded(number)));
    for (const std::optional<double>& trial : kernel.trial_values.microseconds)
      if (trial)
        recorded.trials_us.push_back(rounded_as_recorded(*trial));
    if (recorded.trials_us.size() != kernel.trial_values.microseconds.size())
      recorded.trials_us.clear(); // no pairs
    recorded.bound = name_of_bound(kernel.time->bound);
  }
  put_exact(recorded, kernel);
  recorded.findings = ids_of(judge::findings_on(kernel));
  put_accesses(recorded, kernel);
  return recorded;
}

} // namespace

std::string recorded_program(const std::string& program, const std::string& arguments) {
  return arguments.empty() ? program : program + " " + arguments;
}

Expected<std::vector<RecordedKernel>> recorded_kernels(const Result& result, const Baseline& known) {
  const std::string program =
      recorded_program(result.program, result.manifest ? result.manifest->arguments : "");
  std::vector<RecordedKernel> all;
  for (const KernelResult& kernel : result.kernels) {
    if (!kernel.identity || kernel.identity->work.empty())
      return fail(
          "{} on {}: the result does not say what it was modelled from: its trials were cut short, or "
          "an older Warplens wrote it",
          kernel.name, kernel.gpu);
    const auto same = std::ranges::find_if(known.kernels, [&](const RecordedKernel& old) {
      return old.kernel == kernel.name && old.gpu == kernel.gpu && old.identity == *kernel.identity;
    });
    RecordedKernel recorded = same != known.kernels.end() ? *same : record_of(kernel);
    recorded.program = program;
    recorded.gpu = kernel.gpu;
    recorded.kernel = kernel.name;
    recorded.number = 1 + std::uint64_t(std::ranges::count_if(all, [&](const RecordedKernel& other) {
                        return other.kernel == kernel.name && other.gpu == kernel.gpu;
                      }));
    if (same == known.kernels.end()) {
      recorded.identity = *kernel.identity;
      recorded.seed = result.seed;
      recorded.version = result.manifest ? result.manifest->version : "unknown";
      recorded.grid = {kernel.grid.x, kernel.grid.y, kernel.grid.z};
      recorded.block = {kernel.block.x, kernel.block.y, kernel.block.z};
    }
    all.push_back(std::move(recorded));
  }
  return all;
}

Result known_kernels(const Baseline& baseline, const std::string& program) {
  Result result;
  for (const RecordedKernel& recorded : baseline.kernels) {
    if (recorded.program != program)
      continue;
    KernelResult& kernel = result.kernels.emplace_back();
    kernel.name = recorded.kernel;
    kernel.gpu = recorded.gpu;
    kernel.identity = recorded.identity;
    result.seed = recorded.seed;
  }
  return result;
}

} // namespace warplens::report
