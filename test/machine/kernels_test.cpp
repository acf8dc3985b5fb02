// Tests whole kernels against references, for each architecture and both engines.
#include "test/machine/run_kernel.h"

#include <functional>
#include <numeric>

using namespace warplens;
using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

namespace {

/// Calls `f(program, architecture)` with kernels.cu for each architecture.
void for_each_program(const std::function<void(const Program&, int)>& f) {
  if (!has_toolkit())
    return;
  static std::map<int, Program> programs;
  for (const int architecture : architectures) {
    INFO("sm_" << architecture);
    if (!programs.contains(architecture))
      programs.emplace(architecture, load(compile("kernels.cu", architecture)));
    f(programs.at(architecture), architecture);
  }
}

std::mt19937 generator(7);
float uniform(float least, float most) {
  return std::uniform_real_distribution<float>(least, most)(generator);
}

/// Counts the instructions of each warp, and accesses.
struct Counter : Sink {
  std::map<std::pair<u64, u32>, u64> instructions;
  u64 accesses = 0, lanes = 0;
  std::vector<std::pair<u32, u32>> runs; ///< of warp 0: first, count
  void on_run(WarpId warp, u32 first, u32 count, Mask) override {
    instructions[{warp.block, warp.warp}] += count;
    if (warp.block == 0 && warp.warp == 0)
      runs.emplace_back(first, count);
  }
  void on_access(WarpId, const Access& access) override {
    ++accesses;
    lanes += static_cast<u64>(std::popcount(access.lanes));
  }
};

} // namespace

TEST_CASE("all instructions of the kernels are known") {
  for_each_program([](const Program& program, int) {
    for (const Kernel& kernel : program.kernels())
      for (const UnsupportedInstruction& instruction : kernel.unsupported()) {
        INFO(kernel.name << " " << instruction.index);
        CHECK(instruction.listing == "");
      }
  });
}

TEST_CASE("a scaled sum") {
  for_each_program([](const Program& program, int) {
    const std::vector<Parameter>& parameters = program.find("scaled_sum")->parameters;
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[1].offset == 4);
    CHECK(parameters[1].bytes == 4);
    CHECK(parameters[3].offset == 16);
    CHECK(parameters[3].bytes == 8);
    const int n = 10000;
    std::vector<float> x(n), y(n), expected(n);
    for (int i = 0; i < n; ++i) {
      x[i] = uniform(-1, 1);
      y[i] = uniform(-1, 1);
      expected[i] = std::fma(2.5f, x[i], y[i]);
    }
    run_whole(program, "scaled_sum", {40}, {256}, Parameters() << n << 2.5f << x << y);
    CHECK(y == expected);
  });
}

TEST_CASE("a sink sees runs of instructions and accesses with their lanes") {
  for_each_program([](const Program& program, int) {
    const int n = 100;
    std::vector<float> x(n), y(n);
    Counter counter;
    const Outcome outcome =
        run_whole(program, "scaled_sum", {1}, {128}, Parameters() << n << 2.0f << x << y, {}, &counter);
    // Two loads and a store in each of four warps; the last has 4 threads in range.
    CHECK(counter.accesses == 4 * 3);
    CHECK(counter.lanes == 3 * n);
    u64 sum = 0;
    for (const auto& [warp, count] : counter.instructions)
      sum += count;
    CHECK(sum == outcome.warp_instructions);
    CHECK(counter.instructions.size() == 4);
    REQUIRE(!counter.runs.empty());
    CHECK(counter.runs.front().first == 0);
  });
}

TEST_CASE("sums of blocks by shuffles") {
  for_each_program([](const Program& program, int) {
    const int n = 50000;
    std::vector<float> x(n), sum(1);
    double expected = 0;
    for (float& value : x)
      expected += value = static_cast<float>(static_cast<int>(uniform(0, 50)));
    run_whole(program, "block_sums", {8}, {256}, Parameters() << x << sum << n);
    CHECK(sum[0] == static_cast<float>(expected));
  });
}

