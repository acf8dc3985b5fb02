// Prints the findings on costly lines as SARIF 2.1.0 (OASIS), for code-review tools.
#include "judge/accuracy_text.h"
#include "judge/kernel_findings.h"
#include "judge/verdict.h"
#include "report/report.h"
#include "report/rule_id.h"
#include "report/source_file.h"
#include "result/figure_text.h"
#include "result/names.h"
#include "support/display_name.h"
#include "support/hash.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace warplens::report {
namespace {

using Json = nlohmann::ordered_json;

struct RuleText {
  judge::Rule rule;
  const char *id, *name, *level, *summary, *help;
};

// Findings that a person could fix are warnings; findings that may be inherent in the problem are notes.
constexpr RuleText rules[] = {
    {judge::Rule::contention, "contention", "Contention", "warning",
     "Atomics that are performed one after the other, at a word or bank of shared memory or in the L2, hold "
     "the kernel up.",
     "Combine values before: reduce within the warp or in shared memory and let one lane perform the atomic, "
     "or spread the counters over several addresses and add them up at the end."},
    {judge::Rule::bank_conflicts, "bank-conflicts", "BankConflicts", "warning",
     "Lanes of a warp access different words of one shared-memory bank, which serves them one after the "
     "other.",
     "Lay the array out so that the lanes of a warp fall into different banks: pad each row by one element, "
     "or swizzle "
     "the index."},
    {judge::Rule::divergent_constants, "divergent-constants", "DivergentConstants", "warning",
     "Lanes of a warp read different addresses in constant memory, which are served one after the other.",
     "Read constants at an index that is the same for all lanes of a warp; keep tables that lanes index "
     "differently in shared or global memory."},
    {judge::Rule::array_of_structs, "array-of-structs", "ArrayOfStructs", "warning",
     "Neighbouring lanes access neighbouring structs, a field at a time.",
     "Keep an array for each field (a structure of arrays), or load whole structs at once and exchange "
     "fields "
     "between lanes."},
    {judge::Rule::strided, "strided", "Strided", "warning",
     "The addresses of neighbouring lanes lie further apart than their elements are wide.",
     "Let neighbouring lanes access neighbouring elements: exchange the roles of the indices, or read and "
     "write "
     "consecutive elements and exchange them through a tile in shared memory."},
    {judge::Rule::misaligned, "misaligned", "Misaligned", "note",
     "Consecutive elements begin within a sector, so that each request touches one more than it needs.",
     "Let rows begin at multiples of 32 bytes (pad them, cudaMallocPitch), or give each warp elements that "
     "begin there."},
    {judge::Rule::uncoalesced, "uncoalesced", "Uncoalesced", "warning",
     "A request touches more 32-byte sectors than its bytes need.",
     "Let neighbouring lanes access neighbouring addresses: transpose the layout or the assignment of work "
     "to threads, "
     "load several elements at once, or go through shared memory."},
    {judge::Rule::scattered, "scattered", "Scattered", "note",
     "The lanes of a warp access sectors all over an array, at addresses that are data.",
     "Order the data so that neighbouring lanes access neighbouring elements: sort the indices, or renumber "
     "rows and columns. A small table can be kept in shared memory."},
    {judge::Rule::too_many_accesses, "too-many-accesses", "TooManyAccesses", "note",
     "Accesses that are fine one by one are more than the GPU can serve.",
     "Access memory less often: keep values in registers, let each thread compute several results, or load "
     "several elements at once."},
    {judge::Rule::narrow, "narrow", "Narrow", "note", "Each lane accesses a byte or two.",
     "Access several neighbouring elements at once (uchar4, a word), which takes as many fewer "
     "instructions."},
    {judge::Rule::uniform, "uniform", "Uniform", "note",
     "All lanes of a warp read one address of a small array that nothing writes.",
     "Keep the array in __constant__ memory, or pass it as a kernel parameter: one read serves all lanes."},
    {judge::Rule::chained, "chained-loads", "ChainedLoads", "note",
     "Each load gets its address from the one before, so a thread waits for one after the other.",
     "Have more chains under way: more warps, or several chains for each thread. Indices in place of links "
     "can be loaded ahead."},
    {judge::Rule::poor_locality, "poor-locality", "PoorLocality", "note",
     "Most sectors miss the first cache, and each several times.",
     "Let accesses to the same data follow each other more closely: tile the loops, reorder the data or the "
     "blocks, or "
     "keep a tile in shared memory."},
    {judge::Rule::tile, "tile", "Tile", "note",
     "Blocks fetch the same data for their tiles in shared memory, and the way from the L2 bounds the "
     "kernel.",
     "Larger tiles are fetched less often: more elements for each thread, or clusters that share them."},
    {judge::Rule::from_l2, "from-l2", "FromL2", "note", "Most sectors come from the L2, and each once.",
     "The L2 serves this at its own rate. Have more requests under way, or move fewer bytes."},
    {judge::Rule::streaming, "streaming", "Streaming", "note", "Most sectors come from DRAM, and each once.",
     "No cache can help data that is needed once. Have more requests under way (more warps, unrolling, wider "
     "loads), "
     "move fewer bytes (smaller types), or merge this kernel with the one that made the data."},
    {judge::Rule::beyond_l1, "beyond-l1", "BeyondL1", "note",
     "Most sectors miss the first cache; how often each does is not known.",
     "If the same data are needed again, let the accesses follow each other more closely; if not, move fewer "
     "bytes."},
    {judge::Rule::few_lanes, "few-active-lanes", "FewActiveLanes", "note",
     "Most lanes of the warp are idle at this access.",
     "Let the lanes of a warp take the same way through the kernel: sort the work, or give it to fewer "
     "warps."},
    {judge::Rule::uneven_arrival, "uneven-arrival", "UnevenArrival", "note",
     "Warps wait at a barrier for others of their block, which arrive much later.",
     "Give each warp of a block as much to do between two barriers, have more blocks on each SM, so that "
     "others "
     "run meanwhile, or let fewer warps meet: __syncwarp() where the lanes of one warp exchange data."},
    {judge::Rule::spills, "spills", "Spills", "warning",
     "The compiler keeps values in local memory for which a thread has no registers.",
     "Allow more registers (__launch_bounds__ with fewer blocks, a higher -maxrregcount), unroll less, or "
     "keep "
     "fewer values alive at once."},
    {judge::Rule::waiting_threads, "waiting-threads", "WaitingThreads", "warning",
     "Threads may wait in a loop until others change a flag, for how long the model does not know.",
     "Do not decide by this kernel's time. Where blocks wait for those before them in turn, let each look "
     "back at several at once, or do the work in two kernels."},
    {judge::Rule::launch_overhead, "launch-overhead", "LaunchOverhead", "warning",
     "What any launch takes is a large part of the kernel's time.",
     "Give each launch more work, merge kernels, or launch them as a CUDA graph."},
    {judge::Rule::idle_sms, "idle-sms", "IdleSms", "warning",
     "The grid has fewer blocks than the GPU has SMs.",
     "Divide the work into more and smaller blocks; where that leaves too little for each thread, divide its "
     "loop as well and add up the parts."},
    {judge::Rule::tail, "tail", "Tail", "note",
     "The last wave of blocks is small, and takes as long as a whole one.",
     "Choose the grid as a multiple of the blocks that run at once (occupancy × SMs), make blocks smaller, "
     "or "
     "let a grid of that size loop over the work."},
    {judge::Rule::few_warps, "few-warps", "FewWarps", "warning",
     "Nothing is busy, and there are too few warps to hide latency.",
     "Allow more warps on an SM: fewer registers or less shared memory for each block, other block sizes, or "
     "more threads in all."},
    {judge::Rule::exposed_latency, "exposed-latency", "ExposedLatency", "note",
     "Nothing is busy: warps wait for latencies.",
     "Give each warp more independent work between a request and its use: unroll, load several elements."},
    {judge::Rule::block_turnover, "short-blocks", "ShortBlocks", "warning",
     "Blocks are so short that beginning the next ones takes a large part of the time.",
     "Give each block more work: several elements for each thread, or a grid that loops."},
    {judge::Rule::partial_warps, "partial-warps", "PartialWarps", "warning",
     "The number of threads in a block is no multiple of 32, so that lanes of its last warp are idle.",
     "Use blocks of a multiple of 32 threads."},
    {judge::Rule::divergence, "divergence", "Divergence", "warning",
     "Instructions are executed for a part of the lanes.",
     "Let the lanes of a warp take the same way through the kernel: sort the work, or give each warp work of "
     "one kind."},
    {judge::Rule::saturated_pipe, "saturated-pipe", "SaturatedPipe", "note",
     "Arithmetic, or the issue of instructions, bounds the kernel.",
     "Fewer or cheaper instructions: strength reduction, lower precision, intrinsics, tensor cores."},
};

const RuleText& text_of(judge::Rule rule) {
  for (const RuleText& text : rules)
    if (text.rule == rule)
      return text;
  return rules[0];
}

Json rule_descriptions() {
  Json list = Json::array();
  for (const RuleText& rule : rules)
    list.push_back({{"id", rule.id},
                    {"name", rule.name},
                    {"shortDescription", {{"text", rule.summary}}},
                    {"fullDescription", {{"text", rule.summary}}},
                    {"help", {{"text", rule.help}}},
                    {"defaultConfiguration", {{"level", rule.level}}},
                    {"properties", {{"tags", {"performance", "cuda", "memory"}}}}});
  return list;
}

static_assert(std::size(rules) == judge::rule_count);

/// Returns the URI of a path: every byte that is not unreserved is escaped (RFC 3986), but for the slashes
/// between names.
std::string uri_of(const std::filesystem::path& place) {
  std::string uri = place.is_absolute() ? "file://" : "";
  for (const unsigned char byte : place.generic_string()) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    if (letter || (byte >= '0' && byte <= '9') ||
        (byte != 0 && std::string_view("-._~/").find(static_cast<char>(byte)) != std::string_view::npos))
      uri += static_cast<char>(byte);
    else
      uri += fmt::format("%{:02X}", byte);
  }
  return uri;
}

