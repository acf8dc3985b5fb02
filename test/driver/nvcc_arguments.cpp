#include "driver/arguments/nvcc_arguments.h"

#include "test/catch.h"

using namespace warplens::driver;
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
  CHECK(parse({"-DPAIR=1,2"}).preprocessing == Strings{"-DPAIR=1,2"});
}

TEST_CASE("what cannot be understood is named") {
  CHECK(error_of({"--no-such-option"}).find("'--no-such-option'") != std::string::npos);
  CHECK(error_of({"-I"}).find("needs a value") != std::string::npos);
  CHECK(error_of({"-arch=volta"}).find("'volta'") != std::string::npos);
  CHECK(error_of({"-gencode", "code=sm_80"}).find("no arch=") != std::string::npos);
}
