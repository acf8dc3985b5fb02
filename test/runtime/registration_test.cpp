// Kernels and variables are registered, found and forgotten by several threads, which load and unload
// libraries.
#include "runtime/cpu/device/registry.h"
#include "runtime/cpu/memory/constant_memory.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace warplens;
using namespace warplens::cpu;

namespace {

/// Loads the library, finds its own entities, and unloads it. Returns whether all were its own.
bool load_and_find(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  const auto address = [&](const char* name) { return dlsym(library, name); };
  const Kernel* kernel = find_kernel(address("stub"));
  const VariableRecord* variable = find_variable(address("shadow"));
  const VariableRecord* managed = find_variable(address("managed_variable"));
  const bool right = kernel && kernel->record && kernel->machine_code.size() == 1 && variable &&
                     variable->address == address("device_variable") && managed &&
                     managed->address == address("managed_variable") &&
                     variable_at(variable->address) == variable;
  return dlclose(library) == 0 && right;
}

} // namespace

TEST_CASE("libraries that threads load and unload have their own kernels and variables") {
  auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  constexpr int count = 4, rounds = 100;
  std::atomic<int> right = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      const auto file = folder->path() / ("library" + std::to_string(i) + ".so");
      std::filesystem::copy_file(REGISTERING_LIBRARY, file);
      for (int round = 0; round < rounds; ++round)
        right += load_and_find(file.string());
    });
  std::thread reader([&] {
    while (!done) {
      newest_architecture();
      host_kernel_symbols();
      in_constant_memory(1);
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads)
    thread.join();
  done = true;
  reader.join();
  CHECK(right == count * rounds);
  CHECK(host_kernel_symbols().empty());
}
