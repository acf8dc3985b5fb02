#include "driver/stages/build.h"
#include "driver/stages/compiler.h"
#include "driver/stages/gpu_object.h"

namespace warplens::driver {

Expected<std::filesystem::path> build_for_gpu(const BuildRequest& request) {
  const auto object = request.directory / "instrumented.o";
  const auto program = request.directory / "program";
  const GpuSource source{request.toolkit, request.nvcc, request.original, request.directory};
  const auto compiled = compile_gpu_object(source, request.source, compile_plain_form(source), object);
  if (!compiled)
    return tl::unexpected(compiled.error());

  std::vector<std::string> link{(request.toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(request.nvcc, describes_result))
    link.push_back(word);
  link.insert(link.end(), {object.string(), "-o", program.string()});
  if (const auto linked = run_compiler(link); !linked)
    return fail("{}: cannot be linked: {}", request.original.string(), linked.error().message);
  return program;
}

} // namespace warplens::driver
