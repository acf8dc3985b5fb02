// Tests that no bytes of a cubin and no launch crash the executor, and that damage to code is found.
#include "sass/elf.h"
#include "test/machine/run_kernel.h"

using namespace warplens;
using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

/// Executes each kernel of a program on small arrays; returns what was written, or how it ended.
std::string outcome_of(const Program& program, std::mt19937_64& random) {
  std::string text;
  for (const Kernel& kernel : program.kernels()) {
    std::vector<u32> data(1024);
    for (u32& value : data)
      value = static_cast<u32>(random());
    const std::vector<u32> before = data;
    Launch launch{.grid = {2}, .block = {64}};
    launch.instruction_limit = 3000;
    launch.quantum = 500;
    const u64 address = reinterpret_cast<std::uintptr_t>(data.data());
    for (u32 i = 0; i < kernel.parameter_bytes / 8 && i < 16; ++i) {
      launch.parameters.resize(launch.parameters.size() + 8);
      std::memcpy(launch.parameters.data() + 8 * i, &address, 8);
    }
    Memory memory({{address, data.size() * 4, reinterpret_cast<const std::byte*>(data.data())}}, true);
    const Outcome outcome = execute(program, kernel, launch, memory);
    CHECK(outcome.is_finished() == outcome.reason.empty());
    CHECK(outcome.reason.find('\n') == std::string::npos);
    CHECK(data == before); // the caller's memory is never changed
    u64 sum = 0;
    memory.for_each_written_word([&](u64 at, u32, u32 value, u32 writer) {
      CHECK(at - address < data.size() * 4);
      CHECK(writer < kernel.instruction_count());
      sum = sum * 31 + value + at - address;
    });
    text +=
        kernel.name + " " + std::to_string(static_cast<int>(outcome.kind)) + " " + std::to_string(sum) + "\n";
  }
  return text;
}

std::string small_cubin(int architecture) {
  return assemble(R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u32 %r<8>; .reg .u64 %d<4>; .reg .pred %p; .reg .f32 %f<4>;
  .shared .u32 s[64]; .local .u32 stack[8];
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1]; mov.u32 %r5, s; mad.lo.u32 %r5, %r1, 4, %r5; st.shared.u32 [%r5], %r2; bar.sync 0;
  mov.u32 %r3, 0;
L: xor.b32 %r4, %r1, %r3; mov.u32 %r5, s; mad.lo.u32 %r5, %r4, 4, %r5; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r2, %r2, 5, %r6;
  shfl.sync.bfly.b32 %r6, %r2, 1, 31, -1; add.u32 %r2, %r2, %r6;
  cvt.rn.f32.u32 %f1, %r2; fma.rn.f32 %f2, %f1, 0f3F000000, %f1; cvt.rzi.u32.f32 %r7, %f2; add.u32 %r2, %r2, %r7;
  and.b32 %r7, %r2, 7; mov.u32 %r5, stack; mad.lo.u32 %r5, %r7, 4, %r5; st.local.u32 [%r5], %r2; ld.local.u32 %r6, [stack+8]; add.u32 %r2, %r2, %r6;
  add.u32 %r3, %r3, 1; and.b32 %r6, %r2, 3; add.u32 %r6, %r6, 5; setp.lt.u32 %p, %r3, %r6; @%p bra L;
  st.global.u32 [%d1], %r2; ret; }
)",
                  architecture);
}

} // namespace

TEST_CASE("random damage never crashes loading or execution") {
  if (!has_toolkit())
    return;
  std::mt19937_64 random(2026);
  for (const int architecture : {75, 80, 90, 100, 120}) {
    const std::string cubin = small_cubin(architecture);
    std::size_t refused = 0, executed = 0;
    for (int round = 0; round < 600; ++round) {
      std::string damaged = cubin;
      for (auto damages = 1 + random() % 6; damages > 0; --damages)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      const auto program = Program::load(std::as_bytes(std::span(damaged)));
      if (!program) {
        CHECK(program.error().message.find('\n') == std::string::npos);
        ++refused;
        continue;
      }
      ++executed;
      outcome_of(*program, random);
    }
    CHECK(refused > 0);
    CHECK(executed > 300);
  }
}

TEST_CASE("random instructions never crash execution") {
  if (!has_toolkit())
    return;
  std::mt19937_64 random(5);
  for (const int architecture : {75, 80, 90, 100, 120}) {
    const std::string cubin = small_cubin(architecture);
    const auto elf = sass::read_elf(std::as_bytes(std::span(cubin)));
    REQUIRE(elf);
    const sass::Section* text = elf->find(".text.k");
    REQUIRE(text);
    const auto begin = static_cast<std::size_t>(text->bytes.data() - std::as_bytes(std::span(cubin)).data());
    // The codes of the instructions that there are, with random fields: most are executed.
    for (int round = 0; round < 600; ++round) {
      std::string changed = cubin;
      for (std::size_t i = 0; i < 12; ++i) {
        const std::size_t at = begin + random() % (text->bytes.size() / 16) * 16;
        u64 low = 0, high = 0;
        std::memcpy(&low, changed.data() + at, 8);
        std::memcpy(&high, changed.data() + at + 8, 8);
        switch (random() % 4) {
        case 0: low ^= u64{1} << (random() % 64); break;
        case 1: high ^= u64{1} << (random() % 41); break;
        case 2: low = (low & 0xfff) | (random() & ~u64{0xfff}); break;
        default: low = (low & ~u64{0x1ff}) | random() % 0x1ff; break;
        }
        std::memcpy(changed.data() + at, &low, 8);
        std::memcpy(changed.data() + at + 8, &high, 8);
      }
      const auto program = Program::load(std::as_bytes(std::span(changed)));
      REQUIRE(program);
      outcome_of(*program, random);
    }
  }
}

