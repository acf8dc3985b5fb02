#include "lowering/parts.h"

#include "lowering/device_link.h"
#include "lowering/pipelines.h"
#include "lowering/stages.h"
#include "support/content_cache.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"

#include <algorithm>
#include <atomic>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/PrettyStackTrace.h>
#include <llvm/Support/raw_ostream.h>
#include <set>
#include <thread>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// Each thread holds a part's module in memory.
constexpr unsigned max_threads = 8;

std::string bitcode_of(const Module& module) {
  std::string bytes;
  raw_string_ostream stream(bytes);
  WriteBitcodeToFile(module, stream);
  return bytes;
}

std::uint64_t instructions_of(const Module& module) {
  std::uint64_t count = 0;
  for (const Function& function : module)
    count += function.getInstructionCount();
  return count;
}

/// Returns everything that an object is made from, as the cache's key.
std::string ingredients(const Module& module, const std::vector<Kernel>& kernels,
                        const std::vector<KeptFunction>& kept, const std::vector<DeviceVariable>& variables,
                        const Output& output) {
  std::string text = bitcode_of(module);
  const auto add = [&](const auto&... fields) { ((text += fmt::format("{}\n", fields)), ...); };
  const auto add_keys = [&](const std::vector<Key>& keys) {
    for (const Key& key : keys)
      add(key.site, key.bytes, key.kind);
  };
  add(output.optimisation, output.checks.bits(), output.module);
  for (const std::string& symbol : output.referenced_symbols)
    add(symbol);
  for (const Kernel& kernel : kernels) {
    add(kernel.symbol, kernel.architecture, kernel.static_shared_bytes, kernel.checks.bits(),
        kernel.in_lock_step, kernel.largest_struct_bytes, kernel.max_block_threads, kernel.refusal);
    for (const auto& parameter : kernel.parameters)
      add(parameter.offset, parameter.bytes);
    add_keys(kernel.keys);
  }
  for (const KeptFunction& function : kept)
    if (module.getFunction(function.symbol)) {
      add(function.symbol);
      add_keys(function.keys);
    }
  for (const DeviceVariable& variable : variables)
    add(variable.symbol, variable.is_constant);
  return text;
}

/// Compiles one part's module to the bytes of its object.
Expected<std::string> compile_part(Module& module, std::vector<Kernel>& kernels,
                                   const std::vector<KeptFunction>& kept,
                                   std::vector<DeviceVariable> variables, const Output& output,
                                   const ContentCache& cache, Progress::Track& track) {
  if (output.checks.has(cpu::Check::memory))
    add_tables(module, variables);
  std::string key;
  if (cache.enabled()) {
    track.next("look up", instructions_of(module));
    key = ContentCache::key(ingredients(module, kernels, kept, variables, output));
    if (auto found = cache.find(key))
      return std::move(*found);
  }
  TRY_LET(machine, host_target(output.optimisation));
  track.next("make variants", instructions_of(module));
  make_variants(module, kernels, kept, **machine);
  append_to_logs(module, kernels, kept);
  bind_lanes(module);
  add_records(module, kernels, variables, output.module);
  add_references(module, output.referenced_symbols);
  TRY(verify(module, "after lowering"));
  track.next("optimise", instructions_of(module));
  optimise(module, **machine, output.optimisation);
  check_stacks(module);
  track.next("emit", instructions_of(module));
  auto object = emit_object(module, **machine);
  if (object && cache.enabled())
    cache.store(key, *object);
  return object;
}

/// Groups the kernels in their order, small ones together, since each part has a fixed cost. Functions whose
/// address is taken must be the same for all kernels, which are then one group.
std::vector<std::vector<Kernel>> group(const Module& module, const std::vector<Kernel>& kernels,
                                       std::uint64_t min_instructions) {
  std::set<const Function*> sources;
  for (const Kernel& kernel : kernels)
    sources.insert(kernel.source);
  const bool together = any_of(module, [&](const Function& function) {
    return !function.isDeclaration() && !sources.count(&function) && function.hasAddressTaken();
  });
  std::vector<std::vector<Kernel>> groups(1);
  std::uint64_t instructions = 0;
  for (const Kernel& kernel : kernels) {
    if (instructions >= min_instructions && !together) {
      groups.emplace_back();
      instructions = 0;
    }
    groups.back().push_back(kernel);
    instructions += kernel.source->getInstructionCount();
  }
  return groups;
}

bool is_shared(const GlobalVariable& variable) {
  return !variable.isDeclaration() && !variable.isConstant();
}