TEST_CASE("a product through shared memory") {
  for_each_program([](const Program& program, int) {
    const int n = 64;
    std::vector<float> a(n * n), b(n * n), c(n * n), expected(n * n);
    for (float& value : a)
      value = uniform(-1, 1);
    for (float& value : b)
      value = uniform(-1, 1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
          expected[i * n + j] = std::fma(a[i * n + k], b[k * n + j], expected[i * n + j]);
    run_whole(program, "product", {4, 4}, {16, 16}, Parameters() << a << b << c << n);
    CHECK(c == expected);
  });
}

TEST_CASE("integer functions, with divisions of 32 and 64 bits") {
  for_each_program([](const Program& program, int) {
    const int n = 4096;
    std::vector<int> x(n), y(n);
    std::vector<i64> o(n * 16);
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<int>(generator());
      y[i] = static_cast<int>(generator() >> (generator() % 31));
      if (i % 3 == 0)
        y[i] = -y[i];
    }
    y[0] = 0;
    x[1] = static_cast<int>(0x80000000);
    y[1] = 1;
    run_whole(program, "integers", {16}, {256}, Parameters() << x << y << o << n);
    for (int i = 0; i < n; ++i) {
      const int a = x[i], b = y[i];
      const u32 ua = static_cast<u32>(a), ub = static_cast<u32>(b);
      i64 p[16];
      p[0] = b ? static_cast<int>(i64{a} / b) : 0;
      p[1] = b ? ua % ub : 0;
      p[2] = i64{a} * b;
      p[3] = static_cast<int>(i64{a} * b >> 32);
      p[4] = std::popcount(ua) + std::countl_zero(ub) * 100 + (ua ? std::countr_zero(ua) + 1 : 0) * 10000;
      u32 reversed = 0;
      for (int bit = 0; bit < 32; ++bit)
        reversed |= (ua >> bit & 1) << (31 - bit);
      p[5] = static_cast<i64>(reversed);
      p[6] = static_cast<i64>(static_cast<u64>(i64{a}) << (b & 63));
      p[7] = static_cast<i64>(static_cast<u64>(i64{a}) << 20 | ub) >> (a & 31);
      p[8] = b ? static_cast<i64>(static_cast<u64>(i64{a}) << 22) / b : 0;
      p[9] = static_cast<i64>((u64{ua} << 31) % (ub | 1u));
      p[10] = b ? static_cast<i64>((u64{ua} << 32 | ub) / (u64{ub} << 3 | 1)) : 0;
      p[11] = static_cast<i64>(u64{ua} * ub >> 32);
      p[12] = static_cast<u32>((a > b ? ua - ub : ub - ua) + static_cast<u32>(i));
      p[13] = static_cast<u32>(static_cast<u32>(std::min(a, b)) - std::max(ua, ub));
      const u64 pair = u64{ub} << 32 | ua;
      const u32 left = std::min(static_cast<u32>(i), 32u);
      p[14] = static_cast<u32>(static_cast<u32>(left == 32 ? pair : pair << left >> 32) +
                               static_cast<u32>(pair >> (i & 31)));
      if (left == 32)
        p[14] = static_cast<u32>(ua + static_cast<u32>(pair >> (i & 31)));
      int dot = i;
      for (int byte = 0; byte < 4; ++byte)
        dot += static_cast<std::int8_t>(ua >> (8 * byte)) * static_cast<std::int8_t>(ub >> (8 * byte));
      p[15] = static_cast<int>((a < 0 ? 0 - ua : ua) + static_cast<u32>(a < b) + static_cast<u32>(dot));
      for (int k = 0; k < 16; ++k)
        if (o[i * 16 + k] != p[k]) {
          INFO("result " << k << " of " << a << ", " << b << " in thread " << i);
          REQUIRE(o[i * 16 + k] == p[k]);
        }
    }
  });
}

TEST_CASE("functions of floats") {
  for_each_program([](const Program& program, int) {
    const int n = 4096;
    std::vector<float> x(n), y(n), o(n * 12);
    for (int i = 0; i < n; ++i) {
      x[i] = uniform(-10, 10);
      y[i] = uniform(-10, 10);
    }
    const float infinity = std::numeric_limits<float>::infinity();
    const float edges[] = {0,     -0.0f,   1e-40f, -1e-42f,  infinity, -infinity, NAN,
                           1e38f, 3.4e38f, 1e-38f, 1.2e-38f, 1,        123456};
    for (std::size_t i = 0; i < 13 * 13; ++i) {
      x[i] = edges[i / 13];
      y[i] = edges[i % 13];
    }
    run_whole(program, "floats", {16}, {256}, Parameters() << x << y << o << n);
    double worst[12] = {};
    for (int i = 0; i < n; ++i) {
      const double a = x[i], b = y[i];
      float expected[12] = {x[i] / y[i], std::sqrt(std::fabs(x[i])), std::fmod(x[i], y[i])};
      for (int k = 0; k < 3; ++k) {
        INFO("result " << k << " of " << a << ", " << b);
        REQUIRE(distance(o[i * 12 + k], expected[k]) == 0);
      }
      if (i < 13 * 13)
        continue;
      const double quotient = a / b; // of floats that are no halfway cases: truncation is that of the double
      float truncated = static_cast<float>(quotient);
      if (std::fabs(static_cast<double>(truncated)) > std::fabs(quotient))
        truncated = std::nextafter(truncated, 0.0f);
      float up = static_cast<float>(std::sqrt(std::fabs(a)));
      if (static_cast<double>(up) < std::sqrt(std::fabs(a)))
        up = std::nextafter(up, infinity);
      CHECK(o[i * 12 + 3] == truncated);
      CHECK(o[i * 12 + 4] == up);
      expected[5] = static_cast<float>(std::exp(static_cast<double>(x[i] * 0.1f)));
      expected[6] = static_cast<float>(std::log(static_cast<double>(std::fabs(x[i]) + 1e-3f)));
      expected[7] = static_cast<float>(std::sin(a));
      expected[8] = static_cast<float>(std::pow(std::fabs(a), static_cast<double>(y[i] * 0.25f)));
      expected[9] = static_cast<float>(std::tanh(a));
      expected[10] = static_cast<float>(1 / std::sqrt(static_cast<double>(std::fabs(y[i]) + 0.1f)));
      expected[11] = std::fmax(x[i], y[i]) + std::fmin(x[i], 1.0f) + std::nearbyint(y[i]) + std::floor(x[i]);
      CHECK(o[i * 12 + 11] == expected[11]);
      for (int k = 5; k < 11; ++k)
        if (k != 6 || std::fabs(expected[k]) > 1e-2)
          worst[k] = std::max(worst[k], distance(o[i * 12 + k], expected[k]));
    }
    for (int k = 5; k < 11; ++k)
      CHECK(worst[k] <= 2.5);
  });
}

