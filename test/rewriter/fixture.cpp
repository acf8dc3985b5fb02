#include "test/rewriter/fixture.h"

#include "support/process.h"
#include "test/catch.h"

#include <fstream>
#include <iterator>

namespace warplens::test {

const std::filesystem::path project = WARPLENS_SOURCE_DIR;

std::vector<std::string> clang_arguments(const std::vector<std::string>& extra) {
  const std::string compatibility = (project / "runtime/compatibility").string();
  const std::string cuda = std::filesystem::canonical(WARPLENS_CUDA_ROOT).string();
  std::vector<std::string> arguments{"-x",
                                     "cuda",
                                     "--cuda-path=" + cuda,
                                     "-isystem",
                                     compatibility,
                                     "-isystem",
                                     cuda + "/include/cccl",
                                     "-include",
                                     compatibility + "/warplens_compatibility.h",
                                     "--cuda-gpu-arch=sm_80",
                                     "-std=c++17",
                                     "-Wno-unknown-cuda-version"};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return arguments;
}

rewriter::Instrumented rewrite(const std::filesystem::path& source,
                               const std::filesystem::path& output_directory,
                               const std::vector<std::string>& extra, bool keep_removed) {
  auto instrumented = rewriter::instrument({source, clang_arguments(extra), output_directory, keep_removed});
  if (!instrumented)
    FAIL(instrumented.error().message);
  for (const rewriter::RewrittenFile& file : instrumented->files)
    write(file.copy, file.text);
  return std::move(*instrumented);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void write(const std::filesystem::path& path, const std::string& text) {
  if (path.has_parent_path())
    std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

TemporaryDirectory folder() {
  auto created = TemporaryDirectory::create();
  if (!created)
    FAIL(created.error().message);
  return std::move(*created);
}

namespace {

std::string complaints(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  command.capture_output = true;
  const auto finished = run(command);
  if (!finished)
    return finished.error().message;
  return finished->exit_code == 0 ? std::string() : quote(arguments) + "\n" + finished->output;
}

} // namespace

std::string complaints_of_clang(const std::filesystem::path& source, const std::vector<std::string>& extra) {
  std::string all;
  for (const char* half : {"--cuda-device-only", "--cuda-host-only"}) {
    std::vector<std::string> arguments{WARPLENS_CLANG};
    const std::vector<std::string> flags = clang_arguments(extra);
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(),
                     {"-I", (project / "runtime/device").string(), "-fsyntax-only", half, source.string()});
    all += complaints(arguments);
  }
  return all;
}

std::string complaints_of_nvcc(const std::filesystem::path& source, const std::filesystem::path& object) {
  return complaints({WARPLENS_NVCC, "-std=c++17", "-arch=sm_80", "-I", (project / "runtime/device").string(),
                     "-c", "-o", object.string(), source.string()});
}

} // namespace warplens::test