/// Holds a part's own copy of the module, in a context of its own.
class PartModule {
public:
  PartModule(const std::string& bitcode, std::vector<Kernel>& kernels,
             const std::set<std::string>& all_kernels, std::vector<DeviceVariable>& variables, bool first) {
    module_ = cantFail(getLazyBitcodeModule(MemoryBufferRef(bitcode, "part"), context_));
    std::set<std::string> own;
    for (Kernel& kernel : kernels) {
      kernel.source = module_->getFunction(kernel.symbol);
      own.insert(kernel.symbol);
    }
    for (const std::string& name : all_kernels)
      if (!own.count(name))
        module_->getFunction(name)->deleteBody();
    cantFail(module_->materializeAll());
    for (GlobalVariable& variable : module_->globals())
      if (is_shared(variable)) {
        variable.setLinkage(GlobalValue::ExternalLinkage);
        variable.setVisibility(GlobalValue::HiddenVisibility);
        if (!first)
          variable.setInitializer(nullptr);
      }
    if (!first)
      variables.clear();
    for (DeviceVariable& variable : variables)
      variable.variable = module_->getNamedGlobal(variable.symbol);
  }

  Module& module() { return *module_; }

private:
  LLVMContext context_;
  std::unique_ptr<Module> module_;
};

Expected<void> run_tool(const std::vector<std::string>& command) {
  TRY_LET(finished, run({.arguments = command, .capture_output = true}));
  if (finished->exit_code != 0)
    return fail("{}: {}", command.front(), finished->output.substr(0, finished->output.find('\n')));
  return {};
}

/// Joins the parts' objects into one and hides the names of each other's variables.
Expected<void> join(const std::vector<std::string>& objects, const std::filesystem::path& object) {
  TRY_LET(folder, TemporaryDirectory::create());
  std::vector<std::string> command{"ld", "-r", "-o", object.string()};
  for (const std::string& bytes : objects) {
    const auto file = folder->path() / fmt::format("{}.o", command.size());
    if (auto written = write_file(file, bytes); !written)
      return written;
    command.push_back(file.string());
  }
  if (auto linked = run_tool(command); !linked)
    return linked;
  return run_tool({"objcopy", "--localize-hidden", object.string()});
}

} // namespace

Expected<void> compile_in_parts(std::unique_ptr<Module> module, std::vector<Kernel> kernels,
                                const std::vector<KeptFunction>& kept, std::vector<DeviceVariable> variables,
                                const Output& output, Progress& progress) {
  auto groups = group(*module, kernels, output.limits.part);
  const ContentCache cache(output.cache);
  progress.expect(kernels.size());
  module->setModuleIdentifier("device code");
  if (groups.size() == 1) {
    TRY_LET(machine, host_target(output.optimisation));
    remove_unreachable(*module, **machine);
    Progress::Track track(progress, kernels.empty() ? "" : kernels.front().symbol, kernels.size());
    const auto object = compile_part(*module, kernels, kept, variables, output, cache, track);
    if (cache.has_grown())
      cache.evict();
    return object ? write_file(output.object, *object) : tl::unexpected(object.error());
  }

  for (GlobalVariable& variable : module->globals())
    if (is_shared(variable) && !variable.hasName())
      variable.setName("warplens_shared"); // the parts know each other's variables by their names
  std::set<std::string> names;
  for (const Kernel& kernel : kernels)
    names.insert(kernel.symbol);
  const std::string bitcode = bitcode_of(*module);
  const auto task = "lowering " + module->getSourceFileName();
  module.reset();
  std::vector<Expected<std::string>> objects(groups.size(), std::string());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    const PrettyStackTraceString shown_task(task.c_str()); // per thread
    for (std::size_t i; (i = next++) < groups.size();) {
      Progress::Track track(progress, groups[i].front().symbol, groups[i].size());
      track.next("read", 0);
      auto own_variables = variables;
      auto machine = host_target(output.optimisation);
      if (!machine) {
        objects[i] = tl::unexpected(machine.error());
        continue;
      }
      PartModule part(bitcode, groups[i], names, own_variables, i == 0);
      remove_unreachable(part.module(), **machine);
      Output own_output = output;
      if (i != 0)
        own_output.referenced_symbols.clear();
      objects[i] = compile_part(part.module(), groups[i], kept, own_variables, own_output, cache, track);
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t count =
      std::min<std::size_t>({max_threads, groups.size(), std::max(1U, std::thread::hardware_concurrency())});
  while (threads.size() + 1 < count)
    threads.emplace_back(work);
  work();
  threads.clear();
  if (cache.has_grown())
    cache.evict();

  std::vector<std::string> bytes;
  for (auto& object : objects) {
    if (!object)
      return tl::unexpected(object.error());
    bytes.push_back(std::move(*object));
  }
  Progress::Track track(progress, "");
  track.next("join", 0);
  return join(bytes, output.object);
}

} // namespace warplens::lowering
