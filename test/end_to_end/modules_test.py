"""Tests `warplens profile` of a module, as JIT compilers leave it: a cubin, PTX or a fatbin, with a file that says how it is launched."""

import array
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import warplens_tool
from warplens_tool import KERNELS, real_nvcc, warplens

SOURCE = KERNELS / "modules/scale.cu"

SCALE = """kernel = "{kernel}"
grid = {grid}
block = {block}
arguments = [
  {{ buffer = "f32", count = 1000, fill = "iota", save = "scaled.bin" }},
  {{ i32 = 1000 }},
  {{ f64 = 2.5 }},
  {{ bytes = "0500ff00" }},
  {{ f16 = 0.25 }},
]
"""

GATHER = """kernel = "gather"
grid = 1
block = [128]
shared = 8
arguments = [
  { buffer = "u64", count = 8, save = "sums.bin" },
  { buffer = "bf16", count = 1000, value = 3 },
  { buffer = "i16", count = 1000, fill = "iota", start = -100, step = 1 },
  { buffer = "u8", count = 1000, fill = "random", low = 10, high = 20, seed = 3 },
  { buffer = "float", file = "fractions.bin" },
  { same_as = 0 },
  { unsigned = 1000 },
]
"""

# As Triton writes it: inline assembly between comments, predicated vectors, lines of a Python source, a fixed block.
TRITON = """.version 8.4
.target sm_80
.address_size 64

.visible .entry add_kernel(
	.param .u64 .ptr .global .align 1 add_kernel_param_0,
	.param .u64 .ptr .global .align 1 add_kernel_param_1,
	.param .u32 add_kernel_param_2
)
.reqntid 128, 1, 1
{{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<20>;
	.reg .f32 	%f<9>;
	.reg .b64 	%rd<6>;
	.loc	1 5 0
$L__func_begin0:
	.loc	1 5 0
	ld.param.u64 	%rd3, [add_kernel_param_0];
	ld.param.u64 	%rd4, [add_kernel_param_1];
	ld.param.u32 	%r12, [add_kernel_param_2];
$L__tmp0:
	.loc	1 6 24
	// begin inline asm
	mov.u32 %r1, %ctaid.x;
	// end inline asm
	.loc	1 6 43
	shl.b32 	%r13, %r1, 9;
	mov.u32 	%r14, %tid.x;
	shl.b32 	%r15, %r14, 2;
	or.b32  	%r16, %r13, %r15;
	setp.lt.s32 	%p1, %r16, %r12;
	mul.wide.s32 	%rd5, %r16, 4;
	add.s64 	%rd1, %rd3, %rd5;
	.loc	1 7 16
	// begin inline asm
	mov.u32 %r2, 0x0;
	mov.u32 %r3, 0x0;
	mov.u32 %r4, 0x0;
	mov.u32 %r5, 0x0;
	@%p1 ld.global.v4.b32 {{ %r2, %r3, %r4, %r5 }}, [ %rd1 + 0 ];
	// end inline asm
	mov.b32 	%f1, %r2;
	mov.b32 	%f2, %r3;
	mov.b32 	%f3, %r4;
	mov.b32 	%f4, %r5;
	add.s64 	%rd2, %rd4, %rd5;
	.loc	1 8 35
	add.f32 	%f5, %f1, %f1;
	add.f32 	%f6, %f2, %f2;
	add.f32 	%f7, %f3, %f3;
	add.f32 	%f8, %f4, %f4;
	mov.b32 	%r6, %f5;
	mov.b32 	%r7, %f6;
	mov.b32 	%r8, %f7;
	mov.b32 	%r9, %f8;
	.loc	1 8 4
	// begin inline asm
	@%p1 st.global.v4.b32 [ %rd2 + 0 ], {{ %r6, %r7, %r8, %r9 }};
	// end inline asm
	ret;
$L__tmp1:
$L__func_end0:

}}
	.file	1 "{folder}/add.py"
"""
PYTHON = """import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + x, mask=offsets < n)
"""
ADD = """grid = 4
block = 128
arguments = [
  { buffer = "fp32", count = 2000, fill = "iota" },
  { buffer = "fp32", count = 2000, save = "sum.bin" },
  { i32 = 2000 },
]
"""


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.modules = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for options in (["-cubin", "-arch=sm_80", "-lineinfo", "-o", "scale.cubin"], ["-ptx", "-arch=compute_75", "-lineinfo", "-o", "scale.ptx"],
                        ["-fatbin", "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-o", "scale.fatbin"]):
            subprocess.run([real_nvcc(), *options, SOURCE], cwd=cls.modules, check=True, timeout=300)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def profile(self, module, spec, *options, code=0):
        done = warplens("profile", module, "--launch", self.write("launch.toml", spec), "--trials", "2", "--quiet", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def floats(self, name):
        values = array.array("f")
        values.frombytes((self.folder / name).read_bytes())
        return list(values)

    def test_each_kind_of_module(self):
        spec = SCALE.format(kernel="scale", grid=16, block=64)
        for name, gpus in (("scale.cubin", "a100"), ("scale.cubin", "rtx4090"), ("scale.ptx", "a100,h100-sxm"), ("scale.fatbin", "a100,h100-sxm")):
            with self.subTest(name, gpus=gpus):
                output = self.folder / "result.json"
                self.profile(self.modules / name, spec, "--gpu", gpus, "--format", "json", "-o", output)
                self.assertEqual(self.floats("scaled.bin"), [2.5 * i - 5 + 0.25 for i in range(1000)])
                kernels = json.loads(output.read_text())["kernels"]
                self.assertEqual([kernel["gpu"] for kernel in kernels], gpus.split(","))
                for kernel in kernels:
                    self.assertEqual(kernel["name"].split("(")[0], "scale")
                    self.assertGreater(kernel["time"]["microseconds"]["mean"], 0)
                    self.assertEqual((kernel["grid"], kernel["block"]), ([16, 1, 1], [64, 1, 1]))

    def test_lines_are_the_sources(self):
        done = self.profile(self.modules / "scale.ptx", SCALE.format(kernel="_Z5scalePfid5Shift6__half", grid=16, block=64))
        self.assertRegex(done.stdout, r"x\[i\] = part\[threadIdx.x\] \* float\(factor\)")

    def test_ways_to_fill(self):
        self.write("fractions.bin", "")
        (self.folder / "fractions.bin").write_bytes(struct.pack("1000f", *[-1 + i / 1000 for i in range(1000)]))
        self.profile(self.modules / "scale.cubin", GATHER)
        self.assertEqual(struct.unpack("8Q", (self.folder / "sums.bin").read_bytes())[:5],
                         (3000, sum(range(-100, 900)), 1000, 1000, 1))

    def test_ptx_as_triton_writes_it(self):
        self.write("add.py", PYTHON)
        module = self.write("add.ptx", TRITON.format(folder=self.folder))
        done = self.profile(module, ADD, "--width", "160")
        self.assertEqual(self.floats("sum.bin"), [2.0 * i for i in range(2000)])
        self.assertIn("x = tl.load(x_ptr + offsets, mask=offsets < n)", done.stdout)
        (self.folder / "add.py").unlink()
        self.assertIn("add.py", self.profile(module, ADD).stdout)

    def test_bad_input_is_one_line(self):
        spec = SCALE.format(kernel="scale", grid=16, block=64)
        cubin = self.modules / "scale.cubin"
        damaged = self.folder / "damaged.cubin"
        damaged.write_bytes(cubin.read_bytes()[:2000])
        text = self.write("text.ptx", "no module")
        for what, module, launch, said in (
                ("damaged", damaged, spec, r"damaged.cubin: "),
                ("text", text, spec, r"text.ptx: the module is neither a cubin, nor a fatbin, nor PTX"),
                ("newer GPU", cubin, spec, None),
                ("no kernel", cubin, spec.replace('"scale"', '"scales"'), r"no kernel 'scales'; it has (gather, scale|scale)"),
                ("which", cubin, spec.replace('kernel = "scale"\n', ""), r"'kernel' has to say which one is launched: "),
                ("too few", cubin, spec.replace("  { i32 = 1000 },\n", ""), r"takes 5 arguments of 8, 4, 8, 4, 2 bytes, and there are 4"),
                ("too many", cubin, spec.replace("]\n", "  { i32 = 1 },\n]\n"), r"takes 5 arguments of .* and there are 6"),
                ("size", cubin, spec.replace("{ f64 = 2.5 }", "{ f32 = 2.5 }"), r"launch.toml:7: argument 2 has 4 bytes, and the parameter of .* has 8"),
                ("block", cubin, spec.replace("block = 64", "block = 2048"), r"a block of 2048 × 1 × 1 threads; blocks of a100 have at most 1024"),
                ("bounds", cubin, GATHER.replace("[128]", "256").replace('file = "fractions.bin"', "count = 9"), r"256 threads, and the kernel's launch bounds allow 128"),
                ("grid", cubin, spec.replace("grid = 16", "grid = [1, 70000]"), r"a grid of 1 × 70000 × 1 blocks; grids have at most 65535 in y and z"),
                ("empty grid", cubin, spec.replace("grid = 16", "grid = 0"), r"launch.toml:2: 'grid' is no whole number from 1"),
                ("shared", cubin, spec.replace("block = 64", "block = 64\nshared = 200000"), r"200256 bytes of shared memory; a block of a100 has at most 166912"),
                ("cluster", cubin, spec.replace("block = 64", "block = 64\ncluster = 2"), r"clusters of 2 blocks, which a100 has not"),
                ("buffers", cubin, spec.replace("count = 1000", "count = 100_000_000_000"), r"buffers of 400.0 GB; a100 has "),
                ("key", cubin, spec.replace("block =", "blocks ="), r"launch.toml:3: a launch has no key 'blocks', only kernel, grid"),
                ("type", cubin, spec.replace('"f32"', '"f33"'), r"launch.toml:5: 'f33' is no type; there are i8, u8"),
                ("range", cubin, spec.replace("i32 = 1000", "i32 = 3000000000"), r"launch.toml:6: 'i32' is no whole number from -2147483648 to 2147483647"),
                ("toml", cubin, spec.replace("grid = 16", "grid = "), r"launch.toml:2: "),
                ("file", cubin, GATHER, r"fractions.bin: No such file or directory")):
            with self.subTest(what):
                done = self.profile(module, launch, *(["--gpu", "h100-sxm"] if said is None else []), code=1)
                self.assertRegex(done.stderr, said or r"its machine code is for sm_80, and h100-sxm has compute capability 9: --gpu names a GPU")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_wrong_use_is_one_line(self):
        spec = self.write("launch.toml", SCALE.format(kernel="scale", grid=16, block=64))
        module = self.modules / "scale.cubin"
        for arguments, said in (([module], "--launch SPEC.toml says how its kernel is launched"),
                                ([SOURCE, "--launch", spec], "is a source, whose program launches its kernels itself"),
                                ([module, "--launch", spec, "--nvcc", "-O3"], "--nvcc: .*is a module"),
                                ([module, module, "--launch", spec], "a module is profiled alone"),
                                ([module, "--launch", self.folder / "none.toml"], "none.toml")):
            done = warplens("profile", *arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
            self.assertRegex(done.stderr, said)


if __name__ == "__main__":
    warplens_tool.main()
