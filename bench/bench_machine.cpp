// How many warp instructions the executor of machine code executes a second, on one core, and how many times
// that is what its reference engine executes, one lane after the other.
#include "machine/execute.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>

using namespace warplens;
using namespace warplens::machine;

namespace {

/// The cubin of the kernels for sm_80.
const std::string& cubin() {
  static const std::string bytes = [] {
    const auto folder = TemporaryDirectory::create();
    const auto file = folder->path() / "kernels.cubin";
    const auto finished = run({.arguments = {WARPLENS_NVCC, "-cubin", "-arch=sm_80", "-O3",
                                             WARPLENS_BENCH_KERNELS, "-o", file.string()}});
    if (!finished || finished->exit_code != 0)
      throw std::runtime_error("nvcc cannot compile the kernels");
    return *read_file(file);
  }();
  return bytes;
}

const Program& program(Engine engine) {
  static std::map<Engine, Program> programs;
  if (!programs.contains(engine))
    programs.emplace(engine, *Program::load(std::as_bytes(std::span(cubin())), engine));
  return programs.at(engine);
}

/// A kernel with its data.
struct Case {
  const char* kernel;
  Dimensions grid, block;
  int size;
};
constexpr Case cases[] = {{"multiply_adds", {8}, {256}, 2000},
                          {"integers", {8}, {256}, 500},
                          {"product", {4, 4}, {32, 8}, 128},
                          {"bodies", {8}, {256}, 2048},
                          {"gather", {8}, {256}, 400000}};

/// Executes a case; returns the instructions.
std::uint64_t execute_case(const Case& one, Engine engine) {
  static std::vector<float> data(1 << 20), out(1 << 20);
  static std::vector<int> index = [] {
    std::mt19937 random(3);
    std::vector<int> values(1 << 19);
    for (int& value : values)
      value = static_cast<int>(random() % data.size());
    for (float& value : data)
      value = static_cast<float>(random() % 1000) * 1e-3f;
    return values;
  }();
  const auto range = [](auto& array) {
    return Range{reinterpret_cast<std::uintptr_t>(array.data()), array.size() * sizeof array[0],
                 reinterpret_cast<const std::byte*>(array.data())};
  };
  Launch launch{.grid = one.grid, .block = one.block};
  const auto add = [&](const auto& value) {
    const std::size_t at = (launch.parameters.size() + sizeof value - 1) / sizeof value * sizeof value;
    launch.parameters.resize(at + sizeof value);
    std::memcpy(launch.parameters.data() + at, &value, sizeof value);
  };
  const std::string name = one.kernel;
  if (name == "product") {
    add(data.data());
    add(data.data());
  } else if (name == "bodies")
    add(data.data());
  else if (name == "gather") {
    add(index.data());
    add(data.data());
  }
  add(out.data());
  add(one.size);
  Memory memory({range(data), range(out), range(index)});
  const Program& code = program(engine);
  const Outcome outcome = execute(code, *code.find(one.kernel), launch, memory);
  if (!outcome.is_finished())
    throw std::runtime_error(outcome.reason);
  return outcome.warp_instructions;
}

std::map<std::string, double> rates; ///< of the vector engine, by kernel

double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void measure(benchmark::State& state, const Case& one, Engine engine) {
  std::uint64_t instructions = 0;
  const double start = seconds();
  for (auto _ : state)
    instructions += execute_case(one, engine);
  const double rate = static_cast<double>(instructions) / (seconds() - start);
  state.counters["million_a_second"] = rate * 1e-6;
  if (engine == Engine::vector)
    rates[one.kernel] = rate;
  else if (engine == Engine::reference && rates.contains(one.kernel))
    state.counters["vector_to_reference"] = rates[one.kernel] / rate;
}

} // namespace

int main(int argc, char** argv) {
  for (const Case& one : cases)
    for (const auto& [engine, name] :
         {std::pair(Engine::vector, "vector"), std::pair(Engine::reference, "reference")})
      benchmark::RegisterBenchmark((std::string(one.kernel) + "/" + name).c_str(), measure, one, engine)
          ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  double sum = 0;
  for (const auto& [kernel, rate] : rates)
    sum += rate;
  if (!rates.empty())
    std::printf("mean: %.1f million warp instructions a second\n",
                1e-6 * sum / static_cast<double>(rates.size()));
}
