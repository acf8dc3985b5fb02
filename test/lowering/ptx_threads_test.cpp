// Inline PTX between threads: shuffles, votes, matches, reductions and barriers in all their forms, and
// special registers.
#include "ptx_forms.h"
#include "test/catch.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <random>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("PTX: shfl.sync against the manual's pseudocode") {
  const char* modes[] = {"up", "down", "bfly", "idx"};
  // Widths 32, 16, 8 and 2, encoded as CUDA's functions encode their third operand, and one that is no power
  // of two.
  const unsigned clamps[] = {0x1f, 0x101f, 0x181f, 0x1e1f, 0x1000, 0x1800, 0x0, 0x14};
  std::string source = "__global__ void k(unsigned* out, const unsigned* by) {\n  const unsigned t = "
                       "threadIdx.x, v = 1000 + t;\n";
  std::size_t form = 0;
  for (const char* mode : modes)
    for (const unsigned clamp : clamps)
      source += fmt::format("  {{ unsigned d, p; asm volatile(\"{{.reg .pred p; shfl.sync.{}.b32 %0|p, %2, "
                            "%3, {:#x}, 0xffffffff; selp.u32 %1, 1, "
                            "0, p;}}\" : \"=r\"(d), \"=r\"(p) : \"r\"(v), \"r\"(by[32 * {} + t])); out[64 * "
                            "{} + t] = d; out[64 * {} + 32 + t] = "
                            "p; }}\n",
                            mode, clamp, form, form, form),
          ++form;
  const DeviceProgram program(source + "}\n");
  std::mt19937 random(3);
  std::vector<unsigned> by(32 * form), out(64 * form);
  for (unsigned& one : by)
    one = random() % 4 ? random() % 32 : random() % 64;
  for (std::size_t f = 0; f < form; ++f) // .up and .down shift all lanes alike in most programs
    if (f % 3 == 0)
      std::fill_n(by.begin() + static_cast<std::ptrdiff_t>(32 * f), 32, by[32 * f]);
  require_ok(program.run("k", {1}, {32}, 0, out.data(), by.data()));
  form = 0;
  for (const std::string mode : modes)
    for (const unsigned clamp : clamps) {
      unsigned wrong = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned b = by[32 * form + lane] & 0x1f, c = clamp & 0x1f, segmask = clamp >> 8 & 0x1f;
        const auto max_lane = static_cast<int>((lane & segmask) | (c & ~segmask));
        const auto min_lane = lane & segmask;
        int j = 0;
        bool p = false;
        if (mode == "up") {
          j = static_cast<int>(lane) - static_cast<int>(b);
          p = j >= max_lane;
        } else if (mode == "down") {
          j = static_cast<int>(lane + b);
          p = j <= max_lane;
        } else if (mode == "bfly") {
          j = static_cast<int>(lane ^ b);
          p = j <= max_lane;
        } else {
          j = static_cast<int>(min_lane | (b & ~segmask));
          p = j <= max_lane;
        }
        if (!p)
          j = static_cast<int>(lane);
        wrong += out[64 * form + lane] != 1000 + static_cast<unsigned>(j) || out[64 * form + 32 + lane] != p;
      }
      INFO(mode << " " << clamp);
      CHECK(wrong == 0);
      ++form;
    }
}

