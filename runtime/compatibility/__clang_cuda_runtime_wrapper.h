// Stands before Clang's CUDA wrapper, which reads headers that nvcc does not, such as cuda.h and cuRAND's:
// macros of the command line must not take the place of their parameters' names.
// clang-format off: the order matters
#include "clang/hide_letters.h"
#include_next <__clang_cuda_runtime_wrapper.h>
#include "clang/show_letters.h"
