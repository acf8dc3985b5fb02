// Sources whose arrays are moved by edits, and those that the edits do not take.
#include "placement/moved_source.h"
#include "test/catch.h"

using namespace warplens;
using namespace warplens::placement;

namespace {

const std::string filtered = "// void filter(const float* taps) in words\n"
                             "namespace sums {\n"
                             "__global__ void filter(const float* __restrict__ taps, const float* in,\n"
                             "                       float* out) {\n"
                             "  out[threadIdx.x] = taps[f(1, in[0])] * in[2] + taps[0];\n"
                             "}\n"
                             "} // namespace sums\n"
                             "void run(const float* all, float* out) {\n"
                             "  if (all != nullptr)\n"
                             "    sums::filter<<<dim3(1, 2), 32>>>(all + at(1, 2), all, out);\n"
                             "}\n";
const SourceArray taps{"filter", "taps", 36, {{5, 22, "taps[f(1, in[0])]"}, {5, 50, "taps[0]"}}};

/// Returns the reason for which the source with another text in place of one of its own is not edited.
std::string refusal(const std::string& now, const std::string& then, SourceArray array = taps) {
  std::string source = filtered;
  const std::size_t at = source.find(now);
  REQUIRE(at != std::string::npos);
  source.replace(at, now.size(), then);
  const auto edited = source_with_constant(array, source);
  return edited ? "" : edited.error().message;
}

} // namespace

TEST_CASE("an array in constant memory: launches copy what they pass, loads are from the copy") {
  const auto edited = source_with_constant(taps, filtered);
  REQUIRE(edited);
  CHECK(*edited == "// void filter(const float* taps) in words\n"
                   "namespace sums {\n"
                   "__constant__ float constant_taps[36 / sizeof(float)];\n"
                   "\n"
                   "static const float* copied_to_constant_taps(const float* values) {\n"
                   "  cudaMemcpyToSymbol(constant_taps, values, sizeof constant_taps, 0, "
                   "cudaMemcpyDeviceToDevice);\n"
                   "  return values;\n"
                   "}\n"
                   "\n"
                   "__global__ void filter(const float* __restrict__ taps, const float* in,\n"
                   "                       float* out) {\n"
                   "  out[threadIdx.x] = constant_taps[f(1, in[0])] * in[2] + constant_taps[0];\n"
                   "}\n"
                   "} // namespace sums\n"
                   "void run(const float* all, float* out) {\n"
                   "  if (all != nullptr)\n"
                   "    sums::filter<<<dim3(1, 2), 32>>>(sums::copied_to_constant_taps(all + at(1, 2)), "
                   "all, out);\n"
                   "}\n");
}

TEST_CASE("an array behind a texture: the parameter is an object, loads are fetches") {
  const auto edited = source_with_texture(taps, filtered);
  REQUIRE(edited);
  CHECK(edited->find("__global__ void filter(cudaTextureObject_t taps, const float* in,") !=
        std::string::npos);
  CHECK(edited->find("tex1Dfetch<float>(taps, f(1, in[0])) * in[2] + tex1Dfetch<float>(taps, 0);") !=
        std::string::npos);
  CHECK(edited->find("(sums::texture_of_taps(all + at(1, 2)), all, out);") != std::string::npos);
  CHECK(edited->find("sizeInBytes = 36;") != std::string::npos);
}

TEST_CASE("elements that a load takes a part of have constants, and no fetches") {
  const std::string source = "__global__ void k(const float2* p, float* out) { *out = p[1].y; }\n"
                             "void run() { k<<<1, 1>>>(p, out); }\n";
  const SourceArray p{"k", "p", 16, {{1, 57, "p[1].y"}}};
  const auto constant = source_with_constant(p, source);
  REQUIRE(constant);
  CHECK(constant->find("*out = constant_p[1].y; }") != std::string::npos);
  const auto texture = source_with_texture(p, source);
  REQUIRE_FALSE(texture);
  CHECK(texture.error().message == "p[1].y in line 1 is a part of an element, and a fetch returns all of it");
}

TEST_CASE("a source that is not of the form that the edits take is refused by a reason") {
  CHECK(refusal("__restrict__ taps", "taps[]") == "taps is no parameter of filter");
  CHECK(refusal("const float* __restrict__", "Span<float>") ==
        "the parameter 'Span<float> taps' is not a plain pointer");
  CHECK(refusal("__global__", "template <int n> __global__") == "filter is a template");
  CHECK(refusal("namespace sums {", "__global__ void filter(float*);") ==
        "filter is declared apart from its definition");
  CHECK(refusal("<<<dim3(1, 2), 32>>>", "") == "no line of this file launches filter<<<...>>>");
  CHECK(refusal("all, out);", "out);") == "a launch of filter has 2 arguments for 3 parameters");
  CHECK(refusal("namespace sums {", "int constant_taps;") == "the source has a constant_taps already");
  CHECK(refusal("taps[0];", "taps [0];") == "line 5 does not hold taps[0] in one piece");
  CHECK(refusal("__global__", "__device__") == "no line defines __global__ ... filter(");
  SourceArray elsewhere = taps;
  elsewhere.loads = {{10, 38, "all"}};
  CHECK(refusal("if", "if", elsewhere) == "all in line 10 is outside of filter");
  elsewhere.loads = {{5, 42, "in[2]"}};
  CHECK(refusal("if", "if", elsewhere) == "in[2] in line 5 does not begin with taps[");
}
