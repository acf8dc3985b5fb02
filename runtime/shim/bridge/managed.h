// __managed__, which Clang has for HIP only. The section tells the CPU back end's runtime which variables of
// a program are managed.
#pragma once

#undef __managed__
#ifdef __WARPLENS_CPU__
#define __managed__ __attribute__((device, section("warplens_managed")))
#else
#define __managed__ __attribute__((device))
#endif
