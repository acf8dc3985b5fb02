#include "test/catch.h"
#include "toolchain/objects/missing_functions.h"

using warplens::toolchain::explain_missing;

TEST_CASE("missing functions are listed with their library") {
  CHECK(explain_missing("/usr/bin/ld: a.o: in function `main':\n"
                        "a.cu:(.text+0xa): undefined reference to `cublasCreate_v2'\n"
                        "/usr/bin/ld: a.cu:(.text+0x1a): undefined reference to `cufftPlan1d'\n"
                        "/usr/bin/ld: a.cu:(.text+0x2a): undefined reference to `cublasCreate_v2'\n"
                        "clang: error: linker command failed\n") ==
        "it calls cuBLAS (cublasCreate_v2), cuFFT (cufftPlan1d): the CPU back end has no such library; on a "
        "machine "
        "with a GPU --backend gpu runs it");
  CHECK(explain_missing("undefined reference to `cuInit'")
            .starts_with("it calls the CUDA driver API (cuInit)"));
  CHECK(explain_missing("undefined reference to `nppSetStream'").starts_with("it calls NPP (nppSetStream)"));
  CHECK(explain_missing("undefined reference to `cusparseA'\nundefined reference to `cusparseB'\n"
                        "undefined reference to `cusparseC'\nundefined reference to `cusparseD'\n"
                        "undefined reference to `cusparseE'\n")
            .starts_with("it calls cuSPARSE (cusparseA, cusparseB, cusparseC and 2 more)"));
}

TEST_CASE("the program's own missing functions are listed as the linker prints them") {
  CHECK(explain_missing("a.cu:(.text+0xa): undefined reference to `custom(int)'") ==
        "undefined reference to `custom(int)'");
  CHECK(explain_missing("/usr/bin/ld: cannot find -lfoo: No such file or directory").empty());
}
