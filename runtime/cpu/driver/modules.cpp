// Modules and their functions: CUDA Driver API, "Module Management", "Library Management" and "Execution
// Control". A loaded function is a kernel without code for this processor, whose machine code is executed;
// its handle is the address that stands for it.
#include "machine/program.h"
#include "ptx/module_image.h"
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/driver/result.h"
#include "runtime/host/recorder.h"
#include "support/files.h"
#include "support/hash.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace warplens;
using namespace warplens::cpu;

/// A function of a module. It and what it points to live until the process ends: traces refer to them.
struct CUfunc_st {
  std::string name;
  std::vector<ParameterRecord> parameters;
  KernelRecord record{};
};

struct CUmod_st {
  std::string name;               ///< unlike that of every other module
  std::deque<std::string> cubins; ///< traces refer to them
  std::map<std::string, CUfunc_st*> functions;
  std::map<std::string, VariableRecord*> variables;
};

namespace {

/// Modules live until the process ends, as their functions do.
std::vector<CUmod_st*>& modules() {
  static auto& all = *new std::vector<CUmod_st*>;
  return all;
}
std::mutex mutex;

/// A cubin of a module, and the compute capability of the GPU that runs it.
struct LoadedCubin {
  int capability = 0;
  std::string_view bytes;
  std::uint64_t id = 0;
  machine::Program program;
};

/// Returns the size of the `__shared__` variables: blocks of sm_90 and later begin with what the system
/// reserves.
std::uint32_t own_shared_bytes(const machine::Program& program, const machine::Kernel& kernel) {
  const std::uint32_t reserved = program.architecture() >= 90 ? 1024 : 0;
  return kernel.shared_bytes - std::min(kernel.shared_bytes, reserved);
}

/// Returns the kernel's machine code for each GPU.
std::vector<trace::MachineCode> machine_codes(const std::vector<LoadedCubin>& cubins,
                                              const std::string& name) {
  std::vector<trace::MachineCode> codes;
  for (const LoadedCubin& cubin : cubins)
    if (const machine::Kernel* const kernel = cubin.program.find(name))
      codes.push_back({.capability = static_cast<std::uint32_t>(cubin.capability),
                       .architecture = static_cast<std::uint32_t>(cubin.program.architecture()),
                       .registers = kernel->registers,
                       .stack_bytes = kernel->local_bytes,
                       .shared_bytes = own_shared_bytes(cubin.program, *kernel),
                       .symbol = kernel->name,
                       .cubin_id = cubin.id,
                       .cubin = cubin.bytes});
  return codes;
}

/// Adds a function of the module; the first cubin is that of the GPU that the program sees.
void add_function(CUmod_st& module, const std::vector<LoadedCubin>& cubins, const machine::Kernel& kernel) {
  const machine::Program& program = cubins.front().program;
  auto& function = *new CUfunc_st{kernel.name, {}, {}};
  for (const machine::Parameter& parameter : kernel.parameters)
    function.parameters.push_back({parameter.offset, parameter.bytes});
  function.record.symbol = function.name.c_str();
  function.record.module = module.name.c_str();
  function.record.parameter_count = static_cast<std::uint32_t>(function.parameters.size());
  function.record.parameters = function.parameters.data();
  function.record.static_shared_bytes = own_shared_bytes(program, kernel);
  function.record.architecture = static_cast<std::uint64_t>(program.architecture());
  function.record.refusal = "it is a function of a module that the program has loaded";
  register_loaded_kernel(&function, Kernel{.symbol = kernel.name,
                                           .module = module.name,
                                           .demangled = demangle(kernel.name),
                                           .record = &function.record,
                                           .machine_code = machine_codes(cubins, kernel.name)});
  module.functions.emplace(kernel.name, &function);
}

/// Puts the variables of a module into device memory.
cudaError_t add_variables(CUmod_st& module, const machine::Program& program) {
  for (const machine::Variable& variable : program.variables()) {
    if (variable.bytes == 0 || variable.name.starts_with("_ZTV") || variable.name.starts_with("$"))
      continue; // tables of the compiler's, with addresses of functions
    void* address = nullptr;
    cudaError_t error = cudaMalloc(&address, variable.bytes);
    if (error == cudaSuccess)
      error = cudaMemcpy(address, variable.initial.data(), variable.initial.size(), cudaMemcpyHostToDevice);
    if (error != cudaSuccess)
      return error;
    const auto& name = module.variables.emplace(variable.name, nullptr).first->first;
    auto* const record =
        new VariableRecord{name.c_str(), module.name.c_str(), address, variable.bytes, variable.is_constant};
    module.variables[name] = record;
    __warplens_cpu_register_variable(record);
  }
  return cudaSuccess;
}

/// The buffers that a program gives for what the compiler says.
class JitLogs {
public:
  JitLogs(unsigned count, const CUjit_option* options, void** values)
      : count_(options && values ? count : 0), options_(options), values_(values) {}