TEST_CASE("functions of doubles") {
  for_each_program([](const Program& program, int) {
    const int n = 2048;
    std::vector<double> x(n), y(n), o(n * 8);
    for (int i = 0; i < n; ++i) {
      x[i] = uniform(-10, 10);
      y[i] = uniform(-10, 10);
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const double edges[] = {0, -0.0, 1e-310, infinity, -infinity, NAN, 1e300, -1e-300, 1, 1e10};
    for (std::size_t i = 0; i < 100; ++i) {
      x[i] = edges[i / 10];
      y[i] = edges[i % 10];
    }
    run_whole(program, "doubles", {8}, {256}, Parameters() << x << y << o << n);
    double worst = 0;
    for (int i = 0; i < n; ++i) {
      const double a = x[i], b = y[i], scaled = a * 1e6;
      i64 whole = 0;
      if (scaled != scaled)
        whole = std::numeric_limits<i64>::min();
      else
        whole = scaled >= 9.2e18    ? std::numeric_limits<i64>::max()
                : scaled <= -9.2e18 ? std::numeric_limits<i64>::min()
                                    : static_cast<i64>(scaled);
      const double count = std::fabs(b) * 1000;
      const u32 limited = count != count ? 0 : count >= 4294967295.0 ? ~0u : static_cast<u32>(count);
      const double expected[8] = {a / b,
                                  std::sqrt(std::fabs(a)),
                                  static_cast<double>(whole) + limited,
                                  std::fmax(a, b) + std::nearbyint(a) * std::floor(b) + (a < b ? 1.0 : -1.0),
                                  std::exp(a * 0.1),
                                  std::log(std::fabs(a) + 1e-3),
                                  std::sin(a),
                                  std::pow(std::fabs(a), b * 0.25)};
      for (int k = 0; k < 4; ++k) {
        INFO("result " << k << " of " << a << ", " << b);
        // The compiler may contract the sum of the last, which is then rounded once less.
        REQUIRE(distance(o[i * 8 + k], expected[k]) <= (k == 3 ? 2.0 : 0.0));
      }
      for (int k = 4; i >= 100 && k < 8; ++k)
        if (k != 5 || std::fabs(expected[k]) > 1e-2)
          worst = std::max(worst, distance(o[i * 8 + k], expected[k]));
    }
    CHECK(worst <= 3);
  });
}

TEST_CASE("arrays in local memory") {
  for_each_program([](const Program& program, int) {
    const int n = 1024;
    std::vector<float> x(n), o(n), expected(n);
    std::vector<int> index(n);
    for (float& value : x)
      value = static_cast<float>(static_cast<int>(uniform(0, 100)));
    for (int& value : index)
      value = static_cast<int>(generator() % 1000);
    for (int i = 0; i < n; ++i) {
      float t[24];
      for (int k = 0; k < 24; ++k)
        t[k] = x[(i + k) % n];
      for (int k = 0; k < 16; ++k) {
        const int j = index[(i * 16 + k) % n];
        t[j % 24] += static_cast<float>(k);
        expected[i] += t[(j * 7) % 24];
      }
    }
    run_whole(program, "local_array", {4}, {256}, Parameters() << x << o << index << n);
    CHECK(o == expected);
  });
}

TEST_CASE("a histogram by atomic operations") {
  for_each_program([](const Program& program, int) {
    const int n = 20000;
    std::vector<std::uint8_t> x(n);
    std::vector<u32> o(256), expected(256);
    for (std::uint8_t& value : x)
      ++expected[value = static_cast<std::uint8_t>(generator() >> 7)];
    run_whole(program, "histogram", {4}, {256}, Parameters() << x << o << n);
    CHECK(o == expected);
  });
}

TEST_CASE("variables: constants, initial values, pointers to them") {
  for_each_program([](const Program& program, int) {
    const int n = 1000;
    std::vector<int> x(n), bound(1, 100);
    std::vector<float> o(n), expected(n), coefficients(64);
    for (int i = 0; i < 64; ++i)
      coefficients[i] = static_cast<float>(i * 7 % 13 - 5);
    for (int& value : x)
      value = static_cast<int>(generator() % 100);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < 8; ++k)
        expected[i] += coefficients[(x[i] + k) & 63] * coefficients[k];
    const auto variables = program.variables();
    const auto counter = std::ranges::find(variables, "counter", &Variable::name);
    REQUIRE(counter != variables.end());
    CHECK(counter->bytes == 4);
    CHECK_FALSE(counter->is_constant);
    Launch launch;
    launch.address_of = [&](std::string_view name) -> std::optional<u64> {
      if (name == "coefficients")
        return reinterpret_cast<std::uintptr_t>(coefficients.data());
      return std::nullopt;
    };
    // The last parameters are not read by the kernel, but their arrays can be.
    run_whole(program, "variables", {4}, {256}, Parameters() << x << o << n << coefficients, launch);
    CHECK(o == expected);
  });
}

