"""Tests `warplens nvcc` in nvcc's place: its objects have probes and otherwise equal nvcc's; nvcc does everything that it cannot."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import tempfile
import time
import unittest

import warplens_tool
from nvcc_case import KERNEL, MAIN, REAL, NvccCase, kernels_of, run
from warplens_tool import HERE, PROJECT, THOROUGH

CONSTRUCTS = HERE / "constructs"


class Nvcc(NvccCase):
    def test_queries_are_the_real_ones(self):
        self.write("a.cu", KERNEL)
        for query in (["--version"], ["--help"], ["--list-gpu-arch"], ["-E", "a.cu"], ["-M", "a.cu"],
                      ["-ptx", "a.cu"], ["-cubin", "-arch=sm_80", "a.cu"], ["-fatbin", "a.cu", "-o", "x"],
                      ["-c", "missing.cu"], ["--no-such-option", "a.cu"], [], ["-o"]):
            with self.subTest(query):
                self.as_nvcc_does(*query)

    def test_every_way_to_compile(self):
        self.write("a.cu", KERNEL)
        ways = (["-c", "a.cu", "-o", "x"], ["--compile", "a.cu", "--output-file=x"], ["-dc", "a.cu", "-o=x"],
                          ["-dw", "-o", "x", "a.cu"], ["-x", "cu", "-c", "-rdc=true", "a.cu", "-o", "x"],
                          ["-c", "-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]",
                           "a.cu", "-o", "x", "-t4", "-O3", "-lineinfo", "-Xptxas", "-O2", "-Xcompiler", "-fPIC,-Wall"],
                          ["-shared", "-Xcompiler", "-fPIC", "a.cu", "-o", "x"], ["-lib", "a.cu", "-o", "x"])
        for arguments in ways if THOROUGH else ways[1::2]:
            with self.subTest(arguments):
                self.nvcc(*arguments)
                self.assert_probed(self.folder / "x", "a.cu")

    def test_cuda_in_a_cpp_file(self):
        self.write("a.cpp", KERNEL)
        self.nvcc("-x", "cu", "-c", "a.cpp")
        self.assert_probed("a.o", "a.cpp")

    def test_several_inputs_at_once(self):
        self.write("a.cu", KERNEL + MAIN)
        self.write("b.cu", KERNEL.replace("twice", "again"))
        self.write("c.cpp", "int c() { return 0; }\n")
        self.write("d.cu", "int d() { return 0; }\n")
        self.nvcc("a.cu", "b.cu", "c.cpp", "d.cu", "-o", "program")
        self.assert_probed("program", "a.cu", "b.cu")
        self.nvcc("-c", "a.cu", "b.cu", "c.cpp", "d.cu")
        self.assert_probed("a.o", "a.cu")
        self.assert_probed("b.o", "b.cu")
        self.nvcc("a.o", "b.o", "c.o", "d.o", "-o", "linked")
        self.assertIn(run(self.folder / "linked").stdout, ("none\n", "GPU\n"))

    def test_flags_from_files_and_the_environment(self):
        self.write("a.cu", "#if defined(A) && defined(B) && defined(C)\n" + KERNEL + "#endif\n")
        self.write("flags", "-DA -c")
        self.nvcc("-optf", "flags", "a.cu", environment={"NVCC_PREPEND_FLAGS": "-DB", "NVCC_APPEND_FLAGS": "-DC -o x.o"})
        self.assert_probed("x.o", "a.cu")

    def test_the_host_compiler_links(self):
        self.write("a.cu", KERNEL + MAIN)
        self.nvcc("-c", "a.cu")
        linked = run("c++", "a.o", "-o", "program", f"-L{pathlib.Path(REAL).resolve().parents[1]}/lib64", "-lcudart_static",
                     cwd=self.folder)
        self.assertEqual(linked.returncode, 0, linked.stderr)
        self.assert_probed("program", "a.cu")
        self.assertIn(run(self.folder / "program").stdout, ("none\n", "GPU\n"))

    def test_a_program_finds_the_runtime_under_warplens_run(self):
        self.write("a.cu", KERNEL + MAIN)
        self.nvcc("a.cu", "-o", "program")
        done = run(warplens_tool.tool, "run", "--trace", "t.wlt", "--", "./program", cwd=self.folder)
        self.assertTrue((self.folder / "t.wlt").exists(), done.stderr)
        info = run(warplens_tool.tool, "trace", "info", "t.wlt", cwd=self.folder).stdout
        self.assertRegex(info, r"sites +2\n")

    def test_a_shared_library(self):
        self.write("part.cu", KERNEL + "void part() { twice<<<1, 1>>>(nullptr); }\n")
        self.write("main.cu", KERNEL + "void part();\n" + MAIN.replace("twice<<<", "part(); twice<<<"))
        self.nvcc("-shared", "-Xcompiler", "-fPIC", "part.cu", "-o", "libpart.so")
        self.assert_probed("libpart.so", "part.cu")
        self.nvcc("main.cu", "-L.", "-lpart", "-Xlinker", "-rpath=$ORIGIN", "-o", "program")
        self.assert_probed("program", "main.cu")
        self.assertIn(run(self.folder / "program").stdout, ("none\n", "GPU\n"))
        # Each of the two has a CUDA runtime of its own.
        done = run(warplens_tool.tool, "run", "-o", "result", "--", "./program", cwd=self.folder)
        self.assertIn(done.stdout, ("none\n", "GPU\n"))
        self.assertEqual(done.stderr.count("a CUDA runtime of its own"), 1)

    def test_dependencies_name_the_users_files(self):
        self.write("include/scale.h", "#pragma once\n__device__ inline void scale(float* a) { a[0] *= 2; }\n")
        self.write("a b.cu", '#include "scale.h"\n__global__ void k(float* a) { scale(a); }\n')
        self.write("plain.cu", "int plain() { return 0; }\n")
        for source in ("a b.cu", "plain.cu"):
            ways = [["-MD", "-MF", "x.d", "-MT", "my_target", "-MP"], ["-MD"], ["-MMD", "-MF", "x.d"]]
            for flags in ways if THOROUGH or source != "plain.cu" else ways[:1]:
                with self.subTest(source=source, flags=flags):
                    found = []
                    for program in (REAL, self.wrapper):
                        self.nvcc("-Iinclude", *flags, "-c", source, "-o", "x.o", program=program)
                        found.append((self.folder / "x.d").read_text())
                        (self.folder / "x.d").unlink()
                    self.assertEqual(*found)

    def test_a_source_that_clang_cannot_parse_is_compiled_plainly(self):
        self.write("a.cu", KERNEL + "#ifdef __clang__\n#error only nvcc compiles this\n#endif\n")
        done = self.nvcc("-c", "a.cu")
        self.assertRegex(done.stderr, r"^warplens: warning: a.cu is compiled without probes: nvcc takes this, Clang 19 does not: "
                                      r"a.cu:3:2: only nvcc.*\n$")
        self.assertEqual(done.stdout, "")
        (line,) = self.report("a.o")
        self.assertRegex(line, "^a.cu: compiled without probes: nvcc takes this, Clang 19 does not: a.cu:3:2: only nvcc compiles this")
        for done in (self.nvcc("--strict", "-c", "a.cu", code=1),
                     self.nvcc("-c", "a.cu", code=1, environment={"WARPLENS_STRICT": "1"})):
            self.assertRegex(done.stderr, r"^warplens: error: a.cu cannot be compiled with probes: a.cu:3:2: .*\n$")

    def test_a_source_that_nvcc_rejects_with_probes_is_compiled_plainly(self):
        # A macro that only the probes meet.
        self.write("a.cu", KERNEL + "#ifndef __clang__\n#define warplens 1 +\n#endif\n"
                   "__global__ void once(float* a) { a[0] = 1; }\n")
        done = self.nvcc("-c", "a.cu")
        self.assertRegex(done.stderr, r"^warplens: warning: a.cu is compiled without probes: a.cu.5.*error.*\n$")

    def test_totals_of_sources_that_all_fell_back(self):
        for name in ("a", "b"):
            self.write(f"{name}.cu", KERNEL.replace("twice", name) + "#ifndef __clang__\n#define warplens 1 +\n#endif\n"
                       f"__global__ void once_{name}(float* a) {{ a[0] = 1; }}\n")
        self.nvcc("-c", "a.cu", "b.cu")
        self.assertEqual(self.report("a.o", "b.o")[-1], "2 sources, all without probes")
        self.write("c.cu", KERNEL)
        self.nvcc("-c", "c.cu")
        self.assertRegex(self.report("a.o", "b.o", "c.o")[-1], r"^3 sources, 2 without probes; in the others 2 accesses probed, 0 removed")
        done = run(self.wrapper, "--report", "--format", "json", "a.o", cwd=self.folder)
        self.assertEqual(json.loads(done.stdout)["files"][0]["sources"][0]["probed"], 0)

    def test_help_lists_our_own_options(self):
        for arguments in (["--help"], ["-h"]):
            done = run(warplens_tool.tool, "nvcc", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for word in ("--backend", "--memcheck", "--strict", "--report", "WARPLENS_BACKEND", "`nvcc --help`", "warplens-nvcc"):
                self.assertIn(word, done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)
        launched = run(warplens_tool.tool, "nvcc", REAL, "--help")
        self.assertEqual(launched.stdout, run(REAL, "--help").stdout)

    def test_objects_for_the_cpu_back_end_need_a_link_for_it(self):
        self.write("a.cu", KERNEL + MAIN)
        for flags in (["-c"], ["-dc"]):
            self.nvcc("--backend", "cpu", *flags, "a.cu", "-o", "a.o")
            run("ar", "rcs", "liba.a", "a.o", cwd=self.folder)
            for link in (["a.o", "-o", "program"], ["liba.a", "-o", "program"], ["-dlink", "a.o", "-o", "device.o"]):
                with self.subTest(flags=flags, link=link):
                    done = self.nvcc(*link, code=1)
                    self.assertRegex(done.stderr, r"^warplens: (lib)?a\.(o|a): it was compiled for the CPU back end, .*--backend cpu.*\n$")
                    self.assertFalse((self.folder / "program").exists())
        self.nvcc("--backend", "cpu", "a.o", "-o", "program")

    def test_warnings_are_nvccs(self):
        # Warnings of the host half, the device half and the host compiler: each as often, and in the same order.
        self.write("a.cu", "__host__ __device__ inline float half_of(float* a) { int never; return a[0] / 2; }\n" + KERNEL +
                   "__global__ void k(float* a) { int unused = 2 * a[0]; a[1] = half_of(a); }\n"
                   "int late(int a) { int b; if (a > 1) b = a; return b; }\n")
        self.as_nvcc_does("-arch=sm_80", "-O2", "-Xcompiler", "-Wall", "-c", "a.cu")

    def host_compiler_that_hangs_for_us(self):
        """Returns the compiler's folder for -ccbin, and the file with the number of the hanging process."""
        started = self.folder / "started"
        self.write("bin/g++", f"#!/bin/sh\ncase \" $* \" in\n*module_channel.h*__CUDA_ARCH__=*|*__CUDA_ARCH__=*module_channel.h*) ;;\n"
                   f"*module_channel.h*) echo $$ > {started}; exec sleep 300;;\nesac\nexec {shutil.which('g++')} \"$@\"\n").chmod(0o755)
        (self.folder / "bin/gcc").symlink_to("g++")
        return self.folder / "bin", started

    def test_a_host_half_that_was_begun_in_vain_is_ended(self):
        compiler, started = self.host_compiler_that_hangs_for_us()
        for text, outcome in (("__global__ void k() {}\n", ""),
                              (KERNEL + "#ifdef __clang__\n#error only nvcc compiles this\n#endif\n", "compiled without probes: nvcc takes"),
                              (KERNEL + "#ifndef __clang__\n#define warplens 1 +\n#endif\n"
                               "__global__ void once(float* a) { a[0] = 1; }\n", "compiled without probes: a.cu")):
            with self.subTest(outcome):
                self.write("a.cu", text)
                begin = time.monotonic()
                done = self.nvcc("-arch=sm_80", "-ccbin", compiler, "-c", "a.cu")
                self.assertLess(time.monotonic() - begin, 200)
                self.assertIn(outcome, done.stderr)
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(started.read_text()), 0)
                started.unlink()

    def test_link_time_optimisation_of_the_host_half_is_left_to_nvcc(self):
        self.write("a.cu", KERNEL)
        done = self.nvcc("-Xcompiler", "-flto", "-c", "a.cu")
        self.assertIn("compiled without probes: device code cannot be put into the host compiler's object (-flto", done.stderr)

    def test_a_broken_file_fails_as_with_nvcc(self):
        self.write("a.cu", "__global__ void k(float* a) { a[0] = missing; }\n")
        self.as_nvcc_does("-c", "a.cu")

    def test_the_same_input_gives_the_same_bytes(self):
        self.write("a.cu", "namespace { __device__ int state; }\n" + KERNEL + "__global__ void k() { state = 1; }\n")
        self.nvcc("-g", "-c", "a.cu")
        first = (self.folder / "a.o").read_bytes()
        self.nvcc("-g", "-c", "a.cu")
        self.assertEqual(first, (self.folder / "a.o").read_bytes())

    def test_unusual_places(self):
        sources = [self.write("one/same.cu", KERNEL), self.write("two/same.cu", KERNEL),
                   self.write("a folder, 'quoted'/same.cu", KERNEL)]
        (self.folder / "link.cu").symlink_to(sources[0])
        sources.append(self.folder / "link.cu")
        os.chmod(self.folder / "one", 0o555)
        self.addCleanup(os.chmod, self.folder / "one", 0o755)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda i: self.nvcc("-c", sources[i], "-o", f"{i}.o"), range(len(sources))))
        for i, source in enumerate(sources):
            self.assert_probed(f"{i}.o", source)

    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_constructs_across_files(self):
        """By nvcc's link with an archive, and by a device link and the host's linker."""
        flags = ["-arch=sm_80", "-std=c++17", "--expt-extended-lambda"]
        for name, relocatable in (("everything", ["-rdc=true", "-c"]), ("device_function", ["-dc"])):
            self.nvcc("--strict", *flags, *relocatable, CONSTRUCTS / f"{name}.cu", "-o", f"{name}.o")
        self.nvcc(*flags, "-rdc=true", "-lib", "device_function.o", "-o", "libpart.a")
        self.nvcc(*flags, "-rdc=true", "everything.o", "libpart.a", "-o", "program")
        self.assert_probed("program", CONSTRUCTS / "everything.cu", CONSTRUCTS / "device_function.cu")
        self.assertEqual(run(self.folder / "program").returncode, 0)

        objects = ["everything.o", "device_function.o"]
        self.nvcc("-arch=sm_80", "-dlink", *objects, "-o", "device.o")
        cuda = REAL.parents[1] / "lib64"
        linked = run("c++", *objects, "device.o", "-o", "linked_apart", f"-L{cuda}", "-lcudadevrt", "-lcudart_static", cwd=self.folder)
        self.assertEqual(linked.returncode, 0, linked.stderr)
        self.assertEqual(run(self.folder / "linked_apart").returncode, 0)

    def test_the_users_own_kernels_are_kept_beside_those_with_probes(self):
        self.write("a.cu", """#include <cstdio>
__device__ int state; __constant__ float table[4]; static __device__ int own; extern __shared__ float dynamic[];
namespace { __global__ void hidden(int* a) { a[threadIdx.x] += state; } }
template <class T> __global__ void scaled(T* a) { __shared__ T s[32]; s[threadIdx.x] = a[threadIdx.x] * table[1];
  __syncthreads(); a[threadIdx.x] = s[31 - threadIdx.x] + dynamic[0]; atomicAdd(&own, 1); printf("%d", own); }
template __global__ void scaled(double*);
__global__ void __launch_bounds__(1024, 2) bounded(float* a) { a[threadIdx.x] = a[threadIdx.x + 1] * 2; }
extern "C" __global__ void plain_name(float* a) { for (int i = 0; i < 9; ++i) a[i * threadIdx.x] += a[i]; }
int main() { hidden<<<1, 1>>>(nullptr); }
""")
        code = {}
        for program in (REAL, self.wrapper):
            kept = self.folder / program.name
            kept.mkdir()
            self.nvcc("-arch=sm_80", "-O3", "-c", "a.cu", "--keep", "--keep-dir", kept, program=program)
            for name, bytes in kernels_of(kept / "a.sm_80.cubin"):
                code[program.name, re.sub(r"[0-9a-f]{8}", "", name)] = bytes  # the hash in names of a file's own things
        own = [name for program, name in code if program == "nvcc"]
        self.assertEqual(len(own), 4)
        for name in own:
            pair = code["nvcc", name], code["warplens-nvcc", name]
            self.assertEqual(len(pair[0]), len(pair[1]), name)
            # The instructions are the same; only the places of variables' addresses in a constant bank differ.
            self.assertLessEqual(sum(one != other for one, other in zip(*pair)), 4, name)
            self.assertNotEqual(code["nvcc", name], code["warplens-nvcc", name + "__warplens_probed"], name)
        self.assert_probed("a.o", "a.cu")
        self.assertNotIn("every launch", self.report("a.o")[0])

    def test_kernels_with_probes_fit_into_the_largest_block(self):
        # About 200 registers without a bound; the probes must leave a variant that 1024 threads can run.
        sums = "".join(f"float s{i} = a[{i} * threadIdx.x];\n" for i in range(200))
        uses = "".join(f"b[{i} * threadIdx.x] = s{i} * s{(i + 7) % 200};\n" for i in range(200))
        self.write("a.cu", f"__global__ void large(const float* __restrict__ a, float* b) {{ {sums} {uses} }}\n")
        output = self.nvcc("-arch=sm_80", "-c", "a.cu", "-Xptxas", "-v").stderr
        registers = dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", output, re.DOTALL))
        self.assertGreater(int(registers["_Z5largePKfPf"]), 64)
        self.assertLessEqual(int(registers["_Z5largePKfPf__warplens_probed"]), 64)

    def test_functions_of_other_files_have_probes_too(self):
        self.write("a.cu", "struct Two { int a; char b; };\n__device__ float* other(float* a, Two two);\n"
                   "__device__ void absent_form(int);\n"
                   "__global__ void k(float* a) { *other(a, Two{1, 2}) = 1; absent_form(3); }\nint main() { k<<<1, 1>>>(nullptr); }\n")
        self.write("b.cu", "struct Two { int a; char b; };\n"
                   "__device__ float* other(float* a, Two two) { a[two.a] = a[two.b]; return a; }\n")
        self.write("c.cu", "__device__ int last;\n__device__ void absent_form(int i) { last = i; }\n")
        for source, program in (("a", self.wrapper), ("b", self.wrapper), ("c", REAL)):
            self.nvcc("-arch=sm_80", "-O3", "-dc", f"{source}.cu", program=program)
        self.nvcc("-arch=sm_80", "a.o", "b.o", "c.o", "-o", "program", "--keep")
        sizes = {name: len(code) for name, code in kernels_of(next(self.folder.glob("*dlink*.cubin")))}
        self.assertEqual(len([name for name in sizes if "other" in name]), 2)
        probed = next(name for name in sizes if "other" in name and name.endswith("__warplens_probed"))
        self.assertGreater(sizes[probed], 1.5 * sizes[probed.removesuffix("__warplens_probed")])
        self.assertEqual(len([name for name in sizes if "absent_form" in name]), 2)

    def test_code_to_be_debugged_has_one_variant(self):
        self.write("a.cu", KERNEL)
        self.nvcc("--strict", "-G", "-c", "a.cu")
        self.assertRegex(self.report("a.o")[0], "every launch runs with probes: -G asks for code to be debugged")

    def test_architectures_that_have_no_number(self):
        self.write("a.cu", KERNEL)
        for architecture in ("native", "all", "all-major") if THOROUGH else ("native", "all-major"):
            self.nvcc(f"-arch={architecture}", "-c", "a.cu")
            self.assert_probed("a.o", "a.cu")

    def test_kept_files_and_listed_commands(self):
        self.write("a.cu", KERNEL)
        (self.folder / "kept").mkdir()
        log = self.nvcc("-c", "a.cu", "--keep", "--keep-dir", "kept", "-v", "-Xcudafe", "--display_error_number").stderr
        self.assertIn("#$ cudafe++", log)
        self.assertLessEqual({"a.ptx", "a.cudafe1.cpp", "a.fatbin.c"}, set(os.listdir(self.folder / "kept")))
        self.assertIn((self.folder / "kept/a.fatbin").read_bytes(), (self.folder / "a.o").read_bytes())
        log = [self.nvcc("--dryrun", "--keep", "-c", "a.cu", program=program).stderr for program in (REAL, self.wrapper)]
        self.assertEqual(*log)

    def test_a_makefile_and_its_compile_commands(self):
        self.write("a.cu", KERNEL + MAIN)
        self.write("b.cu", "#ifdef SCALE\n" + KERNEL.replace("twice", "again") + "#endif\n")
        self.write("Makefile", "NVCC = nvcc\nprogram: a.o b.o\n\t$(NVCC) -o $@ $^\n"
                   "%.o: %.cu\n\t$(NVCC) -arch=sm_80 -std=c++17 -DSCALE=2 -O3 -c $< -o $@\n")
        for changed in (["a.cu", "b.cu"], ["b.cu"]):
            for source in changed:
                (self.folder / source).with_suffix(".o").unlink(missing_ok=True)
            done = run(warplens_tool.tool, "compile-commands", "-o", "commands.json", "--", "make", "-j2",
                       f"NVCC={self.wrapper}", cwd=self.folder, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stderr.endswith(f"commands.json: {len(changed)} CUDA sources\n"), done.stderr)
        self.assert_probed("program", "a.cu", "b.cu")
        entries = json.loads((self.folder / "commands.json").read_text())
        self.assertEqual(sorted(entry["file"] for entry in entries), ["a.cu", "b.cu"])
        for entry in entries:
            self.assertEqual(entry["directory"], str(self.folder))
            for half in ("--cuda-host-only", "--cuda-device-only"):
                parsed = run(*entry["arguments"], half, "-fsyntax-only", cwd=entry["directory"])
                self.assertEqual(parsed.returncode, 0, parsed.stderr)
        if clangd := shutil.which("clangd-19"):
            (self.folder / "commands.json").rename(self.folder / "compile_commands.json")
            checked = run(clangd, "--check=a.cu", cwd=self.folder)
            self.assertIn("All checks completed, 0 errors", checked.stderr)

    def test_a_build_that_compiles_nothing_has_no_compile_commands(self):
        done = run(warplens_tool.tool, "compile-commands", "--", "true", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("true compiled no CUDA source with warplens-nvcc", done.stderr)

    def cmake_project(self, generator, *options, environment={}):
        """Configures and builds the project from scratch; its test passes and its kernels have probes."""
        source, build = self.folder / "project", self.folder / "build"
        shutil.copytree(PROJECT / "examples/cmake-project", source)
        environment = self.environment | environment
        steps = (["cmake", "-S", source, "-B", build, "-G", generator, *options], ["cmake", "--build", build, "-j2"],
                 ["ctest", "--test-dir", build], ["cmake", "--build", build, "-j2"])
        for step in steps:
            done = run(*step, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("Building", done.stdout)  # the dependencies are right: a second build does nothing
        self.assert_probed(build / "program", source / "kernels/saxpy.cu", source / "kernels/sum.cu")

    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_cmake_with_make(self):
        self.cmake_project("Unix Makefiles", f"-DCMAKE_CUDA_COMPILER={self.wrapper}")

    def test_cmake_with_ninja(self):
        self.cmake_project("Ninja", environment={"CUDACXX": str(self.wrapper)})

    def test_no_shell_reads_the_names_of_files(self):
        source = self.write("a$(touch ran) `touch ran`.cu", KERNEL)
        self.nvcc("--strict", "-c", source.name, "-o", "x")
        self.assert_probed("x", source.name)
        self.assertFalse((self.folder / "ran").exists())

    def test_an_nvcc_that_starts_the_real_one(self):
        self.write("a.cu", KERNEL)
        script = self.write("bin/nvcc", f'#!/bin/sh\nexec "{REAL}" "$@"\n')
        script.chmod(0o755)
        only_the_script = {"PATH": f"{script.parent}:/usr/bin:/bin", "CUDA_PATH": "", "CUDA_HOME": ""}
        self.nvcc("--strict", "-c", "a.cu", "-o", "found", environment=only_the_script)
        self.nvcc("nvcc", script, "-c", "a.cu", "-o", "named", program=warplens_tool.tool)
        for object in ("found", "named"):
            self.assert_probed(object, "a.cu")

    def test_an_nvcc_that_comes_back_to_us(self):
        self.write("a.cu", KERNEL)
        script = self.write("bin/nvcc", f'#!/bin/sh\nexec "{self.wrapper}" "$@"\n')
        script.chmod(0o755)
        self.nvcc("--strict", "-c", "a.cu", environment={"PATH": f"{script.parent}:{REAL.parent}:/usr/bin:/bin"})
        self.assert_probed("a.o", "a.cu")

    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_cmake_with_a_launcher(self):
        self.cmake_project("Ninja", f"-DCMAKE_CUDA_COMPILER={REAL}", f"-DCMAKE_CUDA_COMPILER_LAUNCHER={warplens_tool.tool};nvcc")


if __name__ == "__main__":
    warplens_tool.main()
