#include "driver/resources.h"
#include "driver/stages/build.h"
#include "driver/stages/compiler.h"
#include "driver/version.h"

#include <fstream>
#include <future>

namespace warplens::driver {
namespace {

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Clang as the rewriter has it: it reads the source with the same bridges.
Expected<std::string> compile_half(const BuildRequest& request, const char* half,
                                   const Arguments& arguments) {
  return run_compiler(
      Arguments{resources().compile.string(), "clang", "--half", half, request.source.string(), "--"} +
      request.clang_arguments + Arguments{"-c", "-D__WARPLENS_CPU__"} + arguments);
}

/// Bitcode as the parser made it: LLVM's passes may move convergent operations only after they were lowered.
Expected<void> build_device_half(const BuildRequest& request, const Arguments& includes,
                                 const std::filesystem::path& object) {
  const auto bitcode = request.directory / "device.bc";
  const auto compiled =
      compile_half(request, "device",
                   includes + Arguments{"-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes", "-nogpulib",
                                        "-gline-tables-only", "-o", bitcode.string()});
  if (!compiled)
    return tl::unexpected(compiled.error());
  if (const auto lowered =
          run_compiler({resources().compile.string(), "lower", bitcode.string(), object.string()});
      !lowered)
    return tl::unexpected(lowered.error());
  return {};
}

/// Signed integers wrap, as programs that nvcc has built so far may rely on: gcc makes less of their overflow
/// than Clang does. Clang registers a host half's kernels only if it is given a GPU binary to embed; ours
/// needs none, so any file will do.
Expected<void> build_host_half(const BuildRequest& request, const Arguments& includes,
                               const std::filesystem::path& object) {
  const auto placeholder = request.directory / "gpu_binary";
  if (!(std::ofstream(placeholder) << "none\n"))
    return fail("{}: cannot be written", placeholder.string());
  const auto compiled = compile_half(
      request, "host",
      includes + Arguments{"-Xclang", "-fcuda-include-gpubinary", "-Xclang", placeholder.string(), "-fwrapv",
                           request.nvcc.optimisation.empty() ? "-O2" : request.nvcc.optimisation, "-o",
                           object.string()});
  if (!compiled)
    return tl::unexpected(compiled.error());
  return {};
}

} // namespace

Expected<std::filesystem::path> build_for_cpu(const BuildRequest& request) {
  const auto device = request.directory / "device.o", host = request.directory / "host.o",
             program = request.directory / "program";
  const Arguments includes{"-iquote", std::filesystem::absolute(request.original).parent_path().string()};

  auto host_half = std::async(std::launch::async, [&] { return build_host_half(request, includes, host); });
  const auto device_built = build_device_half(request, includes, device);
  const auto host_built = host_half.get();
  if (!device_built)
    return tl::unexpected(device_built.error());
  if (!host_built)
    return tl::unexpected(host_built.error());

  const auto linked =
      run_compiler(Arguments{clang, "-no-pie", host.string(), device.string(), "-o", program.string(),
                             "-L" + resources().libraries.string()} +
                   request.nvcc.linking +
                   Arguments{"-Wl,--start-group", "-lwarplens_runtime_cpu", "-lwarplens_recorder",
                             "-lwarplens_trace", "-lwarplens_support", "-Wl,--end-group", "-lboost_context",
                             "-lzstd", "-ltbb", "-lpthread", "-ldl", "-lm"});
  if (!linked)
    return fail("{}: cannot be linked: {}", request.original.string(), linked.error().message);
  return program;
}

} // namespace warplens::driver
