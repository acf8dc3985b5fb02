// `warplens dram-map`: how a memory's controller maps addresses, from latencies of pairs, measured or
// modelled.

#include "model/dram/dram_map.h"

#include "driver/commands/commands.h"
#include "driver/stages/print.h"
#include "model/gpu/gpu.h"
#include "placement/dram/find_dram_map.h"
#include "support/files.h"
#include "toolchain/resources.h"

#include <charconv>
#include <memory>
#include <sstream>

namespace warplens::driver {
namespace {

struct DramMapOptions {
  std::string gpu, latencies;
  bool plans = false, prints_kernel = false;
  placement::PairPlan plan;
};

/// Returns the latency of an access behind another one, by the rows and banks of the GPU's file.
double modelled_latency(const model::Gpu& gpu, const model::DramMap& map, std::uint64_t first,
                        std::uint64_t second) {
  const auto before = map(std::uint32_t(first / line_bytes)), now = map(std::uint32_t(second / line_bytes));
  if (before.bank != now.bank)
    return gpu.dram.latency_ns;
  return before.row == now.row ? gpu.dram.latency_ns - gpu.dram.activate_ns
                               : gpu.dram.latency_ns + gpu.dram.precharge_ns;
}

/// Reads rows of two addresses and a latency in ns: decimal, or addresses in hexadecimal with 0x.
Expected<std::vector<placement::MeasuredPair>> read_pairs(const std::string& file) {
  TRY_LET(text, read_file(file));
  std::vector<placement::MeasuredPair> pairs;
  std::istringstream stream(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line.front() == '#' || line.starts_with("first"))
      continue;
    placement::MeasuredPair pair;
    const char* at = line.data();
    const char* const end = line.data() + line.size();
    const auto address = [&](std::uint64_t& into) {
      const bool is_hexadecimal = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
      const auto [behind, error] =
          std::from_chars(at + (is_hexadecimal ? 2 : 0), end, into, is_hexadecimal ? 16 : 10);
      const bool is_good = error == std::errc() && behind != end && *behind == ',';
      at = is_good ? behind + 1 : behind;
      return is_good;
    };
    if (!address(pair.first) || !address(pair.second) ||
        std::from_chars(at, end, pair.ns).ec != std::errc() || !(pair.ns > 0))
      return fail("{}:{}: '{}' is not FIRST,SECOND,NANOSECONDS", file, number, line);
    pairs.push_back(pair);
  }
  return pairs;
}

std::string bits_text(const placement::FoundDramMap& map, placement::AddressBit kind) {
  std::string text;
  for (unsigned i = 0; i < map.bits.size(); ++i)
    if (map.bits[i] == kind)
      text += fmt::format("{}{}", text.empty() ? "" : " ", map.lowest_bit + i);
  return text;
}

std::string text_of(const placement::FoundDramMap& map) {
  if (!map.is_linear)
    return fmt::format(
        "not linear over GF(2): no functions of bits explain the conflicts ({:.1f} % of the pairs "
        "are mispredicted){}\n",
        100 * map.mispredicted, map.clusters ? fmt::format("; {} banks by clustering", *map.clusters) : "");
  std::string functions;
  for (const std::uint64_t function : map.bank_functions) {
    std::string bits;
    for (unsigned bit = 0; bit < 64; ++bit)
      if ((function >> bit & 1) != 0)
        bits += fmt::format("{}{}", bits.empty() ? "" : "^", bit);
    functions += ' ' + bits;
  }
  return fmt::format(
      "banks    {} (with channels), by the parity of bits{}\ncolumn   bits {}\nrow      bits {}\n"
      "{:.2f} % of the pairs are mispredicted\n",
      map.banks(), functions, bits_text(map, placement::AddressBit::column),
      bits_text(map, placement::AddressBit::row), 100 * map.mispredicted);
}

Expected<void> find(const DramMapOptions& options) {
  if (options.prints_kernel) {
    TRY_LET(source, read_file(toolchain::resources().measure_pairs));
    return print_text(*source, "");
  }
  if (options.plans) {
    std::string text = "first,second\n";
    for (const placement::MeasuredPair& pair : placement::pairs_to_measure(options.plan))
      text += fmt::format("{:#x},{:#x}\n", pair.first, pair.second);
    return print_text(text, "");
  }
  if (!options.latencies.empty()) {
    TRY_LET(pairs, read_pairs(options.latencies));
    TRY_LET(map, placement::find_dram_map(*pairs, options.plan));
    return print_text(text_of(*map), "");
  }
  TRY_LET(gpu, model::load_gpu(options.gpu, toolchain::resources().gpus));
  const model::DramMap map_of_gpu(*gpu);
  const auto latency = [&](std::uint64_t first, std::uint64_t second) {
    return modelled_latency(*gpu, map_of_gpu, first, second);
  };
  std::vector<placement::MeasuredPair> pairs = placement::pairs_to_measure(options.plan);
  for (placement::MeasuredPair& pair : pairs)
    pair.ns = latency(pair.first, pair.second);
  TRY_LET(map, placement::find_dram_map(pairs, options.plan));
  if (!map->is_linear) {
    TRY_LET(classes, placement::latency_classes(pairs));
    map->clusters = placement::count_banks(latency, options.plan, *classes);
  }
  return print_text(text_of(*map), "");
}

} // namespace

