// The places of the parts of this installation (or build tree: they have the same shape).
#pragma once

#include <filesystem>

namespace warplens::toolchain {

struct Resources {
  std::filesystem::path compile; ///< the warplens-compile executable
  /// Links programs for the CPU back end and compiles their tables in C: the clang++ of the LLVM that this
  /// program was built with, or else the machine's c++.
  std::filesystem::path linking_compiler;
  std::filesystem::path measure;       ///< the program that measures a GPU; absent if built without nvcc
  std::filesystem::path launch;        ///< the program that launches a kernel of a module
  std::filesystem::path libraries;     ///< the libraries that are linked into a program for the CPU back end
  std::filesystem::path gpu_runtime;   ///< the library that a program for NVIDIA GPUs loads when it starts
  std::filesystem::path include;       ///< holds warplens/probe.h
  std::filesystem::path compatibility; ///< headers that let Clang parse CUDA 13
  std::filesystem::path gpus;          ///< one TOML file per GPU
  std::filesystem::path groups;        ///< one TOML file per profiler: its counters' resources
  std::filesystem::path page;          ///< the HTML report without its data; absent if built without Node
  std::filesystem::path
      redirected_symbols; ///< the symbols that objcopy redirects in objects for the GPU back end
  std::filesystem::path
      variant_symbols; ///< further symbols, for objects whose kernels also have a variant without probes
  std::filesystem::path ncu_report_pages; ///< prints Nsight Compute's reports by NVIDIA's Python module
  std::filesystem::path addressing;       ///< instructions that compute addresses, by architecture and memory
  std::filesystem::path measure_pairs;    ///< a CUDA program that measures pairs of accesses to memory
};

/// Returns the resources, located from the running executable.
const Resources& resources();

} // namespace warplens::toolchain
