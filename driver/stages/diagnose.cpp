#include "driver/stages/diagnose.h"

#include "driver/stages/host_system.h"
#include "support/files.h"
#include "support/pattern.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/resources.h"
#include "toolchain/toolkit.h"
#include "toolchain/version.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/ranges.h>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view profiling = "profile, run, nvcc, patch, placement and advise of sources";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::optional<fs::path> in_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; access(file.c_str(), X_OK) == 0)
      return file;
  return std::nullopt;
}

/// Runs a program and returns its output, or the error in one line.
Expected<std::string> output_of(const std::vector<std::string>& arguments) {
  Command command;
  command.arguments = arguments;
  command.capture_output = true;
  TRY_LET(finished, run(command));
  if (finished->exit_code == 0)
    return finished->output;
  return fail("{}", finished->output.substr(0, finished->output.find('\n')));
}

/// Returns the first group of the pattern in the text, or "of unknown version".
std::string version_in(const std::string& text, const char* pattern) {
  const auto match = Pattern(pattern).first_match(text);
  return match ? (*match)[1] : "of unknown version";
}

Diagnosis installation() {
  const toolchain::Resources& parts = toolchain::resources();
  std::vector<std::string> missing;
  for (const fs::path& part : {parts.compile, parts.libraries / "libcudart_static.a", parts.include,
                               parts.compatibility, parts.gpus})
    if (!is_there(part))
      missing.push_back(part.string());
  if (missing.empty())
    return {"installation", Condition::works,
            fmt::format("warplens {}, all parts are there", toolchain::version), "", profiling};
  return {"installation", Condition::absent, fmt::format("{} is missing", fmt::join(missing, ", ")),
          "install the whole package, or build it: report, diff, model and gpus work without", profiling};
}

Diagnosis rewriter() {
  const auto started = output_of({toolchain::resources().compile.string(), "--help"});
  if (started)
    return {"LLVM libraries", Condition::works,
            fmt::format("{}: warplens-compile starts", toolchain::llvm_version), "", profiling};
  return {"LLVM libraries", Condition::absent, started.error().message,
          fmt::format("install libllvm19 and libclang-cpp19 (LLVM {})", toolchain::llvm_version), profiling};
}

Diagnosis compiler() {
  const std::string program = toolchain::resources().linking_compiler.string();
  const bool is_clang = program == toolchain::clang;
  const char* const name = is_clang ? "Clang" : "compiler";
  const auto printed = output_of({program, "--version"});
  if (printed)
    return {name, Condition::works,
            fmt::format("{} ({})", version_in(*printed, "(?:version|\\)) ([0-9.]+)"), program), "",
            profiling};
  return {name, Condition::absent, fmt::format("{} does not run", program),
          "install clang-19, or gcc with its C++ library", profiling};
}

Diagnosis toolkit() {
  const auto found = toolchain::find_toolkit();
  if (!found)
    return {"CUDA Toolkit", Condition::absent, found.error().message,
            "install CUDA 13 (no driver needed) or set CUDA_PATH", profiling};
  const std::string number = toolchain::version_of(*found);
  const std::string place = fmt::format("{} ({})", number, found->root.string());
  if (!number.starts_with("13."))
    return {"CUDA Toolkit", Condition::limited, place, "Warplens is tested with CUDA 13 only", profiling};
  return {"CUDA Toolkit", Condition::works, place, "", profiling};
}

Diagnosis machine_code() {
  constexpr std::string_view use =
      "the instructions between accesses, registers and occupancy as NVIDIA's compiler makes them";
  const auto found = toolchain::find_toolkit();
  const auto printed = found ? output_of({(found->root / "bin/ptxas").string(), "--version"})
                             : Expected<std::string>(tl::unexpected(found.error()));
  if (printed)
    return {"ptxas", Condition::works, version_in(*printed, "V([0-9.]+)"), "", use};
  return {"ptxas", Condition::limited, "not found: times are modelled from accesses alone",
          "install the whole CUDA Toolkit", use};
}

constexpr const char* smallest_program = R"(
__global__ void twice(float* a) { a[threadIdx.x] = 2 * a[threadIdx.x]; }
int main() {
  float* a;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMemset(a, 0, 64 * sizeof(float));
  twice<<<1, 64>>>(a);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)";

/// Profiles a kernel, which no list of parts can replace.
Diagnosis trial_run() {
  constexpr std::string_view part = "CPU back end";
  const auto failed = [&](const std::string& reason) {
    return Diagnosis{part, Condition::absent, reason, "see the lines above", profiling};
  };
  const auto folder = TemporaryDirectory::create();
  if (!folder)
    return failed(folder.error().message);
  const fs::path source = folder->path() / "twice.cu";
  if (const auto written = write_file(source, smallest_program); !written)
    return failed(written.error().message);
  const auto printed =
      output_of({(executable_directory() / "warplens").string(), "profile", source.string(), "--backend",
                 "cpu", "--quiet", "--trials", "2", "-o", (folder->path() / "report").string()});
  if (!printed)
    return failed(printed.error().message);
  return {part, Condition::works, "a kernel was compiled, run and modelled", "", profiling};
}

