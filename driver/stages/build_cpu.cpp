#include "driver/resources.h"
#include "driver/stages/build.h"
#include "driver/stages/compiler.h"
#include "driver/stages/cpu_object.h"
#include "driver/version.h"

namespace warplens::driver {

Expected<std::filesystem::path> build_for_cpu(const BuildRequest& request) {
  std::vector<std::string> objects;
  for (const auto& source : request.sources) {
    const auto object = source.directory / "object.o";
    const auto compiled =
        source.is_cuda ? compile_for_cpu({source.source, source.original, source.directory, request.memcheck},
                                         request.nvcc, request.clang_arguments, object)
                       : compile_host_source(source.source, request.nvcc, request.toolkit, object);
    if (!compiled)
      return tl::unexpected(compiled.error());
    objects.push_back(object.string());
  }
  if (request.nvcc.relocatable) {
    const auto device = request.directory / "device.o";
    auto files = objects;
    files.insert(files.end(), request.nvcc.linking.begin(), request.nvcc.linking.end());
    if (const auto linked = link_device_code(files, device, request.memcheck); !linked)
      return tl::unexpected(linked.error());
    objects.push_back(device.string());
  }

  const auto program = request.directory / "program";
  std::vector<std::string> link{clang, "-no-pie", "-o", program.string()};
  link.insert(link.end(), objects.begin(), objects.end());
  link.push_back("-L" + resources().libraries.string());
  link.insert(link.end(), request.nvcc.linking.begin(), request.nvcc.linking.end());
  for (const auto& library : libraries_of_host_half(request.nvcc))
    link.push_back(library);
  link.push_back("-lcudart_static");
  if (const auto linked = run_compiler(link); !linked)
    return fail("{}: cannot be linked: {}", request.sources.front().original.string(),
                linked.error().message);
  return program;
}

} // namespace warplens::driver