  /// Writes a text into the buffer and its length in place of the buffer's.
  void write(CUjit_option buffer, CUjit_option bytes, const std::string& text) const {
    void** const place = value_of(buffer);
    void** const size = value_of(bytes);
    if (!size)
      return;
    const auto room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*size));
    const std::size_t written = room == 0 ? 0 : std::min<std::size_t>(text.size() + 1, room);
    if (place && *place && written != 0) {
      std::memcpy(*place, text.c_str(), written - 1);
      static_cast<char*>(*place)[written - 1] = '\0';
    }
    *size = reinterpret_cast<void*>(std::uintptr_t(written));
  }
  void write_all(const std::string& error) const {
    write(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
    write(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  }

private:
  void** value_of(CUjit_option option) const {
    const auto found = std::find(options_, options_ + count_, option);
    return found == options_ + count_ ? nullptr : &values_[found - options_];
  }

  unsigned count_;
  const CUjit_option* options_;
  void** values_;
};

/// Loads the cubin for the GPU that the program sees, and those for the other GPUs of which machine code is
/// executed beside it.
Expected<std::vector<LoadedCubin>> load_cubins(std::string_view image, std::deque<std::string>& storage) {
  std::vector<int> capabilities{capability()};
  for (const std::uint32_t executed : runtime::Recorder::instance().executed_capabilities())
    if (std::ranges::find(capabilities, int(executed)) == capabilities.end())
      capabilities.push_back(int(executed));
  std::vector<LoadedCubin> cubins;
  for (const int gpu : capabilities) {
    auto cubin = cubin_for(image, gpu, find_assembler());
    if (!cubin && !cubins.empty())
      continue; // a GPU that the program does not see
    if (!cubin)
      return tl::unexpected(cubin.error());
    auto program = machine::Program::load(std::as_bytes(std::span(cubin->data(), cubin->size())));
    if (!program)
      return tl::unexpected(program.error());
    const int architecture = program->architecture();
    const bool runs = runs_on(architecture, gpu);
    if (!runs && !cubins.empty())
      continue;
    const std::string& bytes = storage.emplace_back(std::move(*cubin));
    cubins.push_back({runs ? gpu : architecture, bytes, std::max<std::uint64_t>(stable_hash(bytes), 1),
                      std::move(*program)});
  }
  return cubins;
}

CUresult load(CUmodule* to, const void* image, const JitLogs& logs = {0, nullptr, nullptr}) {
  return driver_entry([&] {
    if (!to || !image)
      return CUDA_ERROR_INVALID_VALUE;
    const std::string_view bytes = module_image_at(image);
    std::deque<std::string> storage;
    const auto cubins = load_cubins(bytes, storage);
    logs.write_all(cubins ? "" : cubins.error().message);
    if (!cubins) {
      std::fprintf(stderr, "warplens: a module cannot be loaded: %s\n", cubins.error().message.c_str());
      return bytes.starts_with("\177ELF") ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_PTX;
    }
    const std::lock_guard lock(mutex);
    static unsigned loaded = 0;
    auto& module = *new CUmod_st{fmt::format("module {}", ++loaded), std::move(storage), {}, {}};
    modules().push_back(&module);
    for (const machine::Kernel& kernel : cubins->front().program.kernels())
      add_function(module, *cubins, kernel);
    if (const cudaError_t error = add_variables(module, cubins->front().program); error != cudaSuccess)
      return result_of(error);
    *to = &module;
    return CUDA_SUCCESS;
  });
}

bool is_module(CUmodule module) {
  const std::lock_guard lock(mutex);
  return std::ranges::find(modules(), module) != modules().end();
}

CUresult find_function(CUfunction* to, CUmodule module, const char* name) {
  if (!to || !name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module))
    return CUDA_ERROR_INVALID_HANDLE;
  const auto found = module->functions.find(name);
  if (found == module->functions.end())
    return CUDA_ERROR_NOT_FOUND;
  *to = found->second;
  return CUDA_SUCCESS;
}

CUresult find_global(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module))
    return CUDA_ERROR_INVALID_HANDLE;
  const auto found = module->variables.find(name);
  if (found == module->variables.end())
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = reinterpret_cast<CUdeviceptr>(found->second->address);
  if (bytes)
    *bytes = found->second->bytes;
  return CUDA_SUCCESS;
}

CUresult count_functions(unsigned* count, CUmodule module) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module))
    return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}
/// Writes at most that many functions, in the order of their names.
CUresult list_functions(CUfunction* functions, unsigned count, CUmodule module) {
  if (!functions || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_module(module))
    return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& [name, function] : module->functions)
    if (count-- != 0)
      *functions++ = function;
    else
      break;
  return CUDA_SUCCESS;
}

CUresult load_file(CUmodule* to, const char* file) {
  if (!file)
    return CUDA_ERROR_INVALID_VALUE;
  const auto image = read_file(file);
  return image ? load(to, image->c_str()) : CUDA_ERROR_FILE_NOT_FOUND;
}

