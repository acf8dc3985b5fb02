"""Makes a small CUDA program of several files from a seed, with a Makefile as users write them, and knows what the program prints under
nvcc. `python3 random_build.py SEED UNITS FOLDER` writes one of at most UNITS sources, with the file
`expected`.

A program consists of *images*: the program itself, shared libraries that it links, and plugins that it opens. An image consists of
*units*, each of which is one source; some of the units come in a static library. A unit consists of *items*, each of which launches
kernels and prints a line. Names are drawn from a short list, so that units have entities of one name wherever C++ and nvcc allow that.
"""

import pathlib
import random
import sys

NAMES = ["fill", "step", "kept", "table"]
NAMESPACES = ["", "app", "app::detail", "device"]
STANDARDS = {"c++14": 201402, "c++17": 201703, "c++20": 202002}

COMMON = """#pragma once
#include <cstdio>
#include <cuda_runtime.h>
#ifdef __CUDACC__
/// Two numbers on the device, which begin as zeros.
struct Memory {
  int* numbers = nullptr;
  Memory() { cudaMalloc(&numbers, 8); cudaMemset(numbers, 0, 8); }
  ~Memory() { cudaFree(numbers); }
  void print(FILE* out, const char* item) const {
    int host[2] = {-1, -1};
    const cudaError_t error = cudaMemcpy(host, numbers, 8, cudaMemcpyDeviceToHost);
    std::fprintf(out, "%s %d %d%s%s\\n", item, host[0], host[1], error ? " " : "", error ? cudaGetErrorName(error) : "");
  }
};
#define LAUNCH(...) __VA_ARGS__<<<1, 1>>>
template <class F> __global__ void apply(F f, int* a, int x) { a[0] = f(x); a[1] = f(x + 1); }
template <class T> __global__ void from_type(int* a, int x) { a[0] = T::of(x); a[1] = sizeof(T) + T::number; }
template <class T, int n> __global__ void scaled(T* a, T x) { a[0] = x * n; a[1] = x + n; }
template <void (*f)(int*, int)> __global__ void calls(int* a, int x) { f(a, x); }
namespace app { inline __host__ __device__ int doubled(int x) { return 2 * x; } }
#endif
"""


def formula(choose):
    """Returns an expression in x which C++ and Python read alike, and whose value is from 0 to 9999."""
    text = "x"
    for _ in range(choose.randint(1, 3)):
        number = choose.randint(2, 99)
        text = choose.choice([f"({text} * {number})", f"({text} + {number})", f"({text} ^ {number})", f"({text} | {number})",
                              f"({text} % {number} + {number})"])
        text = f"({text} % 10000)"
    return text


def value(text, x):
    return eval(text, {"x": x})


class Item:
    """A part of a unit. `declarations` go into the source as they are, `statements` into the unit's function, where `x` is its argument
    and `out` where it prints. `expect(x)` returns the two numbers that are left in `memory`, and changes the state of the variables."""

    declarations = statements = ""

    def __init__(self, unit, number, choose):
        self.unit, self.choose = unit, choose
        self.label = f"unit{unit.number}.{number}.{type(self).__name__}"
        self.f, self.g = formula(choose), formula(choose)
        self.make()

    def reset(self):
        """Gives variables their first values again."""

    def printed_before(self, _):
        """Returns what the statements themselves print, before the two numbers in `memory`."""
        return []

    def entity(self, kind="kernel"):
        """Returns a declaration's frame and the full name of an entity: begin, linkage, name, end, full name."""
        namespace, name = self.unit.free_name(self.choose)
        linkages = ["static", "anonymous"]
        if self.unit.may_define(kind, namespace, name):
            linkages += ["external"]
        linkage = self.choose.choice(linkages)
        if linkage == "external":
            self.unit.define(kind, namespace, name)
        parts = namespace.split("::") if namespace else []
        anonymous = linkage == "anonymous"
        begin = "".join(f"namespace {part} {{ " for part in parts) + ("namespace { " if anonymous else "")
        end = " }" * (len(parts) + anonymous)
        return begin, "static " if linkage == "static" else "", name, end, f"{namespace}::{name}" if namespace else f"::{name}"

    def declare(self, kind, text):
        """Declares an entity: `text` has {static} and {name}. Returns its full name."""
        begin, static, name, end, full = self.entity(kind)
        self.declarations += begin + text.replace("{static}", static).replace("{name}", name) + end + "\n"
        return full


