// The functions of the CUDA runtime that are refused by name. They read none of their arguments, so they are
// defined without them: this file must not see the API's declarations of them.
namespace warplens::cpu {
int refuse(const char* function, const char* why); // error.cpp
}

extern "C" {
#define CUDA_REFUSAL(function, why)                                                                          \
  int function() {                                                                                           \
    return warplens::cpu::refuse(#function, why);                                                            \
  }
#include "runtime/cpu/cudart/cuda_refusals.def"
#undef CUDA_REFUSAL
}
