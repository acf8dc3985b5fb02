// A library that registers a kernel and variables when it is loaded, as objects for the CPU back end do, and
// is forgotten when it is unloaded. It is loaded under several names at once.
#include "runtime/abi/abi.h"

using namespace warplens::cpu;

extern "C" {
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);

char stub, shadow; // the addresses by which host code names the kernel and the variable
int device_variable, managed_variable;
}

namespace {

const KernelRecord kernel{.symbol = "_ZN3app4fillEPi", .module = "one of many"};
const VariableRecord variable{
    .symbol = "_ZN3app4keptE", .module = "one of many", .address = &device_variable, .bytes = sizeof(int)};
// Without a module of its own, the record is found by the library that it lies in.
const CompiledRecord compiled{
    .symbol = "_ZN3app4fillEPi", .module = "one of many", .capability = 80, .registers = 16};

struct Registration {
  Registration() {
    __cudaRegisterFunction(nullptr, &stub, nullptr, kernel.symbol, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterVar(nullptr, &shadow, nullptr, variable.symbol, 0, sizeof(int), 0, 0);
    __warplens_cpu_register_kernel(&kernel);
    __warplens_cpu_register_variable(&variable);
    __warplens_cpu_register_compiled(&compiled, 1);
    __warplens_cpu_register_managed(&managed_variable, sizeof managed_variable);
    __warplens_cpu_register_constant(&device_variable, sizeof device_variable);
  }
  ~Registration() { __warplens_cpu_unregister(&kernel); }
} registration;

} // namespace