class Kernel(Item):
    """A kernel, launched in one of the ways that there are."""

    def make(self):
        self.form = self.choose.choice(["plain", "shared", "dynamic", "atomic"])
        self.threads = self.choose.choice([1, 7, 32, 48]) if self.form != "plain" else 1
        body = {
            "plain": f"a[0] = {self.f}; a[1] = {self.g};",
            "shared": f"__shared__ int all[64]; const int t = threadIdx.x; all[t] = {self.f} + t; __syncthreads(); "
                      "if (t == 0) a[0] = all[blockDim.x - 1]; atomicAdd(a + 1, all[t]);",
            "dynamic": f"extern __shared__ int all_of_it[]; const int t = threadIdx.x; all_of_it[t] = {self.f} * t; __syncthreads(); "
                       "if (t == 0) a[0] = all_of_it[blockDim.x - 1]; a[1] = blockDim.x;",
            "atomic": f"x += threadIdx.x; atomicMax(a, {self.f}); atomicAdd(a + 1, {self.g});",
        }[self.form]
        bounds = self.choose.choice(["", "", "__launch_bounds__(64) ", "__launch_bounds__(64, 2) "])
        name = self.declare("kernel", f"{{static}}__global__ void {bounds}{{name}}(int* a, int x) {{ {body} }}")
        shape = f"<<<1, {self.threads}{', 256' if self.form == 'dynamic' else ''}>>>"
        self.statements = self.choose.choice([
            f"{name}{shape}(memory.numbers, x);",
            f"void (*kernel)(int*, int) = {name}; kernel{shape}(memory.numbers, x);",
            f"void (*kernels[])(int*, int) = {{nullptr, &{name}}}; kernels[1]{shape}(memory.numbers, x);",
            f"void* words[] = {{&memory.numbers, &x}}; cudaLaunchKernel((const void*){name}, 1, {self.threads}, words, 256, nullptr);",
            f"auto launch = [&](int y) {{ {name}{shape}(memory.numbers, y); }}; launch(x);",
        ])

    def expect(self, x):
        of = [value(self.f, x) for _ in range(self.threads)]
        if self.form == "plain":
            return [of[0], value(self.g, x)]
        if self.form == "shared":
            return [of[0] + self.threads - 1, sum(of) + sum(range(self.threads))]
        if self.form == "dynamic":
            return [of[0] * (self.threads - 1), self.threads]
        return [max(value(self.f, x + t) for t in range(self.threads)), sum(value(self.g, x + t) for t in range(self.threads))]


class Variable(Item):
    """A variable of the device that keeps its value from call to call."""

    def make(self):
        self.first = self.kept = self.choose.randint(1, 99)
        self.memory = self.choose.choice(["__device__", "__device__", "__managed__"])
        # nvcc gives a variable of one file internal linkage, unless its code is relocatable.
        name = self.declare("variable" if self.unit.relocatable else f"variable of unit {self.unit.number}",
                            f"{{static}}{self.memory} int {{name}} = {self.first};")
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ {name} += {self.f}; a[0] = {name}; "
                              f"a[1] = {self.g}; }}")
        read = f"int kept = 0; cudaMemcpyFromSymbol(&kept, {name}, 4);"
        if self.memory == "__managed__" and self.choose.random() < 0.6:
            read = f"cudaDeviceSynchronize(); const int kept = {name};"
        self.statements = f"{kernel}<<<1, 1>>>(memory.numbers, x); {read} std::fprintf(out, \"%d \", kept);"

    def reset(self):
        self.kept = self.first

    def printed_before(self, _):
        return [self.kept]

    def expect(self, x):
        self.kept += value(self.f, x)
        return [self.kept, value(self.g, x)]


