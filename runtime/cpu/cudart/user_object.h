// User objects: the program's own resources, destroyed with the last graph that refers to them.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

void retain(CUuserObject_st& object, unsigned count);
/// Drops `count` references, and calls the destructor after the last. Returns false if there are fewer
/// references.
bool release(CUuserObject_st& object, unsigned count);

} // namespace warplens::cpu
