// Inline PTX that touches memory: loads, stores and atomics in all their forms, asynchronous copies,
// mbarrier.
#include "ptx_forms.h"
#include "test/catch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <random>

using namespace warplens;
using namespace warplens::test;

namespace {

struct Access {
  const char* type;
  unsigned bits;
  bool is_signed;
};
constexpr Access accesses[] = {{"u8", 8, false},   {"s8", 8, true},    {"b8", 8, false},   {"u16", 16, false},
                               {"s16", 16, true},  {"b16", 16, false}, {"u32", 32, false}, {"s32", 32, true},
                               {"b32", 32, false}, {"f32", 32, false}, {"u64", 64, false}, {"s64", 64, true},
                               {"b64", 64, false}, {"f64", 64, false}};

/// Returns an asm statement with these operands; `r` is the result.
std::string statement(const std::string& text, const std::string& operands) {
  return fmt::format("  asm volatile(\"{{ .reg .b64 r; .reg .pred p; {} }}\" {} : \"memory\");\n", text,
                     operands);
}

} // namespace

TEST_CASE("PTX: loads and stores with every cache operator and order, single and in vectors") {
  const std::vector<std::string> of_loads = {"",
                                             ".ca",
                                             ".cg",
                                             ".cs",
                                             ".lu",
                                             ".cv",
                                             ".weak",
                                             ".volatile",
                                             ".relaxed.cta",
                                             ".relaxed.gpu",
                                             ".relaxed.sys",
                                             ".acquire.cta",
                                             ".acquire.gpu",
                                             ".acquire.sys",
                                             ".global",
                                             ".global.nc",
                                             ".global.ca.nc",
                                             ".global.L1::no_allocate",
                                             ".global.nc.L1::evict_last",
                                             ".global.L1::evict_first.L2::128B",
                                             ".mmio.relaxed.sys.global",
                                             ".volatile.global"};
  const std::vector<std::string> of_stores = {"",
                                              ".wb",
                                              ".cg",
                                              ".cs",
                                              ".wt",
                                              ".weak",
                                              ".volatile",
                                              ".relaxed.cta",
                                              ".relaxed.gpu",
                                              ".relaxed.sys",
                                              ".release.cta",
                                              ".release.gpu",
                                              ".release.sys",
                                              ".global",
                                              ".global.L1::no_allocate",
                                              ".mmio.relaxed.sys.global",
                                              ".volatile.global"};
  struct Form {
    std::string text;
    Access access;
    unsigned elements;
    bool stores;
  };
  std::vector<Form> forms;
  for (const bool stores : {false, true})
    for (const std::string& variant : stores ? of_stores : of_loads)
      for (const Access& access : accesses)
        for (const unsigned elements : {1U, 2U, 4U}) {
          if (elements * access.bits > 128 || (elements > 1 && variant.find("mmio") != variant.npos))
            continue;
          std::string vector, registers = "r", declared;
          if (elements > 1) {
            vector = fmt::format(".v{}", elements);
            registers.clear();
            for (unsigned i = 0; i < elements; ++i)
              registers += fmt::format("{}r{}", i ? ", " : "", i);
            declared = fmt::format(".reg .b64 {}; ", registers);
            registers = "{{" + registers + "}}";
          }
          const std::string name =
              fmt::format("{}{}{}.{}", stores ? "st" : "ld", variant, vector, access.type);
          forms.push_back({name, access, elements, stores});
        }
  std::string source = "__global__ void k(unsigned long long* out, const unsigned long long* in) {\n";
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Form& form = forms[i];
    std::string registers, declared, moves;
    for (unsigned e = 0; e < form.elements; ++e) {
      registers += fmt::format("{}r{}", e ? ", " : "", e);
      declared += fmt::format(".reg .b64 r{}; ", e);
      // A store takes its elements from `in`, a load puts them into `out`, 64 bits each.
      moves += form.stores ? fmt::format("ld.b64 r{}, [%1+{}]; ", e, 8 * e)
                           : fmt::format("st.b64 [%0+{}], r{}; ", 8 * e, e);
    }
    const std::string operand = form.elements > 1 ? "{" + registers + "}" : registers;
    const std::string access = form.stores ? fmt::format("{} [%0], {}; ", form.text, operand)
                                           : fmt::format("{} {}, [%1]; ", form.text, operand);
    source += statement(declared + (form.stores ? moves + access : access + moves),
                        fmt::format(":: \"l\"(out + {}), \"l\"(in)", 4 * i));
  }
  const DeviceProgram program(source + "}\n");
  alignas(16)
      const Word in[4] = {0x8899aabbccddeeff, 0x1122334455667788, 0xf0e1d2c3b4a59687, 0x0123456789abcdef};
  std::vector<Word> out(4 * forms.size() + 2, 0);
  Word* aligned = out.data() + (std::bit_cast<Word>(out.data()) % 16 ? 1 : 0);
  require_ok(program.run("k", {1}, {1}, 0, aligned, &in[0]));
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Form& form = forms[i];
    INFO(form.text);
    const unsigned bytes = form.access.bits / 8;
    if (form.stores) {
      unsigned char expected[32] = {};
      for (unsigned e = 0; e < form.elements; ++e)
        std::memcpy(expected + e * bytes, &in[e], bytes);
      CHECK(std::memcmp(expected, aligned + 4 * i, sizeof expected) == 0);
      continue;
    }
    for (unsigned e = 0; e < form.elements; ++e) {
      Word value = 0;
      std::memcpy(&value, reinterpret_cast<const unsigned char*>(in) + e * bytes, bytes);
      if (form.access.is_signed)
        value = static_cast<Word>(as_signed(value, form.access.bits));
      CHECK(fmt::format("{:x}", aligned[4 * i + e]) == fmt::format("{:x}", value));
    }
  }
}

