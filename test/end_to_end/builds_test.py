"""Tests what builds of other people ask of the drop-in nvcc on the CPU back end: identities, options, dialects, libraries, processes."""

import json
import shutil
import textwrap
import unittest

import warplens_tool
from nvcc_case import KERNEL, REAL, NvccCase, run
from warplens_tool import THOROUGH

CPU = ("--backend", "cpu", "--strict", "-arch=sm_80")
# Calls `launch(int* memory)` and prints what it leaves there.
PRINT = """#include <cstdio>
template <class F> void print_result(F launch) {
  int result[2] = {0, 0}, *memory;
  cudaMalloc(&memory, 8);
  cudaMemset(memory, 0, 8);
  launch(memory);
  cudaMemcpy(result, memory, 8, cudaMemcpyDeviceToHost);
  std::printf("%d %d\\n", result[0], result[1]);
}
"""


class BuildCase(NvccCase):
    def build(self, *arguments, program="program", environment={}):
        self.nvcc(*CPU, *arguments, "-o", program, environment=environment)

    def output_of(self, *command, code=0, environment={}):
        done = run(*command, cwd=self.folder, env=self.environment | environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def trace(self, *command, code=0):
        """Runs the command under `warplens run`; returns the result and what was said."""
        done = run(warplens_tool.tool, "run", "--quiet", "--trials", "2", "--format", "json", "-o", "result.json", "--", *command,
                   cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads((self.folder / "result.json").read_text()), done.stderr


class OwnRecords(BuildCase):
    """Entities of one name in several files, whose linkage is internal: each file has its own."""

    def entities(self, number, main):
        return PRINT + textwrap.dedent(f"""
            namespace app {{ static __device__ int kept = {number}0; static __global__ void fill(int* a) {{ a[0] = {number}; a[1] = kept; }} }}
            namespace {{ __device__ int kept = {number}00; __global__ void fill(int* a) {{ a[0] = {number} + 2; a[1] = kept; }} }}
            namespace app {{ namespace {{ struct Local {{ static constexpr int number = {number} + 4; }}; }} }}
            template <class T> __global__ void of(int* a) {{ a[0] = T::number; a[1] = a[1] + 1; }}
            template <class F> __global__ void apply(F f, int* a) {{ a[0] = f(a[1]); }}
            static void launch_lambda() {{ print_result([](int* a) {{ apply<<<1, 1>>>([] __device__(int i) {{ return i + {number} + 6; }}, a); }}); }}
            static void launch_all() {{
              print_result([](int* a) {{ app::fill<<<1, 1>>>(a); }});
              print_result([](int* a) {{ fill<<<1, 1>>>(a); }});
              print_result([](int* a) {{ of<app::Local><<<1, 1>>>(a); }});
              launch_lambda();
            }}
            """) + main

    def test_each_file_launches_its_own(self):
        one = self.entities(1, "void two();\nint main() { launch_all(); two(); }\n")
        self.write("one.cu", one)
        self.write("two.cu", self.entities(2, "void two() { launch_all(); }\n"))
        for flags in ([], ["-rdc=true"]) if THOROUGH else (["-rdc=true"],):
            with self.subTest(flags):
                self.build("--extended-lambda", *flags, "one.cu", "two.cu")
                self.assertEqual(self.output_of("./program").split("\n")[:-1],
                                 ["1 10", "3 100", "5 1", "7 0", "2 20", "4 200", "6 1", "8 0"])

    def test_managed_variables(self):
        """Also with internal linkage, of one name in several files, by the host's name and by the functions for symbols."""
        source = """
%(linkage)s __managed__ int kept = %(number)d, table[2] = {1, 2};
static __managed__ int untouched_by_the_host = 3;
static __global__ void add%(number)d(int* a) { kept += table[1]; a[0] = kept; a[1] = untouched_by_the_host++; }
void use_%(number)d() {
  print_result([](int* a) { add%(number)d<<<1, 1>>>(a); });
  int copy = 0;
  cudaMemcpyFromSymbol(&copy, kept, 4);
  std::printf("%%d %%d ", kept, copy);
  copy = 30;
  cudaMemcpyToSymbol(table, &copy, 4, 4);
  std::printf("%%d\\n", table[1]);
  print_result([](int* a) { add%(number)d<<<1, 1>>>(a); });
}
"""
        self.write("main.cpp", "void use_10();\nvoid use_20();\nint main() { use_10(); use_20(); }\n")
        expected = "12 3\n12 12 30\n42 4\n22 3\n22 22 30\n52 4\n"
        ways = (("static", []), ("", ["--memcheck"]), ("namespace {", ["-rdc=true"]))
        for linkage, flags in ways if THOROUGH else ways[2:]:
            with self.subTest(linkage=linkage, flags=flags):
                for number in (10, 20):
                    text = PRINT + source % {"linkage": linkage, "number": number}
                    self.write(f"unit{number}.cu", text.replace("{1, 2};", "{1, 2}; }") if "{" in linkage else text)
                self.build(*flags, "main.cpp", "unit10.cu", "unit20.cu")
                self.assertEqual(self.output_of("./program"), expected)

    def test_generated_sources_of_one_path(self):
        self.write("main.cpp", "void unit_1();\nvoid unit_2();\nint main() { unit_1(); unit_2(); }\n")
        for compile_option in ("-c", "-dc") if THOROUGH else ("-c",):
            for number in (1, 2):
                self.write("unit.cu", PRINT + "static __device__ int offset = %d;\n" % (100 + number) +
                           "static __global__ void tell(int* a) { a[0] = %d; a[1] = offset; }\n" % number +
                           "void unit_%d() { print_result([](int* a) { tell<<<1, 1>>>(a); }); }\n" % number)
                self.nvcc(*CPU, compile_option, "unit.cu", "-o", "unit.o")
                (self.folder / "unit.o").rename(self.folder / f"unit{number}.o")
            with self.subTest(compile_option):
                self.build("main.cpp", "unit1.o", "unit2.o")
                self.assertEqual(self.output_of("./program"), "1 101\n2 102\n")

    def test_an_object_does_not_depend_on_when_it_was_made(self):
        self.write("a.cu", KERNEL)
        for compile_option in ("-c", "-dc"):
            objects = []
            for _ in range(2):
                self.nvcc(*CPU, compile_option, "a.cu", "-o", "a.o")
                objects.append((self.folder / "a.o").read_bytes())
            self.assertEqual(*objects)


class HostOptions(BuildCase):
    def test_options_reach_the_host_half(self):
        self.write("forced.h", "#define FORCED 3\n")
        self.write("quoted/quoted.h", "#define QUOTED 4\n")
        self.write("system/system.h", "#define SYSTEM 5\n")
        self.write("late/late.h", "#define LATE 6\n")
        self.write("a.cu", KERNEL + """#include <cstdio>
#include "quoted.h"
#include <system.h>
#include <late.h>
enum Mode { off, on };
__global__ void sizes(int* a) { a[0] = sizeof(Mode) + FORCED + (char)200; }
int main() {
#ifdef __AVX2__
  std::printf("avx2 ");
#endif
  std::printf("%d %zu %d\\n", (int)(char)200, sizeof(Mode), FORCED + QUOTED + SYSTEM + LATE);
  int* a;
  cudaMallocManaged(&a, 4);
  sizes<<<1, 1>>>(a);
  cudaDeviceSynchronize();
  std::printf("%d\\n", a[0]);
}
""")
        options = "-include forced.h -iquote quoted,-isystem,system -idirafter late -funsigned-char,-fshort-enums -mavx2 -fno-tree-vrp"
        self.build("-Xcompiler", options, "a.cu")
        self.assertEqual(self.output_of("./program"), "avx2 200 1 18\n-52\n")  # char is signed in nvcc's device code

    def test_the_order_of_folders_and_macros_is_nvccs(self):
        """The host compiler's own options stand before nvcc's: its folders are searched first, and nvcc's macros count."""
        for number in (1, 2):
            self.write(f"folder{number}/number.h", f"constexpr int number = {number};\n")
        self.write("a.cu", PRINT + '#include "number.h"\n__global__ void tell(int* a) { a[0] = number; a[1] = MACRO; }\n'
                   "int main() { print_result([](int* a) { tell<<<1, 1>>>(a); }); }\n")
        self.build("-I", "folder1", "-DMACRO=1", "-Xcompiler", "-Ifolder2,-DMACRO=2", "a.cu")
        self.assertEqual(self.output_of("./program"), "2 1\n")

    def test_the_value_of_a_definition_is_a_list(self):
        self.write("a.cu", "#include <cstring>\n" + PRINT + "__global__ void fill(int* a) { int list[] = {LIST}; a[0] = list[0] + list[1]; a[1] = ONE + TWO; }\n"
                   'int main() { print_result([](int* a) { fill<<<1, 1>>>(a); }); return std::strcmp(NAME, "x") || std::strcmp(TEXT, "a,b"); }\n')
        definitions = (r"-DLIST=1\,2", r'-DNAME=\"x\"', '-DTEXT="a,b"', "-DONE=3,TWO=4")
        self.output_of(REAL, "-arch=sm_80", *definitions, "-c", "a.cu", "-o", "nvccs.o")
        self.nvcc("--strict", "-arch=sm_80", *definitions, "-c", "a.cu")
        self.assert_probed("a.o", "a.cu")
        self.build(*definitions, "a.cu")
        self.assertEqual(self.output_of("./program"), "3 7\n")

    def test_a_header_that_appears_in_a_folder_of_the_host_compilers(self):
        """What was compiled before counts no longer: not the object, nor the machine code's figures."""
        environment = {"WARPLENS_CACHE": str(self.folder / "cache")}
        self.write("late/number.h", "constexpr int number = 1;\n")
        self.write("early/other.h", "")
        self.write("a.cu", PRINT + '#include "number.h"\n__global__ void tell(int* a) { __shared__ int all[100 * number]; all[threadIdx.x] = number; '
                   "__syncthreads(); a[0] = all[threadIdx.x]; }\nint main() { print_result([](int* a) { tell<<<1, 1>>>(a); }); "
                   "cudaFuncAttributes all; cudaFuncGetAttributes(&all, tell); std::printf(\"%zu\\n\", all.sharedSizeBytes); }\n")
        for expected in ("1 0\n400\n", "2 0\n800\n"):
            self.build("-Xcompiler", "-Iearly,-Ilate", "a.cu", environment=environment)
            self.assertEqual(self.output_of("./program"), expected)
            codes = self.trace("./program")[0]["kernels"]
            self.assertEqual([kernel["occupancy"]["shared_bytes"] for kernel in codes], [int(expected.split()[-1])])
            self.write("early/number.h", "constexpr int number = 2;\n")

    def test_visibility_and_dialect_defines(self):
        self.write("a.cu", KERNEL + 'extern "C" int seen() { return 1; }\n')
        self.nvcc(*CPU, "-Xcompiler", "-fvisibility=hidden", "-c", "a.cu")
        symbols = self.output_of("readelf", "-sW", "a.o")
        self.assertRegex(symbols, "HIDDEN +[0-9]+ seen")

    def test_an_option_that_clang_lacks_is_named(self):
        self.write("a.cu", KERNEL)
        done = self.nvcc(*CPU, "-Xcompiler", "-fgnu-tm", "-c", "a.cu", code=1)
        self.assertIn("'-fgnu-tm'", done.stderr)


class BeforeAndAfterMain(BuildCase):
    SOURCE = PRINT + """
__device__ int table[2] = {3, 4};
__global__ void fill(int* a) { a[0] = table[0] * table[1]; }
__global__ void add(int* a) { a[0] += 1; }
struct Buffer {
  int* memory = nullptr;
  Buffer() { cudaMalloc(&memory, 4); fill<<<1, 1>>>(memory); }
  ~Buffer() {
    int result = 0;
    for (int i = 0; i < 3; ++i)
      add<<<1, 1>>>(memory);
    cudaMemcpy(&result, memory, 4, cudaMemcpyDeviceToHost);
    std::printf("%d %s\\n", result, cudaGetErrorName(cudaFree(memory)));
  }
};
static Buffer buffer;
"""

    def test_launches_by_static_objects(self):
        self.write("a.cu", self.SOURCE + "int main() { add<<<1, 1>>>(buffer.memory); }\n")
        for flags in ([], ["-rdc=true"], ["-g", "-O0"]):
            with self.subTest(flags):
                self.build(*flags, "a.cu")
                self.assertEqual(self.output_of("./program"), "16 cudaSuccess\n")
        result, _ = self.trace("./program")
        self.assertEqual(sorted({kernel["name"] for kernel in result["kernels"]}), ["add", "fill"])


    def test_launches_by_constructors_of_libraries(self):
        """Of one that is linked, and of one that is opened and closed twice."""
        self.write("library.cu", self.SOURCE +
                   'extern "C" int buffered() { int result = 0; cudaMemcpy(&result, buffer.memory, 4, cudaMemcpyDeviceToHost); return result; }\n')
        self.write("main.cpp", """#include <cstdio>
#include <dlfcn.h>
#ifdef LINKED
extern "C" int buffered();
int main() { std::printf("%d\\n", buffered()); }
#else
int main() {
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen("./liblibrary.so", RTLD_NOW);
    std::printf("%d\\n", reinterpret_cast<int (*)()>(dlsym(library, "buffered"))());
    dlclose(library);
  }
}
#endif
""")
        for flags in ([], ["-rdc=true"]) if THOROUGH else ([],):
            self.build(*flags, "-shared", "-Xcompiler", "-fPIC", "library.cu", program="liblibrary.so")
            for options, times in ((["-DLINKED", "-L.", "-llibrary", "-Xlinker", f"-rpath={self.folder}"], 1), (["-ldl"], 2)):
                with self.subTest(flags=flags, options=options):
                    self.build("main.cpp", *options)
                    self.assertEqual(self.output_of("./program"), "12\n15 cudaSuccess\n" * times)


class Dialects(BuildCase):
    def test_every_dialect(self):
        self.write("a.cu", """#include <stdio.h>
struct Pair { int first, second; };
template <class T> struct Sum { __host__ __device__ T operator()(T a, T b) const { return a + b; } };
__global__ void shift(int* a, Pair pair) {
  __shared__ int tile[4];
  tile[threadIdx.x] = a[threadIdx.x + 1];
  __syncthreads();
  a[threadIdx.x] = Sum<int>()(tile[threadIdx.x], __ldg(&a[4])) + pair.second;
  atomicAdd(&a[5], 1);
}
int main() {
  int* a;
  cudaMallocManaged((void**)&a, 64);
  for (int i = 0; i < 6; ++i)
    a[i] = i;
  Pair pair = {1, 2};
  shift<<<1, 2>>>(a, pair);
  cudaDeviceSynchronize();
  printf("%d %d\\n", a[0], a[5]);
}
""")
        for standard in ("c++03", "c++11", "c++14", "c++17", "c++20") if THOROUGH else ("c++03",):
            with self.subTest(standard):
                self.build(f"-std={standard}", "a.cu")
                self.assertEqual(self.output_of("./program"), "7 7\n")
                self.nvcc("--strict", "-arch=sm_80", f"-std={standard}", "-c", "a.cu")
                self.assert_probed("a.o", "a.cu")


class Toolkits(BuildCase):
    @unittest.skipUnless(shutil.which("cmake"), "needs CMake")
    def test_find_package_of_the_toolkit(self):
        self.write("kernels.cu", "__global__ void square(int* a) { a[threadIdx.x] *= a[threadIdx.x]; }\n"
                   "void square_all(int* a, int n) { square<<<1, n>>>(a); }\n")
        self.write("main.cpp", """#include <cstdio>
#include <cuda_runtime.h>
void square_all(int* a, int n);
int main() {
  int host[2] = {2, 3}, *device = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&device), sizeof host) != cudaSuccess)
    return 1;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square_all(device, 2);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %d\\n", host[0], host[1]);
}
""")
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(toolkit LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
find_package(CUDAToolkit REQUIRED)
add_library(kernels STATIC kernels.cu)
foreach(runtime cudart cudart_static)
  add_executable(with_${runtime} main.cpp)
  target_link_libraries(with_${runtime} PRIVATE kernels CUDA::${runtime})
endforeach()
""")
        environment = {"WARPLENS_BACKEND": "cpu", "WARPLENS_CACHE": str(self.folder / "cache")}
        for command in (["cmake", "-S", ".", "-B", "build", f"-DCMAKE_CUDA_COMPILER={self.wrapper}"], ["cmake", "--build", "build"]):
            self.output_of(*command, environment=environment)
        for runtime in ("cudart", "cudart_static"):
            self.assertEqual(self.output_of(f"build/with_{runtime}"), "4 9\n")

    def test_a_program_with_nvidias_runtime_says_what_to_do(self):
        self.write("a.cu", KERNEL + "int main() { twice<<<1, 1>>>(nullptr); }\n")
        self.nvcc(*CPU, "-c", "a.cu")
        libraries = warplens_tool.tool.parent.parent / "lib/warplens"
        self.output_of("g++", "a.o", "-o", "program", REAL.parent.parent / "lib64/libcudart_static.a", f"-L{libraries}", "-lcudart_static",
                       "-lrt", "-ldl", "-lpthread")
        self.assertIn("NVIDIA's own CUDA runtime", run(self.folder / "program").stderr)

    def test_the_management_library(self):
        """NVML describes the device as the runtime does; what it would measure is refused in one line."""
        self.write("a.cu", """#include <cstdio>
#include <cstring>
extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetClockInfo(void*, int, unsigned*);
int nvmlDeviceGetPowerUsage(void*, unsigned*);
}
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int clock;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  char bus[32], name[256] = "";
  cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
  void *by_bus = nullptr, *by_index = nullptr;
  unsigned devices = 0, megahertz = 0, power = 0;
  std::printf("%d ", nvmlInit_v2() || nvmlDeviceGetCount_v2(&devices) || nvmlDeviceGetHandleByPciBusId_v2(bus, &by_bus) ||
                         nvmlDeviceGetHandleByIndex_v2(0, &by_index) || nvmlDeviceGetName(by_bus, name, sizeof name) ||
                         nvmlDeviceGetClockInfo(by_bus, 1, &megahertz));
  std::printf("%u %d %d %d ", devices, by_bus == by_index, std::strcmp(name, properties.name), clock / 1000 - int(megahertz));
  std::printf("%d %d %d ", nvmlDeviceGetName(by_bus, name, 3), nvmlDeviceGetHandleByIndex_v2(1, &by_index), nvmlDeviceGetName(nullptr, name, 256));
  for (int i = 0; i < 2; ++i)
    std::printf("%s ", nvmlErrorString(nvmlDeviceGetPowerUsage(by_bus, &power)));
  std::printf("%d %d\\n", nvmlShutdown(), cudaGetLastError());
}
""")
        self.build("a.cu", "-lnvidia-ml")
        done = run(self.folder / "program")
        self.assertEqual(done.stdout, "0 1 1 0 0 7 2 2 Not Supported Not Supported 0 0\n")
        self.assertEqual(done.stderr.count("warplens: nvmlDeviceGetPowerUsage is not supported"), 1, done.stderr)


class Libraries(BuildCase):
    def test_device_code_of_a_library_named_by_l(self):
        self.write("series.cu", "__device__ int series(int n) { return n * (n + 1) / 2; }\n")
        self.write("main.cu", PRINT + "__device__ int series(int n);\n__global__ void fill(int* a) { a[0] = series(a[1] + 4); }\n"
                   "int main() { print_result([](int* a) { fill<<<1, 1>>>(a); }); }\n")
        for source in ("series", "main"):
            self.nvcc(*CPU, "-dc", f"{source}.cu")
        (self.folder / "lib").mkdir()
        self.nvcc(*CPU, "-lib", "series.o", "-o", "lib/libseries.a")
        for words in (["-Llib", "-lseries"], ["-L", "lib", "-l", "series"], ["-lseries", "-Llib"], ["-Llib", "-l:libseries.a"]):
            with self.subTest(words):
                self.build("main.o", *words)
                self.assertEqual(self.output_of("./program"), "10 0\n")
        done = self.nvcc("main.o", "-Llib", "-lseries", "-o", "program", code=1)
        self.assertIn("--backend cpu", done.stderr)

    def plugin(self, name, factor):
        self.write(f"{name}.cu", f"""__global__ void apply(int* value) {{ value[0] *= {factor}; }}
extern "C" int compute(int* memory) {{
  int result = 0;
  apply<<<1, 1>>>(memory);
  return cudaMemcpy(&result, memory, 4, cudaMemcpyDeviceToHost) == cudaSuccess ? result : -1;
}}
""")
        self.build("-shared", "-Xcompiler", "-fPIC", f"{name}.cu", program=f"lib{name}.so")

    HOST = """#include <cstdio>
#include <dlfcn.h>
%s
int main(int count, char** names) {
  int one = 1, *memory = nullptr;
  cudaMalloc(&memory, 4);
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < count; ++i) {
      cudaMemcpy(memory, &one, 4, cudaMemcpyHostToDevice);
      void* library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
      auto compute = reinterpret_cast<int (*)(int*)>(library ? dlsym(library, "compute") : nullptr);
      std::printf("%%d ", compute ? compute(memory) : -2);
      if (library)
        dlclose(library);
    }
  %s
  std::puts("");
}
"""

    def test_opened_libraries_share_the_programs_runtime(self):
        self.plugin("tens", 10)
        self.plugin("hundreds", 100)
        self.write("host.cu", self.HOST % ("__global__ void apply(int* value) { value[0] += 1; }", "apply<<<1, 1>>>(memory);"))
        self.build("host.cu", "-ldl")
        self.assertEqual(self.output_of("./program", "./libtens.so", "./libhundreds.so"), "10 100 10 100 \n")
        result, _ = self.trace("./program", "./libtens.so", "./libhundreds.so")
        files = {site["file"].split("/")[-1] for kernel in result["kernels"] for site in kernel["sites"]}
        self.assertEqual(files, {"host.cu", "tens.cu", "hundreds.cu"})

    def test_linked_libraries_keep_their_own_kernels(self):
        for name, factor in (("one", 10), ("two", 100)):
            self.write(f"{name}.cu", f"__global__ void apply(int* value) {{ value[0] += {factor}; }}\n"
                       f"void apply_{name}(int* memory) {{ apply<<<1, 1>>>(memory); }}\n")
            self.build("-shared", "-Xcompiler", "-fPIC", f"{name}.cu", program=f"lib{name}.so")
        self.write("main.cu", PRINT + "void apply_one(int*);\nvoid apply_two(int*);\n__global__ void apply(int* value) { value[0] += 1; }\n"
                   "int main() { print_result([](int* a) { apply<<<1, 1>>>(a); apply_one(a); apply_two(a); }); }\n")
        self.build("main.cu", "-L.", "-lone", "-ltwo", "-Xlinker", f"-rpath,{self.folder}")
        self.assertEqual(self.output_of("./program"), "111 0\n")

    def test_files_with_different_arithmetic_in_one_device_link(self):
        self.write("half.cu", "__device__ float half_of(float x) { return x / 2; }\n")
        self.write("main.cu", PRINT + "__device__ float half_of(float x);\n__global__ void k(int* a, float x) "
                   "{ a[0] = half_of(x) != 0; a[1] = x / 2 != 0; }\nint main() { print_result([](int* a) { k<<<1, 1>>>(a, 2e-38f); }); }\n")
        self.nvcc(*CPU, "-dc", "-ftz=true", "half.cu")
        self.nvcc(*CPU, "-dc", "main.cu")
        for objects in (["half.o", "main.o"], ["main.o", "half.o"]):
            self.build(*objects)
            self.assertEqual(self.output_of("./program"), "0 1\n")

    def test_a_static_library_in_a_program_and_in_its_plugins(self):
        """Each has its own variables; a plugin's are those of its file after another plugin is closed."""
        self.write("counter.cu", "__device__ int counter = 0;\n__global__ void count(int* a) { a[0] = ++counter; }\n"
                   "int next() { int *memory, result = -1; cudaMalloc(&memory, 4); count<<<1, 1>>>(memory); "
                   "cudaMemcpy(&result, memory, 4, cudaMemcpyDeviceToHost); cudaFree(memory); return result; }\n")
        self.write("plugin.cpp", 'int next();\nextern "C" int of_plugin() { return next(); }\n')
        self.write("main.cpp", """#include <cstdio>
#include <dlfcn.h>
int next();
int main() {
  void* plugins[2];
  int (*of_plugin[2])();
  for (int i = 0; i < 2; ++i) {
    plugins[i] = dlopen(i ? "./libtwo.so" : "./libone.so", RTLD_NOW | RTLD_LOCAL);
    of_plugin[i] = reinterpret_cast<int (*)()>(dlsym(plugins[i], "of_plugin"));
  }
  std::printf("%d ", next());
  std::printf("%d ", next());
  std::printf("%d ", of_plugin[0]());
  std::printf("%d ", of_plugin[1]());
  std::printf("%d ", of_plugin[1]());
  dlclose(plugins[0]);
  std::printf("%d ", of_plugin[1]());
  std::printf("%d\\n", next());
}
""")
        for compile_option in ("-c", "-dc"):
            with self.subTest(compile_option):
                self.nvcc(*CPU, compile_option, "-Xcompiler", "-fPIC,-fvisibility=hidden", "counter.cu")
                self.nvcc(*CPU, "-lib", "counter.o", "-o", "libcounter.a")
                for name in ("one", "two"):
                    self.build("-shared", "-Xcompiler", "-fPIC", "plugin.cpp", "-L.", "-lcounter", program=f"lib{name}.so")
                self.build("main.cpp", "-L.", "-lcounter", "-ldl")
                self.assertEqual(self.output_of("./program"), "1 2 1 1 2 3 3\n")

    @unittest.skipUnless(shutil.which("mpicxx"), "needs MPI")
    def test_the_host_compilers_own_folders(self):
        self.write("a.cu", "#include <mpi.h>\n" + KERNEL)
        option, variable, for_gpu = (["-ccbin", "mpicxx"], {}), ([], {"NVCC_CCBIN": "mpicxx"}), ("--strict", "-arch=sm_80")
        ways = [(CPU, *option), (for_gpu, *variable), (CPU, *variable), (for_gpu, *option)]
        for backend, words, environment in ways if THOROUGH else ways[:2]:
            self.nvcc(*backend, *words, "-c", "a.cu", environment=environment)
            self.assert_probed("a.o", "a.cu")