class Constant(Item):
    """Constant memory that the host writes before each launch."""

    def make(self):
        size = self.choose.randint(2, 5)
        self.index = self.choose.randrange(size)
        name = self.declare("variable" if self.unit.relocatable else f"variable of unit {self.unit.number}",
                            f"{{static}}__constant__ int {{name}}[{size}] = {{5}};")
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ a[0] = {name}[{self.index}]; a[1] = {self.f}; }}")
        self.statements = f"int host[{size}] = {{}}; host[{self.index}] = {self.g}; cudaMemcpyToSymbol({name}, host, sizeof host); " \
                          f"{kernel}<<<1, 1>>>(memory.numbers, x);"

    def expect(self, x):
        return [value(self.g, x), value(self.f, x)]


class Lambda(Item):
    """A template of the common header over a lambda of a function with internal linkage."""

    def make(self):
        self.number = self.choose.randint(1, 99)
        target = self.choose.choice(["__device__", "__host__ __device__"])
        within = self.choose.choice(["[=] {target}(int x) {{ return {f} + number; }}", "[number] {target}(int x) -> int {{ return {f} + number; }}"])
        within = within.format(target=target, f=self.f)
        name = self.declare("function of the host", f"{{static}}void {{name}}(int* a, int x) {{ const int number = {self.number}; "
                            f"apply<<<1, 1>>>({within}, a, x); }}")
        self.statements = f"{name}(memory.numbers, x);"

    def expect(self, x):
        return [value(self.f, x) + self.number, value(self.f, x + 1) + self.number]


class LocalType(Item):
    """A template of the common header over a type with internal linkage."""

    def make(self):
        self.number, self.bytes = self.choose.randint(1, 99), self.choose.randint(1, 40)
        begin, _, name, end, full = self.entity("type")
        if "namespace { " not in begin:
            begin, end = begin + "namespace { ", end + " }"
        self.declarations = f"{begin}struct {name} {{ static constexpr int number = {self.number}; char bytes[{self.bytes}]; " \
                            f"static __device__ int of(int x) {{ return {self.f}; }} }};{end}\n"
        self.statements = f"from_type<{full}><<<1, 1>>>(memory.numbers, x);"

    def expect(self, x):
        return [value(self.f, x), self.bytes + self.number]


class Shared(Item):
    """A template of the common header that other units instantiate as well."""

    def make(self):
        self.factor = self.choose.randint(2, 4)
        self.statements = f"LAUNCH(scaled<int, {self.factor}>)(memory.numbers, app::doubled(x));"

    def expect(self, x):
        return [2 * x * self.factor, 2 * x + self.factor]


class Callee(Item):
    """A kernel of the common header with a device function as its argument."""

    def make(self):
        name = self.declare("kernel", f"{{static}}__device__ void {{name}}(int* a, int x) {{ a[0] = {self.f}; a[1] = {self.g}; }}")
        self.statements = f"calls<{name}><<<1, 1>>>(memory.numbers, x);"

    def expect(self, x):
        return [value(self.f, x), value(self.g, x)]


class Pointer(Item):
    """A table of pointers to device functions."""

    def make(self):
        self.which = self.choose.randrange(2)
        first = self.declare("kernel", f"{{static}}__device__ int {{name}}(int x) {{ return {self.f}; }}")
        self.declarations += f"static __device__ int other_{self.unit.item}(int x) {{ return {self.g}; }}\n"
        self.declarations += f"static __device__ int (*const functions_{self.unit.item}[])(int) = {{{first}, other_{self.unit.item}}};\n"
        kernel = self.declare("kernel", "{static}__global__ void {name}(int* a, int x) { "
                              f"a[0] = functions_{self.unit.item}[{self.which}](x); a[1] = functions_{self.unit.item}[x % 2](x); }}")
        self.statements = f"{kernel}<<<1, 1>>>(memory.numbers, x);"

    def expect(self, x):
        return [value((self.f, self.g)[self.which], x), value((self.f, self.g)[x % 2], x)]


class Early(Item):
    """A static object whose constructor launches a kernel."""

    def make(self):
        self.argument = self.choose.randint(0, 99)
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ a[0] = {self.f}; a[1] = {self.g}; }}")
        item = self.unit.item
        self.declarations += f"namespace {{ struct Early{item} : Memory {{ Early{item}() {{ {kernel}<<<1, 1>>>(numbers, {self.argument}); }} }} " \
                             f"early{item}; }}\n"
        self.statements = f"cudaMemcpy(memory.numbers, early{item}.numbers, 8, cudaMemcpyDeviceToDevice);"

    def expect(self, _):
        return [value(self.f, self.argument), value(self.g, self.argument)]