TEST_CASE("PTX: vote, match and redux, in whole warps and in parts") {
  const char* operations[] = {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                              "max.s32", "and.b32", "or.b32",  "xor.b32"};
  std::string source = R"(
    __global__ void k(unsigned* out, const unsigned* in) {
      const unsigned t = threadIdx.x % 32, warp = threadIdx.x / 32;
      const unsigned mask = warp == 0 ? ~0u : t % 3 == 0 ? 0x49249249u : 0xb6db6db6u;
      const unsigned v = in[threadIdx.x];
      unsigned r[21];
      asm volatile("{.reg .pred p, q; setp.gt.u32 p, %1, 100; vote.sync.all.pred q, p, %2; selp.u32 %0, 1, 0, q;}" : "=r"(r[0]) : "r"(v), "r"(mask));
      asm volatile("{.reg .pred p, q; setp.gt.u32 p, %1, 100; vote.sync.any.pred q, p, %2; selp.u32 %0, 1, 0, q;}" : "=r"(r[1]) : "r"(v), "r"(mask));
      asm volatile("{.reg .pred p, q; setp.gt.u32 p, %1, 100; vote.sync.uni.pred q, !p, %2; selp.u32 %0, 1, 0, q;}" : "=r"(r[2]) : "r"(v), "r"(mask));
      asm volatile("{.reg .pred p; setp.gt.u32 p, %1, 100; vote.sync.ballot.b32 %0, p, %2;}" : "=r"(r[3]) : "r"(v), "r"(mask));
      asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r[4]) : "r"(v % 4), "r"(mask));
      asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r[5]) : "l"((unsigned long long)(v % 4) << 40), "r"(mask));
      asm volatile("{.reg .pred p; match.all.sync.b32 %0|p, %2, %3; selp.u32 %1, 1, 0, p;}" : "=r"(r[6]), "=r"(r[7]) : "r"(v / 65536), "r"(mask));
      asm volatile("{.reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.u32 %1, 1, 0, p;}" : "=r"(r[8]), "=r"(r[9]) : "l"((unsigned long long)v << 32), "r"(mask));
      asm volatile("{.reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p;}" : "=r"(r[10]), "=r"(r[11]) : "r"(mask));
)";
  for (std::size_t i = 0; i < std::size(operations); ++i)
    source += fmt::format("      asm volatile(\"redux.sync.{} %0, %1, %2;\" : \"=r\"(r[{}]) : \"r\"(v * "
                          "2654435761u), \"r\"(mask));\n",
                          operations[i], 12 + i);
  source += "      for (int k = 0; k < 21; ++k) out[64 * k + threadIdx.x] = r[k];\n      out[64 * 21 + "
            "threadIdx.x] = mask;\n    }";
  const DeviceProgram program(source);
  std::mt19937 random(4);
  std::vector<unsigned> in(64), out(64 * 22);
  for (unsigned& one : in)
    one = random() % 400;
  for (unsigned t = 32; t < 64; t += 1)
    if (t % 32 % 3 == 0)
      in[t] = 200; // all alike in this part
  require_ok(program.run("k", {1}, {64}, 0, out.data(), in.data()));
  for (unsigned thread = 0; thread < 64; ++thread) {
    const unsigned mask = out[64 * 21 + thread], first = thread / 32 * 32;
    std::vector<unsigned> lanes;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (mask >> lane & 1)
        lanes.push_back(lane);
    const auto among = [&](auto holds) {
      unsigned bits = 0;
      for (const unsigned lane : lanes)
        bits |= holds(in[first + lane]) ? 1U << lane : 0;
      return bits;
    };
    const unsigned v = in[thread], large = among([](unsigned x) { return x > 100; });
    INFO(thread);
    CHECK(out[thread] == (large == mask));
    CHECK(out[64 + thread] == (large != 0));
    CHECK(out[128 + thread] == (large == 0 || large == mask));
    CHECK(out[192 + thread] == large);
    const unsigned alike = among([&](unsigned x) { return x % 4 == v % 4; });
    CHECK(out[256 + thread] == alike);
    CHECK(out[320 + thread] == alike);
    CHECK(out[384 + thread] == mask);
    CHECK(out[448 + thread] == 1);
    const bool all_same = among([&](unsigned x) { return x == v; }) == mask;
    CHECK(out[512 + thread] == (all_same ? mask : 0));
    CHECK(out[576 + thread] == all_same);
    CHECK(out[640 + thread] == lanes.front());
    CHECK(out[704 + thread] == (thread % 32 == lanes.front()));
    const auto value = [&](unsigned lane) { return in[first + lane] * 2654435761U; };
    std::vector<unsigned> expected(9, value(lanes.front()));
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      const unsigned x = value(lanes[i]);
      const auto as_signed = [](unsigned bits) { return static_cast<int>(bits); };
      expected[0] += x;
      expected[1] += x;
      expected[2] = std::min(expected[2], x);
      expected[3] = std::max(expected[3], x);
      expected[4] = static_cast<unsigned>(std::min(as_signed(expected[4]), as_signed(x)));
      expected[5] = static_cast<unsigned>(std::max(as_signed(expected[5]), as_signed(x)));
      expected[6] &= x;
      expected[7] |= x;
      expected[8] ^= x;
    }
    for (std::size_t i = 0; i < 9; ++i)
      CHECK(out[64 * (12 + i) + thread] == expected[i]);
  }
}