class NvccsPlace(BuildCase):
    def test_a_link_named_nvcc(self):
        self.write("a.cu", KERNEL)
        folder = self.folder / "first in path"
        folder.mkdir()
        (folder / "nvcc").symlink_to(self.wrapper)
        path = {"PATH": f"{folder}:{REAL.parent}:/usr/bin:/bin"}
        self.nvcc("--strict", "-arch=sm_80", "-c", "a.cu", program=folder / "nvcc", environment=path)
        self.assert_probed("a.o", "a.cu")
        self.assertEqual(self.output_of(folder / "nvcc", "--version", environment=path), run(REAL, "--version").stdout)

    def test_files_about_nvccs_own_work(self):
        self.write("a.cu", KERNEL)
        for backend in (("--strict",), ("--strict", "--backend", "cpu")):
            self.nvcc(*backend, "-arch=sm_80", "-time", "times.csv", "-fdevice-time-trace", "trace", "-c", "a.cu")
            times = (self.folder / "times.csv").read_text()
            self.assertIn("cicc", times)
            self.assertTrue(json.loads((self.folder / "trace.json").read_text()))
            self.assert_probed("a.o", "a.cu")
            for file in ("times.csv", "trace.json"):
                (self.folder / file).unlink()


class Language(BuildCase):
    """Sources that nvcc takes and Clang refuses."""

    def check(self, source, output, *flags):
        self.write("a.cu", source)
        if THOROUGH:  # both back ends compile what the rewriter makes of the source
            self.nvcc("--strict", "-arch=sm_80", *flags, "-c", "a.cu")
            self.assert_probed("a.o", "a.cu")
        self.build(*flags, "a.cu")
        self.assertEqual(self.output_of("./program"), output)

    def test_targets_only_at_the_declaration(self):
        self.check(PRINT + """
class Vault {
public:
  __host__ __device__ void put(int value);
  __host__ __device__ int* begin();
  int kept[2];
};
namespace app { __host__ __device__ int next_even(int n); }
template <class T> struct Scaled { __device__ T of(const T* from) const; T by; };
#define NOTHING
inline void Vault::put(int value) { kept[0] = value; }
NOTHING
int* Vault::begin() { return kept; }
int app::next_even(int n) { return n + 2 - n % 2; }
template <class T>
T Scaled<T>::of(const T* from) const { return from[0] * by; }
__global__ void use(int* out) {
  Vault vault;
  vault.put(app::next_even(out[0]));
  out[0] = Scaled<int>{10}.of(vault.begin());
}
int main() { print_result([](int* a) { use<<<1, 1>>>(a); }); Vault vault; vault.put(app::next_even(3)); std::printf("%d\\n", vault.kept[0]); }
""", "20 0\n4\n")

    def test_dynamic_shared_memory_as_an_object(self):
        self.check(PRINT + """
struct Work { int lanes[32]; int sum; };
extern __shared__ Work work;
__global__ void gather(int* out) {
  work.lanes[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[0] = work.lanes[31];
  extern __shared__ int first;
  out[1] = (&first)[1];
}
int main() { print_result([](int* a) { gather<<<1, 32, sizeof(Work)>>>(a); }); }
""", "31 1\n")

    def test_names_that_depend_on_the_architecture(self):
        """A namespace and a macro by __CUDA_ARCH__, as CUB wraps its own: host code sees none."""
        self.check(PRINT + """
#ifdef __CUDA_ARCH__
#define BY_ARCHITECTURE(name) JOIN(name, __CUDA_ARCH__)
#else
#define BY_ARCHITECTURE(name) name
#endif
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
namespace lib { namespace BY_ARCHITECTURE(sm) { struct Tile { static constexpr int lanes = 32; __host__ __device__ static int of(int x) { return x * lanes; } }; }
  using BY_ARCHITECTURE(sm)::Tile; }
__device__ int BY_ARCHITECTURE(step)(int x) { return x + 1; }
template <int n> __global__ void use(int* a) { a[0] = lib::Tile::of(BY_ARCHITECTURE(step)(n)); }
int main() { print_result([](int* a) { use<2><<<1, 1>>>(a); }); std::printf("%d\\n", lib::Tile::of(2)); }
""", "96 0\n64\n")

    def test_braces_that_narrow(self):
        self.check(PRINT + "struct Pair { double a, b; };\n__host__ __device__ Pair pair(unsigned a, long b) { return {a, b}; }\n"
                   "__global__ void fill(int* a) { Pair made = pair(2, 3); a[0] = made.a + made.b; }\n"
                   "int main() { print_result([](int* a) { fill<<<1, 1>>>(a); }); return pair(0, 1).a; }\n", "5 0\n")

    def test_templates_that_ask_for_extended_lambdas(self):
        """Their specialisations must not be chosen, or rejected, before the type is known."""
        traits = ("__nv_is_extended_device_lambda_closure_type", "__nv_is_extended_host_device_lambda_closure_type",
                  "__nv_is_extended_device_lambda_with_preserved_return_type")
        kinds = "".join(f"template <class T, class = void> struct Kind{i} {{ static constexpr int value = 1; }};\n"
                        f"template <class T> struct Kind{i}<T, std::enable_if_t<{trait}(T)>> {{ static constexpr int value = 2; }};\n"
                        f"static_assert(!{trait}(long), \"\");\n"
                        for i, trait in enumerate(traits))
        self.check("#include <type_traits>\n" + PRINT + kinds +
                   "template <class T> __global__ void fill(int* a) { a[0] = Kind0<T>::value + Kind1<T>::value; a[1] = Kind2<T>::value; }\n"
                   "int main() { print_result([](int* a) { fill<float><<<1, 1>>>(a); }); }\n", "2 1\n", "--extended-lambda", "-std=c++17")

    def test_launch_bounds_by_a_constexpr_call(self):
        self.check(PRINT + """
__host__ __device__ constexpr int threads_of(int bytes) { return bytes > 4 ? 64 : 128; }
__device__ constexpr int on_the_device(int bytes) { return 2 * bytes; }
struct Policy { static __device__ constexpr int threads() { return 96; } };
__global__ void __launch_bounds__(threads_of(8), 2) first(int* a) { a[0] = threadIdx.x; }
__global__ void __launch_bounds__(on_the_device(16)) second(int* a) { a[1] = blockDim.x; }
template <class P> __global__ void __launch_bounds__(P::threads()) third(int* a) { a[0] += P::threads(); }
int main() {
  print_result([](int* a) { first<<<1, 1>>>(a); second<<<1, 32>>>(a); third<Policy><<<1, 1>>>(a); });
  cudaFuncAttributes all;
  cudaFuncGetAttributes(&all, second);
  std::printf("%d ", all.maxThreadsPerBlock);
  cudaFuncGetAttributes(&all, third<Policy>);
  std::printf("%d\\n", all.maxThreadsPerBlock);
}
""", "96 32\n32 96\n")

    def test_deduction_of_unexpected(self):
        self.check(PRINT + """
#include <cuda/std/expected>
__host__ __device__ cuda::std::expected<int, int> halved(int x) {
  if (x % 2)
    return cuda::std::unexpected(x);
  return x / 2;
}
__global__ void k(int* a) { a[0] = halved(8).value(); a[1] = halved(7).error(); }
int main() { print_result([](int* a) { k<<<1, 1>>>(a); }); std::printf("%d\\n", halved(5).error()); }
""", "4 7\n5\n")

    def test_host_calls_of_umin_and_its_kin(self):
        self.check(KERNEL + """#include <cstdio>
__global__ void k(unsigned* a) { a[0] = umin(a[1], 3u) + umax(a[2], 4u); }
int main() { std::printf("%u %u %lld %lld %llu %llu\\n", umin(3u, 4u), umax(3u, 4u), llmin(3, -4), llmax(3, -4), ullmin(5, 6), ullmax(5, 6)); }
""", "3 4 -4 3 5 6\n")

    def test_a_source_that_includes_itself(self):
        self.check("""#ifndef STEP
#include <cstdio>
#define STEP 1
#include __FILE__
#undef STEP
#define STEP 2
#include "a.cu"
int main() {
  int *a, host[2];
  cudaMalloc(&a, 8);
  cudaMemset(a, 0, 8);
  add_1<<<1, 1>>>(a);
  add_2<<<1, 1>>>(a + 1);
  cudaMemcpy(host, a, 8, cudaMemcpyDeviceToHost);
  std::printf("%d %d\\n", host[0], host[1]);
}
#else
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
__global__ void JOIN(add_, STEP)(int* a) { a[0] = a[0] + STEP; }
#endif
""", "1 2\n")
        result, _ = self.trace("./program")
        self.assertEqual(sorted((kernel["name"], len(kernel["sites"])) for kernel in result["kernels"]), [("add_1", 2), ("add_2", 2)])