TEST_CASE("PTX: loads and stores in each space, with offsets and cache policies") {
  const DeviceProgram program(R"(
    __constant__ unsigned table[4] = {7, 8, 9, 10};
    __global__ void k(unsigned* out) {
      __shared__ unsigned tile[8];
      unsigned own[4];
      const unsigned shared = (unsigned)__cvta_generic_to_shared(tile);
      unsigned long long policy, constant, local;
      asm volatile("st.shared.u32 [%0+4], %1; st.shared::cta.v2.u32 [%0+8], {%1, %2};" :: "r"(shared), "r"(5u), "r"(6u) : "memory");
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+8];" : "=r"(out[0]), "=r"(out[1]) : "r"(shared) : "memory");
      asm volatile("ld.u32 %0, [%1];" : "=r"(out[2]) : "l"(tile + 1) : "memory");
      asm("cvta.to.const.u64 %0, %1;" : "=l"(constant) : "l"(table));
      asm volatile("ld.const.u32 %0, [%1+12];" : "=r"(out[3]) : "l"(constant));
      asm("cvta.to.local.u64 %0, %1;" : "=l"(local) : "l"(own));
      asm volatile("st.local.u32 [%0], 11; st.local.wb.u32 [%0+-0], 12;" :: "l"(local) : "memory");
      out[4] = own[0];
      asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
      asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" :: "l"(out + 5), "r"(13u), "l"(policy) : "memory");
      asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(out[6]) : "l"(out + 5), "l"(policy) : "memory");
      asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0]; prefetchu.L1 [%0]; prefetch.global.L2::evict_last [%0];"
                   "applypriority.global.L2::evict_normal [%0], 128; discard.global.L2 [%0], 128;" :: "l"(out));
      unsigned spaces = 0;
      const void* const places[4] = {out, tile, table, own};
      for (int i = 0; i < 4; ++i) {
        unsigned is[4];
        asm("{.reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is[0]) : "l"(places[i]));
        asm("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is[1]) : "l"(places[i]));
        asm("{.reg .pred p; isspacep.const p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is[2]) : "l"(places[i]));
        asm("{.reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is[3]) : "l"(places[i]));
        for (int k = 0; k < 4; ++k) spaces |= is[k] << (4 * i + k);
      }
      out[7] = spaces;
      unsigned long long generic;
      asm("{.reg .u64 a; cvt.u64.u32 a, %1; cvta.shared.u64 %0, a;}" : "=l"(generic) : "r"(shared));
      out[8] = generic == (unsigned long long)tile;
      asm volatile("membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.acq_rel.sys; fence.sc.gpu;"
                   "fence.proxy.async; fence.proxy.alias; fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;" ::: "memory");
    })");
  REQUIRE(program.kernel("k").untraced_block != nullptr);
  const std::vector<unsigned> expected{5, 6, 5, 10, 12, 13, 13, 0x8421, 1};
  std::vector<unsigned> out(9), traced(9);
  require_ok(program.run("k", {1}, {1}, 0, out.data()));
  CHECK(out == expected);
  std::vector<Seen> seen;
  require_ok(program.trace(seen, "k", {1}, {1}, 0, traced.data()));
  CHECK(traced == expected);
}

TEST_CASE("PTX: local memory in a kernel with barriers") {
  const DeviceProgram program(R"(
    __global__ void k(unsigned* out) {
      unsigned own[4] = {threadIdx.x, 2, 3, 4};
      __syncthreads();
      own[out[threadIdx.x] % 4] += 5;
      unsigned is_local, is_global;
      asm("{.reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_local) : "l"(own));
      asm("{.reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_global) : "l"(own));
      __syncthreads();
      out[threadIdx.x] = own[threadIdx.x % 4] * 100 + is_local * 10 + is_global;
    })");
  REQUIRE(program.kernel("k").untraced_block != nullptr);
  std::vector<unsigned> out(64), expected;
  for (unsigned t = 0; t < 64; ++t)
    expected.push_back((t % 4 ? t % 4 + 1 : t + 5) * 100 + 10);
  require_ok(program.run("k", {1}, {64}, 0, out.data()));
  CHECK(out == expected);
}

namespace {

struct Atomic {
  std::string type;
  unsigned bits;
  std::string operation;
  std::function<Word(Word memory, Word b, Word c)> result; ///< the words are low_bits to the width
};

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  for (const unsigned bits : {32U, 64U}) {
    const std::string width = std::to_string(bits);
    const auto add = [&](const std::string& type, const char* operation,
                         std::function<Word(Word, Word, Word)> result) {
      all.push_back({type + width, bits, operation, std::move(result)});
    };
    add("b", "and", [](Word m, Word b, Word) { return m & b; });
    add("b", "or", [](Word m, Word b, Word) { return m | b; });
    add("b", "xor", [](Word m, Word b, Word) { return m ^ b; });
    add("b", "exch", [](Word, Word b, Word) { return b; });
    add("b", "cas", [](Word m, Word b, Word c) { return m == b ? c : m; });
    add("u", "add", [](Word m, Word b, Word) { return m + b; });
    add("u", "min", [](Word m, Word b, Word) { return std::min(m, b); });
    add("u", "max", [](Word m, Word b, Word) { return std::max(m, b); });
    add("s", "min", [=](Word m, Word b, Word) { return as_signed(m, bits) < as_signed(b, bits) ? m : b; });
    add("s", "max", [=](Word m, Word b, Word) { return as_signed(m, bits) > as_signed(b, bits) ? m : b; });
  }
  all.push_back({"s32", 32, "add", [](Word m, Word b, Word) { return m + b; }});
  all.push_back({"u32", 32, "inc", [](Word m, Word b, Word) { return m >= b ? 0 : m + 1; }});
  all.push_back({"u32", 32, "dec", [](Word m, Word b, Word) { return m == 0 || m > b ? b : m - 1; }});
  all.push_back({"b16", 16, "cas", [](Word m, Word b, Word c) { return m == b ? c : m; }});
  all.push_back({"f32", 32, "add", [](Word m, Word b, Word) -> Word {
                   return std::bit_cast<std::uint32_t>(std::bit_cast<float>(static_cast<std::uint32_t>(m)) +
                                                       std::bit_cast<float>(static_cast<std::uint32_t>(b)));
                 }});
  all.push_back({"f64", 64, "add", [](Word m, Word b, Word) {
                   return std::bit_cast<Word>(std::bit_cast<double>(m) + std::bit_cast<double>(b));
                 }});
  return all;
}

} // namespace

TEST_CASE("PTX: atom and red with every operation, type, order and scope") {
  const std::vector<std::string> variants = {"",
                                             ".global",
                                             ".relaxed.cta",
                                             ".acquire.gpu",
                                             ".release.sys",
                                             ".acq_rel.cluster",
                                             ".relaxed.gpu.global"};
  const auto all = atomics();
  std::string source = "__global__ void k(unsigned long long* cells, unsigned long long* before, const "
                       "unsigned long long* in) {\n";
  std::size_t cells = 0;
  for (const Atomic& one : all)
    for (const std::string& variant : variants)
      for (const bool returns : {true, false}) {
        if (!returns && (one.operation == "exch" || one.operation == "cas"))
          continue;
        const bool swaps = one.operation == "cas";
        source +=
            statement(fmt::format(".reg .b{0} b, c, d; cvt.u{0}.u64 b, %2; cvt.u{0}.u64 c, %3; "
                                  "{1}{2}.{3}.{4} {5}[%0], b{6}; {7}",
                                  one.bits, returns ? "atom" : "red", variant, one.operation, one.type,
                                  returns ? "d, " : "", swaps ? ", c" : "",
                                  returns ? fmt::format("cvt.u64.u{} r, d; st.u64 [%1], r;", one.bits) : ""),
                      fmt::format(":: \"l\"(cells + {0} * blockDim.x + threadIdx.x), \"l\"(before + {0} * "
                                  "blockDim.x + threadIdx.x), "
                                  "\"l\"(in[2 * threadIdx.x]), \"l\"(in[2 * threadIdx.x + 1])",
                                  cells));
        ++cells;
      }
  const DeviceProgram program(source + "}\n");
  constexpr std::uint32_t threads = 64;
  std::mt19937_64 random(2);
  const auto any = [&] { return random() % 3 ? random() & 0xbfffffffbfffffff : random() % 5; };
  std::vector<Word> in(2 * threads), memory(cells * threads), before(cells * threads);
  for (Word& word : in)
    word = any();
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = random() % 4 ? any() : in[2 * (i % threads)]; // sometimes the comparison succeeds
  const auto at_first = memory;
  require_ok(program.run("k", {1}, {threads}, 0, memory.data(), before.data(), in.data()));
  std::size_t cell = 0;
  for (const Atomic& one : all)
    for (const std::string& variant : variants)
      for (const bool returns : {true, false}) {
        if (!returns && (one.operation == "exch" || one.operation == "cas"))
          continue;
        unsigned wrong = 0;
        for (unsigned t = 0; t < threads; ++t) {
          const Word old = low_bits(at_first[cell * threads + t], one.bits),
                     rest = at_first[cell * threads + t] ^ old;
          const Word now =
              low_bits(one.result(old, low_bits(in[2 * t], one.bits), low_bits(in[2 * t + 1], one.bits)),
                       one.bits) |
              rest;
          wrong += memory[cell * threads + t] != now || (returns && before[cell * threads + t] != old);
        }
        INFO((returns ? "atom" : "red") << variant << "." << one.operation << "." << one.type);
        CHECK(wrong == 0);
        ++cell;
      }
}

TEST_CASE("PTX: atom and red on shared memory, on halves and on vectors") {
  const DeviceProgram program(R"(
    __global__ void k(unsigned* out, float* vector) {
      __shared__ unsigned cells[4];
      if (threadIdx.x < 4) cells[threadIdx.x] = 0;
      __syncthreads();
      const unsigned shared = (unsigned)__cvta_generic_to_shared(cells);
      unsigned old;
      asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(shared) : "memory");
      asm volatile("red.shared.or.b32 [%0+4], %1;" :: "r"(shared), "r"(1u << threadIdx.x) : "memory");
      asm volatile("atom.shared.add.noftz.f16x2 %0, [%1+8], %2;" : "=r"(old) : "r"(shared), "r"(0x3c003800u) : "memory");
      asm volatile("red.shared.add.noftz.bf16x2 [%0+12], %1;" :: "r"(shared), "r"(0x3f803f00u) : "memory");
      asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" :: "l"(vector), "f"(1.f), "f"(2.f) : "memory");
      __syncthreads();
      if (threadIdx.x < 4) out[threadIdx.x] = cells[threadIdx.x];
    })");
  std::vector<unsigned> out(4);
  std::vector<float> vector(2);
  require_ok(program.run("k", {1}, {32}, 0, out.data(), vector.data()));
  CHECK(out == std::vector<unsigned>{32, ~0U, 0x50004c00, 0x42004180}); // 32 and 16, in both formats
  CHECK(vector == std::vector<float>{32, 64});
}

TEST_CASE("PTX: asynchronous copies") {
  const DeviceProgram program(R"(
    __global__ void k(unsigned* out, const unsigned* in) {
      __shared__ __align__(16) unsigned tile[32];
      __shared__ unsigned long long barrier;
      const unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(&barrier);
      for (int i = 0; i < 32; ++i) tile[i] = 99;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in) : "memory");
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(to + 8), "l"(in + 2) : "memory");
      asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(to + 16), "l"(in + 4) : "memory");
      asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 16, %2;" :: "r"(to + 32), "l"(in + 8), "r"(6) : "memory");
      asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" :: "r"(to + 48), "l"(in + 12), "n"(16), "n"(0) : "memory");
      asm volatile("cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;" ::: "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" :: "r"(at) : "memory");
      unsigned done;
      asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at) : "memory");
      out[32] = done;
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" :: "r"(to + 64), "l"(in + 16), "r"(at) : "memory");
      asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at) : "memory");
      out[33] = done;
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" :: "l"(out), "r"(to) : "memory");
    })");
  alignas(16) unsigned in[32];
  for (unsigned i = 0; i < 32; ++i)
    in[i] = i + 1;
  alignas(16) unsigned out[34];
  require_ok(program.run("k", {1}, {1}, 0, &out[0], static_cast<const unsigned*>(in)));
  const std::vector<unsigned> expected = {1, 99, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0};
  for (unsigned i = 0; i < 32; ++i) {
    INFO(i);
    CHECK(out[i] == (i == 9 ? 10U : i < 16 ? expected[i] : i + 1));
  }
  CHECK(out[32] == 0);
  CHECK(out[33] == 1);
}

