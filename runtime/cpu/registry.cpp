// The tables of kernels and variables. Static constructors of several objects fill them, so they are made on
// first use and never destroyed.
#include "runtime/cpu/registry.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
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
  std::unordered_map<const void*, Kernel> host_kernels;
  std::unordered_map<const void*, HostVariable> host_variables;
};

Tables& tables() {
  static Tables& all = *new Tables;
  return all;
}

/// Is this the name of something that other files cannot see (Itanium C++ ABI, 5.1: _ZL…, and anonymous
/// namespaces)? If not, several definitions are one template or inline function and all the same.
bool is_internal(std::string_view symbol) {
  return symbol.starts_with("_ZL") || symbol.find("_GLOBAL__N_") != symbol.npos;
}

template <class Record>
const Record* find_record(const std::multimap<std::string, const Record*, std::less<>>& records,
                          const std::string& symbol, const std::string& module) {
  const auto [first, last] = records.equal_range(symbol);
  if (is_internal(symbol))
    for (auto record = first; record != last; ++record)
      if (record->second->module == module)
        return record->second;
  return first == last ? nullptr : first->second;
}

} // namespace

std::string symbol_as_written(const std::string& symbol) {
  return symbol.substr(0, std::min(symbol.find("__intern__"), symbol.find("__static__")));
}

std::string demangle(const std::string& symbol) {
  const std::string as_written = symbol_as_written(symbol);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(as_written.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

Kernel* find_kernel(const void* host_function) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.host_kernels.find(host_function);
  if (found == all.host_kernels.end())
    return nullptr;
  Kernel& kernel = found->second;
  if (!kernel.record)
    kernel.record = find_record(all.device_kernels, kernel.symbol, kernel.module);
  return &kernel;
}

const VariableRecord* find_variable(const void* host_variable) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.host_variables.find(host_variable);
  if (found == all.host_variables.end())
    return nullptr;
  return find_record(all.device_variables, found->second.symbol, found->second.module);
}

const VariableRecord* variable_at(const void* address) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  for (const auto& [symbol, record] : all.device_variables)
    if (const auto* begin = static_cast<const char*>(record->address);
        address >= begin && address < begin + record->bytes)
      return record;
  return nullptr;
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

} // namespace warplens::cpu

using namespace warplens::cpu;

void __warplens_cpu_register_kernel(const KernelRecord* kernel) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.device_kernels.emplace(kernel->symbol, kernel);
}

void __warplens_cpu_register_variable(const VariableRecord* variable) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.device_variables.emplace(variable->symbol, variable);
}
