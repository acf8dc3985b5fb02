#include "support/process.h"
#include "support/temporary.h"
#include "test/catch.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/toolkit.h"

#include <fstream>
#include <regex>
#include <sstream>

using namespace warplens::toolchain;
using Strings = std::vector<std::string>;

namespace {

NvccArguments parse(const Strings& arguments) {
  auto parsed = parse_nvcc_arguments(arguments);
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return *parsed;
}

std::string error_of(const Strings& arguments) {
  const auto parsed = parse_nvcc_arguments(arguments);
  REQUIRE_FALSE(parsed);
  return parsed.error().message;
}

} // namespace

TEST_CASE("a value may be joined, apart or after =") {
  for (const auto& spelling : {Strings{"-Iinclude"}, Strings{"-I", "include"}, Strings{"-I=include"},
                               Strings{"--include-path=include"}, Strings{"--include-path", "include"}})
    CHECK(parse(spelling).preprocessing == Strings{"-Iinclude"});
  CHECK(parse({"-DN=4"}).preprocessing == Strings{"-DN=4"});
  CHECK(parse({"-O3"}).optimisation == "-O3");
  CHECK(parse({"-std=c++20"}).standard == "c++20");
  CHECK(parse({"--std", "c++20"}).standard == "c++20");
}

TEST_CASE("the longest option wins") {
  CHECK(parse({"-lineinfo"}).linking.empty());
  CHECK(parse({"-rdc=true"}).linking.empty());
  CHECK(parse({"-lcublas"}).linking == Strings{"-lcublas"});
  CHECK(parse({"-include", "a.h"}).preprocessing == Strings{"-include", "a.h"});
  CHECK(parse({"-isystem=sys"}).preprocessing == Strings{"-isystem", "sys"});
}

TEST_CASE("architectures are collected once, lowest first") {
  CHECK(parse({"-arch=sm_80"}).architectures == Strings{"80"});
  CHECK(parse({"-gencode", "arch=compute_100,code=sm_100", "-gencode=arch=compute_90a,code=sm_90a", "-arch",
               "sm_90a"})
            .architectures == Strings{"90a", "100"});
  CHECK(parse({"-arch=native"}).architectures.empty());
}

TEST_CASE("comma lists") {
  CHECK(parse({"-Xcompiler", "-fopenmp,-Wall"}).host_compiler == Strings{"-fopenmp", "-Wall"});
  CHECK(parse({"-Xlinker=-rpath,/opt"}).linking == Strings{"-Wl,-rpath", "-Wl,/opt"});
  CHECK(parse({"-I=a,b"}).preprocessing == Strings{"-Ia", "-Ib"});
  CHECK(parse({"-I=a\\,b"}).preprocessing == Strings{"-Ia,b"});
  CHECK(parse({R"(-DPAIR=1\,2)"}).preprocessing == Strings{"-DPAIR=1,2"});
  CHECK(parse({"-DA,B=2"}).preprocessing == Strings{"-DA", "-DB=2"});
  CHECK(parse({R"(-DTEXT="a,b",NAME=\"c\")"}).preprocessing == Strings{R"(-DTEXT="a,b")", R"(-DNAME="c")"});
}

TEST_CASE("the host compiler's options are split as by nvcc and a shell") {
  // Each expectation was read from `nvcc --dryrun`.
  const auto options = [](const char* value) { return parse({"-Xcompiler", value}).host_compiler; };
  CHECK(options("-DA -DB") == Strings{"-DA", "-DB"});
  CHECK(options("  ,-DA,\t-DB  ") == Strings{"-DA", "-DB"});
  CHECK(options(R"(-DP=3\,4)") == Strings{"-DP=3,4"});
  CHECK(options(R"("-DP=3,4")") == Strings{"-DP=3,4"});
  CHECK(options(R"(-DP='a b')") == Strings{"-DP=a b"});
  CHECK(options(R"("-DP=a b" -DQ)") == Strings{"-DP=a b", "-DQ"});
  CHECK(options(R"(-DP=\"x\")") == Strings{"-DP=x"});
  CHECK(options(R"(-DP=\\\"x\\\")") == Strings{R"(-DP="x")"});
  CHECK(options(R"(-DP="x y",-DQ=1)") == Strings{"-DP=x y", "-DQ=1"});
  CHECK(options(R"(-DP=\\,4)") == Strings{"-DP= 4"});
  CHECK(options(R"('-DP=3,4')") == Strings{"-DP=3 4"});
  CHECK(options(R"(-DP=a\ b)") == Strings{"-DP=a", "b"});
  CHECK(parse({"--compiler-options=-O2 -fopenmp"}).host_compiler == Strings{"-O2", "-fopenmp"});
}

