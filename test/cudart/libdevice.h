// libdevice's functions as Clang declares them to device code.
#pragma once

#define __CUDA__ 1
#define __device__
#include LIBDEVICE_DECLARATIONS
extern "C" float __nv_fast_tanhf(float); // newer than the header
#undef __CUDA__
#undef __device__
