"""Tests `warplens nvcc` with the demands of public builds: architectures, libraries, host compilers, caches, strange command lines."""

import json
import os
import pathlib
import random
import re
import shutil
import unittest

import warplens_tool
from nvcc_case import KERNEL, MAIN, REAL, NvccCase, kernels_of, run
from warplens_tool import HERE, KERNELS, THOROUGH

OUT_OF_BOUNDS = """__global__ void past(float* a) { a[threadIdx.x] = 1; }
int main() { float* a; cudaMalloc(&a, 31 * sizeof(float)); past<<<1, 32>>>(a); return cudaDeviceSynchronize(); }
"""


class Architectures(NvccCase):
    def test_architectures_that_clang_does_not_know(self):
        self.write("a.cu", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error too old\n#endif\n" + KERNEL)
        ways = ((["-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_100a,code=sm_100a",
                  "-gencode", "arch=compute_120,code=[sm_120,compute_120]"], 3),
                (["-arch=sm_100"], 1), (["-arch=sm_120"], 1))
        for flags, count in ways if THOROUGH else ways[:1]:
            with self.subTest(flags):
                kept = self.folder / "kept"
                kept.mkdir()
                self.nvcc("--strict", *flags, "-c", "a.cu", "--keep", "--keep-dir", kept)
                self.assert_probed("a.o", "a.cu")
                self.assertNotIn("every launch", self.report("a.o")[0])
                cubins = list(kept.glob("*.cubin"))
                self.assertEqual(len(cubins), count)
                for cubin in cubins:
                    own, probed = sorted((name for name, _ in kernels_of(cubin) if "warplens" not in name or "probed" in name), key=len)
                    self.assertEqual(own + "__warplens_probed", probed)
                shutil.rmtree(kept)


class Libraries(NvccCase):
    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_cub_and_thrust(self):
        source = KERNELS / "constructs.cu"
        flags = ["--strict", "-std=c++17", "-arch=sm_80", source, "-o", "program"]
        self.nvcc(*flags)
        self.assert_probed("program", source)
        self.nvcc(*flags, "--backend", "cpu")
        self.assert_probed("program", source)
        done = run(self.folder / "program")
        self.assertEqual((done.returncode, done.stdout.count(": right\n"), done.stdout.count("\n")), (0, 5, 5), done.stdout + done.stderr)

    def test_openmp_in_the_host_half(self):
        self.write("a.cu", KERNEL + """#include <cstdio>
#include <omp.h>
int main() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 10; ++i)
    sum += i * omp_get_num_threads();
  std::printf("%d", sum);
}
""")
        for options in ([], ["--backend", "cpu"]):
            self.nvcc("--strict", *options, "-Xcompiler", "-fopenmp", "a.cu", "-o", "program")
            self.assert_probed("program", "a.cu")
            self.assertEqual(run(self.folder / "program").stdout, "90")


class HostCompilers(NvccCase):
    def test_named_host_compilers(self):
        self.write("a.cu", KERNEL + MAIN)
        compiler = pathlib.Path(shutil.which("g++"))
        folder = self.folder / "a folder"
        folder.mkdir()
        for name in ("g++", "gcc"):
            (folder / name).symlink_to(compiler)
        for flags in (["-ccbin", "g++"], [f"-ccbin={compiler}"], ["--compiler-bindir", folder]):
            with self.subTest(flags):
                self.nvcc("--strict", *flags, "a.cu", "-o", "program")
                self.assert_probed("program", "a.cu")
                self.assertIn(run(self.folder / "program").stdout, ("none\n", "GPU\n"))

    def test_a_host_compiler_that_is_missing(self):
        self.write("a.cu", KERNEL + MAIN)
        output = [self.nvcc("-ccbin", "/nowhere/g++", "-c", "a.cu", program=program, code=1) for program in (REAL, self.wrapper)]
        self.assertEqual(output[0].stderr, output[1].stderr)


@unittest.skipUnless(shutil.which("ccache"), "ccache is not installed")
class Ccache(NvccCase):
    def test_the_second_compilation_is_a_hit(self):
        self.write("a.cu", KERNEL + MAIN)
        cache = {"CCACHE_DIR": str(self.folder / "cache")}
        for name in [name for name in self.environment if name.startswith("CCACHE")]:
            del self.environment[name]
        objects = []
        for _ in range(2):
            (self.folder / "a.o").unlink(missing_ok=True)
            self.nvcc(self.wrapper, "-arch=sm_80", "-O3", "-c", "a.cu", "-o", "a.o", program="ccache", environment=cache)
            self.assert_probed("a.o", "a.cu")
            objects.append((self.folder / "a.o").read_bytes())
        self.assertEqual(*objects)
        counts = dict(line.split("\t") for line in run("ccache", "--print-stats", env=self.environment | cache).stdout.splitlines())
        hits = int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])
        self.assertEqual((hits, counts["cache_miss"]), (1, "1"), counts)
        self.nvcc("a.o", "-o", "program")
        self.assertIn(run(self.folder / "program").stdout, ("none\n", "GPU\n"))


