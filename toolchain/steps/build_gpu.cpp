#include "toolchain/objects/gpu_object.h"
#include "toolchain/steps/build.h"
#include "toolchain/steps/compiler.h"

namespace warplens::toolchain {

Expected<std::filesystem::path> build_for_gpu(const BuildRequest& request) {
  std::vector<std::string> inputs;
  for (const auto& source : request.sources) {
    if (!source.is_cuda) { // nvcc compiles it during the link
      inputs.push_back(source.source.string());
      continue;
    }
    const auto object = source.directory / "instrumented.o";
    GpuCompilation compilation(
        {request.toolkit, request.nvcc, source.original, source.source, source.directory}, object);
    TRY(compilation.finish(source.site_table));
    inputs.push_back(object.string());
  }
  const auto program = request.directory / "program";

  std::vector<std::string> link{(request.toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(request.nvcc, describes_result))
    link.push_back(word);
  link.insert(link.end(), inputs.begin(), inputs.end());
  link.insert(link.end(), {"-o", program.string()});
  if (const auto linked = run_compiler(link); !linked)
    return fail("{}: cannot be linked: {}", request.sources.front().original.string(),
                linked.error().message);
  return program;
}

} // namespace warplens::toolchain
