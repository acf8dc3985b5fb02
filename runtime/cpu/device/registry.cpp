// The tables of kernels and variables. Static constructors of several objects fill them, so they are made on
// first use and never destroyed.
#include "runtime/cpu/device/registry.h"

#include "runtime/cpu/device/assembled.h"
#include "runtime/cpu/device/device_description.h"
#include "runtime/cpu/device/held_lock.h"
#include "runtime/host/kernel_name.h"
#include "support/display_name.h"
#include "support/hash.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <sys/auxv.h>
#include <unordered_map>

namespace warplens::cpu {
namespace {

struct HostVariable {
  std::string symbol, module;
};

struct Tables {
  std::mutex mutex;
  std::multimap<std::string, const KernelRecord*, std::less<>> device_kernels;
  std::multimap<std::string, const VariableRecord*, std::less<>> device_variables;
  std::vector<const CompiledRecord*> compiled;
  std::size_t compiled_named = 0; ///< number of these that are in the next map: most programs never need it
  std::multimap<std::string, const CompiledRecord*> compiled_by_name;
  std::vector<const PtxRecord*> not_assembled; ///< PTX of which no more is made so far than is in `compiled`
  std::unordered_map<const void*, Kernel> host_kernels;
  std::unordered_map<const void*, HostVariable> host_variables;
  std::map<const void*, VariableRecord> managed_variables;
};

Tables& tables() {
  static Tables& all = *new Tables;
  return all;
}

/// Returns the same for the program itself: the loader has told the process where its headers are.
const void* library_of_program() {
  return library_of(reinterpret_cast<const void*>(getauxval(AT_PHDR)));
}

std::string full_name(const std::string& symbol) {
  const std::string as_written = runtime::symbol_as_written(symbol);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(as_written.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

/// Returns a name that is the same for both compilers: a file's own entities are mangled differently, nvcc
/// puts its variables into a namespace of the file, and the architectures in the names of CUB's kernels are
/// all of the command for one compiler and the compiled one for the other.
std::string name_for_both(const std::string& symbol) {
  std::string name = full_name(symbol);
  if (const auto end = name.find("::"); name.starts_with("_INTERNAL_") && end != name.npos)
    name.erase(0, end + 2);
  constexpr std::string_view list = "_SM_";
  for (auto found = name.find(list); found != name.npos; found = name.find(list, found + list.size())) {
    const auto begin = found + list.size();
    const auto end = name.find_first_not_of("0123456789_", begin);
    name.erase(begin, (end == name.npos ? name.size() : end) - begin);
  }
  return name;
}

/// Returns the record that the host half of `module` means by the symbol. It is that of the same object,
/// whatever the symbol's linkage: files may each have one of the name (static in a namespace, in a template
/// over a lambda of a static function, …). An object without one means that of the device link (-rdc), or of
/// another file of its program or library; `host` is an address in that. An object may be in several of these
/// at once, by way of a static library.
template <class Record>
const Record* find_record(const std::multimap<std::string, const Record*, std::less<>>& records,
                          const std::string& symbol, const std::string& module, const void* host) {
  const auto [first, last] = records.equal_range(symbol);
  if (first == last || std::next(first) == last)
    return first == last ? nullptr : first->second;
  const auto first_of = [&](const auto& holds) -> const Record* {
    const auto found = std::find_if(first, last, [&](const auto& entry) { return holds(*entry.second); });
    return found == last ? nullptr : found->second;
  };
  const void* const library = library_of(host);
  const auto is_own = [&](const Record& record) { return record.module && record.module == module; };
  const auto is_beside = [&](const Record& record) { return library_of(&record) == library; };
  if (const Record* found =
          first_of([&](const Record& record) { return is_own(record) && is_beside(record); }))
    return found;
  if (const Record* found = first_of(is_own))
    return found;
  const Record* found = first_of(is_beside);
  return found ? found : first->second;
}

trace::MachineCode machine_code_of(const CompiledRecord& record) {
  trace::MachineCode code{.capability = record.capability,
                          .architecture = record.architecture,
                          .registers = record.registers,
                          .stack_bytes = record.stack_bytes,
                          .spill_store_bytes = record.spill_store_bytes,
                          .spill_load_bytes = record.spill_load_bytes,
                          .shared_bytes = record.shared_bytes,
                          .symbol = record.symbol};
  if (record.cubin != nullptr) {
    code.cubin = {reinterpret_cast<const char*>(record.cubin), std::size_t(record.cubin_end - record.cubin)};
    code.cubin_id = std::max<std::uint64_t>(stable_hash(code.cubin), 1);
  }
  return code;
}

void name_compiled(Tables& all) {
  for (; all.compiled_named < all.compiled.size(); ++all.compiled_named) {
    const CompiledRecord* record = all.compiled[all.compiled_named];
    all.compiled_by_name.emplace(name_for_both(record->symbol), record);
  }
}

/// Makes the machine code that `warplens run` needs, of the modules that have the kernel for some GPU.
void assemble_for(Tables& all, const std::string& name) {
  const auto [first, last] = all.compiled_by_name.equal_range(name);
  const auto has_kernel = [&](const PtxRecord* ptx) {
    return std::any_of(first, last, [&](const auto& entry) {
      return std::string_view(entry.second->module) == ptx->module;
    });
  };
  const auto kept = std::stable_partition(all.not_assembled.begin(), all.not_assembled.end(),
                                          [&](const PtxRecord* ptx) { return !has_kernel(ptx); });
  const std::vector<const PtxRecord*> now(kept, all.not_assembled.end());
  all.not_assembled.erase(kept, all.not_assembled.end());
  for (const PtxRecord* ptx : now) {
    std::set<std::uint32_t> known;
    for (const CompiledRecord* record : all.compiled)
      if (std::string_view(record->module) == ptx->module)
        known.insert(record->capability);
    const auto made = assembled(*ptx, known);
    all.compiled.insert(all.compiled.end(), made.begin(), made.end());
  }
}

/// Returns at most one entry for each capability; `host` is the kernel's address in host code.
std::vector<trace::MachineCode> machine_code_of(Tables& all, const Kernel& kernel, const void* host) {
  const std::string name = name_for_both(kernel.symbol);
  name_compiled(all);
  assemble_for(all, name);
  name_compiled(all);
  const auto [first, last] = all.compiled_by_name.equal_range(name);
  const void* const library = library_of(host);
  const auto has_module = [&](const auto& entry) {
    const void* const of = library_of(entry.second); // none: it was assembled while the program runs
    return entry.second->module == kernel.module && (of == library || of == nullptr);
  };
  const bool own = std::any_of(first, last, has_module); // else that of a template, from another file
  std::map<std::uint32_t, trace::MachineCode> by_capability;
  for (auto entry = first; entry != last; ++entry)
    if (const CompiledRecord& code = *entry->second; !own || has_module(*entry))
      by_capability.try_emplace(code.capability, machine_code_of(code));
  std::vector<trace::MachineCode> found;
  for (const auto& [capability, code] : by_capability)
    found.push_back(code);
  return found;
}

} // namespace

std::string demangle(const std::string& symbol) {
  return display_name(full_name(symbol));
}

Kernel* find_kernel(const void* host_function) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.host_kernels.find(host_function);
  if (found == all.host_kernels.end())
    return nullptr;
  Kernel& kernel = found->second;
  if (!kernel.record) {
    kernel.record = find_record(all.device_kernels, kernel.symbol, kernel.module, host_function);
    if (kernel.record)
      kernel.machine_code = machine_code_of(all, kernel, host_function);
  }
  return &kernel;
}

const void* host_function_of(const std::string& symbol, const std::string& module) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const std::string name = name_for_both(symbol);
  const void* found = nullptr;
  for (const auto& [host, kernel] : all.host_kernels)
    if (name_for_both(kernel.symbol) == name && (found == nullptr || kernel.module == module))
      found = host;
  return found;
}

const void* add_kernel_of_machine_code(const std::string& symbol, const Kernel& launching,
                                       const std::vector<ParameterRecord>& parameters) {
  /// The kernel's record and what that refers to, which stay until the process ends.
  struct Added {
    std::string symbol;
    std::vector<ParameterRecord> parameters;
    KernelRecord record{};
  };
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  Kernel kernel{.symbol = symbol, .module = launching.module, .demangled = demangle(symbol)};
  kernel.machine_code = machine_code_of(all, kernel, launching.record);
  if (kernel.machine_code.empty())
    return nullptr;
  auto& added = *new Added{symbol, parameters};
  added.record.symbol = added.symbol.c_str();
  added.record.module = launching.record->module;
  added.record.parameters = added.parameters.data();
  added.record.parameter_count = std::uint32_t(added.parameters.size());
  added.record.static_shared_bytes = std::uint32_t(kernel.machine_code.front().shared_bytes);
  added.record.architecture = launching.record->architecture;
  added.record.refusal = "a kernel that only kernels launch has no code on the CPU back end";
  kernel.record = &added.record;
  all.host_kernels.emplace(&added.record, std::move(kernel));
  return &added.record;
}

int newest_architecture() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  std::uint64_t newest = 0;
  for (const auto& [symbol, record] : all.device_kernels)
    newest = std::max(newest, record->architecture);
  return static_cast<int>(newest);
}