TEST_CASE("atomic operations") {
  for_each_program([](const Program& program, int) {
    const int n = 1000;
    std::vector<u32> x(n);
    std::vector<u64> o(8 + n), expected(7);
    for (u32& value : x)
      value = static_cast<u32>(generator());
    double sum = 0;
    int least = 0;
    u32 mixed = 0, cyclic = 0;
    u64 chain = 0;
    for (const u32 value : x) {
      expected[0] += value;
      expected[1] = std::max(expected[1], u64{value} << 8);
      least = std::min(least, static_cast<int>(value));
      mixed ^= value;
      sum += value & 255;
      cyclic = cyclic >= 99 ? 0 : cyclic + 1;
      chain = chain * 5 + 1;
    }
    run_whole(program, "atomics", {4}, {256}, Parameters() << o << x << n);
    CHECK(o[0] == expected[0]);
    CHECK(o[1] == expected[1]);
    CHECK(static_cast<int>(o[2]) == least);
    CHECK(o[3] == mixed);
    CHECK(std::bit_cast<double>(o[4]) == sum);
    CHECK(o[5] == cyclic);
    CHECK(o[6] == chain);
    CHECK(o[7] == n);
    std::vector<u64> tickets(o.begin() + 8, o.end()), all(n);
    std::ranges::sort(tickets);
    std::iota(all.begin(), all.end(), u64{0});
    CHECK(tickets == all);
  });
}

TEST_CASE("generic pointers to global, shared and local memory, and barriers that reduce") {
  for_each_program([](const Program& program, int) {
    std::vector<float> x(64), o(64), sums(64);
    for (float& value : x)
      value = static_cast<float>(static_cast<int>(uniform(0, 9)));
    int count = 0;
    for (int t = 0; t < 64; ++t) {
      for (int k = 0; k < 8; ++k)
        sums[t] += t % 3 == 2 ? x[(t + ((t + k) & 3)) & 63] * 2 : x[(t + k) & 63];
      count += sums[t] > 10;
    }
    Launch launch;
    launch.dynamic_shared_bytes = 1024;
    run_whole(program, "generic_pointers", {1}, {64}, Parameters() << x << o, launch);
    for (int t = 0; t < 64; ++t)
      REQUIRE(o[t] == sums[t ^ 5] + static_cast<float>(count) + 1 + 1);
  });
}

TEST_CASE("eight groups of lanes with a loop each: executed one after the other") {
  for_each_program([](const Program& program, int architecture) {
    std::vector<float> x(256), expected(256);
    const float factor[] = {1.01f, 0.99f, 0.98f, 1.02f, 0.97f, 1.03f, 0.96f, 1.04f};
    const float added[] = {0.5f, 0.25f, -0.5f, -0.25f, 1.5f, 2.5f, 3.5f, 4.5f};
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i] = x[i] = uniform(-1, 1);
      for (int k = 0; k < 64; ++k)
        expected[i] = std::fma(expected[i], factor[i % 8], added[i % 8]);
    }
    const std::vector<float> before = x;
    Counter counter;
    run_whole(program, "by_lane", {1}, {256}, Parameters() << x, {}, &counter);
    CHECK(x == expected);
    std::vector<u64> counts;
    for (const auto& [warp, count] : counter.instructions)
      counts.push_back(count);
    REQUIRE(counts.size() == 8);
    CHECK(std::ranges::count(counts, counts.front()) == 8);
    // Each group runs 64 FFMA of its own, and what counts its loop.
    CHECK(counts.front() >= 8 * 64);
    CHECK(counts.front() < 8 * 64 * 2);
    // By hand, from the listing of nvcc 13's code for sm_80: 12 instructions up to the first branch; 239 of
    // the first three groups, 162 of the next two and 237 of the last three, with their ways through the tree
    // of comparisons, 16 FFMA of the peeled part of each loop and 19 instructions in each of its other 3
    // passes (or 4 where nothing is peeled); 5 arrivals at the last BSYNC; WARPSYNC, STG, EXIT.
    if (architecture == 80)
      CHECK(counts.front() == 12 + 239 + 162 + 237 + 5 + 3);
    // The order of the sides changes nothing here.
    Launch launch;
    launch.branch_order = BranchOrder::taken_first;
    x = before;
    const Outcome outcome = run_whole(program, "by_lane", {1}, {256}, Parameters() << x, launch);
    CHECK(outcome.warp_instructions == 8 * counts.front());
    CHECK(x == expected);
  });
}

