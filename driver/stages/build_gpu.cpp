#include "driver/stages/build.h"
#include "driver/stages/compiler.h"
#include "driver/stages/gpu_object.h"

namespace warplens::driver {

Expected<std::filesystem::path> build_for_gpu(const BuildRequest& request) {
  const auto object = request.directory / "instrumented.o";
  const auto program = request.directory / "program";
  if (const auto compiled = run_compiler(
          gpu_object_command(request.toolkit, request.nvcc, request.source, request.original, object));
      !compiled)
    return tl::unexpected(compiled.error());
  if (const auto redirected = redirect_launches(object); !redirected)
    return tl::unexpected(redirected.error());

  std::vector<std::string> link{(request.toolkit.root / "bin/nvcc").string()};
  for (const auto& word : words_without(request.nvcc, describes_result))
    link.push_back(word);
  link.insert(link.end(), {object.string(), "-o", program.string()});
  if (const auto linked = run_compiler(link); !linked)
    return fail("{}: cannot be linked: {}", request.original.string(), linked.error().message);
  return program;
}

} // namespace warplens::driver
