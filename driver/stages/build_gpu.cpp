#include "driver/resources.h"
#include "driver/stages/build.h"
#include "driver/stages/compiler.h"

namespace warplens::driver {

Expected<std::filesystem::path> build_for_gpu(const BuildRequest& request) {
  const auto object = (request.directory / "instrumented.o").string();
  const auto program = request.directory / "program";
  const auto& parts = resources();
  std::vector<std::string> nvcc{(request.toolkit.root / "bin/nvcc").string()};
  nvcc.insert(nvcc.end(), request.nvcc.original.begin(), request.nvcc.original.end());

  // Launches go through the documented cudaLaunchKernel, which is then redirected to our hook.
  auto compile = nvcc;
  compile.insert(compile.end(),
                 {"-I" + parts.include.string(), "-Xcompiler", "-D__NV_LEGACY_LAUNCH", "-Xcompiler",
                  "-iquote," + std::filesystem::absolute(request.original).parent_path().string(), "-x", "cu",
                  "-c", request.source.string(), "-o", object});
  if (const auto compiled = run_compiler(compile); !compiled)
    return tl::unexpected(compiled.error());
  if (const auto redirected =
          run_compiler({"objcopy", "--redefine-syms=" + parts.redirected_symbols.string(), object});
      !redirected)
    return tl::unexpected(redirected.error());

  auto link = nvcc;
  link.insert(link.end(), {object, "-o", program.string(), "-L" + parts.libraries.string(),
                           "-lwarplens_runtime_gpu", "-lwarplens_recorder", "-lwarplens_trace", "-lzstd"});
  if (const auto linked = run_compiler(link); !linked)
    return fail("{}: cannot be linked: {}", request.original.string(), linked.error().message);
  return program;
}

} // namespace warplens::driver
