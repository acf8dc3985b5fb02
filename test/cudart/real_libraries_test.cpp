#include "runtime/cpu/cudart/real_libraries.h"
#include "test/catch.h"

using warplens::cpu::library_of_cuda;

TEST_CASE("libraries that need NVIDIA's driver are recognised by their files' names") {
  CHECK(library_of_cuda("/usr/local/cuda/lib64/libcublas.so.13") == "cuBLAS");
  CHECK(library_of_cuda("libcublasLt.so.12") == "cuBLASLt");
  CHECK(library_of_cuda("/opt/x/libcufft.so") == "cuFFT");
  CHECK(library_of_cuda("/usr/lib/libc.so.6").empty());
  CHECK(library_of_cuda("").empty());
  CHECK(library_of_cuda("/usr/lib/libmycublas.so").empty());
}
