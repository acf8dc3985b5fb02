#include "device_program.h"

#include "support/process.h"
#include "test/catch.h"

#include <dlfcn.h>
#include <fstream>

namespace {
std::vector<const warplens::cpu::KernelRecord*> kernels;
std::vector<const warplens::cpu::VariableRecord*> variables;
} // namespace

// Replaces the CUDA runtime's registry.
void __warplens_cpu_register_kernel(const warplens::cpu::KernelRecord* kernel) {
  kernels.push_back(kernel);
}
void __warplens_cpu_register_variable(const warplens::cpu::VariableRecord* variable) {
  variables.push_back(variable);
}
void __warplens_cpu_check_runtime(const void*) {}
void __warplens_cpu_unregister(const void*) {}

namespace warplens::test {

namespace {

/// Runs Clang on a source's device half with these options.
Expected<void> run_clang(const std::filesystem::path& source, const std::filesystem::path& output,
                         const std::vector<std::string>& options) {
  std::vector<std::string> arguments{WARPLENS_TEST_CLANG,
                                     "-x",
                                     "cuda",
                                     std::string("--cuda-path=") + WARPLENS_TEST_CUDA,
                                     "-isystem",
                                     WARPLENS_TEST_COMPATIBILITY,
                                     "-isystem",
                                     std::string(WARPLENS_TEST_CUDA) + "/include/cccl",
                                     "-I",
                                     WARPLENS_TEST_DEVICE_HEADERS,
                                     "--cuda-gpu-arch=sm_80",
                                     "-std=c++17",
                                     "-Wno-unknown-cuda-version",
                                     "--cuda-device-only",
                                     "-emit-llvm",
                                     "-c",
                                     "-O1",
                                     "-Xclang",
                                     "-disable-llvm-passes",
                                     "-nogpulib",
                                     "-gline-tables-only",
                                     "-D__WARPLENS_CPU__"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {source.string(), "-o", output.string()});
  auto compiled = warplens::run({.arguments = arguments, .capture_output = true});
  if (!compiled)
    return tl::unexpected(compiled.error());
  if (compiled->exit_code)
    return fail("clang: {}", compiled->output);
  return {};
}

TemporaryDirectory make_folder() {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  return std::move(*folder);
}

/// Returns the tree of CUDA's headers and the probe's, which is parsed once for all programs: it takes Clang
/// four times as long as a program does.
const std::filesystem::path& headers() {
  static const TemporaryDirectory folder = make_folder();
  static const std::filesystem::path tree = [] {
    const auto source = folder.path() / "headers.cu", output = folder.path() / "headers.pch";
    std::ofstream(source) << "#include <warplens/probe.h>\n";
    const auto made = run_clang(source, output, {"-Xclang", "-emit-pch"});
    INFO((made ? std::string() : made.error().message));
    REQUIRE(made);
    return output;
  }();
  return tree;
}

} // namespace

Expected<void> compile_and_lower(const std::string& source, const std::filesystem::path& folder,
                                 const std::filesystem::path& object, lowering::Output options) {
  const auto file = folder / "program.cu", bitcode = folder / "program.bc";
  std::ofstream(file) << source;
  TRY(run_clang(file, bitcode, {"-Xclang", "-include-pch", "-Xclang", headers().string()}));
  options.object = object;
  options.system_folders = {"/usr", folder / "system"};
  return lowering::lower(bitcode, options);
}

DeviceProgram::DeviceProgram(const std::string& source, const lowering::Output& options)
    : folder_(make_folder()), first_kernel_(kernels.size()), first_variable_(variables.size()) {
  const auto object = folder_.path() / "program.o", library = folder_.path() / "program.so";
  const auto lowered =
      compile_and_lower("#include <warplens/probe.h>\n" + source, folder_.path(), object, options);
  INFO((lowered ? std::string() : lowered.error().message));
  REQUIRE(lowered);
  const auto linked =
      warplens::run({.arguments = {WARPLENS_TEST_LINKER, "-shared", object.string(), "-o", library.string()},
                     .capture_output = true});
  REQUIRE(linked);
  INFO(linked->output);
  REQUIRE(linked->exit_code == 0);
  library_ = dlopen(library.c_str(), RTLD_NOW);
  const char* problem = library_ ? nullptr : dlerror();
  INFO((problem ? problem : ""));
  REQUIRE(library_);
}

DeviceProgram::~DeviceProgram() {
  kernels.resize(first_kernel_);
  variables.resize(first_variable_);
  if (library_)
    dlclose(library_);
}

const cpu::KernelRecord& DeviceProgram::kernel(const std::string& name) const {
  for (std::size_t i = first_kernel_; i < kernels.size(); ++i)
    if (std::string(kernels[i]->symbol).find(name) != std::string::npos)
      return *kernels[i];
  FAIL("no kernel " << name);
  std::abort();
}

void* DeviceProgram::variable(const std::string& name) const {
  for (std::size_t i = first_variable_; i < variables.size(); ++i)
    if (std::string(variables[i]->symbol).find(name) != std::string::npos)
      return variables[i]->address;
  FAIL("no variable " << name);
  std::abort();
}

namespace {

struct Collector : cpu::WarpAccessSink {
  Collector(std::vector<Seen>& seen, std::mutex& mutex, std::uint64_t block)
      : seen_(seen), mutex_(mutex), block_(block) {}
  void access(std::uint32_t warp, const ring::Line& line) override {
    const std::lock_guard lock(mutex_);
    seen_.push_back({block_, warp, line});
  }

private:
  std::vector<Seen>& seen_;
  std::mutex& mutex_;
  std::uint64_t block_;
};

} // namespace

cpu::GridResult DeviceProgram::run_traced(const cpu::Grid& grid, std::vector<Seen>& seen) {
  std::mutex mutex;
  const cpu::Tracing tracing{
      [&](std::uint64_t block) { return std::make_unique<Collector>(seen, mutex, block); }};
  return cpu::run_grid(grid, &tracing);
}

} // namespace warplens::test