@unittest.skipUnless(shutil.which("clangd-19"), "clangd-19 is not installed")
class Clangd(NvccCase):
    @unittest.skipUnless(THOROUGH, "takes long: check --all")
    def test_compile_commands_of_the_toolkits_headers(self):
        for name in ("everything.cu", "kernels.cuh"):
            shutil.copy(HERE / "constructs" / name, self.folder)
        done = run(warplens_tool.tool, "compile-commands", "--", self.wrapper, "-arch=sm_120", "-std=c++17", "--extended-lambda",
                   "-rdc=true", "-Xcompiler", "-fPIC,-Wall,-fopenmp", "-c", "everything.cu", cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = run("clangd-19", "--check=everything.cu", "--check-lines=1-12", "--check-completion=false", cwd=self.folder)
        self.assertIn("All checks completed, 0 errors", checked.stderr)


class OwnOptions(NvccCase):
    def test_an_unknown_back_end(self):
        self.write("a.cu", KERNEL)
        for options, environment, where in ((["--backend", "tpu"], {}, "--backend"), (["--backend=tpu"], {}, "--backend"),
                                            ([], {"WARPLENS_BACKEND": "tpu"}, "WARPLENS_BACKEND")):
            done = self.nvcc(*options, "-c", "a.cu", code=1, environment=environment)
            self.assertEqual(done.stderr, f"warplens: {where}: 'tpu' is not auto, gpu or cpu\n")
            self.assertFalse((self.folder / "a.o").exists())
        for options in (["--backend", "auto"], ["--backend=gpu"]):
            self.nvcc(*options, "-c", "a.cu", environment={"WARPLENS_BACKEND": "cpu"})
            self.assertIn(b"nv_fatbin", (self.folder / "a.o").read_bytes())

    def test_memcheck(self):
        self.write("a.cu", OUT_OF_BOUNDS)
        for options, environment in ((["--backend", "cpu", "--memcheck"], {}), (["--backend=cpu", "--memcheck", "-rdc=true"], {}),
                                     ([], {"WARPLENS_BACKEND": "cpu", "WARPLENS_MEMCHECK": "1"})):
            with self.subTest(options=options):
                self.nvcc(*options, "a.cu", "-o", "program", environment=environment)
                done = run(self.folder / "program")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"thread \(31, 0, 0\).*a\.cu:1.*writes 4 bytes.*0 bytes past the end of the 124-byte")
        self.nvcc("--backend", "cpu", "a.cu", "-o", "program")
        self.assertEqual(run(self.folder / "program").returncode, 0)
        self.assertIn("CPU back end", self.nvcc("--memcheck", "a.cu", code=1).stderr)

    def test_the_report_lists_unseen_accesses(self):
        self.write("a.h", "struct Bits { unsigned low : 3; };\n__device__ inline void set(Bits* b) { b->low = 1; }\n")
        self.write("a.cu", '#include "a.h"\n__global__ void k(float* a, Bits* b) {\n  set(b);\n'
                   "  a[0] = 1; memcpy(a + 1, a + 9, 16); memcpy(a + 5, a + 13, 16);\n}\n")
        self.write("b.cu", KERNEL)
        self.write("c.cu", KERNEL + "#ifdef __clang__\n#error only nvcc compiles this\n#endif\n")
        self.nvcc("-c", "a.cu", "b.cu", "c.cu")
        self.assertEqual(self.report("a.o"), [
            "a.cu: 1 accesses probed, 0 removed by the compiler, 3 not seen",
            "  2 not seen: block of memory copied or set by a function",
            "    a.cu:4:13: memcpy(a + 1, a + 9, 16)",
            "    a.cu:4:39: memcpy(a + 5, a + 13, 16)",
            "  1 not seen: bit-field",
            "    a.h:2:39: b->low",
        ])
        self.assertEqual(self.report("a.o", "b.o", "c.o")[-1],
                         "3 sources, 1 without probes; in the others 3 accesses probed, 0 removed by the compiler, 3 not seen")
        report = json.loads(run(self.wrapper, "--report", "--format", "json", "a.o", "c.o", cwd=self.folder).stdout)
        self.assertEqual(report["format"], "warplens-compilation-report/1")
        (one,), (other,) = (file["sources"] for file in report["files"])
        self.assertEqual((one["source"], one["probed"], one["removed"], one["fell_back"], one["one_form"]), ("a.cu", 1, 0, "", ""))
        self.assertIn({"file": "a.h", "line": 2, "column": 39, "expression": "b->low", "reason": "bit-field"}, one["unseen"])
        self.assertIn("only nvcc compiles this", other["fell_back"])
        self.write("d.cu", "__global__ void k(int* p) { memset(p, 0, 64); }\n")
        self.nvcc("-c", "d.cu")
        self.assertEqual(self.report("d.o")[:2], ["d.cu: 0 accesses probed, 0 removed by the compiler, 1 not seen",
                                                  "  1 not seen: block of memory copied or set by a function"])
        self.write("e.cu", "__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s) {\n"
                   "  surf1Dwrite(tex2D<float>(t, 1, 2), s, 4);\n}\n")
        self.nvcc("-c", "e.cu")
        self.assertEqual(self.report("e.o"), ["e.cu: 2 accesses probed, 0 removed by the compiler, 0 not seen"])
        self.assertEqual(run(self.wrapper, "--report", "--format", "xml", "a.o", cwd=self.folder).stderr,
                         "warplens: --format: 'xml' is not text or json\n")