const VariableRecord* find_variable(const void* host_variable) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  if (const auto managed = all.managed_variables.find(host_variable); managed != all.managed_variables.end())
    return &managed->second;
  const auto found = all.host_variables.find(host_variable);
  if (found == all.host_variables.end())
    return nullptr;
  return find_record(all.device_variables, found->second.symbol, found->second.module, host_variable);
}

const VariableRecord* find_device_variable(const std::string& name, const char* module) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const std::string own = module ? module : "";
  if (const VariableRecord* const record = find_record(all.device_variables, name, own, module))
    return record;
  const std::string as_both = name_for_both(name);
  for (const auto& [symbol, record] : all.device_variables)
    if (record->module && record->module == own && name_for_both(symbol) == as_both)
      return record;
  return nullptr;
}

const VariableRecord* variable_at(const void* address) {
  Tables& all = tables();
  const LaneLock lock(all.mutex);
  const auto holds = [&](const VariableRecord& record) {
    const auto* begin = static_cast<const char*>(record.address);
    return address >= begin && address < begin + record.bytes;
  };
  for (const auto& [symbol, record] : all.device_variables)
    if (holds(*record))
      return record;
  for (const auto& [begin, record] : all.managed_variables)
    if (holds(record))
      return &record;
  return nullptr;
}

