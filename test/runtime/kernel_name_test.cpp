#include "runtime/host/kernel_name.h"
#include "test/catch.h"

using warplens::runtime::kernel_name;
using warplens::runtime::symbol_as_written;

TEST_CASE("Kernels are named without parameters and return type") {
  CHECK(kernel_name("_Z11spmv_scalarPKiS0_PKfS2_Pfi") == "spmv_scalar");
  CHECK(kernel_name("_Z5scaleIfEvPT_i") == "scale<float>");
  CHECK(kernel_name("_ZN2ns4deep6kernelILi3EfEEvPT0_") == "ns::deep::kernel<3, float>");
  CHECK(kernel_name("_ZN12_GLOBAL__N_16hiddenEPf") == "(anonymous namespace)::hidden");
  CHECK(kernel_name("_Z7takes_fPFvvE") == "takes_f");
  // A template argument with parentheses of its own: void apply<(Operation)2>(float*)
  CHECK(kernel_name("_Z5applyIL9Operation2EEvPf") == "apply<(Operation)2>");
}

TEST_CASE("Unmangled names stay as they are") {
  CHECK(kernel_name("plain_c_kernel") == "plain_c_kernel");
  CHECK(kernel_name("_Zgarbage") == "_Zgarbage");
  CHECK(kernel_name("") == "");
}

TEST_CASE("Compilers' additions to the names of a file's own kernels are removed") {
  // The names of nvcc 13 with -rdc=true, and of Clang 19.
  CHECK(kernel_name("__nv_static_25__73606af7_4_a_cu_f5e33558__Z6hiddenPf") == "hidden");
  CHECK(kernel_name("__nv_static_25__73606af7_4_a_cu_f5e33558__ZN36_GLOBAL__N__73606af7_4_a_cu_"
                    "f5e335585anontIfEEvPT_") == "(anonymous namespace)::anont<float>");
  CHECK(kernel_name("_Z6hiddenPf__intern__d404d46de2d8b5f6") == "hidden");
  CHECK(kernel_name("_Z6hiddenPf__intern__fd0018d5ae2_1a2b3c4d") == "hidden");
  CHECK(symbol_as_written("_Z6hiddenPf__intern__d404d46de2d8b5f6") == "_Z6hiddenPf");
  CHECK(symbol_as_written("table__static__d404d46de2d8b5f6") == "table");
}

TEST_CASE("A name that merely contains a compiler's addition is not cut") {
  CHECK(kernel_name("_Z18copy__static__dataPf") == "copy__static__data");
  CHECK(kernel_name("_Z24copy__intern__d404d46de2f") == "copy__intern__d404d46de2");
  CHECK(kernel_name("_Z12k__static__fPf") == "k__static__f");
  CHECK(kernel_name("copy__static__data") == "copy__static__data");
  CHECK(kernel_name("__nv_static_thing") == "__nv_static_thing");
  CHECK(kernel_name("__nv_static_99__short__Z1kv") == "__nv_static_99__short__Z1kv");
  CHECK(kernel_name("__nv_static_") == "__nv_static_");
}