TEST_CASE("switches, gotos, early returns of some lanes") {
  for_each_program([](const Program& program, int) {
    const int n = 2048;
    std::vector<int> x(n), o(n), expected(n);
    for (int i = 0; i < n; ++i) {
      int v = x[i] = i % 4 == 0 ? static_cast<int>(generator() & 0xfff) : static_cast<int>(generator());
      int r = 0;
      bool leaves = false;
      if ((v & 0xff) == 0x11) {
        expected[i] = -1;
        continue;
      }
      switch (v & 15) {
      case 0: r = static_cast<int>(static_cast<u32>(v) * 3); break;
      case 1:
        for (int k = 0; k < v % 7; ++k)
          r = static_cast<int>(static_cast<u32>(r) + static_cast<u32>(k) * static_cast<u32>(v));
        break;
      case 2: r = v ^ 0x55; break;
      case 3: r = std::popcount(static_cast<u32>(v)); break;
      case 4:
        while (v) {
          r += v & 1;
          v = static_cast<int>(static_cast<u32>(v) >> 1);
          if (r > 9)
            break;
        }
        break;
      case 5: r = v / 7; break;
      case 6: r = v % 11; break;
      case 7: r = -v; break;
      case 9:
        r = 1;
        for (int k = 0; k < (v >> 28) && !leaves; ++k) {
          r *= 3;
          leaves = r > 1000;
        }
        if (!leaves)
          r += 5;
        break;
      case 12: r = static_cast<int>(static_cast<u32>(v) << 3); break;
      default: r = 1;
      }
      expected[i] = leaves ? r : static_cast<int>(static_cast<u32>(r) + 7);
    }
    for (const BranchOrder order : {BranchOrder::fall_through_first, BranchOrder::taken_first}) {
      Launch launch;
      launch.branch_order = order;
      std::ranges::fill(o, 0);
      run_whole(program, "ways", {8}, {256}, Parameters() << x << o << n, launch);
      CHECK(o == expected);
    }
  });
}

TEST_CASE("remainders of unrolled loops that differ by lane") {
  for_each_program([](const Program& program, int) {
    std::vector<int> count(64), x(32), o(64), expected(64);
    for (int& value : x)
      value = static_cast<int>(generator() % 100);
    for (int t = 0; t < 64; ++t) {
      count[t] = static_cast<int>(generator() % 30);
      for (int k = 0; k < count[t]; ++k)
        expected[t] = static_cast<int>(static_cast<u32>(expected[t]) * 3 + static_cast<u32>(x[k]));
    }
    run_whole(program, "remainders", {1}, {64}, Parameters() << count << x << o);
    CHECK(o == expected);
  });
}

TEST_CASE("recursion, of different depths by lane") {
  for_each_program([](const Program& program, int) {
    const int n = 500;
    std::vector<int> x(n), o(n), expected(n);
    const std::function<int(int)> factorial = [&](int k) {
      return k < 2 ? 1 : k * factorial(k - 1) + (k & 1);
    };
    for (int i = 0; i < n; ++i)
      expected[i] = factorial((x[i] = static_cast<int>(generator() % 97)) % 10);
    run_whole(program, "recursion", {2}, {256}, Parameters() << x << o << n);
    CHECK(o == expected);
  });
}

TEST_CASE("function pointers and virtual functions") {
  for_each_program([](const Program& program, int) {
    const int n = 512;
    std::vector<float> x(n), o(n);
    for (float& value : x)
      value = static_cast<float>(static_cast<int>(uniform(-20, 20)));
    run_whole(program, "pointers", {2}, {256}, Parameters() << x << o << n);
    for (int i = 0; i < n; ++i)
      REQUIRE(o[i] == (i % 3 == 0   ? x[i] + 1
                       : i % 3 == 1 ? x[i] * 2
                                    : x[i] * x[i]) +
                          (i & 1 ? x[i] * 3 : x[i] + 5));
  });
}

TEST_CASE("spin locks, within a warp and between warps") {
  for_each_program([](const Program& program, int) {
    for (const BranchOrder order : {BranchOrder::fall_through_first, BranchOrder::taken_first}) {
      std::vector<int> lock(1), count(1);
      Launch launch;
      launch.branch_order = order;
      run_whole(program, "spin_lock", {2}, {64}, Parameters() << lock << count, launch);
      CHECK(count[0] == 128);
      CHECK(lock[0] == 0);
    }
  });
}

TEST_CASE("blocks that wait for each other run together, and end at the limit alone") {
  for_each_program([](const Program& program, int) {
    std::vector<u32> arrived(1), o(4 * 64);
    Launch launch;
    launch.runs_blocks_together = true;
    run_whole(program, "grid_barrier", {4}, {64}, Parameters() << arrived << o, launch);
    CHECK(o[5] >= 10);
    arrived[0] = 0;
    launch.runs_blocks_together = false;
    launch.instruction_limit = 20000;
    CHECK(run(program, "grid_barrier", {4}, {64}, Parameters() << arrived << o, launch).kind ==
          Outcome::Kind::limit_reached);
  });
}

