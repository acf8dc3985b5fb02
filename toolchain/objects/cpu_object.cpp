#include "toolchain/objects/cpu_object.h"

#include "runtime/abi/device_section.h"
#include "runtime/abi/managed_variables.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/temporary.h"
#include "toolchain/cache/cache_folder.h"
#include "toolchain/cache/stage_cache.h"
#include "toolchain/nvcc/checks.h"
#include "toolchain/nvcc/clang_arguments.h"
#include "toolchain/nvcc/host_options.h"
#include "toolchain/objects/gpu_object.h"
#include "toolchain/objects/named_libraries.h"
#include "toolchain/resources.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/version.h"

#include <algorithm>
#include <future>
#include <optional>
#include <sstream>

namespace warplens::toolchain {
namespace {

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The common data of both halves of one source.
struct Halves {
  const CpuSource& source;
  const NvccArguments& nvcc;
  const Arguments& clang_arguments;
  /// A name that is the same in both halves and unique to this object: it distinguishes file-local names of
  /// several objects. Empty: not known yet.
  std::string module = {};
  bool keeps_refused = false; ///< kernels that cannot be lowered stay, for their machine code
};

std::filesystem::path dependencies_of(const Halves& halves, const char* half) {
  return halves.source.directory / (std::string(half) + ".d");
}

/// Compiles with Clang as the rewriter does: it reads the source through the same compatibility headers.
Expected<std::string> compile_half(const Halves& halves, const char* half, const Arguments& arguments) {
  std::error_code ignored; // a removed current folder leaves the name as it is
  const auto folder = std::filesystem::absolute(halves.source.original, ignored).parent_path().string();
  Arguments command{resources().compile.string(), "clang", "--half", half};
  if (!halves.nvcc.hidden_entities)
    command.push_back("--visible-entities");
  if (const auto cache = cache_folder(); !cache.empty())
    command = command + Arguments{"--cache", cache.string()};
  command = command + Arguments{halves.source.source.string(), "--"};
  const auto dependencies = dependencies_of(halves, half).string();
  command = command + halves.clang_arguments +
            Arguments{"-iquote", folder, "-c", "-D__WARPLENS_CPU__", "-MD", "-MF", dependencies};
  if (halves.nvcc.relocatable)
    command.push_back("-fgpu-rdc");
  const auto cuid = "-cuid=" + halves.module;
  if (halves.nvcc.relocatable && !halves.module.empty())
    command = command + Arguments{cuid, "-Xclang", cuid}; // Clang's driver drops one half's
  return run_compiler(command + arguments);
}

/// Returns a module's name. The path and the command distinguish equal texts, the contents what was compiled
/// under one path with one command, as generated sources often are.
std::string module_name(const Halves& halves, const std::string& contents) {
  std::error_code ignored; // a removed current folder leaves the name as it is
  std::string identity = std::filesystem::absolute(halves.source.original, ignored).string();
  for (const auto& argument : halves.clang_arguments)
    identity += '\n' + argument;
  return fmt::format("{:016x}", stable_hash(identity + '\n' + halves.nvcc.output + '\n' + contents));
}

/// Names the module of a relocatable object by its preprocessed text: both halves have the name in symbols,
/// so that it must be known before they are compiled.
Expected<std::string> name_of_text(const Halves& halves) {
  const auto preprocessed = [&](const char* half) -> Expected<std::string> {
    const auto file = halves.source.directory / (std::string(half) + ".ii");
    TRY(compile_half(halves, half, {"-E", "-P", "-o", file.string()}));
    return read_file(file);
  };
  auto host = std::async(std::launch::async, [&] { return preprocessed("host"); });
  const auto device_text = preprocessed("device");
  const auto host_text = host.get();
  if (!device_text || !host_text)
    return device_text ? host_text : device_text;
  return module_name(halves, *device_text + *host_text);
}

/// Writes bitcode as the parser made it: LLVM's passes may move convergent operations only after they were
/// lowered.
Expected<void> compile_device_half(const Halves& halves, const std::filesystem::path& bitcode) {
  // The lowering recognises code to be debugged by its description of variables.
  const Arguments description =
      halves.source.debugged ? Arguments{"-O0", "-g", "--cuda-noopt-device-debug"}
                             : Arguments{"-O1", "-Xclang", "-disable-llvm-passes", "-gline-tables-only"};
  return compile_half(halves, "device",
                      description + Arguments{"-emit-llvm", "-nogpulib", "-o", bitcode.string()})
      .map([](const auto&) {});
}

/// Redirects the registration of a relocatable object. Its constructor calls a function named after the
/// object, which nvcc's device link defines; ours is one for all (runtime/cpu/cudart/registration.cpp).
Expected<void> redirect_registration(const std::filesystem::path& object) {
  TRY_LET(symbols, run_compiler({"nm", "--undefined-only", "--just-symbols", object.string()}));
  std::istringstream names(*symbols);
  for (std::string name; names >> name;)
    if (name.starts_with("__cudaRegisterLinkedBinary"))
      return run_compiler({"objcopy", "--redefine-sym", name + "=__warplens_cpu_register_linked_binary",
                           "--wildcard", "--localize-symbol=__fatbinwrap*", object.string()})
          .map([](const auto&) {});
  return {};
}

/// Options for programs that only gcc has compiled so far: it exploits less than Clang does of signed
/// overflow and of a function that ends without the return it should have.
const Arguments lenient{"-fwrapv", "-fno-strict-return", "-fPIC"};

/// The section in which Clang embeds a GPU binary, and the length of the name that stands there.
constexpr char binary_section[] = ".nv_fatbin";
constexpr std::size_t name_bytes = 16;

std::filesystem::path gpu_binary(const Halves& halves) {
  return halves.source.directory / "gpu_binary";
}

/// Compiles the host half. Clang registers its kernels only if it is given a GPU binary to embed; in its
/// place the module's name tells the runtime which device code belongs to this file.
Expected<void> compile_host_half(const Halves& halves, const std::filesystem::path& object) {
  const auto binary = gpu_binary(halves);
  TRY(write_file(binary, (halves.module.empty() ? std::string(name_bytes, '-') : halves.module) + '\0'));
  Arguments options = lenient + Arguments{"-Xclang", "-fcuda-include-gpubinary", "-Xclang", binary.string()};
  const auto& optimisation = halves.nvcc.optimisation;
  options.push_back(!optimisation.empty() ? optimisation : halves.nvcc.host_debug ? "-O0" : "-O2");
  if (halves.nvcc.host_debug)
    options.push_back("-g");
  const HostOptions host = sort_host_options(halves.nvcc.host_compiler);
  if (!host.refused.empty())
    return fail(
        "error: the CPU back end cannot compile host code with '{}' (-Xcompiler): Clang has no such option",
        host.refused.front());
  options = options + host.host_half;
  TRY_LET(compiled, compile_half(halves, "host", options + Arguments{"-o", object.string()}));
  return halves.nvcc.relocatable ? redirect_registration(object) : Expected<void>{};
}

/// Adds the bitcode in a section that linkers leave out of programs, and the symbol by which the device link
/// refers to the object. The symbol is weak: a source may be compiled twice for one program.
Expected<void> add_bitcode(const Halves& halves, const std::filesystem::path& host,
                           const std::filesystem::path& bitcode, const std::filesystem::path& object) {
  return run_compiler(
             {"objcopy", fmt::format("--add-section={}={}", cpu::device_section, bitcode.string()),
              fmt::format("--set-section-flags={}=exclude,readonly", cpu::device_section),
              fmt::format("--add-symbol={}{}=0,global,weak", cpu::linked_symbol_prefix, halves.module),
              host.string(), object.string()})
      .map([](const auto&) {});
}

/// Returns the options for the lowering; the folders of the toolkit's, the C and C++ libraries' and Clang's
/// headers are not the user's.
Arguments lowering_options(const Arguments& clang_arguments, cpu::Checks checks) {
  Arguments options;
  for (const char* folder : {"/usr/include", "/usr/lib"})
    options.insert(options.end(), {"--system-folder", folder});
  for (const auto& folder : {resources().compatibility, resources().include})
    options.insert(options.end(), {"--system-folder", folder.string()});
  constexpr std::string_view toolkit = "--cuda-path=";
  for (const auto& argument : clang_arguments)
    if (argument.starts_with(toolkit))
      options.insert(options.end(), {"--system-folder", argument.substr(toolkit.size())});
  if (const auto cache = cache_folder(); !cache.empty())
    options.insert(options.end(), {"--cache", cache.string()});
  return options + options_of(checks);
}

/// Makes an object with the machine code figures of the kernels; returns nothing if there are none.
Expected<Arguments> machine_code_object(const Halves& halves) {
  if (!halves.source.machine_code.valid() || halves.source.machine_code.get().kernels.empty())
    return Arguments{};
  const auto& [kernels, ptx] = halves.source.machine_code.get();
  const auto table = halves.source.directory / "machine_code.c",
             object = halves.source.directory / "machine_code.o";
  TRY(write_file(table, machine_code_table(kernels, halves.module, ptx)));
  return run_compiler({resources().linking_compiler.string(), "-x", "c", "-w", "-fPIC", "-c", table.string(),
                       "-o", object.string()})
      .map([&](const auto&) { return Arguments{object.string()}; });
}

Expected<void> join(const Halves& halves, const std::vector<std::filesystem::path>& parts,
                    const std::filesystem::path& object) {
  TRY_LET(machine_code, machine_code_object(halves));
  Arguments command{"ld", "-r", "-o", object.string()};
  for (const auto& part : parts)
    command.push_back(part.string());
  return run_compiler(command + *machine_code).map([](const auto&) {});
}

/// Joins the halves, and makes the names of __managed__ variables the object's own.
Expected<void> join_with_device_code(const Halves& halves, const std::filesystem::path& host,
                                     const std::filesystem::path& device,
                                     const std::filesystem::path& object) {
  TRY(join(halves, {host, device}, object));
  TRY_LET(code, read_file(host));
  if (code->find(cpu::managed_prefix) == std::string::npos)
    return {};
  return run_compiler({"objcopy", "--wildcard", fmt::format("--localize-symbol={}*", cpu::managed_prefix),
                       object.string()})
      .map([](const auto&) {});
}

/// Runs the lowering; slow stages announce themselves on its stdout, which goes to our stderr.
Expected<void> run_lowering(const Arguments& arguments) {
  TRY_LET(folder, TemporaryDirectory::create());
  Command command;
  command.arguments = Arguments{resources().compile.string()} + arguments;
  command.stdout_to_stderr = true;
  command.stderr_file = folder->path() / "log";
  return run_compiler(command).map([](const auto&) {});
}

Expected<void> lower(const Halves& halves, const std::filesystem::path& bitcode,
                     const std::filesystem::path& device) {
  return run_lowering(
      Arguments{"lower", "--module", halves.module, "--source", halves.source.original.string()} +
      lowering_options(halves.clang_arguments, halves.source.checks) +
      (halves.keeps_refused ? Arguments{"--keep-refused"} : Arguments{}) +
      Arguments{bitcode.string(), device.string()});
}

/// Joins the halves of a relocatable object, whose device code is lowered by the device link.
Expected<void> join_with_bitcode(const Halves& halves, const std::filesystem::path& host,
                                 const std::filesystem::path& bitcode, const std::filesystem::path& object) {
  const auto joined = halves.source.directory / "joined.o";
  TRY(join(halves, {host}, joined));
  return add_bitcode(halves, joined, bitcode, object);
}

/// Names the module by both compiled halves, and puts the name into the place in the host half.
Expected<void> name_halves(Halves& halves, const std::filesystem::path& host,
                           const std::filesystem::path& bitcode) {
  TRY_LET(host_code, read_file(host));
  TRY_LET(device_code, read_file(bitcode));
  halves.module = module_name(halves, *host_code + *device_code);
  if (host_code->find(binary_section) == std::string::npos)
    return {}; // it registers nothing
  TRY(write_file(gpu_binary(halves), halves.module + '\0'));
  return run_compiler({"objcopy", "--update-section",
                       fmt::format("{}={}", binary_section, gpu_binary(halves).string()), host.string()})
      .map([](const auto&) {});
}

/// The files of both halves; `module` holds the name.
struct HalfFiles {
  std::filesystem::path host, bitcode, device, module;
};

Expected<void> make_halves(Halves& halves, const HalfFiles& files) {
  const bool relocatable = halves.nvcc.relocatable;
  if (relocatable) {
    TRY_LET(name, name_of_text(halves));
    halves.module = *name;
  }
  auto host_half = std::async(std::launch::async, [&] { return compile_host_half(halves, files.host); });
  const auto device_half = compile_device_half(halves, files.bitcode);
  const auto host_compiled = host_half.get();
  TRY(device_half);
  TRY(host_compiled);
  if (!relocatable) {
    TRY(name_halves(halves, files.host, files.bitcode));
    TRY(lower(halves, files.bitcode, files.device));
  }
  return write_file(files.module, halves.module);
}

/// Returns the processor's name and features, which device code is compiled for.
std::string processor() {
  const std::string all = read_file("/proc/cpuinfo").value_or("");
  std::string text;
  for (const char* field : {"model name", "flags", "Features", "CPU part"})
    if (const auto at = all.find(field); at != all.npos)
      text += all.substr(at, all.find('\n', at) - at);
  return text;
}

/// Returns all that the objects of both halves depend on but the contents of files.
Arguments words_of(const Halves& halves) {
  return Arguments{"halves",
                   processor(),
                   halves.source.source.string(),
                   halves.source.original.string(),
                   halves.source.debugged ? "-G" : "",
                   halves.nvcc.relocatable ? "-rdc" : "",
                   halves.nvcc.host_debug ? "-g" : "",
                   halves.nvcc.hidden_entities ? "" : "--visible-entities",
                   halves.nvcc.optimisation,
                   halves.nvcc.output} +
         halves.clang_arguments + halves.nvcc.host_compiler + options_of(halves.source.checks) +
         Arguments{halves.keeps_refused ? "keeps refused" : "all lowered"};
}

Expected<void> compile_both_halves(const CpuSource& source, const NvccArguments& nvcc,
                                   const Arguments& clang_arguments, bool keeps_refused,
                                   const std::filesystem::path& object) {
  Halves halves{source, nvcc, clang_arguments};
  halves.keeps_refused = keeps_refused;
  const auto& folder = source.directory;
  const HalfFiles files{folder / "host.o", folder / "device.bc", folder / "device.o", folder / "module"};
  const StageCache cache;
  const StageRun run{folder,
                     words_of(halves),
                     {resources().compile, resources().linking_compiler},
                     searched_folders(source.original, clang_arguments)};
  if (cache.restore(run).empty()) {
    TRY(make_halves(halves, files));
    auto read = read_rule(dependencies_of(halves, "host")).prerequisites;
    std::ranges::copy(read_rule(dependencies_of(halves, "device")).prerequisites, std::back_inserter(read));
    cache.keep(run, read, {files.host, nvcc.relocatable ? files.bitcode : files.device, files.module});
  } else {
    TRY_LET(name, read_file(files.module));
    halves.module = *name;
  }
  return nvcc.relocatable ? join_with_bitcode(halves, files.host, files.bitcode, object)
                          : join_with_device_code(halves, files.host, files.device, object);
}

} // namespace

Expected<void> compile_for_cpu(const CpuSource& source, const NvccArguments& nvcc,
                               const Arguments& clang_arguments, const std::filesystem::path& object) {
  const auto is_made_by_nvcc = [&] {
    return source.machine_code.valid() &&
           !(source.machine_code.get().kernels.empty() && source.machine_code.get().ptx.empty());
  };
  if (!source.refused.empty() && !is_made_by_nvcc())
    return fail("{}", source.refused); // nvcc takes it neither, or it is not known what it calls
  const auto architectures = with_older_architectures(clang_arguments);
  if (architectures.size() > 1)
    for (const auto& arguments : architectures)
      if (compile_both_halves(source, nvcc, arguments, false, object))
        return {};
  return compile_both_halves(source, nvcc, architectures.front(), true, object);
}

Arguments libraries_of_host_half(const NvccArguments& nvcc) {
  if (std::ranges::find(nvcc.host_compiler, "-fopenmp") == nvcc.host_compiler.end())
    return {};
  // LLVM's OpenMP runtime also has the functions that gcc's objects call.
  const auto beside_compiler = resources().linking_compiler.parent_path().parent_path() / "lib/libomp.so";
  std::error_code error;
  return {std::filesystem::exists(beside_compiler, error) ? beside_compiler.string() : "-l:libomp.so.5"};
}

Expected<void> compile_host_source(const std::filesystem::path& source, const NvccArguments& nvcc,
                                   const Toolkit& toolkit, const std::filesystem::path& object) {
  Arguments command{(toolkit.root / "bin/nvcc").string()};
  command = command + words_without(nvcc, describes_result) +
            Arguments{"-c", source.string(), "-o", object.string()};
  return run_compiler(command).map([](const auto&) {});
}

Expected<void> link_device_code(const std::vector<std::string>& files, const std::filesystem::path& object,
                                cpu::Checks checks) {
  Arguments command =
      Arguments{"link", "--keep-refused"} + lowering_options({}, checks) + Arguments{object.string()};
  for (const auto& file : find_named_libraries(files))
    if (!file.starts_with("-"))
      command.push_back(file);
  return run_lowering(command);
}

} // namespace warplens::toolchain