class Options(Item):
    """Macros and headers that the command line's options decide."""

    def make(self):
        numbers = [self.choose.randint(1, 999) for _ in range(4)]
        self.numbers, unit, item = numbers, self.unit, self.unit.item
        words = [f"-DFIRST{item}={numbers[0]}", f"-DSECOND{item}={numbers[1]}"]
        folder = f"folder{unit.number}_{item}"
        unit.files[f"{folder}/numbers{item}.h"] = f"static constexpr int from_header{item} = {numbers[2]};\n"
        unit.files[f"{folder}/forced{item}.h"] = f"#define FORCED{item} {numbers[3]}\n"
        unit.flags += self.choose.choice([
            [f"-Xcompiler {','.join(words)}"], [f"-Xcompiler \"{' '.join(words)}\""], [f"-Xcompiler={words[0]}", words[1]],
            [words[0], f"--compiler-options {words[1]}"], words, [f"-D FIRST{item}={numbers[0]}", f"--define-macro SECOND{item}={numbers[1]}"]])
        unit.flags += [self.choose.choice([f"-I{folder}", f"-I {folder}", f"-Xcompiler -I{folder}", f"-Xcompiler -I,{folder}",
                                           f"-Xcompiler \"-iquote {folder}\"", f"-isystem {folder}", f"-Xcompiler -isystem,{folder}"])]
        unit.flags += [self.choose.choice([f"-include {folder}/forced{item}.h", f"-Xcompiler \"-include {folder}/forced{item}.h\""])]
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ a[0] = x + FIRST{item} + SECOND{item}; "
                              f"a[1] = from_header{item} * FORCED{item}; }}")
        self.declarations = f"#include \"numbers{item}.h\"\n" + self.declarations
        self.statements = f"std::fprintf(out, \"%d \", FIRST{item} * SECOND{item} + from_header{item} + FORCED{item}); {kernel}<<<1, 1>>>(memory.numbers, x);"

    def printed_before(self, _):
        a, b, header, forced = self.numbers
        return [a * b + header + forced]

    def expect(self, x):
        a, b, header, forced = self.numbers
        return [x + a + b, header * forced]


class Dialect(Item):
    """What host and device code say of the dialect, of characters and of OpenMP."""

    def make(self):
        kernel = self.declare("kernel", "{static}__global__ void {name}(int* a, int c) { a[0] = __cplusplus; a[1] = (char)c; }")
        self.statements = f"""
#ifdef _OPENMP
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < 30; ++i)
    sum += omp_get_num_threads();
  std::fprintf(out, "%d ", sum);
#else
  std::fprintf(out, "no ");
#endif
  std::fprintf(out, "%d %ld ", (int)(char)(x | 128), __cplusplus);
  {kernel}<<<1, 1>>>(memory.numbers, x | 128);"""

    def printed_before(self, x):
        character = (x | 128) % 256
        return [90 if self.unit.openmp else "no", character if self.unit.unsigned_characters else character - 256, self.unit.cplusplus]

    def expect(self, x):
        return [self.unit.cplusplus, (x | 128) % 256 - 256]  # nvcc's device code knows nothing of -funsigned-char


class Across(Item):
    """A variable and a function of another unit's, by relocatable device code."""

    def make(self):
        self.other = self.choose.choice([unit for unit in self.unit.image.units if unit.relocatable])
        name = f"of_unit{self.other.number}"
        self.other.shared = True
        self.declarations = f"extern __device__ int {name};\n__device__ int function_{name}(int x);\n"
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ {name} += {self.f}; a[0] = {name}; "
                              f"a[1] = function_{name}(x) + {self.g}; }}")
        self.statements = f"{kernel}<<<1, 1>>>(memory.numbers, x);"

    def expect(self, x):
        self.other.shared_value += value(self.f, x)
        return [self.other.shared_value, value(self.other.shared_formula, x) + value(self.g, x)]


