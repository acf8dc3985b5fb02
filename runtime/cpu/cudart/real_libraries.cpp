#include "runtime/cpu/cudart/real_libraries.h"

#include <cstdio>
#include <link.h>
#include <mutex>
#include <utility>

namespace warplens::cpu {

std::string library_of_cuda(const std::string& file) {
  static constexpr std::pair<const char*, const char*> known[] = {
      {"cublas", "cuBLAS"},     {"cublasLt", "cuBLASLt"},     {"cufft", "cuFFT"},        {"curand", "cuRAND"},
      {"cusolver", "cuSOLVER"}, {"cusolverMg", "cuSOLVERMg"}, {"cusparse", "cuSPARSE"},  {"cudnn", "cuDNN"},
      {"nccl", "NCCL"},         {"nvjpeg", "nvJPEG"},         {"cudart", "CUDA runtime"}};
  const std::string name = file.substr(file.rfind('/') + 1);
  for (const auto& [stem, library] : known)
    if (name.starts_with(std::string("lib") + stem + ".so"))
      return library;
  return {};
}

void warn_of_real_libraries() {
  static std::once_flag once;
  std::call_once(once, [] {
    dl_iterate_phdr(
        [](dl_phdr_info* loaded, std::size_t, void*) {
          if (const auto library = library_of_cuda(loaded->dlpi_name); !library.empty())
            std::fprintf(stderr,
                         "warplens: warning: the program brings NVIDIA's own %s along (%s), whose calls fail "
                         "without a GPU: the CPU back end has no such library; on a machine with a GPU "
                         "--backend gpu runs it\n",
                         library.c_str(), loaded->dlpi_name);
          return 0;
        },
        nullptr);
  });
}

void warn_of_other_runtime() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::fputs(
        "warplens: error: the program was linked with NVIDIA's own CUDA runtime, in which kernels for the "
        "CPU "
        "back end do not run (the build names libcudart by its full path): configure the build with "
        "WARPLENS_BACKEND=cpu in the environment and warplens-nvcc as its CUDA compiler, so that CMake's "
        "find_package(CUDAToolkit) finds Warplens' libraries (an older find_package(CUDA) needs "
        "-DCUDA_TOOLKIT_ROOT_DIR=, with TOP as `warplens-nvcc -v` says it); or link libcudart from Warplens' "
        "lib/warplens\n",
        stderr);
  });
}

} // namespace warplens::cpu