TEST_CASE("PTX: an mbarrier's phases, counts and bytes") {
  const DeviceProgram program(R"(
    __device__ unsigned completed(unsigned at, unsigned parity) {
      unsigned done;
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, 100; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at), "r"(parity) : "memory");
      return done;
    }
    __device__ unsigned completed_since(unsigned at, unsigned long long state) {
      unsigned done;
      asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at), "l"(state) : "memory");
      return done;
    }
    __device__ unsigned pending(unsigned long long state) {
      unsigned count;
      asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
      return count;
    }
    __global__ void k(unsigned* out) {
      __shared__ unsigned long long barrier;
      const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
      unsigned long long first, state;
      asm volatile("mbarrier.init.shared.b64 [%0], 4;" :: "r"(at) : "memory");
      *out++ = completed(at, 1); *out++ = completed(at, 0);             // the phase before the first counts as complete
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(first) : "r"(at) : "memory");
      asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at) : "memory");
      *out++ = pending(state); *out++ = completed_since(at, first);
      asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
      *out++ = pending(state); *out++ = completed_since(at, first); *out++ = completed(at, 0); *out++ = completed(at, 1);
      asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;" : "=l"(state) : "r"(at) : "memory");
      *out++ = completed(at, 1);                                        // the second phase
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;" : "=l"(state) : "r"(at) : "memory");
      *out++ = pending(state); *out++ = completed(at, 0);               // the third, without the thread that left
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 100;" :: "r"(at) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 28;" : "=l"(state) : "r"(at) : "memory");
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at) : "memory");
      *out++ = completed_since(at, state);                              // bytes are outstanding
      asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 127;" :: "r"(at) : "memory");
      *out++ = completed_since(at, state);
      asm volatile("mbarrier.complete_tx.shared.b64 [%0], 1;" :: "r"(at) : "memory");
      *out++ = completed_since(at, state);
      asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0]; cp.async.mbarrier.arrive.noinc.shared.b64 [%0]; cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at) : "memory");
      *out++ = completed(at, 0);
      asm volatile("cp.async.mbarrier.arrive.noinc.b64 [%0];" :: "l"(&barrier) : "memory");
      *out++ = completed(at, 0);
      asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at) : "memory");
    })");
  std::vector<unsigned> out(16);
  require_ok(program.run("k", {1}, {1}, 0, out.data()));
  CHECK(out == std::vector<unsigned>{1, 0, 3, 0, 1, 1, 1, 0, 1, 3, 1, 0, 0, 1, 0, 1});
}

