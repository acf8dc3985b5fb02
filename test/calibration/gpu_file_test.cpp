// Tests that a folder of curves becomes a GPU file that the model takes, with the figures that the curves
// were made of.
#include "calibration/gpu_file.h"
#include "calibration/plot.h"
#include "curves_of.h"
#include "document/print.h"
#include "support/temporary.h"
#include "test/thorough.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

using namespace warplens;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
  REQUIRE((std::ofstream(file) << text).flush());
}

void write_device(const fs::path& folder, const model::Gpu& on, unsigned compute_capability) {
  std::string device = "property,value\n";
  for (const auto& [property, value] : test::device_of(on, compute_capability))
    device += property + "," + value + "\n";
  write(folder / "device.csv", device);
}

void write_folder(const fs::path& folder, const model::Gpu& on, unsigned compute_capability) {
  write_device(folder, on, compute_capability);
  std::string chase = "kib,cycles\n";
  for (const auto& point : test::modelled_chase(on))
    chase += std::to_string(point.kib) + "," + std::to_string(point.cycles) + "\n";
  write(folder / "chase.csv", chase);
  const auto write_samples = [&](const char* name, const char* heading,
                                 const std::vector<test::Sample>& samples) {
    const bool has_y = std::count(heading, heading + std::strlen(heading), ',') == 2;
    std::string text = heading;
    for (const test::Sample& sample : samples)
      text += has_y ? fmt::format("\n{},{},{:.2f}", sample.x, sample.y, sample.cycles)
                    : fmt::format("\n{},{:.2f}", sample.x, sample.cycles);
    write(folder / name, text + "\n");
  };
  write_samples("strides.csv", "stride_bytes,pointers,cycles", test::modelled_strides(on));
  write_samples("touch_l1.csv", "offset_bytes,cycles", test::modelled_touches(on, true));
  write_samples("touch_l2.csv", "offset_bytes,cycles", test::modelled_touches(on, false));
  write_samples("distance.csv", "sm,load,cycles",
                test::modelled_distances(on, on.l2.latency_ns + on.l2.hop_ns, true));
  write_samples("bits.csv", "bit,cycles", test::modelled_bits(test::without_hashes(on)));
  std::vector<test::Sample> batches;
  for (const double requests : {1., 2., 4.})
    batches.insert(batches.end(), {{1, requests, 700}, {132, requests, 900}});
  write_samples("batches.csv", "sms,requests,cycles", batches);
  std::string policies = "history,cycles\n";
  for (const auto& [history, cycles] : test::modelled_policies(on))
    policies += fmt::format("{},{:.0f}\n", history, cycles);
  write(folder / "policies.csv", policies);
  write(folder / "on_chip.csv", "what,cycles\nshared,29\nshared_32_ways,91\nconstant,27\n");
  write(folder / "bandwidth.csv", "what,gb_per_s\nread,2000\n");
}

Expected<std::string> print_gpu_file(const calibration::Curves& curves,
                                     const calibration::Findings& findings) {
  TRY_LET(capability, calibration::compute_capability(curves));
  TRY_LET(relative, model::nearest_gpu(*capability, WARPLENS_GPU_FOLDER));
  return calibration::print_gpu_file(curves, findings, "2026-01-01", *relative);
}

std::string error_of(const fs::path& folder) {
  const auto curves = calibration::read_curves(folder);
  if (!curves)
    return curves.error().message;
  const auto findings = calibration::analyse(*curves);
  if (!findings)
    return findings.error().message;
  const auto text = print_gpu_file(*curves, *findings);
  return text ? "none" : text.error().message;
}

} // namespace

