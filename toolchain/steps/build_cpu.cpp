#include "support/files.h"
#include "toolchain/objects/cpu_object.h"
#include "toolchain/objects/missing_functions.h"
#include "toolchain/resources.h"
#include "toolchain/steps/build.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/steps/objection.h"
#include "toolchain/version.h"

#include <algorithm>
#include <iterator>

namespace warplens::toolchain {
namespace {

Expected<void> link(std::vector<std::string> arguments, const std::filesystem::path& log) {
  Command command;
  command.arguments = std::move(arguments);
  command.stderr_file = log;
  const auto linked = run_compiler(std::move(command));
  if (linked)
    return {};
  const auto missing = explain_missing(read_file(log).value_or(""));
  return missing.empty() ? tl::unexpected(linked.error()) : fail("{}", missing);
}

} // namespace

Expected<std::filesystem::path> build_for_cpu(const BuildRequest& request) {
  std::vector<std::string> objects;
  for (const auto& source : request.sources) {
    const auto object = source.directory / "object.o";
    const auto compiled = source.is_cuda
                              ? compile_for_cpu({source.source, source.original, source.directory,
                                                 request.checks, source.machine_code, false, source.refused},
                                                request.nvcc, request.clang_arguments, object)
                              : compile_host_source(source.source, request.nvcc, request.toolkit, object);
    if (!compiled && source.is_cuda)
      return tl::unexpected(with_nvccs_opinion(compiled.error(), source.original, request.nvcc,
                                               request.toolkit, source.directory));
    if (!compiled)
      return tl::unexpected(compiled.error());
    objects.push_back(object.string());
  }
  if (request.nvcc.relocatable) {
    const auto device = request.directory / "device.o";
    auto files = objects;
    files.insert(files.end(), request.nvcc.linking.begin(), request.nvcc.linking.end());
    TRY(link_device_code(files, device, request.checks));
    objects.push_back(device.string());
  }

  const auto program = request.directory / "program";
  std::vector<std::string> command{resources().linking_compiler.string(), "-no-pie", "-o", program.string()};
  command.insert(command.end(), objects.begin(), objects.end());
  command.push_back("-L" + resources().libraries.string());
  command.insert(command.end(), request.nvcc.linking.begin(), request.nvcc.linking.end());
  if (const auto libraries = libraries_of(request.toolkit); !libraries.empty()) {
    command.push_back("-L" + libraries.string()); // NVRTC and others that need no driver
    command.push_back("-Wl,-rpath," + libraries.string());
  }
  for (const auto& library : libraries_of_host_half(request.nvcc))
    command.push_back(library);
  command.push_back("-lcudart_static");
  if (const auto linked = link(std::move(command), request.directory / "link.log"); !linked)
    return fail("{}: cannot be linked: {}", request.sources.front().original.string(),
                linked.error().message);
  return program;
}

} // namespace warplens::toolchain