TEST_CASE("a warp that produces for others, by named barriers") {
  for_each_program([](const Program& program, int) {
    const int rounds = 11;
    std::vector<int> in(rounds * 32), out(96), expected(96);
    for (int& value : in)
      value = static_cast<int>(generator() % 1000);
    for (int t = 0; t < 96; ++t)
      for (int r = 0; r < rounds; ++r)
        expected[t] = static_cast<int>(static_cast<u32>(expected[t]) * 3 +
                                       static_cast<u32>(in[r * 32 + ((t % 32 + t / 32 + 1) & 31)]));
    run_whole(program, "producer_consumer", {1}, {128}, Parameters() << in << out << rounds);
    CHECK(out == expected);
  });
}

TEST_CASE("votes, matches and shuffles") {
  for_each_program([](const Program& program, int) {
    std::vector<int> x(256);
    std::vector<u32> o(256 * 6);
    for (int& value : x)
      value = static_cast<int>(generator() % 16);
    for (int i = 64; i < 96; ++i)
      x[i] = 0x40000000 | (x[i] & 15);
    run_whole(program, "votes", {1}, {256}, Parameters() << x << o);
    for (int i = 0; i < 256; ++i) {
      const int base = i & ~31;
      u32 ballot = 0, equal = 0, active = 0;
      bool any = false, all = true;
      for (int j = 0; j < 32; ++j) {
        const int v = x[base + j];
        ballot |= static_cast<u32>(v & 1) << j;
        equal |= static_cast<u32>((v & 7) == (x[i] & 7)) << j;
        active |= static_cast<u32>((v & 2) != 0) << j;
        any |= v == 5;
        all &= v != 5;
      }
      const u32 expected[6] = {
          ballot,
          equal,
          0, // all equal: the full mask and one
          static_cast<u32>(any) + 2 * static_cast<u32>(all),
          static_cast<u32>(x[(i & ~7) + ((i * 3) & 7)] + ((i & 15) >= 3 ? x[i - 3] : x[i])),
          x[i] & 2 ? active : 0};
      for (int k = 0; k < 6; ++k) {
        INFO("result " << k << " of thread " << i);
        REQUIRE(o[i * 6 + k] == expected[k]);
      }
    }
  });
}

TEST_CASE("synchronisation of some lanes, in both sides of a branch") {
  for_each_program([](const Program& program, int) {
    std::vector<int> x(32), o(32), s(32), expected(32);
    for (int& value : x)
      value = static_cast<int>(generator() % 1000);
    std::vector<int> v(32);
    for (int lane = 0; lane < 32; ++lane)
      v[lane] = x[31 - lane];
    for (int lane = 0; lane < 12; ++lane)
      s[lane] = v[lane] + v[(lane + 1) % 12];
    for (int lane = 0; lane < 32; ++lane)
      if (lane < 12)
        expected[lane] = s[(lane + 5) % 12];
      else {
        int value = v[lane] + v[lane ^ 1];
        for (int k = 0; k < (lane & 3); ++k)
          value = value * 3 + k;
        expected[lane] = value;
      }
    run_whole(program, "masked", {1}, {32}, Parameters() << x << o);
    CHECK(o == expected);
  });
}

TEST_CASE("the same collective operation in both sides of a branch") {
  for_each_program([](const Program& program, int) {
    for (const int limit : {-1000, 1000, 50}) {
      std::vector<int> x(32), o(32), v(32);
      for (int lane = 0; lane < 32; ++lane) {
        x[lane] = static_cast<int>(generator() % 100);
        v[lane] = x[lane];
        if (x[lane] > limit)
          v[lane] *= 3;
        else {
          v[lane] += 100;
          for (int k = 0, times = v[lane]; k < (v[lane] & 7); ++k, static_cast<void>(times))
            v[lane] = static_cast<int>(static_cast<u32>(v[lane]) * 3 + static_cast<u32>(k));
        }
      }
      run_whole(program, "collective", {1}, {32}, Parameters() << x << o << limit);
      for (int lane = 0; lane < 32; ++lane) {
        int s = v[lane ^ 1];
        if (x[lane] > limit) {
          s += 7;
          for (int k = 0; k < (v[lane] & 3); ++k)
            s = static_cast<int>(static_cast<u32>(s) * 5 + static_cast<u32>(k));
        } else
          s ^= 1;
        REQUIRE(o[lane] == s);
      }
    }
  });
}

TEST_CASE("printf, malloc, free and assert ask the caller") {
  for_each_program([](const Program& program, int) {
    std::vector<int> x(32), heap(64);
    std::iota(x.begin(), x.end(), 5);
    std::vector<u64> formats;
    std::size_t allocated = 0, freed = 0;
    Launch launch;
    launch.builtins.vprintf = [&](u64 format, auto, auto&) {
      formats.push_back(format);
      return 2;
    };
    launch.builtins.malloc = [&](u64 bytes) {
      CHECK(bytes == 16);
      // Lanes share the first bytes: each writes and reads its own before the next does not hold, so that
      // they have places of their own.
      return reinterpret_cast<std::uintptr_t>(heap.data()) + 4 * allocated++;
    };
    launch.builtins.free = [&](u64) { return ++freed != 0; };
    launch.builtins.assert_fail = [](u64, u64, u32, u64) {};
    heap.resize(256);
    Parameters parameters;
    parameters << x << heap;
    run_whole(program, "outside", {1}, {32}, parameters, launch);
    CHECK(allocated == 32);
    CHECK(freed == 32);
    CHECK(formats.size() == 2);
    CHECK(x[3] == 5 + 3 + 1);
    x[4] = 5000;
    CHECK(run(program, "outside", {1}, {32}, parameters, launch).kind == Outcome::Kind::trap);
    launch.builtins.malloc = {};
    const Outcome refused = run(program, "outside", {1}, {32}, parameters, launch);
    CHECK(refused.kind == Outcome::Kind::refused);
    CHECK(refused.reason == "a call of malloc, which the cubin does not have");
  });
}