def fragments(lines):
    return [line.split() for line in lines.strip().splitlines()]


TAKEN = fragments("""
-O3
-O 2
--optimize=1
-DA=1,2
-D B
--define-macro=C
-UA
-I .
-I=.
--include-path .,extra
-isystem extra
-include extra/extra.h
-std=c++17
-std c++20
-arch sm_80
-arch=sm_90
--gpu-architecture=compute_80
-gencode arch=compute_80,code=sm_80
-gencode=arch=compute_90,code=[sm_90,compute_90]
--generate-code arch=compute_100,code=sm_100
-lineinfo
-g
-G
-w
-v
--keep
-Xcompiler -Wall,-fPIC
-Xcompiler=-O2
--compiler-options -fno-strict-aliasing
-Xptxas -O1
-Xcudafe --display_error_number
-maxrregcount 64
--maxrregcount=32
-use_fast_math
-rdc=true
-rdc false
--relocatable-device-code=true
-t4
--threads 2
-ftz=true
-prec-div false
-fmad=false
-diag-suppress 177
-res-usage
-restrict
-extra-device-vectorization
-default-stream per-thread
--expt-relaxed-constexpr
--extended-lambda
-cudart shared
-MD
-MMD -MF x.d
-ccbin g++
-m64
-forward-unknown-to-host-compiler -fno-strict-aliasing
-optf flags
-src-in-ptx
-Wno-deprecated-gpu-targets
-odir extra
-o x.o
--output-file=y.o
-x cu
-dc
-c
""")
SUSPECT = fragments("""
-nosuch
--no-such-option=1
-fPIC
@flags
-arch=sm_1
-arch=volta
-arch
-gencode code=sm_80
-gencode arch=sm_80
-gencode arch=compute_90,code=sm_80
-std=c++99
-std
-rdc=maybe
-t many
-maxrregcount
-maxrregcount=x
-O9
-lineinfo=1
-x fortran
-optf missing
-include missing.h
-Xcompiler -no-such-flag
-ccbin missing
-ftz=2
-ptx
-E
-M
--version
--dryrun
-cubin
missing.cu
missing.o
b.cpp
-o
-
--
-=
""")


class CommandLines(NvccCase):
    """Command lines that nvcc takes are taken, without falling back; those that it rejects are rejected in its own words."""

    def outcome(self, program, words):
        folder = self.folder / "run"
        folder.mkdir()
        (folder / "extra").mkdir()
        (folder / "extra/extra.h").write_text("// nothing\n")
        (folder / "flags").write_text("-DFROM_FILE -Iextra")
        (folder / "a.cu").write_text(KERNEL)
        (folder / "b.cpp").write_text("int b() { return 0; }\n")
        done = run(program, *words, cwd=folder, env=self.environment)
        left = sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))
        shutil.rmtree(folder)
        output = re.sub(r"tmpxft_\w+-\w+", "tmpxft", re.sub(r"(?m)^(ptxas info| +\d+ bytes stack frame).*\n", "", done.stderr))
        return done.returncode, output, left

    def test_random_command_lines(self):
        """WARPLENS_COMMAND_LINES=COUNT and WARPLENS_SEED=NUMBER choose more command lines, or others."""
        seed, count = int(os.environ.get("WARPLENS_SEED", 1)), int(os.environ.get("WARPLENS_COMMAND_LINES", 14 if THOROUGH else 4))
        choose = random.Random(seed)
        rejected = 0
        for _ in range(count):
            parts = choose.sample(TAKEN, choose.randint(0, 6)) + choose.sample(SUSPECT, choose.choice((0, 1, 1, 1, 2)))
            parts += [["-c"], ["a.cu"]] if choose.random() < 0.9 else [["a.cu"]]
            choose.shuffle(parts)
            words = [word for part in parts for word in part]
            with self.subTest(" ".join(words)):
                expected, got = self.outcome(REAL, words), self.outcome(self.wrapper, words)
                self.assertEqual(expected[0], got[0], expected[1] + got[1])
                self.assertNotIn("without probes", got[1])
                if expected[0]:
                    rejected += 1
                    self.assertEqual(expected[1], got[1])
                if "--keep" not in words:  # nvcc's intermediate files have other names where host and device code part
                    self.assertEqual(expected[2], got[2])
        if THOROUGH:  # else they are too few
            self.assertGreater(rejected, count / 8)
            self.assertLess(rejected, count * 7 / 8)


if __name__ == "__main__":
    warplens_tool.main()