class InParallel(Item):
    """Launches by several threads of the host."""

    def make(self):
        kernel = self.declare("kernel", f"{{static}}__global__ void {{name}}(int* a, int x) {{ atomicAdd(a, {self.f}); atomicAdd(a + 1, 1); }}")
        self.unit.includes.add("<thread>")
        self.unit.flags_of_link.add("-lpthread")
        self.statements = "std::thread threads[3]; for (int i = 0; i < 3; ++i) threads[i] = std::thread([&memory, x, i] { " \
                          f"{kernel}<<<1, 2>>>(memory.numbers, x + i); cudaDeviceSynchronize(); }}); for (auto& thread : threads) thread.join();"

    def expect(self, x):
        return [2 * sum(value(self.f, x + i) for i in range(3)), 6]


class Unit:
    """A source, with the options of its compilation."""

    KINDS = [Kernel, Kernel, Variable, Variable, Constant, Lambda, Lambda, LocalType, Shared, Callee, Pointer, Early, Options, Dialect, InParallel]

    def __init__(self, image, number, relocatable, choose):
        self.image, self.number, self.relocatable, self.choose = image, number, relocatable, choose
        self.in_archive = False
        self.files, self.flags, self.includes, self.flags_of_link, self.taken = {}, [], set(), set(), set()
        self.shared, self.shared_first, self.shared_formula = False, choose.randint(1, 99), formula(choose)
        standard = choose.choice([*STANDARDS, None])
        self.cplusplus = STANDARDS[standard or "c++17"]
        self.openmp, self.unsigned_characters = choose.random() < 0.25, choose.random() < 0.2
        if standard:
            self.flags.append(choose.choice([f"-std={standard}", f"--std {standard}"]))
        if self.openmp:
            self.includes.add("<omp.h>")
            self.flags.append("-Xcompiler -fopenmp")
        if self.unsigned_characters:
            self.flags.append("-Xcompiler -funsigned-char")
        self.flags += choose.choice([[], [], ["-O3"], ["-g"], ["-O0", "-g"], ["-lineinfo"], ["-use_fast_math"], ["-default-stream per-thread"],
                                     ["-Xcompiler -O1,-Wall"], ["-Xptxas -O1"]])
        if image.is_library:
            self.flags.append(choose.choice(["-Xcompiler -fPIC", "-Xcompiler=-fPIC", "-Xcompiler -fPIC,-fvisibility=hidden",
                                             "-Xcompiler \"-fPIC -fvisibility=hidden -fvisibility-inlines-hidden\""]))
        self.items = []

    @property
    def item(self):
        return len(self.items)

    def fill(self, count):
        kinds = self.KINDS + ([Across] * 6 if self.relocatable else [])
        for _ in range(count):
            self.items.append(self.choose.choice(kinds)(self, len(self.items), self.choose))

    def free_name(self, choose):
        """Returns a namespace and a name that no other entity of the unit has."""
        while True:
            pair = (choose.choice(NAMESPACES), choose.choice(NAMES) + choose.choice(["", "", "", "_too", "_as_well"]))
            if pair not in self.taken:
                self.taken.add(pair)
                return pair

    def may_define(self, kind, *name):
        """Returns whether the unit may have an entity with external linkage: those of other images are hidden, but for host functions."""
        return kind != "function of the host" and (kind, *name) not in self.image.external

    def define(self, kind, *name):
        self.image.external.add((kind, *name))

    def reset(self):
        self.shared_value = self.shared_first
        for item in self.items:
            item.reset()

    def text(self):
        lines = ["#include \"common.h\""] + [f"#include {name}" for name in sorted(self.includes)]
        if self.shared:
            lines += [f"__device__ int of_unit{self.number} = {self.shared_first};",
                      f"__device__ int function_of_unit{self.number}(int x) {{ return {self.shared_formula}; }}"]
        lines += [item.declarations.rstrip("\n") for item in self.items if item.declarations]
        lines.append(f"extern \"C\" __attribute__((visibility(\"default\"))) void unit{self.number}(FILE* out, int x) {{")
        for item in self.items:
            lines.append(f"  {{ Memory memory; {item.statements}\n    memory.print(out, \"{item.label}\"); }}")
        return "\n".join(lines + ["}", ""])

    def expected(self, x):
        lines = []
        for item in self.items:
            numbers = item.expect(x)
            lines.append(" ".join(map(str, [*item.printed_before(x), item.label, *numbers])))
        return lines