TEST_CASE("faults, traps and endless loops end with a reason") {
  for_each_program([](const Program& program, int) {
    std::vector<int> x(32);
    Outcome outcome = run(program, "out_of_bounds", {1}, {32}, Parameters() << x);
    CHECK(outcome.kind == Outcome::Kind::fault);
    CHECK(outcome.address == reinterpret_cast<std::uintptr_t>(x.data()) + 4000000);
    CHECK(outcome.reason.starts_with("access outside of memory of 4 bytes at 0x"));
    Launch launch;
    x[0] = 0;
    launch.instruction_limit = 10000;
    CHECK(run(program, "never_ends", {1}, {32}, Parameters() << x, launch).kind ==
          Outcome::Kind::limit_reached);
    CHECK(run(program, "traps", {1}, {32}, Parameters() << x).is_finished());
    x[9] = 7;
    CHECK(run(program, "traps", {1}, {32}, Parameters() << x).kind == Outcome::Kind::trap);
  });
}

TEST_CASE("reductions of a warp") {
  for_each_program([](const Program& program, int architecture) {
    if (architecture < 80)
      return;
    std::vector<u32> x(64), o(256);
    for (u32& value : x)
      value = static_cast<u32>(generator());
    run_whole(program, "reductions", {1}, {64}, Parameters() << x << o);
    for (int i = 0; i < 64; ++i) {
      u32 sum = 0, mixed = 0, most = 0;
      int least = std::numeric_limits<int>::max();
      for (int j = 0; j < 32; ++j) {
        const u32 value = x[(i & ~31) + j];
        sum += value;
        mixed ^= value;
        most = std::max(most, value);
        least = std::min(least, static_cast<int>(value));
      }
      REQUIRE(o[i * 4] == sum);
      REQUIRE(static_cast<int>(o[i * 4 + 1]) == least);
      REQUIRE(o[i * 4 + 2] == mixed);
      REQUIRE(o[i * 4 + 3] == most);
    }
  });
}

TEST_CASE("asynchronous copies to shared memory") {
  for_each_program([](const Program& program, int architecture) {
    if (architecture < 80)
      return;
    std::vector<float> x(4 * 4 * 128), o(4 * 128);
    for (float& value : x)
      value = static_cast<float>(static_cast<int>(uniform(0, 99)));
    run_whole(program, "asynchronous_copies", {1}, {128}, Parameters() << x << o);
    for (int t = 0; t < 128; ++t)
      for (int part = 0; part < 4; ++part) {
        float sum = 0;
        for (int k = 0; k < 4; ++k)
          sum += x[(k * 128 + (t ^ 1)) * 4 + part];
        REQUIRE(o[t * 4 + part] == sum);
      }
  });
}

TEST_CASE("tensor cores: halves, bytes, doubles") {
  for_each_program([](const Program& program, int architecture) {
    if (architecture < 80)
      return;
    const auto half = [](int value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); };
    std::vector<std::uint16_t> a(256), b(128);
    std::vector<int> va(256), vb(128);
    for (int i = 0; i < 256; ++i)
      a[i] = half(va[i] = static_cast<int>(generator() % 9) - 4);
    for (int i = 0; i < 128; ++i)
      b[i] = half(vb[i] = static_cast<int>(generator() % 9) - 4);
    std::vector<float> d(128);
    run_whole(program, "tensor", {1}, {32}, Parameters() << a << b << d);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        float sum = static_cast<float>(1 + column % 2 + 2 * (row / 8));
        for (int k = 0; k < 16; ++k)
          sum += static_cast<float>(va[row * 16 + k] * vb[k * 8 + column]);
        REQUIRE(d[row * 8 + column] == sum);
      }

    std::vector<u32> ba(128), bb(64);
    std::vector<int> bd(128);
    for (u32& value : ba)
      value = static_cast<u32>(generator());
    for (u32& value : bb)
      value = static_cast<u32>(generator());
    run_whole(program, "tensor_bytes", {1}, {32}, Parameters() << ba << bb << bd);
    const auto byte = [](const std::vector<u32>& words, int index) {
      return static_cast<std::int8_t>(words[index / 4] >> (8 * (index % 4)));
    };
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        int sum = column % 2 + 2 * (row / 8);
        for (int k = 0; k < 32; ++k)
          sum += byte(ba, row * 32 + k) * byte(bb, column * 32 + k);
        REQUIRE(bd[row * 8 + column] == sum);
      }

    std::vector<double> da(64), db(64), dc(64);
    for (double& value : da)
      value = uniform(-1, 1);
    for (double& value : db)
      value = uniform(-1, 1);
    run_whole(program, "tensor_doubles", {1}, {32}, Parameters() << da << db << dc);
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int k = 0; k < 8; ++k)
          sum = std::fma(da[row * 8 + k], db[k * 8 + column], sum);
        REQUIRE(dc[row * 8 + column] == sum);
      }
  });
}