TEST_CASE("misuse of an mbarrier is reported") {
  const DeviceProgram program(R"(
    __device__ void prepare(unsigned long long* barrier, unsigned count) {
      if (threadIdx.x == 0) asm volatile("mbarrier.init.b64 [%0], %1;" :: "l"(barrier), "r"(count) : "memory");
      __syncthreads();
    }
    __global__ void stuck() {
      __shared__ unsigned long long barrier;
      prepare(&barrier, 33); // one more than will arrive
      unsigned long long state;
      unsigned done = 0;
      asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(&barrier) : "memory");
      while (!done) {
        asm volatile("{.reg .pred p; mbarrier.test_wait.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "l"(&barrier), "l"(state) : "memory");
        __nanosleep(10);
      }
    }
    __global__ void crowded() {
      __shared__ unsigned long long barrier;
      prepare(&barrier, 1);
      asm volatile("mbarrier.expect_tx.b64 [%0], 4; mbarrier.arrive.b64 _, [%0];" :: "l"(&barrier) : "memory");
    })");
  const auto stuck = program.run("stuck", {1}, {32}, 0);
  INFO(stuck.message);
  CHECK(stuck.status == cpu::BlockStatus::deadlocked);
  CHECK(stuck.message.find("32 threads of warp 0 wait at ") != std::string::npos);
  CHECK(stuck.message.find(", for an mbarrier") != std::string::npos);
  const auto crowded = program.run("crowded", {1}, {32}, 0);
  CHECK(crowded.status == cpu::BlockStatus::failed);
  CHECK(crowded.message.find("more threads arrive at an mbarrier than it waits for (1 and 0)") !=
        std::string::npos);
}
