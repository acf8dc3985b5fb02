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
  static const TemporaryDirectory headers = folder(); // parsed once for all sources
  auto instrumented =
      rewriter::instrument({source, clang_arguments(extra), output_directory, keep_removed, headers.path()});
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

/// Runs Clang on one half of a source.
std::string complaints_of_half(const std::filesystem::path& source, const std::string& half,
                               const std::vector<std::string>& mode) {
  std::vector<std::string> arguments = clang_arguments();
  arguments.insert(arguments.begin(), WARPLENS_CLANG);
  arguments.insert(arguments.end(), {"-I", (project / "runtime/device").string(), half});
  arguments.insert(arguments.end(), mode.begin(), mode.end());
  arguments.push_back(source.string());
  return complaints(arguments);
}

/// Returns the tree of the headers that each source is compiled behind, for one half.
std::filesystem::path headers_of_half(const std::string& half) {
  static const TemporaryDirectory trees = folder();
  const std::filesystem::path tree = trees.path() / (half + ".pch"), source = trees.path() / (half + ".cu");
  if (!exists(tree)) {
    write(source, "");
    if (const auto problem =
            complaints_of_half(source, half, {"-emit-llvm", "-c", "-Xclang", "-emit-pch", "-o", tree});
        !problem.empty())
      FAIL(problem);
  }
  return tree;
}

} // namespace

std::string complaints_of_clang(const std::filesystem::path& source) {
  std::string all;
  for (const char* half : {"--cuda-device-only", "--cuda-host-only"})
    all += complaints_of_half(source, half,
                              {"-fsyntax-only", "-Xclang", "-include-pch", "-Xclang", headers_of_half(half)});
  return all;
}

std::string complaints_of_nvcc(const std::filesystem::path& source, const std::filesystem::path& object) {
  return complaints({WARPLENS_NVCC, "-std=c++17", "-arch=sm_80", "-I", (project / "runtime/device").string(),
                     "-c", "-o", object.string(), source.string()});
}

} // namespace warplens::test
