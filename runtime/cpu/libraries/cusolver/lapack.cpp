#include "runtime/cpu/libraries/cusolver/lapack.h"

#include <dlfcn.h>

namespace warplens::libraries {
namespace {

void* library() {
  static void* const opened = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

} // namespace

void* lapack_function(const std::string& name) {
  return library() ? dlsym(library(), name.c_str()) : nullptr;
}

bool has_lapack() {
  return library() != nullptr;
}

} // namespace warplens::libraries