/// Returns the arguments one by one of those that come as one buffer.
CUresult unpack(CUfunction function, void** extra, std::vector<void*>& arguments) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<char*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<std::size_t*>(extra[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  const cpu::Kernel* const kernel = find_kernel(function);
  if (!kernel || !kernel->record)
    return CUDA_ERROR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < kernel->record->parameter_count; ++i) {
    const ParameterRecord& parameter = kernel->record->parameters[i];
    if (!buffer || std::size_t{parameter.offset} + parameter.bytes > bytes)
      return CUDA_ERROR_INVALID_VALUE;
    arguments.push_back(buffer + parameter.offset);
  }
  return CUDA_SUCCESS;
}

/// Calls `then(arguments)` with the arguments of a launch.
template <class Then>
CUresult with_arguments(CUfunction function, void** arguments, void** extra, Then then) {
  if (!find_kernel(function))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!extra) {
    const cpu::Kernel* const kernel = find_kernel(function);
    if (!arguments && kernel->record && kernel->record->parameter_count != 0)
      return CUDA_ERROR_INVALID_VALUE;
    return result_of(then(arguments));
  }
  if (arguments)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<void*> unpacked;
  const CUresult wrong = unpack(function, extra, unpacked);
  return wrong != CUDA_SUCCESS ? wrong : result_of(then(unpacked.data()));
}

} // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
                            void** values) {
  return load(module, image, {count, options, values});
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return load_file(module, file);
}
CUresult cuModuleUnload(CUmodule module) {
  if (!is_module(module))
    return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& [name, function] : module->functions)
    forget_loaded_kernel(function);
  for (const auto& [name, variable] : module->variables)
    cudaFree(variable->address);
  const std::lock_guard lock(mutex);
  std::erase(modules(), module);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return find_function(function, module, name);
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
  return find_global(address, bytes, module, name);
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_functions(count, module);
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return list_functions(functions, count, module);
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

// Libraries are modules, and their kernels functions.

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return load(reinterpret_cast<CUmodule*>(library), image);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return load_file(reinterpret_cast<CUmodule*>(library), file);
}
CUresult cuLibraryUnload(CUlibrary library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(library));
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return find_function(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(library), name);
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_functions(count, reinterpret_cast<CUmodule>(library));
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return list_functions(reinterpret_cast<CUfunction*>(kernels), count, reinterpret_cast<CUmodule>(library));
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
  return find_global(address, bytes, reinterpret_cast<CUmodule>(library), name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return static_cast<cudaError_t>(load(reinterpret_cast<CUmodule*>(library), image));
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption*, void**,
                                    unsigned, cudaLibraryOption*, void**, unsigned) {
  return static_cast<cudaError_t>(load_file(reinterpret_cast<CUmodule*>(library), file));
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return static_cast<cudaError_t>(cuModuleUnload(reinterpret_cast<CUmodule>(library)));
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return static_cast<cudaError_t>(
      find_function(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(library), name));
}
cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return static_cast<cudaError_t>(
      find_global(reinterpret_cast<CUdeviceptr*>(address), bytes, reinterpret_cast<CUmodule>(library), name));
}
cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return static_cast<cudaError_t>(count_functions(count, reinterpret_cast<CUmodule>(library)));
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return static_cast<cudaError_t>(
      list_functions(reinterpret_cast<CUfunction*>(kernels), count, reinterpret_cast<CUmodule>(library)));
}
/// A kernel's address in host code is its handle.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return cuda_entry([&] {
    if (!function || !find_kernel(symbol))
      return function ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    *function = static_cast<cudaFunction_t>(const_cast<void*>(symbol));
    return cudaSuccess;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  cudaFuncAttributes all;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaFuncGetAttributes(&all, function); error != cudaSuccess)
    return result_of(error);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(all.sharedSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = int(all.constSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(all.localSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = all.maxDynamicSharedSizeBytes; break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = all.preferredShmemCarveout; break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = all.nonPortableClusterSizeAllowed; break;
  default: *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return result_of(cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value));
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return result_of(cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config)));
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return result_of(cudaFuncGetName(name, function));
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return result_of(cudaFuncGetParamInfo(function, index, offset, bytes));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t dynamic_shared_bytes) {
  return result_of(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared_bytes));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              std::size_t dynamic_shared_bytes,
                                                              unsigned flags) {
  return result_of(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                          dynamic_shared_bytes, flags));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** arguments, void** extra) {
  return with_arguments(function, arguments, extra, [&](void** all) {
    return cudaLaunchKernel(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), all,
                            shared_bytes, stream);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void** arguments) {
  return with_arguments(function, arguments, nullptr, [&](void** all) {
    return cudaLaunchCooperativeKernel(function, dim3(grid_x, grid_y, grid_z),
                                       dim3(block_x, block_y, block_z), all, shared_bytes, stream);
  });
}
/// The attributes have the layout and the numbers of the runtime's.
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  return with_arguments(function, arguments, extra, [&](void** all) {
    cudaLaunchConfig_t same{};
    same.gridDim = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
    same.blockDim = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
    same.dynamicSmemBytes = config->sharedMemBytes;
    same.stream = config->hStream;
    same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
    same.numAttrs = config->numAttrs;
    return cudaLaunchKernelExC(&same, function, all);
  });
}

} // extern "C"