TEST_CASE("The file holds the figures that the curves were made of") {
  using NameAndCapability = std::pair<const char*, unsigned>;
  const std::vector<NameAndCapability> with_partitions = {{"a100", 80}};
  const std::vector<NameAndCapability> all = {{"a100", 80}, {"h100-sxm", 90}, {"v100", 70}};
  for (const auto& [name, compute_capability] : test::is_thorough() ? all : with_partitions) {
    INFO(name);
    const auto folder = std::move(*TemporaryDirectory::create());
    model::Gpu on = test::gpu(name);
    on.l1.early_usable = on.l2.early_usable = 0; // calibrate knows sets that are all alike
    on.l2.usable = std::min(1.0, on.l2.usable);
    write_folder(folder.path(), on, compute_capability);
    const auto curves = calibration::read_curves(folder.path());
    REQUIRE(curves);
    const auto findings = calibration::analyse(*curves);
    REQUIRE(findings);
    const auto text = print_gpu_file(*curves, *findings);
    REQUIRE(text);
    const fs::path file = folder.path() / "made.toml";
    write(file, *text);
    const auto made = model::load_gpu(file.string(), WARPLENS_GPU_FOLDER);
    INFO(*text);
    if (!made)
      FAIL(made.error().message);
    CHECK(made->name == on.name);
    CHECK_FALSE(made->accuracy);
    CHECK(made->sms == on.sms);
    CHECK(made->clock_mhz == Approx(on.clock_mhz));
    CHECK(made->shared.carveout_bytes == on.shared.carveout_bytes);
    CHECK(made->shared.max_bytes_per_block == on.shared.max_bytes_per_block);
    CHECK(made->shared.pass_ns == Approx(2 * 1000 / on.clock_mhz).epsilon(0.01));
    CHECK(made->constant.bytes == on.constant.bytes);
    CHECK(made->constant.latency_ns == Approx(27 * 1000 / on.clock_mhz).epsilon(0.01));
    CHECK(made->constant.group.bytes == on.constant.group.bytes);
    CHECK(made->l1.with_shared_bytes == on.l1.with_shared_bytes);
    CHECK(made->l1.usable == Approx(on.l1.usable).epsilon(0.02));
    CHECK(findings->line_bytes.value_or(0) == 128);
    CHECK(made->l1.sectored == on.l1.sectored);
    CHECK(made->l1.stores == on.l1.stores);
    CHECK(made->l2.fetch_bytes == on.l2.fetch_bytes);
    CHECK_FALSE(findings->prefetches.value_or(true));
    REQUIRE(findings->policies);
    CHECK_FALSE(findings->policies->inclusive);
    REQUIRE(findings->distances);
    CHECK((findings->distances->far_share > 0) == (on.l2.partitions > 1));
    CHECK(made->l1.latency_ns == Approx(on.l1.latency_ns).epsilon(0.01));
    CHECK(made->l2_bytes == on.l2_bytes);
    CHECK(made->l2.partitions == on.l2.partitions);
    CHECK(made->l2.usable == Approx(on.l2.usable).epsilon(0.02));
    CHECK(made->l2.latency_ns == Approx(on.l2.latency_ns).epsilon(0.01));
    // What no measurement here finds is the nearest relative's, alternatives included: here the same GPU's,
    // or that of another board with it.
    CHECK(made->issue.schedulers == 4);
    std::vector<std::string> drawn = on.drawn;
    std::erase_if(drawn,
                  [](const std::string& path) { return path.starts_with("l2."); }); // the L2 is measured
    CHECK(made->drawn == drawn);
    CHECK(made->lsu.cycles == 1);
    REQUIRE(made->pipes);
    CHECK(made->pipes->fp32 == on.pipes->fp32);
    CHECK(made->pipes->tensor_cycles == on.pipes->tensor_cycles);
    CHECK(text->find("launch_ns = { value = 2000, source = \"relative\" }") != std::string::npos);
    CHECK(made->lanes.tags_per_pass == on.lanes.tags_per_pass);
    CHECK(made->l2.bytes_per_ns == Approx(36 * on.sms * on.clock_mhz / 1000).epsilon(0.01));
    CHECK(made->l2.hop_ns == Approx(on.l2.hop_ns).epsilon(0.02));
    CHECK(made->dram.channels == on.dram.channels);
    CHECK(made->dram.latency_ns == Approx(on.dram.latency_ns).epsilon(0.02));
    CHECK(made->dram.activate_ns == Approx(on.dram.activate_ns).epsilon(0.01));
    CHECK(made->dram.precharge_ns == Approx(on.dram.precharge_ns).epsilon(0.01));
    if (std::has_single_bit(on.dram.channels)) // else no bit of an address is a channel's alone
      CHECK(made->dram.row_bytes == on.dram.row_bytes);
    CHECK(made->dram.burst_ns == Approx(32.0 * on.dram.channels / 2000).epsilon(0.01));
    // The chase through the model of the new file follows the curve that it was made of.
    for (const std::uint32_t kib : {16u, 600u, 100000u}) {
      INFO(kib << " KiB");
      CHECK(model::chase_latency_ns(*made, kib * 8, Random(1, 0, 0)) ==
            Approx(model::chase_latency_ns(on, kib * 8, Random(1, 0, 0))).epsilon(0.02));
    }
    const std::string printed = document::print_csv(calibration::findings_document(*curves, *findings));
    CHECK(printed.find("\r\nlines from 132 SMs,\"1 in 900, 2 in 900, 4 in 900 cycles\"\r\n") !=
          std::string::npos);
  }
}

TEST_CASE("The error names the fault of a folder") {
  const auto folder = std::move(*TemporaryDirectory::create());
  CHECK(error_of(folder.path()).find("no device.csv") != std::string::npos);
  const model::Gpu on = test::gpu("v100");
  write_folder(folder.path(), on, 99);
  CHECK(error_of(folder.path()).find("compute capability 9.9") != std::string::npos);
  write_device(folder.path(), on, 70);
  CHECK(error_of(folder.path()) == "none");
  write(folder.path() / "bits.csv", "bit,cycles\n7,500\n8,many\n");
  CHECK(error_of(folder.path()).find("bits.csv:3: expected a row of bit,cycles") != std::string::npos);
  write(folder.path() / "bits.csv", "cycles\n");
  CHECK(error_of(folder.path()).find("bits.csv:1: expected bit,cycles") != std::string::npos);
  fs::remove(folder.path() / "bits.csv");
  write(folder.path() / "chase.csv", "kib,cycles\n");
  CHECK(error_of(folder.path()).find("no chase.csv") != std::string::npos);
  write(folder.path() / "device.csv", "property,value\nname,Some, \"GPU\"\ncompute_capability,80\n");
  std::string chase = "kib,cycles\n";
  for (const auto& point : test::published_chase("v100"))
    chase += std::to_string(point.kib) + "," + std::to_string(point.cycles) + "\n";
  write(folder.path() / "chase.csv", chase);
  CHECK(error_of(folder.path()).find("device.csv has no number for") != std::string::npos);
}

TEST_CASE("The plotting script draws the existing curves and executes nothing in the name") {
  const std::string script = calibration::print_plot_script("GPU'; system('true');\n");
  CHECK(script.find("GPU; system(true);)'") != std::string::npos);
  CHECK(script.find("'chase.svg'") != std::string::npos);
}