void declare_dram_map(const CommandLine& line) {
  Action& chosen = line.chosen;
  auto* command =
      line.app.add_subcommand("dram-map", "find a memory's banks and rows from latencies of pairs");
  auto options = std::make_shared<DramMapOptions>();
  auto* gpu = command->add_option("--gpu", options->gpu, "latencies as the model of this GPU has them")
                  ->type_name("GPU");
  auto* latencies =
      command
          ->add_option(
              "--latencies", options->latencies,
              "measured ones, a CSV file: FIRST,SECOND,NANOSECONDS, where SECOND was accessed right\n"
              "behind FIRST, past the caches and with its page in the TLB")
          ->type_name("FILE")
          ->excludes(gpu);
  auto* pairs = command->add_flag("--pairs", options->plans, "print the pairs to measure")
                    ->excludes(gpu)
                    ->excludes(latencies);
  auto* kernel =
      command
          ->add_flag("--kernel", options->prints_kernel, "print the CUDA program that measures them on a GPU")
          ->excludes(gpu)
          ->excludes(latencies)
          ->excludes(pairs);
  command->add_option("--lowest-bit", options->plan.lowest_bit, "lowest address bit in which pairs differ")
      ->check(CLI::Range(3, 20))
      ->capture_default_str();
  command->add_option("--highest-bit", options->plan.highest_bit, "highest address bit in which pairs differ")
      ->check(CLI::Range(21, 38))
      ->capture_default_str();
  command->add_option("--random-pairs", options->plan.random_pairs, "number of random pairs to measure")
      ->check(CLI::Range(2048, 1 << 22))
      ->capture_default_str()
      ->excludes(latencies);
  command->add_option("--seed", options->plan.seed, "seed of the random pairs")->capture_default_str();
  command->footer("  warplens dram-map --pairs > pairs.csv\n"
                  "  warplens dram-map --kernel > measure_pairs.cu\n"
                  "  nvcc -O2 measure_pairs.cu -o measure_pairs && ./measure_pairs pairs.csv > measured.csv\n"
                  "  warplens dram-map --latencies measured.csv");
  command->callback([options, gpu, latencies, pairs, kernel, &chosen] {
    if (gpu->count() + latencies->count() + pairs->count() + kernel->count() == 0)
      throw CLI::RequiredError("one of --gpu, --latencies, --pairs and --kernel");
    chosen = [options] { return find(*options); };
  });
}

} // namespace warplens::driver
