// User objects: the program's own resources, destroyed with the last graph that refers to them.
#pragma once

#include <cuda_runtime_api.h>

namespace warplens::cpu {

void retain(CUuserObject_st& object, unsigned count);
/// Calls the destructor once nobody refers to it any more. False: more than there are references.
bool release(CUuserObject_st& object, unsigned count);

} // namespace warplens::cpu
