#include "power/kernel_power.h"
#include "power/training.h"
#include "test/catch.h"

using namespace warplens;
using namespace warplens::power;

namespace {

KernelResult made_kernel(const std::string& name, double lanes, double microseconds) {
  KernelResult kernel;
  kernel.name = name;
  kernel.grid = {80, 1, 1};
  kernel.occupancy.sms = 80;
  kernel.snapshot.blocks = 80;
  kernel.time.emplace().microseconds.mean = microseconds;
  kernel.events.emplace().instructions[std::size_t(InstructionKind::fp32)] = {lanes / 32, lanes};
  return kernel;
}

const std::vector<KernelResult> kernels{made_kernel("slow(float*)", 1e6, 1),
                                        made_kernel("fast(float*)", 5e6, 1),
                                        made_kernel("other(float*)", 3e6, 1)};

Expected<std::vector<MeasuredKernel>> measured(const std::string& text) {
  return read_measured(*CsvTable::parse(text, "a.csv"), kernels);
}

std::size_t term(const std::string& name) {
  return std::size_t(std::ranges::find(term_names(), name) - term_names().begin());
}

} // namespace

TEST_CASE("Energies from two kernels give the power of a third") {
  // 60 W, and 20 pJ for each of 10^12 and 5 × 10^12 lanes per second.
  const auto rows = measured("kernel,watts,use\nslow,80,fit\nfast,160,fit\nother,132,held back\n");
  REQUIRE(rows);
  std::string known = "term,value,deviation\n";
  for (const std::string& name : term_names())
    if (name != "constant_w" && name != "fp32_pj")
      known += name + ",0,1e-9\n";
  const auto priors = read_priors(*CsvTable::parse(known, "b.csv"));
  REQUIRE(priors);
  const auto trained = train(*rows, *priors);
  REQUIRE(trained);
  CHECK(trained->fit.determined == term_names().size());
  CHECK(trained->priors == term_names().size() - 2);
  CHECK(trained->fit.coefficients[term("constant_w")].value == Approx(60));
  CHECK(trained->fit.coefficients[term("fp32_pj")].value == Approx(20e-12));
  CHECK(trained->mean_error == Approx(0).margin(1e-6));
  CHECK(trained->errors[2] == Approx(120.0 / 132 - 1));
  CHECK(trained->mean_error_held_back == Approx(12.0 / 132));
  CHECK(power_section(*trained, 1380, "here").find("fp32_pj = { value = 20, interval = [") !=
        std::string::npos);
}

TEST_CASE("Rows that do not determine all energies are refused") {
  const auto rows = measured("kernel,watts\nslow,80\nfast,160\n");
  REQUIRE(rows);
  const auto error = [&](const std::string& text) {
    return train(*rows, *read_priors(*CsvTable::parse("term,value,deviation\n" + text, "b.csv")))
        .error()
        .message;
  };
  CHECK(error("").starts_with("no row has any of "));
  CHECK(error("").find("tensor_pj") != std::string::npos);
  std::string others;
  for (const std::string& name : term_names())
    if (name != "constant_w" && name != "fp32_pj" && name != "sm_w")
      others += name + ",0,1e-9\n";
  CHECK(error(others) ==
        "2 rows and " + std::to_string(term_names().size() - 3) + " priors are too few for " +
            std::to_string(term_names().size()) +
            " energies: --prior says what is known of others before, or which GPU's [power]");
}

TEST_CASE("Fewer rows than energies stay at what a GPU's file says of the rest") {
  const auto rows = measured("kernel,watts\nslow,80\nfast,160\n");
  REQUIRE(rows);
  Energies shipped;
  shipped.clock_mhz = 1000;
  shipped.constant_w = {58, 48, 68};
  shipped.sm_w = {0.01, 0, 0.02};
  for (Estimate& of_kind : shipped.lane_pj)
    of_kind = {15, 5, 25};
  for (Estimate& of_event : shipped.event_pj)
    of_event = {300, 0, 700};
  shipped.idle_sm_w = {0.3, 0, 0.6};
  const auto trained = train(*rows, priors_of(shipped, false));
  REQUIRE(trained);
  CHECK(trained->fit.determined == term_names().size());
  CHECK(trained->fit.determined_by_observations == 2); // the board with its SMs, and FP32
  CHECK(trained->errors[1] == Approx(0).margin(.05));
  const Estimate &tensor = trained->fit.coefficients[term("tensor_pj")],
                 &fp32 = trained->fit.coefficients[term("fp32_pj")];
  CHECK(tensor.value == Approx(15e-12)); // of which no row says anything
  CHECK(tensor.low == Approx(5e-12));
  CHECK(fp32.value > 16e-12);
  CHECK(fp32.high - fp32.low < 20e-12);
  CHECK(trained->predicted[1].low < 160);
  CHECK(trained->predicted[1].high > 160);
  // Another board's energies say less.
  const auto elsewhere = train(*rows, priors_of(shipped, true));
  REQUIRE(elsewhere);
  CHECK(std::abs(elsewhere->errors[1]) < std::abs(trained->errors[1]));
  CHECK(elsewhere->fit.coefficients[term("tensor_pj")].low == 0);
}

TEST_CASE("Measured times and events take the place of predicted ones") {
  const auto rows = measured("kernel,watts,microseconds,dram_read\nslow,80,2,\nslow,80,,3000\n");
  REQUIRE(rows);
  CHECK(rows->at(0).observation.amounts[term("fp32_pj")] == Approx(0.5e12));
  CHECK(rows->at(1).observation.amounts[term("fp32_pj")] == Approx(1e12));
  CHECK(rows->at(1).observation.amounts[term("dram_read_pj")] == Approx(3e9));
}

TEST_CASE("Rows that cannot be read") {
  CHECK(measured("kernel,power\n").error().message == "a.csv: there is no column 'watts'");
  CHECK(measured("kernel,watts\nmissing,1\n").error().message ==
        "a.csv:2: no kernel of the results matches 'missing'");
  CHECK(measured("kernel,watts\nslow,-1\n").error().message == "a.csv:2: there are no watts above 0");
  CHECK(measured("kernel,watts,use\nslow,1,both\n").error().message ==
        "a.csv:2: use is 'both', neither 'fit' nor 'held back'");
  CHECK(train(*measured("kernel,watts,use\nslow,1,held back\n"), {}).error().message ==
        "all measured kernels are held back: there are none to fit energies to");
}
