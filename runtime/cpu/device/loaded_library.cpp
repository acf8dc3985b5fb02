#include "runtime/cpu/device/loaded_library.h"

#include <dlfcn.h>

namespace warplens::cpu {

const void* library_of(const void* address) {
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_map_start : nullptr;
}

} // namespace warplens::cpu
