// A function of a CUDA library that the CPU back end refuses: REFUSED(function, status) for all that the
// library's header declares (runtime/cpu/CMakeLists.txt). Plain C. The function is weak: where a source
// defines it, that one counts. Its symbol is what the header's macros make of its name (cuMemAlloc is
// cuMemAlloc_v2), while its name in C differs from the header's declaration.
#pragma once

void __warplens_cpu_refuse_library_call(const char* function, const char* why);

#define WARPLENS_TEXT_OF(text) #text
#define WARPLENS_TEXT(text) WARPLENS_TEXT_OF(text)
#define REFUSED(function, status)                                                                            \
  int refused_##function(void) __asm__(WARPLENS_TEXT(function));                                             \
  __attribute__((weak)) int refused_##function(void) {                                                       \
    __warplens_cpu_refuse_library_call(#function, "on a machine with a GPU --backend gpu runs it");          \
    return status;                                                                                           \
  }