Diagnosis page() {
  constexpr std::string_view use = "--format html";
  if (is_there(toolchain::resources().page))
    return {"report page", Condition::works, "built", "", use};
  return {"report page", Condition::absent, "this Warplens was built where Node.js was not",
          "install nodejs and npm, and build again; the other formats work without", use};
}

Diagnosis mpi() {
  constexpr std::string_view use = "trials over several machines: mpirun -n N warplens model";
#ifdef WARPLENS_MPI
  if (const auto starter = in_path("mpirun"))
    return {"MPI", Condition::works, fmt::format("built in ({})", starter->string()), "", use};
  return {"MPI", Condition::limited, "built in, but there is no mpirun in PATH", "install openmpi-bin", use};
#else
  return {"MPI", Condition::absent, "not built in", "install libopenmpi-dev and build again", use};
#endif
}

Diagnosis plots() {
  constexpr std::string_view use = "plots of warplens calibrate";
  if (const auto gnuplot = in_path("gnuplot"))
    return {"gnuplot", Condition::works, gnuplot->string(), "", use};
  return {"gnuplot", Condition::absent, "not in PATH", "install gnuplot-nox", use};
}

Diagnosis gpu_runtime() {
  constexpr std::string_view use = "--backend gpu";
  if (is_there(toolchain::resources().gpu_runtime))
    return {"GPU back end", Condition::works, "built; it was tried on an H100", "", use};
  return {"GPU back end", Condition::absent, "this Warplens was built where nvcc was not",
          "install CUDA 13 and build again", use};
}

/// The functions of NVIDIA's driver that name its GPUs (CUDA Driver API), loaded if the driver is there.
class Driver {
public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr)
      library_ = dlopen(fmt::format("/{}/libcuda.so.1", wsl_driver_folder).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Driver() {
    if (library_)
      dlclose(library_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool is_there() const { return library_ != nullptr; }

  /// Returns the names of the GPUs, or the driver's error.
  Expected<std::vector<std::string>> gpus() const {
    const auto initialize = function<int(unsigned)>("cuInit");
    const auto count_devices = function<int(int*)>("cuDeviceGetCount");
    const auto name_of_device = function<int(char*, int, int)>("cuDeviceGetName");
    if (!initialize || !count_devices || !name_of_device)
      return fail("libcuda.so.1 is not NVIDIA's driver");
    if (const int error = initialize(0); error != 0)
      return fail("the driver's cuInit fails with error {}", error);
    int count = 0;
    if (const int error = count_devices(&count); error != 0)
      return fail("the driver's cuDeviceGetCount fails with error {}", error);
    std::vector<std::string> names;
    for (int device = 0; device < count; ++device) { // ordinals are handles (CUdevice)
      char name[256] = "";
      name_of_device(name, sizeof name - 1, device);
      names.emplace_back(name);
    }
    return names;
  }

private:
  template <class Function> Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_;
};

Diagnosis gpus() {
  constexpr std::string_view use = "running on a GPU (--backend gpu, calibrate); nothing else needs one";
  const Driver driver;
  if (!driver.is_there())
    return {"GPU", Condition::absent, "there is no NVIDIA driver (libcuda.so.1)",
            "not needed: kernels run on the CPU", use};
  const auto names = driver.gpus();
  if (!names)
    return {"GPU", Condition::absent, names.error().message, "not needed: kernels run on the CPU", use};
  if (names->empty())
    return {"GPU", Condition::absent, "the driver finds none", "not needed: kernels run on the CPU", use};
  return {"GPU", Condition::works, fmt::format("{}", fmt::join(*names, ", ")), "", use};
}

Diagnosis counters() {
  if (is_there(fs::path("/") / wsl_driver_folder / "libcuda.so.1"))
    return {
        "GPU counters", Condition::limited, "Windows decides who may read them",
        "not needed: Warplens reads none. NVIDIA Control Panel, Developer, Manage GPU Performance Counters",
        "recording counters to compare with"};
  const auto parameters = read_file("/proc/driver/nvidia/params");
  if (!parameters)
    return {"GPU counters", Condition::absent, "there is no NVIDIA driver",
            "not needed: Warplens reads no counters", "recording counters to compare with"};
  return counter_rights(*parameters, geteuid() == 0);
}

} // namespace

Diagnosis counter_rights(std::string_view driver_parameters, bool is_root) {
  constexpr std::string_view part = "GPU counters", use = "recording counters to compare with";
  const bool restricted = driver_parameters.find("RmProfilingAdminOnly: 0") == std::string_view::npos;
  if (!restricted)
    return {part, Condition::works, "every user may read them", "", use};
  if (is_root)
    return {part, Condition::works, "root may read them", "", use};
  return {
      part, Condition::limited, "only root may read them",
      "not needed: Warplens reads none. To allow it: options nvidia NVreg_RestrictProfilingToAdminUsers=0",
      use};
}

std::vector<Diagnosis> diagnose() {
  return {host_system("/", is_on_windows_disk()),
          installation(),
          rewriter(),
          compiler(),
          toolkit(),
          machine_code(),
          trial_run(),
          page(),
          mpi(),
          gpu_runtime(),
          gpus(),
          counters(),
          plots()};
}

} // namespace warplens::driver
