// Handles of cuSOLVER, and what its functions begin with.
#pragma once

#include "runtime/cpu/libraries/cusolver/lapack.h"

#include <cusolverDn.h>
#include <functional>

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t deterministic_mode = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math_mode = CUSOLVER_DEFAULT_MATH;
};
/// LAPACK's methods need neither tolerance nor sweeps; they are kept for the program that asks for them.
struct syevjInfo {
  double tolerance = 0;
  int max_sweeps = 100;
  int sorts = 1;
};
struct gesvdjInfo : syevjInfo {};
struct cusolverDnParams {};

namespace warplens::libraries {

/// Issues a factorization or solution to the handle's stream, and writes its info where the program wants it.
cusolverStatus_t solve(cusolverDnHandle_t handle, bool valid, const char* function, int* info,
                       const std::function<int()>& work);

/// Returns the size of a workspace: LAPACK has its own, but some programs want one of at least one number.
template <class Size> cusolverStatus_t workspace(cusolverDnHandle_t handle, Size* size) {
  if (!handle)
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!size)
    return CUSOLVER_STATUS_INVALID_VALUE;
  *size = 1;
  return CUSOLVER_STATUS_SUCCESS;
}

} // namespace warplens::libraries

/// Calls MACRO(letter, T, Real) for each type of number.
#define FOR_EACH_SOLVER_TYPE(MACRO)                                                                          \
  MACRO(S, float, float) MACRO(D, double, double) MACRO(C, cuComplex, float) MACRO(Z, cuDoubleComplex, double)
