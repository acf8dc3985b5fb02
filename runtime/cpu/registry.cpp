// The tables of kernels and variables. Static constructors of several objects fill them, so they are made on
// first use and never destroyed.
#include "runtime/cpu/registry.h"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace warplens::cpu {
namespace {

struct Tables {
  std::mutex mutex;
  std::multimap<std::string, const KernelRecord*, std::less<>> device_kernels;
  std::multimap<std::string, const VariableRecord*, std::less<>> device_variables;
  std::unordered_map<const void*, Kernel> host_kernels;
  std::unordered_map<const void*, std::string> host_variables; ///< their symbols
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

[[noreturn]] void stop(const std::string& symbol, const char* reason) {
  std::fprintf(stderr, "warplens: %s: %s\n", demangle(symbol).c_str(), reason);
  std::exit(1);
}

template <class Record>
const Record* find_record(const std::multimap<std::string, const Record*, std::less<>>& records,
                          const std::string& symbol) {
  const auto [first, last] = records.equal_range(symbol);
  if (first == last)
    return nullptr;
  if (std::next(first) != last && is_internal(symbol))
    stop(symbol, "several source files define this name for themselves, which the CPU back end cannot tell "
                 "apart; rename them");
  return first->second;
}

} // namespace

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
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
    kernel.record = find_record(all.device_kernels, kernel.symbol);
  return &kernel;
}

const VariableRecord* find_variable(const void* host_variable) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const auto found = all.host_variables.find(host_variable);
  if (found == all.host_variables.end())
    return nullptr;
  return find_record(all.device_variables, found->second);
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

void register_host_kernel(const void* host_function, const char* symbol) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_kernels.insert_or_assign(host_function, Kernel{symbol, demangle(symbol)});
}

void register_host_variable(const void* host_variable, const char* symbol, bool managed) {
  if (managed)
    stop(symbol, "__managed__ variables are not supported by the CPU back end; use cudaMallocManaged");
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.host_variables.insert_or_assign(host_variable, symbol);
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