TEST_CASE("a flipped bit of code changes what is written, or is refused") {
  if (!has_toolkit())
    return;
  for (const int architecture : {80, 90, 120}) {
    const std::string cubin = small_cubin(architecture);
    const auto elf = sass::read_elf(std::as_bytes(std::span(cubin)));
    REQUIRE(elf);
    const sass::Section* text = elf->find(".text.k");
    const auto begin = static_cast<std::size_t>(text->bytes.data() - std::as_bytes(std::span(cubin)).data());
    std::mt19937_64 first(1);
    const std::string expected = outcome_of(load(cubin), first);
    std::size_t found = 0, all = 0;
    for (std::size_t at = 0; at < text->bytes.size(); at += 16) {
      const std::string listing = load(cubin).kernels().front().listing_of(static_cast<u32>(at / 16));
      if (listing.starts_with("NOP"))
        continue;
      if (listing.starts_with("EXIT"))
        break;
      for (const unsigned bit : {0u, 3u, 16u, 24u, 32u, 33u, 72u, 74u, 76u}) {
        std::string changed = cubin;
        changed[begin + at + bit / 8] = static_cast<char>(changed[begin + at + bit / 8] ^ (1 << (bit % 8)));
        std::mt19937_64 again(1);
        ++all;
        found += outcome_of(load(changed), again) != expected;
      }
    }
    // Some bits have no effect on the result, as those of registers that are not read again.
    CHECK(all > 200);
    CHECK(static_cast<double>(found) > 0.6 * static_cast<double>(all));
  }
}

TEST_CASE("impossible launches are refused") {
  if (!has_toolkit())
    return;
  const Program program = load(small_cubin(80));
  const Kernel& kernel = program.kernels().front();
  Memory memory({});
  const auto reason = [&](Launch launch, std::vector<u64> blocks = {0}) {
    const Outcome outcome = execute(program, kernel, launch, blocks, memory);
    CHECK(outcome.kind == Outcome::Kind::refused);
    return outcome.reason;
  };
  CHECK(reason({.grid = {0}}) == "a dimension of the launch is zero");
  CHECK(reason({.block = {1025}}) == "a block of 1025 threads");
  CHECK(reason({.block = {512, 4}}) == "a block of 2048 threads");
  CHECK(reason({.grid = {3}, .cluster = {2}}) == "the grid is no multiple of the clusters");
  CHECK(reason({.dynamic_shared_bytes = 1u << 20}) == "too much shared memory");
  CHECK(reason({.grid = {2}}, {2}) == "a block that the grid does not have");
  CHECK(execute(program, load(small_cubin(80)).kernels().front(), {}, memory).reason ==
        "the kernel is not one of the program");
}

TEST_CASE("an unlinked cubin is refused, and an unknown instruction only where it is reached") {
  if (!has_toolkit())
    return;
  const auto folder = TemporaryDirectory::create();
  const std::string object =
      compiled({ptxas(), "-c", "-arch=sm_80",
                [&] {
                  const auto file = folder->path() / "k.ptx";
                  REQUIRE(write_file(
                      file, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"));
                  return file.string();
                }()},
               folder->path() / "k.o");
  const auto unlinked = Program::load(std::as_bytes(std::span(object)));
  REQUIRE_FALSE(unlinked);
  CHECK(unlinked.error().message == "the cubin is not linked: its functions' addresses are not known");

  const std::string cubin = assemble(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 q) {
  .reg .u32 %r<4>; .reg .u64 %d; .reg .pred %p;
  ld.param.u64 %d, [p]; ld.param.u32 %r1, [q]; setp.eq.u32 %p, %r1, 0; @%p bra L;
  bar.sync 0; txq.width.b32 %r2, [%d]; st.global.u32 [%d], %r2; ret;
L: st.global.u32 [%d], 7; ret; }
)",
                                     80);
  const Program program = load(cubin);
  const Kernel& kernel = program.kernels().front();
  REQUIRE(kernel.unsupported().size() == 1);
  std::vector<u32> out(1);
  const u32 no = 0, yes = 1;
  run_whole(program, "k", {1}, {1}, Parameters() << out << no);
  CHECK(out[0] == 7);
  const Outcome outcome = run(program, "k", {1}, {1}, Parameters() << out << yes);
  CHECK(outcome.kind == Outcome::Kind::refused);
  CHECK(outcome.instruction == kernel.unsupported().front().index);
  CHECK(outcome.reason.find(" 0x") != std::string::npos); // its bits
}