class Processes(BuildCase):
    def programs(self):
        for name in ("early", "late"):
            self.write("a.cu", f"""__global__ void {name}(float* a) {{ a[threadIdx.x] = 2 * a[threadIdx.x] + 1; }}
int main() {{ float* a; cudaMalloc(&a, 4096); cudaMemset(a, 0, 4096); {name}<<<2, 128>>>(a); return cudaDeviceSynchronize(); }}
""")
            self.build("a.cu", program=name)

    def test_a_report_of_all_processes(self):
        self.programs()
        for script, expected in (("./early; echo", ["early"]), ("./early && ./late", ["early", "late"]),
                                 ("./early & ./late & ./early & wait", ["early", "early", "late"]), ("./early; exec ./late", ["early", "late"])):
            with self.subTest(script):
                result, said = self.trace("sh", "-c", script)
                self.assertEqual(sorted(kernel["name"] for kernel in result["kernels"]), expected)
                self.assertEqual("processes" in said, len(expected) > 1, said)
                self.assertEqual(list(self.folder.glob("*.processes")), [])

    def test_the_traces_of_all_processes_are_kept(self):
        self.programs()
        done = run(warplens_tool.tool, "run", "--quiet", "--trials", "2", "--trace", "kept.wlt", "--", "sh", "-c", "./early; ./late",
                   cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        for file, kernel in (("kept.wlt", "early"), ("kept.wlt.2", "late")):
            self.assertIn(kernel, self.output_of(warplens_tool.tool, "trace", "info", file))

    def test_children_of_fork(self):
        source = """#include <sys/wait.h>
#include <unistd.h>
__global__ void parent(int* a) { a[0] = a[1]; }
__global__ void child(int* a) { a[0] = a[1]; }
int main() {
  int* a;
  %s
  if (fork() == 0) {
    cudaMalloc(&a, 8);
    child<<<1, 1>>>(a);
    return 0;
  }
  wait(nullptr);
  cudaMalloc(&a, 8);
  parent<<<1, 1>>>(a);
}
"""
        self.write("a.cu", source % "")
        self.build("a.cu")
        result, said = self.trace("./program")
        self.assertEqual(sorted(kernel["name"] for kernel in result["kernels"]), ["child", "parent"], said)
        self.write("a.cu", source % "cudaMalloc(&a, 8); parent<<<1, 1>>>(a);")
        self.build("a.cu")
        result, said = self.trace("./program")
        self.assertEqual({kernel["name"] for kernel in result["kernels"]}, {"parent"})
        self.assertIn("are not recorded", said)


if __name__ == "__main__":
    warplens_tool.main()
