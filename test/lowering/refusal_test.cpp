// Unsupported features are refused by name and place, and never miscompiled.
#include "device_program.h"
#include "lowering/lower.h"
#include "test/catch.h"

#include <fstream>

using namespace warplens;
using namespace warplens::test;

static std::string refusal(const std::string& source) {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto lowered = compile_and_lower(source, folder->path(), folder->path() / "program.o");
  REQUIRE_FALSE(lowered);
  CHECK(lowered.error().message.find('\n') == std::string::npos);
  return lowered.error().message;
}

static bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("inline PTX, unknown intrinsics and undefined functions are named with their line") {
  const auto assembly = refusal(
      "__global__ void k(int* p) {\n  asm volatile(\"st.global.strange.s32 [%0], 1;\" :: \"l\"(p));\n}\n");
  CHECK(contains(
      assembly,
      "program.cu:2: inline PTX is not supported on the CPU back end: st.global.strange.s32 [$0], 1"));
  const auto intrinsic = refusal("__global__ void k(int* p) {\n\n  *p = __nvvm_read_ptx_sreg_pm0();\n}\n");
  CHECK(contains(intrinsic, "program.cu:3: the CPU back end has no llvm.nvvm.read.ptx.sreg.pm0"));
  const auto undefined =
      refusal("__device__ int elsewhere(int);\n__global__ void k(int* p) { *p = elsewhere(1); }\n");
  CHECK(contains(undefined, "program.cu:2: calls elsewhere(int), which is defined neither in this file"));
  const auto variable =
      refusal("extern __device__ int far_away;\n__global__ void k(int* p) { *p = far_away; }\n");
  CHECK(contains(variable, "far_away"));
}

TEST_CASE("in a header that is not the user's, the user's line is named too") {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  std::filesystem::create_directory(folder->path() / "system");
  std::ofstream(folder->path() / "system/strange.h")
      << "template <class T> __device__ void inner(T* p) {\n  asm volatile(\"st.global.strange.s32 [%0], "
         "1;\" :: "
         "\"l\"(p));\n}\ntemplate <class T> __device__ void outer(T* p) { inner(p); }\n";
  const auto lowered =
      compile_and_lower("#include \"system/strange.h\"\n__global__ void k(int* p) {\n  outer(p);\n}\n",
                        folder->path(), folder->path() / "program.o");
  REQUIRE_FALSE(lowered);
  INFO(lowered.error().message);
  CHECK(contains(lowered.error().message,
                 "program.cu:3 (in strange.h:2): outer<int>() of strange.h, which is inline PTX, is "
                 "not supported on the CPU back end: st.global.strange"));
}

TEST_CASE("unsupported code that no kernel reaches is not refused") {
  const DeviceProgram program(
      "__device__ void unused() { asm volatile(\"st.global.strange.s32 [%0], 1;\" :: \"l\"((int*)0)); }\n"
      "__global__ void k(int* p) { *p = 4; }\n");
  int value = 0;
  program.run("k", {1}, {1}, 0, &value);
  CHECK(value == 4);
}

TEST_CASE("files that are not device bitcode") {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto path = folder->path() / "no.bc", object = folder->path() / "no.o";
  const auto missing = lowering::lower(path, {.object = object});
  REQUIRE_FALSE(missing);
  CHECK(contains(missing.error().message, "No such file"));
  std::ofstream(path) << "not bitcode at all";
  const auto garbage = lowering::lower(path, {.object = object});
  REQUIRE_FALSE(garbage);
  CHECK(contains(garbage.error().message, "not LLVM bitcode"));
}