std::vector<std::string> host_kernel_symbols() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> symbols;
  for (const auto& [address, kernel] : all.host_kernels)
    symbols.push_back(runtime::symbol_as_written(kernel.symbol));
  return symbols;
}

void register_host_kernel(const void* host_function, const char* symbol, const char* module) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_kernels.insert_or_assign(host_function, Kernel{symbol, module, demangle(symbol)});
}

void register_host_variable(const void* host_variable, const char* symbol, const char* module) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_variables.insert_or_assign(host_variable, HostVariable{symbol, module});
}

void register_loaded_kernel(const void* handle, Kernel kernel) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_kernels.insert_or_assign(handle, std::move(kernel));
}

void forget_loaded_kernel(const void* handle) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_kernels.erase(handle);
}

bool forget_library(const void* library) {
  if (library == library_of_program())
    return false;
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const auto is_in_it = [&](const void* place) { return library_of(place) == library; };
  std::erase_if(all.device_kernels, [&](const auto& entry) { return is_in_it(entry.second); });
  std::erase_if(all.device_variables, [&](const auto& entry) { return is_in_it(entry.second); });
  std::erase_if(all.host_kernels, [&](const auto& entry) { return is_in_it(entry.first); });
  std::erase_if(all.host_variables, [&](const auto& entry) { return is_in_it(entry.first); });
  std::erase_if(all.managed_variables, [&](const auto& entry) { return is_in_it(entry.first); });
  all.compiled_by_name.clear();
  all.compiled_named = 0;
  std::erase_if(all.compiled, is_in_it);
  std::erase_if(all.not_assembled, is_in_it);
  return true;
}

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_register_kernel(const KernelRecord* kernel) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.device_kernels.emplace(kernel->symbol, kernel);
  note_architecture(static_cast<int>(kernel->architecture));
}

void __warplens_cpu_register_compiled(const CompiledRecord* records, std::uint64_t count) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  for (std::uint64_t i = 0; i < count; ++i)
    all.compiled.push_back(records + i);
}

void __warplens_cpu_register_ptx(const PtxRecord* ptx) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.not_assembled.push_back(ptx);
}

void __warplens_cpu_register_variable(const VariableRecord* variable) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.device_variables.emplace(variable->symbol, variable);
}

void __warplens_cpu_register_managed(void* address, std::uint64_t bytes) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.managed_variables.insert_or_assign(address, VariableRecord{"", "", address, bytes, false});
}