TEST_CASE("the output and the phase") {
  CHECK(parse({"a.cu"}).phase == OptionKind::link);
  CHECK(parse({"-c", "a.cu"}).phase == OptionKind::compile);
  CHECK(parse({"--device-c", "a.cu"}).phase == OptionKind::compile_relocatable);
  CHECK(parse({"-dc", "a.cu"}).relocatable);
  CHECK(parse({"-rdc=true", "-c", "a.cu"}).relocatable);
  CHECK(parse({"--relocatable-device-code", "false", "-c", "a.cu"}).relocatable == false);
  CHECK(parse({"-lib", "a.cu"}).phase == OptionKind::library_archive);
  for (const char* query :
       {"-ptx", "-cubin", "-fatbin", "-E", "-M", "-MM", "--dryrun", "--version", "--help", "-V", "-h"})
    CHECK(parse({"-c", query, "a.cu"}).phase == OptionKind::no_object);
  CHECK(parse({"-o", "x"}).output == "x");
  CHECK(parse({"--output-file=x"}).output == "x");
  CHECK(parse({"-odir", "x"}).output_directory == "x");
}

TEST_CASE("which inputs are CUDA") {
  CHECK(parse({"a.cu", "b.cpp", "c.o", "d/e.cu"}).cuda_inputs == Strings{"a.cu", "d/e.cu"});
  CHECK(parse({"-x", "cu", "a.cpp", "b.o"}).cuda_inputs == Strings{"a.cpp"});
  CHECK(parse({"a.cu", "-x=c++"}).cuda_inputs.empty());
  CHECK(parse({"a.o", "liba.a", "libb.so.1"}).linking == Strings{"a.o", "liba.a", "libb.so.1"});
}

TEST_CASE("dependencies") {
  const auto parsed = parse({"-MD", "-MF", "a.d", "-MT=a.o", "-MP", "-c", "a.cu"});
  CHECK(parsed.dependencies == OptionKind::dependencies);
  CHECK(parsed.dependency_file == "a.d");
  CHECK(parsed.dependency_target == "a.o");
  CHECK(parsed.dependency_phony);
  CHECK(parsed.phase == OptionKind::compile);
  CHECK(parse({"-MMD"}).dependencies == OptionKind::user_dependencies);
}

TEST_CASE("unknown options belong to the host compiler if they are forwarded") {
  CHECK(parse({"-fPIC", "-forward-unknown-to-host-compiler", "a.cu"}).host_compiler == Strings{"-fPIC"});
  CHECK(error_of({"-fPIC", "a.cu"}).find("'-fPIC'") != std::string::npos);
}

TEST_CASE("an options file stands where it is named") {
  const auto folder = warplens::TemporaryDirectory::create();
  REQUIRE(folder);
  const auto inner = folder->path() / "inner", outer = folder->path() / "outer";
  std::ofstream(inner) << "-DTEXT=\"a b\"\n-c";
  std::ofstream(outer) << "-O3 -optf " << inner.string() << " -Iafter";
  const auto parsed = parse({"--options-file", outer.string(), "a.cu"});
  CHECK(parsed.preprocessing == Strings{"-DTEXT=a b", "-Iafter"});
  CHECK(parsed.phase == OptionKind::compile);
  std::ofstream(inner) << "-optf " << outer.string();
  CHECK(error_of({"-optf", outer.string()}).find("without end") != std::string::npos);
  CHECK(error_of({"-optf", "no such file"}).find("no such file") != std::string::npos);
}

TEST_CASE("the words are kept unchanged") {
  const Strings words{"-O3", "-I", "a b", "-DX=1,2", "x.cu", "-o=y"};
  CHECK(words_without(parse(words), [](const NvccArgument&) { return false; }) == words);
  CHECK(words_without(parse(words), [](const NvccArgument& argument) {
          return argument.kind == OptionKind::input || argument.kind == OptionKind::output;
        }) == Strings{"-O3", "-I", "a b", "-DX=1,2"});
}

TEST_CASE("every option of nvcc --help is in the table") {
  const auto toolkit = find_toolkit();
  if (!toolkit)
    return;
  auto help =
      warplens::run({.arguments = {(toolkit->root / "bin/nvcc").string(), "--help"}, .capture_output = true});
  REQUIRE(help);
  // The lines look like "--include-path <path>,...                           (-I)".
  std::istringstream lines(help->output);
  const std::regex heading("^(--[^ ]+)( [<{\\[e][^(]*)? +\\(?(-[^ )]+)\\)? *$");
  std::size_t options = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, heading))
      continue;
    ++options;
    const bool with_value = found[2].length() > 0;
    for (const auto& spelling : {found[1].str(), found[3].str()}) {
      INFO(spelling);
      if (spelling == "-optf" || spelling == "--options-file")
        continue;
      const auto alone = read_nvcc_arguments({spelling}), followed = read_nvcc_arguments({spelling, "value"});
      REQUIRE(followed);
      CHECK(followed->size() == (alone ? 2 : 1)); // the help describes the values of most
      CHECK(!(with_value && alone));
    }
  }
  CHECK(options > 100);
}

TEST_CASE("an unknown argument is named") {
  CHECK(error_of({"--no-such-option"}).find("'--no-such-option'") != std::string::npos);
  CHECK(error_of({"-I"}).find("needs a value") != std::string::npos);
  CHECK(error_of({"-arch=volta"}).find("'volta'") != std::string::npos);
  CHECK(error_of({"-t", "many"}).find("'many'") != std::string::npos);
  CHECK(error_of({"-gencode", "code=sm_80"}).find("no arch=") != std::string::npos);
}