/// Escapes braces, which stand for arguments in a message.
std::string message_text(std::string_view text) {
  std::string result;
  for (const char character : text)
    result.append(character == '{' || character == '}' ? 2 : 1, character);
  return result;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

/// GitHub's code scanning shows 5000 results of a run, and takes no more than 25,000.
constexpr std::ptrdiff_t max_results = 5000;

class Log {
public:
  explicit Log(const SarifOptions& options) : options_(options) {}

  void add(const KernelResult& kernel) {
    const std::vector<judge::CostlyLine> lines = judge::lines_of(kernel);
    if (const auto costliest = judge::most_expensive(lines, 1); !costliest.empty())
      for (const judge::Finding& finding : judge::findings_on(kernel))
        results_.push_back(
            result_of_kernel(finding, *judge::sites_to_explain(*costliest.front(), kernel).front(), kernel));
    const Column& cost = cost_column(kernel);
    for (const judge::CostlyLine& line : lines)
      for (const SiteResult* site : line.sites)
        if (cost.metric.value(*site).value_or(MetricValue{}).mean >= options_.threshold)
          for (const judge::Finding& finding : judge::findings_on(*site, kernel))
            results_.push_back(result(finding, *site, kernel));
  }

  /// Returns the results; of too many, those with the highest ranks, in their order.
  Json take() {
    if (results_.size() <= max_results)
      return std::move(results_);
    std::vector<double> ranks;
    for (const Json& result : results_)
      ranks.push_back(result.value("rank", 0.0));
    std::ranges::nth_element(ranks, ranks.begin() + max_results - 1, std::ranges::greater());
    const double least = ranks[max_results - 1];
    Json kept = Json::array();
    for (Json& result : results_)
      if (kept.size() < max_results && result.value("rank", 0.0) >= least)
        kept.push_back(std::move(result));
    return kept;
  }

private:
  Json result(const judge::Finding& finding, const SiteResult& site, const KernelResult& kernel) {
    const RuleText& rule = text_of(finding.rule);
    std::string message = fmt::format("{}: {}", site.site.expression, finding.text);
    const Column& cost = cost_column(kernel);
    const std::optional<MetricValue> cost_share = cost.metric.value(site);
    const std::string place = fmt::format("{} on {}", display_name(kernel.name), kernel.gpu);
    message += cost_share ? fmt::format(" ({} of {})",
                                        fmt::format(fmt::runtime(cost.phrase), cost.text(site)), place)
                          : fmt::format(" ({})", place);
    Json json = {{"ruleId", rule.id},
                 {"ruleIndex", &rule - rules},
                 {"kind", "fail"},
                 {"level", rule.level},
                 {"message", {{"text", message_text(message)}}},
                 {"locations", Json::array({location(site, kernel)})},
                 {"partialFingerprints", fingerprints(rule, site, kernel)},
                 {"properties", figures(site, kernel)}};
    if (cost_share)
      json["rank"] = 100 * std::clamp(cost_share->mean, 0.0, 1.0);
    return json;
  }

  /// Makes a result of a finding on the whole kernel, at the line that costs most.
  Json result_of_kernel(const judge::Finding& finding, const SiteResult& site, const KernelResult& kernel) {
    const RuleText& rule = text_of(finding.rule);
    return {{"ruleId", rule.id},
            {"ruleIndex", &rule - rules},
            {"kind", "fail"},
            {"level", rule.level},
            {"message",
             {{"text", message_text(fmt::format("{} on {}: {}", display_name(kernel.name), kernel.gpu,
                                                finding.text))}}},
            {"locations", Json::array({location(site, kernel)})},
            {"partialFingerprints", fingerprints(rule, site, kernel)},
            {"properties",
             {{"kernel", kernel.name},
              {"gpu", kernel.gpu},
              {"accuracy", judge::accuracy_text(kernel.accuracy, kernel.gpu)}}},
            {"rank", 100}};
  }

  Json location(const SiteResult& site, const KernelResult& kernel) {
    const std::filesystem::path place = place_of(site.site.file);
    Json artifact = {{"uri", uri_of(place)}};
    if (place.is_relative())
      artifact["uriBaseId"] = "%SRCROOT%";
    Json physical = {{"artifactLocation", artifact}};
    if (site.site.line != 0)
      physical["region"] = region(site.site);
    return {{"physicalLocation", physical},
            {"logicalLocations", Json::array({{{"name", display_name(kernel.name)},
                                               {"fullyQualifiedName", kernel.name},
                                               {"kind", "function"}}})}};
  }

  /// Returns the site's region in characters, as SARIF counts; sites count bytes.
  Json region(const Site& site) {
    Json region = {{"startLine", site.line}};
    const std::vector<std::string>& lines = source(site.file);
    if (site.column == 0 || site.line > lines.size() || site.column > lines[site.line - 1].size())
      return region;
    const std::string_view line = lines[site.line - 1];
    const std::size_t start = code_points(line.substr(0, site.column - 1)) + 1;
    region["startColumn"] = start;
    if (!site.expression.empty() && line.substr(site.column - 1).starts_with(site.expression))
      region["endColumn"] = start + code_points(site.expression);
    return region;
  }

  const std::vector<std::string>& source(const std::string& file) {
    const auto [entry, added] = sources_.try_emplace(file);
    if (added)
      if (const auto text = read_source(file, options_.source_root))
        entry->second = lines_in(*text);
    return entry->second;
  }

  /// Returns a fingerprint that stays the same when lines above the finding are added or removed.
  std::string fingerprint(const RuleText& rule, const SiteResult& site, const KernelResult& kernel) {
    const std::string what =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", rule.id, place_of(site.site.file).string(),
                    site.site.expression, name_of(site.site.kind), kernel.name, kernel.gpu);
    return fmt::format("{:016x}", stable_hash(fmt::format("{}\n{}", what, occurrences_[what]++)));
  }

  /// GitHub knows findings again by the second name alone; without it, by a hash of the lines around them.
  Json fingerprints(const RuleText& rule, const SiteResult& site, const KernelResult& kernel) {
    const std::string ours = fingerprint(rule, site, kernel);
    return {{"warplensFinding/v1", ours}, {"primaryLocationLineHash", ours + ":1"}};
  }

  static Json figures(const SiteResult& site, const KernelResult& kernel) {
    Json json = {
        {"kernel", kernel.name}, {"gpu", kernel.gpu}, {"site", fmt::format("{:016x}", site.site.id)}};
    json["accuracy"] = judge::accuracy_text(kernel.accuracy, kernel.gpu);
    if (!kernel.time_unknown.empty())
      json["time_unknown"] = kernel.time_unknown;
    for (const SiteMetric& metric : site_metrics())
      if (const std::optional<MetricValue> value = metric.value(site)) {
        // A hostile result's counts may be more than a double holds as a whole number.
        const bool is_whole = metric.unit == Unit::count || metric.unit == Unit::bytes;
        if (is_whole && value->mean < 0x1p63)
          json[metric.name] = static_cast<std::uint64_t>(value->mean);
        else
          json[metric.name] = value->mean;
      }
    return json;
  }

  const SarifOptions& options_;
  std::map<std::string, std::vector<std::string>> sources_;
  std::map<std::string, std::uint64_t> occurrences_;
  Json results_ = Json::array();
};

} // namespace

std::string_view id_of(judge::Rule rule) {
  return text_of(rule).id;
}

bool is_warning(judge::Rule rule) {
  return std::string_view(text_of(rule).level) == "warning";
}

std::string print_sarif(const Result& result, const SarifOptions& options) {
  Log log(options);
  for (const KernelResult& kernel : result.kernels)
    log.add(kernel);
  Json driver = {{"name", "Warplens"}, {"version", options.version}, {"rules", rule_descriptions()}};
  Json run = {{"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}, {"results", log.take()}};
  const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", Json::array({run})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::report