TEST_CASE("PTX: barriers of whole blocks and of parts, with reductions, and arrivals that do not wait") {
  const DeviceProgram program(R"(
    __global__ void k(unsigned* out) {
      __shared__ unsigned data[128], more[128];
      const unsigned t = threadIdx.x;
      unsigned r[7];
      data[t] = t;
      asm volatile("bar.sync 0;" ::: "memory");
      r[0] = data[127 - t];
      asm volatile("barrier.sync.aligned 1;" ::: "memory");
      data[t] = 2 * t;
      asm volatile("bar.cta.sync 2, 128;" ::: "memory");
      r[1] = data[127 - t];
      asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 50; bar.red.popc.u32 %0, 3, p;}" : "=r"(r[2]) : "r"(t) : "memory");
      asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 50; barrier.cta.red.popc.aligned.u32 %0, 4, 128, !p;}" : "=r"(r[3]) : "r"(t) : "memory");
      asm volatile("{.reg .pred p, q; setp.lt.u32 p, %1, 50; bar.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q;}" : "=r"(r[4]) : "r"(t) : "memory");
      asm volatile("{.reg .pred p, q; setp.lt.u32 p, %1, 50; bar.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q;}" : "=r"(r[5]) : "r"(t) : "memory");
      // Two warps produce, the two others consume: the producers do not wait.
      if (t < 64) {
        more[t] = 3 * t;
        asm volatile("barrier.cta.arrive 5, 128;" ::: "memory");
        r[6] = 0;
      } else {
        asm volatile("barrier.cta.sync 5, 128;" ::: "memory");
        r[6] = more[127 - t];
      }
      asm volatile("bar.warp.sync 0xffffffff; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
      for (int k = 0; k < 7; ++k) out[128 * k + t] = r[k];
    })");
  std::vector<unsigned> out(7 * 128);
  require_ok(program.run("k", {1}, {128}, 0, out.data()));
  for (unsigned t = 0; t < 128; ++t) {
    const std::vector<unsigned> expected = {127 - t, 2 * (127 - t), 50, 78, 0, 1, t < 64 ? 0 : 3 * (127 - t)};
    for (unsigned k = 0; k < 7; ++k)
      CHECK(out[128 * k + t] == expected[k]);
  }
}

