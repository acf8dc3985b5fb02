// Compiles kernels by the toolkit, executes them, and compares with references.
#pragma once

#include "machine/execute.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace warplens::machine {

inline constexpr int architectures[] = {75, 80, 86, 89, 90, 100, 120};

/// Returns whether this machine has nvcc and ptxas; a test without them is skipped.
inline bool has_toolkit() {
  if (!std::string_view(WARPLENS_NVCC).empty())
    return true;
  WARN("no CUDA Toolkit: skipped");
  return false;
}

inline std::string ptxas() {
  return (std::filesystem::path(WARPLENS_NVCC).parent_path() / "ptxas").string();
}

inline std::string compiled(std::vector<std::string> command, const std::filesystem::path& to) {
  command.insert(command.end(), {"-o", to.string()});
  const auto finished = warplens::run({.arguments = command, .capture_output = true});
  REQUIRE(finished);
  INFO(finished->output);
  REQUIRE(finished->exit_code == 0);
  return *read_file(to);
}

/// Returns the cubin of PTX.
inline std::string assemble(const std::string& ptx, int architecture, const std::string& name = {}) {
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto file = folder->path() / "kernel.ptx";
  REQUIRE(write_file(file, ptx));
  const std::string target = name.empty() ? "sm_" + std::to_string(architecture) : name;
  return compiled({ptxas(), "-arch=" + target, file.string()}, folder->path() / "kernel.cubin");
}

/// Returns the cubin of a file of kernels/, which is compiled to PTX once for sm_75 and once for later ones.
inline std::string compile(const std::string& source, int architecture) {
  static std::map<std::pair<std::string, int>, std::string> ptx;
  const int virtual_architecture = architecture >= 90 && source == "modern.cu" ? 90
                                   : architecture >= 80                        ? 80
                                                                               : 75;
  std::string& text = ptx[{source, virtual_architecture}];
  if (text.empty()) {
    const auto folder = TemporaryDirectory::create();
    REQUIRE(folder);
    text = compiled({WARPLENS_NVCC, "-ptx", "-O3", "-arch=compute_" + std::to_string(virtual_architecture),
                     std::string(WARPLENS_MACHINE_KERNELS) + "/" + source},
                    folder->path() / "kernels.ptx");
  }
  return assemble(text, architecture);
}

inline Program load(const std::string& cubin, Engine engine = Engine::vector) {
  auto program = Program::load(std::as_bytes(std::span(cubin)), engine);
  if (!program)
    FAIL(program.error().message);
  return std::move(*program);
}

/// The parameters of a kernel, each aligned to its size.
class Parameters {
public:
  template <class T> Parameters& operator<<(const T& value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  /// Passes the address of an array.
  template <class T> Parameters& operator<<(std::vector<T>& array) {
    ranges_.push_back({reinterpret_cast<std::uintptr_t>(array.data()), array.size() * sizeof(T),
                       reinterpret_cast<const std::byte*>(array.data())});
    return *this << ranges_.back().address;
  }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  const std::vector<Range>& ranges() const { return ranges_; }

private:
  std::vector<std::byte> bytes_;
  std::vector<Range> ranges_;
};

/// Executes a kernel on arrays of this process, and writes what it wrote to them.
inline Outcome run(const Program& program, const std::string& name, Dimensions grid, Dimensions block,
                   const Parameters& parameters, Launch launch = {}, Sink* sink = nullptr) {
  const Kernel* kernel = program.find(name);
  if (!kernel)
    FAIL("no kernel " << name);
  launch.grid = grid;
  launch.block = block;
  launch.parameters = parameters.bytes();
  Memory memory(parameters.ranges());
  const Outcome outcome = execute(program, *kernel, launch, memory, sink);
  for (const Range& range : parameters.ranges())
    memory.copy_from(range.address, std::span(const_cast<std::byte*>(range.host), range.bytes));
  return outcome;
}

/// Executes a kernel that must end well.
inline Outcome run_whole(const Program& program, const std::string& name, Dimensions grid, Dimensions block,
                         const Parameters& parameters, Launch launch = {}, Sink* sink = nullptr) {
  const Outcome outcome = run(program, name, grid, block, parameters, std::move(launch), sink);
  INFO(name << ": " << outcome.reason << ", instruction "
            << program.find(name)->listing_of(outcome.instruction));
  REQUIRE(outcome.is_finished());
  return outcome;
}

/// Returns how far two numbers are from each other, in units of the reference's last place.
template <class T> double distance(T value, T reference) {
  if (value == reference || (std::isnan(value) && std::isnan(reference)))
    return 0;
  if (std::isnan(value) || std::isnan(reference) || std::isinf(value) || std::isinf(reference))
    return 1e9;
  const T unit =
      std::nextafter(std::fabs(reference), std::numeric_limits<T>::infinity()) - std::fabs(reference);
  return std::fabs(static_cast<double>(value) - static_cast<double>(reference)) / static_cast<double>(unit);
}

} // namespace warplens::machine
