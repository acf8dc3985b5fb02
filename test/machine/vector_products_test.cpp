// Products of tensor cores in vector code have the bits of the slow ones, whatever the factors.
#include "test/machine/run_kernel.h"

using namespace warplens;
using namespace warplens::machine;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

std::mt19937 generator(11);

/// Returns words that are numbers of any type: of random bits, and at times special ones of 16 and of 32
/// bits.
std::vector<u32> any_words(std::size_t count, bool has_special) {
  constexpr u32 special[] = {0,          0x80008000, 0x7c000001, 0x7f800000, 0xff80fc00,
                             0x00010001, 0x3c003f80, 0x7fff7fff, 0x80000000, 0x007fffff};
  std::vector<u32> words(count);
  for (u32& word : words) {
    word = generator();
    if (has_special && generator() % 16 == 0)
      word = special[generator() % std::size(special)];
    else if (!has_special)
      word &= 0xbfffbfff; // so that sums are finite
  }
  return words;
}

Program compiled_for(const std::string& architecture, Engine engine) {
  static std::map<std::string, std::string> cubins;
  std::string& cubin = cubins[architecture];
  if (cubin.empty()) {
    const auto folder = TemporaryDirectory::create();
    REQUIRE(folder);
    cubin = compiled({WARPLENS_NVCC, "-cubin", "-arch=" + architecture,
                      std::string(WARPLENS_MACHINE_KERNELS) + "/products.cu"},
                     folder->path() / "products.cubin");
  }
  return load(cubin, engine);
}

/// Executes a kernel by each engine, on the same words; `more`: parameters behind the arrays.
template <class... More>
void compare(const std::string& architecture, const std::string& kernel, u32 threads, std::size_t in_words,
             std::size_t out_words, More... more) {
  if (!has_toolkit())
    return;
  const Program reference = compiled_for(architecture, Engine::reference),
                portable = compiled_for(architecture, Engine::portable),
                vector = compiled_for(architecture, Engine::vector);
  for (int round = 0; round < 8; ++round) {
    std::vector<u32> in = any_words(in_words, round % 2 == 0);
    std::vector<u32> slow(out_words), portably(out_words), fast(out_words);
    const auto execute = [&](const Program& program, std::vector<u32>& out) {
      Parameters parameters;
      parameters << in << out;
      (static_cast<void>(parameters << more), ...);
      run_whole(program, kernel, {1}, {threads}, parameters);
    };
    execute(reference, slow);
    execute(portable, portably);
    execute(vector, fast);
    INFO(kernel << ", round " << round);
    CHECK(std::ranges::any_of(slow, [](u32 word) { return word != 0; }));
    CHECK(portably == slow);
    CHECK(fast == slow);
  }
}

/// Returns a matrix' layout in a descriptor: without swizzle, or with one of 128 bytes.
u64 layout_of(bool is_swizzled) {
  return is_swizzled ? u64{1} << 16 | u64{64} << 32 | u64{1} << 62 : u64{8} << 16 | u64{16} << 32;
}

} // namespace

TEST_CASE("products of warps in vector code have the bits of the slow ones") {
  for (const char* kernel : {"halves", "bfloats", "tf32", "half_sums", "bytes", "saturated", "few_bytes"})
    compare("sm_80", kernel, 32, 512, 128);
}

TEST_CASE("products of warp groups in vector code have the bits of the slow ones") {
  for (const char* kernel : {"group_of_halves", "transposed_group", "group_of_tf32", "group_of_small_floats",
                             "group_from_registers", "group_of_bytes"})
    for (const bool is_swizzled : {false, true})
      compare("sm_90a", kernel, 128, 4096, 1536, layout_of(is_swizzled));
}

TEST_CASE("products of tensor memory in vector code have the bits of the slow ones") {
  const u64 layout = layout_of(false) | u64{1} << 46;
  constexpr u32 columns = 24 / 8 << 17, rows = 128 / 16 << 24, floats = 1 << 4, integers = 2 << 4;
  compare("sm_100a", "memory_of_halves", 128, 8192, 4096, layout, columns | rows | floats);
  compare("sm_100a", "memory_of_halves", 128, 8192, 4096, layout, columns | rows | 1 << 7 | 1 << 10 | floats);
  compare("sm_100a", "memory_of_halves", 128, 8192, 4096, layout, columns | rows); // sums are halves
  compare("sm_100a", "memory_of_tf32", 128, 8192, 4096, layout, columns | rows | 2 << 7 | 2 << 10 | floats);
  compare("sm_100a", "memory_of_small_floats", 128, 8192, 4096, layout, columns | rows | 1 << 10 | floats);
  compare("sm_100a", "memory_of_bytes", 128, 8192, 4096, layout, columns | rows | 1 << 7 | integers);
}