class Image:
    def __init__(self, name, kind):
        self.name, self.kind, self.units, self.external = name, kind, [], set()

    @property
    def is_library(self):
        return self.kind != "program"

    @property
    def file(self):
        return f"lib{self.name}.so" if self.is_library else self.name


class Build:
    """The program of a seed: `files` by name, and `expected`, the lines that it prints."""

    def __init__(self, seed, units=4):
        """Makes a program of two to `units` units, each of which takes two seconds to compile."""
        self.choose = choose = random.Random(seed)
        self.images = [Image("program", "program")]
        count = choose.randint(2, units)
        for number in range(count):
            fresh = number > 0 and choose.random() < 0.6
            if fresh:
                self.images.append(Image(f"part{number}", choose.choice(["linked", "plugin", "plugin"])))
            image = choose.choice(self.images) if number else self.images[0]
            image = self.images[-1] if fresh else image
            relocatable = choose.random() < (0.85 if any(unit.relocatable for unit in image.units) else 0.35)
            image.units.append(Unit(image, number, relocatable, choose))
        self.units = [unit for image in self.images for unit in image.units]
        for unit in self.units:
            unit.fill(choose.randint(2, 4))
            # A library without an object of its own is none to nvcc.
            unit.in_archive = choose.random() < 0.4 and (unit.image.kind == "program" or unit is not unit.image.units[0])
        self.threaded = choose.random() < 0.3
        self.calls = self.make_calls()
        self.expected = self.run()
        self.files = self.make_files()

    def make_calls(self):
        """Returns what main does: a list of (image, [(unit, x)…]), where each plugin is opened before its calls, and closed after them."""
        calls = []
        for _ in range(2):
            images = list(self.images)
            self.choose.shuffle(images)
            calls += [(image, [(unit, self.choose.randint(0, 99)) for unit in image.units]) for image in images]
        return calls

    def run(self):
        lines = []
        for unit in self.units:
            unit.reset()
        for image, calls in self.calls:
            if image.kind == "plugin":
                for unit in image.units:
                    unit.reset()
            for unit, x in calls:
                lines += unit.expected(x)
        return lines

    def main(self):
        lines = ["#include <cstdio>", "#include <cstdlib>", "#include <dlfcn.h>", "#include <thread>", "using Unit = void (*)(FILE*, int);"]
        lines += [f"extern \"C\" void unit{unit.number}(FILE*, int);" for unit in self.units if unit.image.kind != "plugin"]
        lines += ["static void use(FILE* out, const char* file, const char* name, int x, const char* name_2 = nullptr, int x_2 = 0, "
                  "const char* name_3 = nullptr, int x_3 = 0, const char* name_4 = nullptr, int x_4 = 0) {",
                  "  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);",
                  "  if (!library) { std::puts(dlerror()); return; }",
                  "  const char* names[] = {name, name_2, name_3, name_4}; const int numbers[] = {x, x_2, x_3, x_4};",
                  "  for (int i = 0; i < 4 && names[i]; ++i) reinterpret_cast<Unit>(dlsym(library, names[i]))(out, numbers[i]);",
                  "  dlclose(library);", "}", "int main() {"]
        steps = []
        for image, calls in self.calls:
            if image.kind == "plugin":
                words = ", ".join(f"\"unit{unit.number}\", {x}" for unit, x in calls)
                steps.append(f"use(out, \"./{image.file}\", {words});")
            else:
                steps.append(" ".join(f"unit{unit.number}(out, {x});" for unit, x in calls))
        if self.threaded:
            # All steps of a round at once, each with an output of its own, which is printed in order.
            half = len(self.images)
            for begin in (0, half):
                lines += ["  {", f"    char* texts[{half}]; size_t sizes[{half}]; std::thread threads[{half}];"]
                for i, step in enumerate(steps[begin:begin + half]):
                    lines.append(f"    threads[{i}] = std::thread([&] {{ FILE* out = open_memstream(&texts[{i}], &sizes[{i}]); {step} fclose(out); }});")
                lines += [f"    for (int i = 0; i < {half}; ++i) {{ threads[i].join(); std::fputs(texts[i], stdout); std::free(texts[i]); }}", "  }"]
        else:
            lines += ["  FILE* out = stdout;"] + ["  " + step for step in steps]
        return "\n".join(lines + ["}", ""])

    def make_files(self):
        files = {"common.h": COMMON, "main.cpp": self.main()}
        for unit in self.units:
            files.update(unit.files)
            files[f"unit{unit.number}.cu"] = unit.text()
        files["Makefile"] = self.makefile()
        return files

    def makefile(self):
        """Returns a Makefile whose variables are NVCC and ARCH."""
        choose = self.choose
        rules, targets = [], []
        for unit in self.units:
            flags = unit.flags[:]
            choose.shuffle(flags)
            compile_option = choose.choice(["-dc", "-rdc=true -c", "-c --relocatable-device-code=true"]) if unit.relocatable else "-c"
            rules.append(f"unit{unit.number}.o: unit{unit.number}.cu common.h\n"
                         f"\t$(NVCC) $(ARCH) --extended-lambda {' '.join(flags)} {compile_option} unit{unit.number}.cu -o $@")
        for image in self.images:
            objects = [f"unit{unit.number}.o" for unit in image.units if not unit.in_archive]
            kept = [f"unit{unit.number}.o" for unit in image.units if unit.in_archive]
            words, needs = list(objects), list(objects)
            if kept:
                archive = f"lib/lib{image.name}_archive.a"
                command = choose.choice([f"$(NVCC) -lib {' '.join(kept)} -o $@", f"ar rcs $@ {' '.join(kept)}"])
                rules.append(f"{archive}: {' '.join(kept)}\n\t@mkdir -p lib\n\t{command}")
                words += choose.choice([[f"-Llib -l{image.name}_archive"], [f"-L lib -l {image.name}_archive"], [archive]])
                if image.is_library:  # nothing else refers to the archive's members
                    words = objects + [f"-Xlinker --undefined=unit{unit.number}" for unit in image.units if unit.in_archive] + words[len(objects):]
                needs.append(archive)
            relocatable = any(unit.relocatable for unit in image.units)
            link = ["$(NVCC)", "$(ARCH)"] + (["-rdc=true"] if relocatable and choose.random() < 0.5 else [])
            openmp = ["-Xcompiler -fopenmp"] if any(unit.openmp for unit in image.units) else []
            if image.is_library:
                command = [*link, "-shared", *choose.choice([["-Xcompiler -fPIC"], []]), *words, *openmp, "-o", "$@"]
            else:
                linked = [other for other in self.images if other.kind == "linked"]
                needs += ["main.o", *(other.file for other in linked)]
                command = [*link, "main.o", *words, "-L.", *(f"-l{other.name}" for other in linked),
                           *(["-Xlinker -rpath,."] if linked else []), *openmp, "-ldl -lpthread", "-o", "$@"]
            rules.append(f"{image.file}: {' '.join(needs)}\n\t{' '.join(command)}")
            targets.append(image.file)
        compile_main = choose.choice(["$(CXX) -std=c++17 -c main.cpp -o $@", "$(NVCC) $(ARCH) -std=c++17 -c main.cpp -o $@",
                                      "$(NVCC) $(ARCH) -std=c++17 -x cu -c main.cpp -o $@"])
        rules.append(f"main.o: main.cpp\n\t{compile_main}")
        rules.append("clean:\n\trm -rf *.o *.so lib program")
        return "\n\n".join(["NVCC ?= nvcc\nARCH ?= -arch=sm_80\nall: " + " ".join(targets), *rules, ""])

    def write(self, folder):
        for name, text in [*self.files.items(), ("expected", "\n".join(self.expected) + "\n")]:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: random_build.py SEED UNITS FOLDER")
    Build(int(sys.argv[1]), int(sys.argv[2])).write(sys.argv[3])
