// Compiles the device functions behind Clang's declarations of them: a definition of another type does not
// compile.
#define __CUDA__ 1
#define __device__
#include LIBDEVICE_DECLARATIONS

#include "runtime/cpu/device_library/elementary_functions.cpp"
#include "runtime/cpu/device_library/integer_functions.cpp"
#include "runtime/cpu/device_library/rounding_functions.cpp"
