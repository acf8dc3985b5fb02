// A CUDA library that the CPU back end lacks: MISSING(function) for each of its functions, LIBRARY for its
// name (stub_libraries/CMakeLists.txt). Plain C; needs no other part of the runtime.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define WARPLENS_MISSING(function)                                                                           \
  #function " is of " LIBRARY ": the CPU back end has no such library; on a machine with a GPU --backend "   \
            "gpu runs it"

/* The linker prints what lies in .gnu.warning.NAME where NAME is used (GNU ld, "WARNING" of its internals).
 */
#define MISSING(function)                                                                                    \
  static const char warning_##function[] __attribute__((used, section(".gnu.warning." #function))) =         \
      WARPLENS_MISSING(function);                                                                            \
  void function(void);                                                                                       \
  void function(void) {                                                                                      \
    fputs("warplens: " WARPLENS_MISSING(function) "\n", stderr);                                             \
    exit(1);                                                                                                 \
  }
