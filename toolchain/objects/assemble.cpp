#include "toolchain/objects/assemble.h"

#include "support/files.h"
#include "toolchain/cache/stage_cache.h"
#include "toolchain/objects/compile_source.h"
#include "toolchain/steps/compiler.h"

#include <fmt/format.h>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

namespace warplens::toolchain {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The files that the assembler makes of a module for one architecture: a cubin, and its own log.
struct Assembled {
  fs::path cubin, log;
};

Expected<Assembled> assemble_module(const SourcePtx& ptx, const Toolkit& toolkit,
                                    const std::string& architecture, const std::string& binary,
                                    const fs::path& folder) {
  const auto name = fmt::format("code_{}_{}", architecture, binary);
  const fs::path module = folder / (name + ".ptx");
  Assembled made{folder / (name + ".cubin"), folder / (name + ".log")};
  TRY(write_file(module, ptx.modules.at(architecture)));
  Words words = ptx.flags;
  words.insert(words.end(), {"cubin", architecture, binary});
  const StageRun run{folder, words, nvccs_programs(toolkit), {}};
  const StageCache cache;
  if (!cache.restore(run).empty())
    return made;
  // The input has no -x option: the file is PTX.
  TRY_LET(output, run_nvcc(toolkit, ptx.flags,
                           {"-cubin", "-lineinfo",
                            fmt::format("-gencode=arch=compute_{},code=sm_{}", architecture, binary),
                            "-Xptxas", "-v", module.string(), "-o", made.cubin.string()},
                           folder));
  TRY(write_file(made.log, *output));
  cache.keep(run, {module}, {made.cubin, made.log});
  return made;
}

} // namespace

std::string packed(const SourcePtx& ptx) {
  std::string bytes;
  nlohmann::json::to_msgpack(
      nlohmann::json{{"architectures", ptx.architectures}, {"flags", ptx.flags}, {"modules", ptx.modules}},
      bytes);
  return bytes;
}

Expected<SourcePtx> unpack(std::string_view bytes) {
  const auto json = nlohmann::json::from_msgpack(bytes, true, false);
  try {
    SourcePtx ptx;
    json.at("architectures").get_to(ptx.architectures);
    json.at("flags").get_to(ptx.flags);
    json.at("modules").get_to(ptx.modules);
    if (!ptx.architectures.empty())
      return ptx;
  } catch (const nlohmann::json::exception&) { // the message names no key that a user knows
  }
  return fail("no PTX as programs keep it");
}

std::map<std::string, Binaries> choose_binaries(const Words& architectures,
                                                const std::vector<int>& capabilities) {
  std::map<std::string, Binaries> choices;
  for (const int capability : capabilities) {
    const CodeChoice choice = choose_code(architectures, capability);
    choices[choice.ptx][choice.binary].push_back(capability);
  }
  return choices;
}

Expected<std::string> run_nvcc(const Toolkit& toolkit, const Words& flags, const Words& arguments,
                               const fs::path& folder) {
  Command command;
  command.arguments.push_back((toolkit.root / "bin/nvcc").string());
  for (const auto& words : {flags, arguments})
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.environment = {{"TMPDIR", folder.string()}};
  command.without = nvcc_variables;
  return run_compiler(std::move(command));
}

std::vector<fs::path> nvccs_programs(const Toolkit& toolkit) {
  const auto programs = toolkit.root / "bin";
  return {programs / "nvcc", programs / "nvcc.profile", programs / "ptxas", programs / "../nvvm/bin/cicc",
          program_in_path("gcc")};
}

std::vector<KernelCode> assemble(const SourcePtx& ptx, const Toolkit& toolkit,
                                 const std::vector<int>& capabilities, const fs::path& folder) {
  struct Running {
    std::string binary;
    std::vector<int> capabilities;
    std::future<Expected<Assembled>> made;
  };
  std::vector<Running> running;
  for (const auto& [architecture, binaries] : choose_binaries(ptx.architectures, capabilities)) {
    if (!ptx.modules.contains(architecture))
      continue;
    for (const auto& [binary, takers] : binaries)
      running.push_back({binary, takers,
                         std::async(std::launch::async, assemble_module, std::cref(ptx), std::cref(toolkit),
                                    architecture, binary, folder)});
  }
  std::vector<KernelCode> all;
  for (Running& one : running) {
    const auto made = one.made.get();
    if (!made)
      continue;
    for (const KernelCode& kernel : read_ptxas(read_file(made->log).value_or("")))
      for (const int capability : one.capabilities) {
        all.push_back(kernel);
        all.back().code.capability = static_cast<std::uint32_t>(capability);
        all.back().code.architecture = static_cast<std::uint32_t>(architecture_number(one.binary));
        all.back().cubin = made->cubin;
      }
  }
  return all;
}

} // namespace warplens::toolchain