TEST_CASE("PTX: special registers") {
  const std::vector<std::string> names = {"tid.x",
                                          "tid.y",
                                          "tid.z",
                                          "ntid.x",
                                          "ntid.y",
                                          "ntid.z",
                                          "ctaid.x",
                                          "ctaid.y",
                                          "ctaid.z",
                                          "nctaid.x",
                                          "nctaid.y",
                                          "nctaid.z",
                                          "laneid",
                                          "warpid",
                                          "lanemask_eq",
                                          "lanemask_lt",
                                          "lanemask_le",
                                          "lanemask_gt",
                                          "lanemask_ge",
                                          "clusterid.x",
                                          "nclusterid.y",
                                          "cluster_ctaid.x",
                                          "cluster_nctaid.x",
                                          "cluster_ctarank",
                                          "cluster_nctarank"};
  std::string source =
      "__global__ void k(unsigned* out) {\n"
      "  const unsigned t = (threadIdx.z * 3 + threadIdx.y) * 8 + threadIdx.x;\n"
      "  unsigned* mine = out + 32 * (48 * ((blockIdx.z * 2 + blockIdx.y) * 2 + blockIdx.x) + t);\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    source += fmt::format("  asm volatile(\"mov.u32 %0, %%{};\" : \"=r\"(mine[{}]));\n", names[i], i);
  source += R"(
      unsigned long long clock, timer, later;
      unsigned low, high, half;
      asm volatile("mov.u64 %0, %%clock64; mov.u32 %1, %%clock; mov.u32 %2, %%clock_hi;" : "=l"(clock), "=r"(low), "=r"(half));
      asm volatile("mov.u64 %0, %%globaltimer; mov.u32 %1, %%globaltimer_lo; mov.u32 %2, %%globaltimer_hi;" : "=l"(timer), "=r"(low), "=r"(high));
      asm volatile("nanosleep.u32 100; mov.u64 %0, %%clock64;" : "=l"(later));
      const unsigned long long joined = (unsigned long long)high << 32 | low;
      mine[30] = later >= clock && joined >= timer && joined - timer < 1000000000 && half == (unsigned)(clock >> 32);
      asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.inc.sync.aligned.u32 96; pmevent 1;" ::: "memory");
      asm volatile("{.reg .u32 a; mapa.shared::cluster.u32 a, %1, 0; sub.u32 %0, a, %1;}" : "=r"(mine[29]) : "r"(64u + t));
      asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(mine[28]) : "r"(64u));
      asm volatile("activemask.b32 %0;" : "=r"(mine[27]));
    })";
  const DeviceProgram program(source);
  std::vector<unsigned> out(32 * 48 * 8);
  require_ok(program.run("k", {2, 2, 2}, {8, 3, 2}, 0, out.data()));
  for (unsigned block = 0; block < 8; ++block)
    for (unsigned t = 0; t < 48; ++t) {
      const unsigned* mine = &out[32 * (48 * block + t)];
      const unsigned lane = t % 32, bit = 1U << lane;
      const std::vector<unsigned> expected = {
          t % 8,      t / 8 % 3, t / 24, 8,    3,      2,   block % 2, block / 2 % 2,   block / 4,
          2,          2,         2,      lane, t / 32, bit, bit - 1,   bit | (bit - 1), ~(bit | (bit - 1)),
          ~(bit - 1), block % 2, 2,      0,    1,      0,   1};
      for (std::size_t i = 0; i < names.size(); ++i) {
        INFO(names[i]);
        REQUIRE(mine[i] == expected[i]);
      }
      CHECK(mine[27] == (t < 32 ? ~0U : 0xffffU));
      CHECK(mine[28] == 0);
      CHECK(mine[29] == 0);
      CHECK(mine[30] == 1);
    }
}

TEST_CASE("PTX: exit, trap and brkpt") {
  const DeviceProgram program(R"(
    __global__ void leaves(int* out) { if (threadIdx.x > 3) asm volatile("exit;"); __syncthreads(); asm volatile("brkpt;"); out[threadIdx.x] = 1; }
    __global__ void fails(int* out) { if (threadIdx.x == 3) asm volatile("trap;"); out[threadIdx.x] = 1; })");
  std::vector<int> out(32);
  require_ok(program.run("leaves", {1}, {32}, 0, out.data()));
  for (int t = 0; t < 32; ++t)
    CHECK(out[static_cast<std::size_t>(t)] == (t <= 3));
  CHECK(program.run("fails", {1}, {32}, 0, out.data()).status == cpu::BlockStatus::failed);
}
