// How long matrix products hold a scheduler's tensor pipe.
#pragma once

#include "model/gpu/execution_pipes.h"
#include "model/sm/cycle.h"
#include "sass/matrix_product.h"

namespace warplens::model {

/// Returns the cycles from such a product of a scheduler to its next one. `architecture`: of the code, 80 for
/// sm_80. What was measured is in docs/tensor-cores.md; what was not follows from it by the multiplications
/// and additions per cycle.
Cycle tensor_interval(const sass::MatrixProduct& product, int architecture, const ExecutionPipes& of);

/// Returns the cycles until the sums are there, where compilers do not schedule by a fixed time.
Cycle tensor_latency(const sass::MatrixProduct& product, int architecture, const ExecutionPipes& of);

/// Returns the cycles from a product to an instruction that reads its sums, where the hardware keeps that
/// waiting for longer than the compiler's schedule does; 0 where it does not.
Cycle tensor_interlock(const sass::MatrixProduct& product, int architecture, const ExecutionPipes& of);

/// Returns for how many cycles a product of tensor memory holds the tensor cores of its SM, or of each of
/// two.
Cycle tensor_memory_interval(const sass::MatrixProduct& product);
/// Returns the cycles until its sums are there.
Cycle tensor_memory_latency(const sass::MatrixProduct& product);

} // namespace warplens::model