TEST_CASE("barriers in shared memory") {
  for_each_program([](const Program& program, int architecture) {
    if (architecture < 80)
      return;
    const int rounds = 13;
    std::vector<int> o(128);
    int expected = 1;
    for (int r = 0; r < rounds; ++r)
      expected = expected * 3 + r;
    run_whole(program, "shared_barriers", {1}, {128}, Parameters() << o << rounds);
    CHECK(std::ranges::count(o, expected) == 128);
  });
}

TEST_CASE("bulk copies, and clusters that read each other's shared memory") {
  if (!has_toolkit())
    return;
  for (const int architecture : {90, 100, 120}) {
    INFO("sm_" << architecture);
    const Program program = load(compile("modern.cu", architecture));
    for (const Kernel& kernel : program.kernels())
      for (const UnsupportedInstruction& instruction : kernel.unsupported()) {
        INFO(kernel.name);
        CHECK(instruction.listing == "");
      }
    const int chunks = 7;
    std::vector<float> x(chunks * 256), o(256), expected(256);
    for (std::size_t i = 0; i < x.size(); ++i)
      expected[i % 256] += x[i] = static_cast<float>(static_cast<int>(uniform(0, 99)));
    run_whole(program, "bulk_sums", {1}, {256}, Parameters() << x << o << chunks);
    CHECK(o == expected);

    std::vector<float> addends(4 * 64), sums(8), sums_expected(8);
    std::vector<u32> halves(2);
    for (std::size_t i = 0; i < addends.size(); ++i) {
      addends[i] = static_cast<float>(static_cast<int>(uniform(0, 99)));
      sums_expected[i % 4] += addends[i];
      if (i % 4 < 2)
        sums_expected[4 + i % 4] += addends[i];
    }
    run_whole(program, "vector_sums", {1}, {64}, Parameters() << sums << halves << addends);
    CHECK(sums == sums_expected);
    CHECK(halves == std::vector<u32>{0x54005400, 0x58005800}); // 64 and 128 in each half

    std::vector<int> in(8 * 32), out(8 * 32);
    for (int& value : in)
      value = static_cast<int>(generator() % 1000);
    Launch launch;
    launch.cluster = {4};
    run_whole(program, "neighbours", {8}, {32}, Parameters() << in << out, launch);
    for (int i = 0; i < 8 * 32; ++i)
      REQUIRE(out[i] == in[i / 128 * 128 + (i / 32 + 1) % 4 * 32 + 31 - i % 32]);
  }
}

TEST_CASE("reductions of tiles, whose masks differ") {
  for_each_program([](const Program& program, int architecture) {
    if (architecture < 80)
      return;
    std::vector<u32> x(64), o(64);
    for (u32& value : x)
      value = static_cast<u32>(generator());
    run_whole(program, "tile_sums", {1}, {64}, Parameters() << x << o);
    for (std::size_t i = 0; i < 64; ++i) {
      u32 sum = 0, equal = 0;
      for (std::size_t j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) {
        sum += x[j];
        equal += (x[j] & 3) == (x[i] & 3);
      }
      REQUIRE(o[i] == sum + equal);
    }
  });
}

TEST_CASE("parameters of many bytes, by constant and by computed offsets") {
  if (!has_toolkit())
    return;
  for (const int architecture : {80, 90, 120}) {
    INFO("sm_" << architecture);
    const Program program = load(assemble(R"(.version 8.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .align 4 .b8 many[32000]) {
  .reg .u32 %r<9>; .reg .u64 %d<4>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2;
  ld.param.u32 %r2, [many]; ld.param.u32 %r3, [many+31996]; ld.param.u32 %r4, [many+15000];
  mov.b64 %d3, many; mul.wide.u32 %d2, %r1, 996; add.u64 %d3, %d3, %d2; ld.param.u32 %r5, [%d3];
  st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5}; ret; }
)",
                                          architecture));
    REQUIRE(program.kernels().front().parameter_bytes == 32008);
    REQUIRE(program.kernels().front().parameters.size() == 2);
    CHECK(program.kernels().front().parameters[1].offset == 8);
    CHECK(program.kernels().front().parameters[1].bytes == 32000);
    struct Many {
      u32 word[8000];
    } many;
    for (u32 i = 0; i < 8000; ++i)
      many.word[i] = i * 7;
    std::vector<u32> out(32 * 4);
    Parameters parameters;
    parameters << out;
    parameters.append(std::as_bytes(std::span(many.word)));
    run_whole(program, "k", {1}, {32}, parameters);
    for (u32 i = 0; i < 32; ++i) {
      CHECK(out[i * 4] == 0);
      CHECK(out[i * 4 + 1] == 7999 * 7);
      CHECK(out[i * 4 + 2] == 3750 * 7);
      CHECK(out[i * 4 + 3] == i * 249 * 7);
    }
  }
}
