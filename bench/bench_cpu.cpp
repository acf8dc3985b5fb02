// Benchmarks of the CPU back end, as ratios within one run: kernels against plain C++ on one core, a traced
// lane access against a jump between fibers, two cores against one, and the size of the trace. Each pair is
// measured in alternation, and the best of all rounds counts.
#include "bench/cpu_loops.h"
#include "support/process.h"
#include "support/temporary.h"
#include "trace/reader.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <vector>

using namespace warplens;
using namespace warplens::bench;

namespace {

/// Returns the seconds of processor time of `work`, in all threads or in the calling one. Other programs on
/// the machine do not stretch it.
template <class Work> double processor_seconds(clockid_t clock, Work&& work) {
  const auto now = [clock] {
    timespec time{};
    clock_gettime(clock, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

template <class Work> double wall_seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs all launches during its life on one core, including those of threads that start then.
class OneCore {
public:
  OneCore() : limit_(tbb::global_control::max_allowed_parallelism, 1) {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

private:
  tbb::global_control limit_;
  cpu_set_t before_;
};

using Vector = std::vector<float>;

Vector random_vector(std::size_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  Vector vector(size);
  for (float& number : vector)
    number = std::uniform_real_distribution<float>(0.5F, 1)(random);
  return vector;
}

/// A random sparse matrix with 16 to 48 ascending columns in each row.
struct Matrix {
  std::vector<int> begin{0}, column;
  Vector value, y;

  explicit Matrix(int rows) : y(random_vector(static_cast<std::size_t>(rows))) {
    std::mt19937 random(7);
    for (int row = 0; row < rows; ++row) {
      const auto first = static_cast<std::ptrdiff_t>(column.size());
      for (unsigned left = 16 + random() % 33; left > 0; --left)
        column.push_back(static_cast<int>(random() % static_cast<unsigned>(rows)));
      std::sort(column.begin() + first, column.end());
      begin.push_back(static_cast<int>(column.size()));
    }
    value = random_vector(column.size());
  }
  int rows() const { return static_cast<int>(y.size()); }
  Csr csr() const { return {rows(), begin.data(), column.data(), value.data(), y.data()}; }
};

/// Returns whether the outputs agree up to rounding: the kernel may contract multiplications and additions,
/// and vectorise, which the plain loops do not.
bool agree(const Vector& left, const Vector& right) {
  return std::ranges::equal(left, right,
                            [](float a, float b) { return std::abs(a - b) <= 1e-4F * std::abs(a); });
}

/// Measures plain(output) against kernel(output), both on one core.
template <class Plain, class Kernel>
void against_plain(benchmark::State& state, const Vector& output, Plain&& plain, Kernel&& kernel) {
  const OneCore here;
  Vector plain_output = output, kernel_output = output;
  double plain_best = HUGE_VAL, kernel_best = HUGE_VAL;
  plain(plain_output.data());
  kernel(kernel_output.data());
  if (!agree(plain_output, kernel_output))
    return state.SkipWithError("the results differ");
  for (auto _ : state) {
    plain_best = std::min(plain_best,
                          processor_seconds(CLOCK_PROCESS_CPUTIME_ID, [&] { plain(plain_output.data()); }));
    kernel_best = std::min(
        kernel_best, processor_seconds(CLOCK_PROCESS_CPUTIME_ID, [&] { kernel(kernel_output.data()); }));
  }
  state.counters["plain_us"] = plain_best * 1e6;
  state.counters["kernel_us"] = kernel_best * 1e6;
  state.counters["speed_of_plain"] = plain_best / kernel_best;
}

void saxpy(benchmark::State& state) {
  constexpr int n = 1 << 16;
  const Vector x = random_vector(n);
  against_plain(
      state, Vector(n, 1), [&](float* y) { plain::saxpy(n, 0.5F, x.data(), y); },
      [&](float* y) { kernels::saxpy(n, 0.5F, x.data(), y); });
}

void spmv(benchmark::State& state) {
  const Matrix matrix(4096);
  against_plain(
      state, Vector(static_cast<std::size_t>(matrix.rows())), [&](float* x) { plain::spmv(matrix.csr(), x); },
      [&](float* x) { kernels::spmv(matrix.csr(), x); });
}

using Stencil = void (*)(Extent3, const float*, float*);
void stencil(benchmark::State& state, Extent3 size, Stencil plain, Stencil kernel) {
  const Vector from = random_vector(static_cast<std::size_t>(size.x) * size.y * size.z);
  against_plain(
      state, from, [&](float* to) { plain(size, from.data(), to); },
      [&](float* to) { kernel(size, from.data(), to); });
}

using Multiply = void (*)(int, const float*, const float*, float*);
void matrix_multiply(benchmark::State& state, Multiply plain, Multiply kernel) {
  constexpr int n = 256;
  const Vector a = random_vector(n * n), b = random_vector(n * n);
  against_plain(
      state, Vector(n * n), [&](float* c) { plain(n, a.data(), b.data(), c); },
      [&](float* c) { kernel(n, a.data(), b.data(), c); });
}

/// Returns the seconds that a jump from one fiber to another takes in Boost.Context.
double jump_seconds() {
  namespace context = boost::context::detail;
  constexpr int rounds = 1 << 16;
  std::vector<char> stack(1 << 16);
  auto fiber =
      context::make_fcontext(stack.data() + stack.size(), stack.size(), [](context::transfer_t from) {
        while (true)
          from = context::jump_fcontext(from.fctx, nullptr);
      });
  const double all = processor_seconds(CLOCK_THREAD_CPUTIME_ID, [&] {
    for (int i = 0; i < rounds; ++i)
      fiber = context::jump_fcontext(fiber, nullptr).fctx;
  });
  return all / (2 * rounds);
}

constexpr char trace_variable[] = "BENCH_CPU_TRACE";
std::filesystem::path trace_path;

/// The accesses of the last launch in the trace.
struct Traced {
  std::uint64_t lane_accesses, warp_accesses;
};
std::optional<Traced> last_launch() {
  const auto reader = trace::Reader::open(trace_path);
  if (!reader || reader->launches().empty())
    return std::nullopt;
  const std::uint32_t id = reader->launches().back().id;
  const auto end = reader->end_of(id);
  if (!end || !end->complete)
    return std::nullopt;
  return Traced{end->probed_accesses, reader->access_count(id)};
}

/// Measures a lane's access in a traced launch on one core, in jumps. The time includes the kernel, the merge
/// of the lanes' logs, the trace's encoding and compression, and writing it.
void traced_spmv(benchmark::State& state) {
  const OneCore here;
  const Matrix matrix(16384);
  Vector x(static_cast<std::size_t>(matrix.rows()));
  double jump = HUGE_VAL, launch = HUGE_VAL;
  for (auto _ : state) {
    jump = std::min(jump, jump_seconds());
    launch = std::min(launch, processor_seconds(CLOCK_PROCESS_CPUTIME_ID,
                                                [&] { kernels::traced_spmv(matrix.csr(), x.data()); }));
  }
  const auto traced = last_launch();
  if (!traced)
    return state.SkipWithError("there is no trace");
  const double once = launch / double(traced->lane_accesses);
  state.counters["jump_ns"] = jump * 1e9;
  state.counters["lane_access_ns"] = once * 1e9;
  state.counters["in_jumps"] = once / jump;
}

/// Measures the wall-clock time of a whole launch on one core and on two.
void two_cores(benchmark::State& state, void (*launch)(const Csr&, float*), int rows) {
  const Matrix matrix(rows);
  Vector x(static_cast<std::size_t>(matrix.rows()));
  double one = HUGE_VAL, two = HUGE_VAL;
  for (auto _ : state) {
    two = std::min(two, wall_seconds([&] { launch(matrix.csr(), x.data()); }));
    const OneCore here;
    one = std::min(one, wall_seconds([&] { launch(matrix.csr(), x.data()); }));
  }
  state.counters["one_ms"] = one * 1e3;
  state.counters["two_ms"] = two * 1e3;
  state.counters["times_one_core"] = one / two;
}

/// Measures the bytes of trace per warp access.
template <class Launch> void trace_size(benchmark::State& state, Launch&& launch) {
  launch(); // the first brings the file's head and the sites
  const auto before = std::filesystem::file_size(trace_path);
  std::uintmax_t after = before;
  for (auto _ : state) {
    launch();
    after = std::filesystem::file_size(trace_path);
  }
  const auto traced = last_launch();
  if (!traced)
    return state.SkipWithError("there is no trace");
  state.counters["warp_accesses"] = double(traced->warp_accesses);
  state.counters["bytes_per_warp_access"] =
      double(after - before) / double(state.iterations()) / double(traced->warp_accesses);
}

void size_stream(benchmark::State& state) {
  constexpr int n = 1 << 20;
  const Vector a = random_vector(n), b = random_vector(n);
  Vector c(n);
  trace_size(state, [&] { kernels::traced_stream(n, a.data(), b.data(), c.data()); });
}
void size_spmv(benchmark::State& state) {
  const Matrix matrix(131072);
  Vector x(static_cast<std::size_t>(matrix.rows()));
  trace_size(state, [&] { kernels::traced_spmv(matrix.csr(), x.data()); });
}
void size_random(benchmark::State& state) {
  constexpr std::size_t elements = std::size_t{1} << 28;
  const std::unique_ptr<float, decltype(&std::free)> from(
      static_cast<float*>(std::calloc(elements, sizeof(float))), &std::free);
  Vector to(64 * 256);
  trace_size(state, [&] { kernels::traced_random(100, elements, from.get(), to.data()); });
}

#define ROUNDS(n) Iterations(n)->Unit(benchmark::kMillisecond)
BENCHMARK(saxpy)->ROUNDS(200);
BENCHMARK(spmv)->ROUNDS(100);
BENCHMARK_CAPTURE(stencil, 2d, {256, 256, 1}, plain::stencil_2d, kernels::stencil_2d)->ROUNDS(200);
BENCHMARK_CAPTURE(stencil, 3d, {64, 32, 32}, plain::stencil_3d, kernels::stencil_3d)->ROUNDS(200);
BENCHMARK_CAPTURE(matrix_multiply, 16x16, plain::matrix_multiply, kernels::matrix_multiply)->ROUNDS(20);
BENCHMARK_CAPTURE(matrix_multiply, 32x32, plain::matrix_multiply_large, kernels::matrix_multiply_large)
    ->ROUNDS(20);
BENCHMARK(traced_spmv)->ROUNDS(10);
BENCHMARK_CAPTURE(two_cores, untraced, kernels::spmv, 262144)->ROUNDS(20);
BENCHMARK_CAPTURE(two_cores, traced, kernels::traced_spmv, 32768)->ROUNDS(10);
BENCHMARK(size_stream)->ROUNDS(1);
BENCHMARK(size_spmv)->ROUNDS(1);
BENCHMARK(size_random)->ROUNDS(1);

/// The recorder reads its environment before main(), so the benchmarks run in a child process that has the
/// variables set.
int run_with_trace(int argc, char** argv) {
  const auto folder = TemporaryDirectory::create();
  if (!folder) {
    std::fprintf(stderr, "bench_cpu: %s\n", folder.error().message.c_str());
    return 1;
  }
  const std::string path = folder->path() / "trace";
  const auto ended = run({.arguments = {argv, argv + argc},
                          .environment = {{"WARPLENS_TRACE", path},
                                          {trace_variable, path},
                                          {"WARPLENS_KERNEL", "traced_"},
                                          {"WARPLENS_LAUNCHES", "1000000000"},
                                          {"WARPLENS_SNAPSHOT_BLOCKS", "1000000000"},
                                          {"WARPLENS_SNAPSHOT_ACCESSES", "1000000000"}}});
  if (!ended) {
    std::fprintf(stderr, "bench_cpu: %s\n", ended.error().message.c_str());
    return 1;
  }
  return ended->exit_code;
}

} // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv(trace_variable);
  if (!path)
    return run_with_trace(argc, argv);
  trace_path = path;
  tbb::info::default_concurrency(); // TBB counts the cores now, while none is excluded
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
