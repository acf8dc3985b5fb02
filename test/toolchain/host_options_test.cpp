#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"
#include "toolchain/nvcc/host_options.h"
#include "toolchain/version.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace warplens::toolchain;
using Strings = std::vector<std::string>;

namespace {

/// Returns the options that g++ lists, those that take a value after `=` with one, and negations.
std::set<std::string> options_of_gcc() {
  std::set<std::string> options;
  for (const char* part : {"common", "c++", "target", "optimizers"}) {
    const auto help =
        warplens::run({.arguments = {"g++", std::string("--help=") + part}, .capture_output = true});
    REQUIRE(help);
    std::istringstream lines(help->output);
    const std::regex entry("^  (-[A-Za-z0-9+_-]+)(=?)([^ ]*).*");
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (!std::regex_match(line, found, entry))
        continue;
      const std::string name = found[1];
      if (found[2].length() > 0) {
        options.insert(name + "=1");
        continue;
      }
      options.insert(name);
      const bool may_be_negated = (name.starts_with("-f") || name.starts_with("-m")) &&
                                  !name.ends_with('-') && name.substr(2, 3) != "no-" && name.size() > 2;
      if (may_be_negated)
        options.insert(name.substr(0, 2) + "no-" + name.substr(2));
    }
  }
  return options;
}

/// Returns what Clang says of options that it does not know or support, one to a line.
std::string objections(const Strings& options, const char* half) {
  const auto folder = warplens::TemporaryDirectory::create();
  REQUIRE(folder);
  const auto source = folder->path() / "empty.cu";
  std::ofstream(source) << "\n";
  Strings command{clang,        "-x",         "cuda", "--cuda-gpu-arch=sm_80",  half,
                  "-nocudainc", "-nocudalib", "-w",   "-fno-color-diagnostics", "-###"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(source.string());
  const auto answer = warplens::run({.arguments = command, .capture_output = true});
  REQUIRE(answer);
  std::string objections;
  std::istringstream lines(answer->output);
  for (std::string line; std::getline(lines, line);)
    if (line.find("unknown argument") != line.npos || line.find("unsupported option") != line.npos ||
        line.find("does not support") != line.npos)
      objections += line + '\n';
  return objections;
}

} // namespace

TEST_CASE("every option of g++ goes to Clang, is none of its business, or is refused") {
  const auto options = options_of_gcc();
  CHECK(options.size() > 1000);
  Strings both, host;
  std::size_t refused = 0;
  for (const std::string& option : options) {
    const auto sorted = sort_host_options({option});
    refused += sorted.refused.size();
    // Options that take a value in the next word cannot stand alone.
    static const std::regex valued("^(-[DUIFA]|-i.*|--.*|-X.*|-f.*-)$");
    if (std::regex_match(option, valued))
      continue;
    both.insert(both.end(), sorted.both_halves.begin(), sorted.both_halves.end());
    host.insert(host.end(), sorted.host_half.begin(), sorted.host_half.end());
  }
  CHECK(both.size() > 100);
  CHECK(host.size() > 50);
  CHECK(refused > 30);
  CHECK(objections(both, "--cuda-device-only") == "");
  CHECK(objections(both, "--cuda-host-only") == "");
  CHECK(objections(host, "--cuda-host-only") == "");
}

TEST_CASE("options that decide what the text means go to both halves") {
  const Strings words{"-include",   "a.h",      "-isystem",        "s",       "-iquote", "q",
                      "-idirafter", "i",        "-DX=1",           "-D",      "Y",       "-fshort-enums",
                      "-mavx2",     "-fopenmp", "-fno-exceptions", "-Wp,-DZ", "-pthread"};
  const auto sorted = sort_host_options(words);
  CHECK(sorted.both_halves == words);
  CHECK(sorted.host_half.empty());
  CHECK(sorted.refused.empty());
}

TEST_CASE("options for code go to the host half") {
  // char is signed in nvcc's device code.
  const Strings words{"-fvisibility=hidden", "-O1", "-fno-plt", "-ffast-math", "-funsigned-char",
                      "-fsome-later-option"};
  CHECK(sort_host_options(words).host_half == words);
  CHECK(sort_host_options(words).both_halves.empty());
}

TEST_CASE("what changes nothing is left out, with its value") {
  const auto sorted = sort_host_options({"-Wall", "--param", "x=1", "-fno-tree-vectorize", "-flto=auto",
                                         "-pipe", "-fsanitize=address", "-Wl,-z,now", "-l", "m"});
  CHECK(sorted.both_halves.empty());
  CHECK(sorted.host_half.empty());
  CHECK(sorted.refused.empty());
}

TEST_CASE("options that Clang cannot obey are refused by name") {
  for (const char* option : {"-fgnu-tm", "-ffixed-rbx", "-mpc32", "-m32", "-fplugin=x.so", "-fno-weak"})
    CHECK(sort_host_options({option}).refused == Strings{option});
  CHECK(sort_host_options({"-fweak", "-mpc80"}).refused.empty());
}

TEST_CASE("gcc's names become Clang's") {
  CHECK(sort_host_options({"-mabm"}).both_halves == Strings{"-mlzcnt", "-mpopcnt"});
  CHECK(sort_host_options({"-fconstexpr-ops-limit=9"}).both_halves == Strings{"-fconstexpr-steps=9"});
}
