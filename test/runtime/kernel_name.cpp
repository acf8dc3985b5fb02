#include "runtime/host/kernel_name.h"

#include "test/catch.h"

using warplens::runtime::kernel_name;

TEST_CASE("Kernels are named without parameters and return type") {
  CHECK(kernel_name("_Z11spmv_scalarPKiS0_PKfS2_Pfi") == "spmv_scalar");
  CHECK(kernel_name("_Z5scaleIfEvPT_i") == "scale<float>");
  CHECK(kernel_name("_ZN2ns4deep6kernelILi3EfEEvPT0_") == "ns::deep::kernel<3, float>");
  CHECK(kernel_name("_ZN12_GLOBAL__N_16hiddenEPf") == "(anonymous namespace)::hidden");
  CHECK(kernel_name("_Z7takes_fPFvvE") == "takes_f");
  // A template argument with parentheses of its own: void apply<(Operation)2>(float*)
  CHECK(kernel_name("_Z5applyIL9Operation2EEvPf") == "apply<(Operation)2>");
}

TEST_CASE("What is not mangled stays as it is") {
  CHECK(kernel_name("plain_c_kernel") == "plain_c_kernel");
  CHECK(kernel_name("_Zgarbage") == "_Zgarbage");
  CHECK(kernel_name("") == "");
}
