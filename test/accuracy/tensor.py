#!/usr/bin/env python3
"""Holds the clock's matrix products against what others measured: latencies by chains of dependent instructions, intervals by independent ones from
sixteen warps of an SM. A program of each GPU's instructions is written, profiled by the real command line, and its machine code executed.

usage: tensor.py measure WARPLENS [REGEX]      ours, measured and the error of the rows of tensor.tsv that match
       tensor.py check WARPLENS REGEX          as ctest does: fails where a row is further off than 5 %, unless a miss is what tensor.tsv says of it
       tensor.py write WARPLENS                writes the table of docs/tensor-cores.md
"""

import collections
import pathlib
import re
import sys
import tempfile
import zlib

import modelled
import table

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = modelled.ROOT / "docs/tensor-cores.md"
BEGIN, END = "<!-- measured: begin (test/accuracy/tensor.py writes these rows) -->", "<!-- measured: end -->"
TOLERANCE = 0.05
ROUNDS = 4, 12  # of the two launches, whose difference is what the instructions take
STEPS = 64  # instructions of a chain in a round
WARPS_FOR_RATE, WAYS_FOR_RATE, SUB_CORES = 16, 2, 4

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e2m1": 4}
PRELUDE = """#include <cuda_runtime.h>
#include <cstdio>
__global__ void warm_up(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 512];
}
"""


def use_of(row):
    """Returns whether figures may be chosen by the row. The rule was written before any row was predicted."""
    return "held back" if zlib.crc32(f"{row['board']} {row['instruction']}".encode()) % 2 else "fit"


class Product:
    """An mma instruction, as PTX spells it from the shape on: "m16n8k16 f32.f16.f16.f32", with "sparse" or "scaled" behind it."""

    def __init__(self, text):
        shape, types, *self.kinds = text.split()
        self.m, self.n, self.k = map(int, re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape).groups())
        self.shape, self.types = shape, types.split(".")

    def words(self, rows, columns, kind):
        return max(1, rows * columns * BITS[kind] // (32 * max(32, BITS[kind])))

    def code(self, name):
        """Returns the two kernels NAME<WAYS, ROUNDS>."""
        sum_kind, a_kind, b_kind = self.types[0], self.types[1], self.types[2]
        letter, kind = {"f32": ("f", "float"), "f64": ("d", "double")}.get(sum_kind, ("r", "unsigned"))
        in_letter, in_kind = ("d", "double") if a_kind == "f64" else ("r", "unsigned")
        sparse, scaled = "sparse" in self.kinds, "scaled" in self.kinds
        sums = self.words(self.m, self.n, sum_kind)
        a = self.words(self.m, self.k // (2 if sparse else 1), a_kind)
        b = self.words(self.k, self.n, b_kind)
        numbers = iter(range(100))
        group = lambda count: "{" + ", ".join(f"%{next(numbers)}" for _ in range(count)) + "}"
        d_text, a_text, b_text = group(sums), group(a), group(b)
        if scaled:
            instruction = (f"mma.sync.aligned.{self.shape}.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.{'.'.join(self.types)}.ue4m3 "
                           f"{d_text}, {a_text}, {b_text}, {d_text}, %{next(numbers)}, {{0, 0}}, %{next(numbers)}, {{0, 0}};")
            more = ', "r"(0x38383838), "r"(0x38383838)'
        elif sparse:
            instruction = (f"mma.sp::ordered_metadata.sync.aligned.{self.shape}.row.col.{'.'.join(self.types)} "
                           f"{d_text}, {a_text}, {b_text}, {d_text}, %{next(numbers)}, 0x0;")
            more = ', "r"(0x44444444)'
        else:
            instruction = f"mma.sync.aligned.{self.shape}.row.col.{'.'.join(self.types)} {d_text}, {a_text}, {b_text}, {d_text};"
            more = ""
        outputs = ", ".join(f'"+{letter}"(sums[way][{i}])' for i in range(sums))
        inputs = ", ".join([f'"{in_letter}"(a[{i}])' for i in range(a)] + [f'"{in_letter}"(b[{i}])' for i in range(b)])
        return f"""
template <int ways, int rounds> __global__ void {name}(const {in_kind}* in, {kind}* out) {{
  {in_kind} a[{a}], b[{b}];
  for (int i = 0; i < {a}; ++i)
    a[i] = in[threadIdx.x + i];
  for (int i = 0; i < {b}; ++i)
    b[i] = in[threadIdx.x + i + {a}];
  {kind} sums[ways][{sums}] = {{}};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int step = 0; step < {STEPS}; ++step)
#pragma unroll
      for (int way = 0; way < ways; ++way)
        asm volatile("{instruction}" : {outputs} : {inputs}{more});
  {kind} sum = 0;
  for (int way = 0; way < ways; ++way)
    for (int i = 0; i < {sums}; ++i)
      sum += sums[way][i];
  out[threadIdx.x] = sum;
}}
"""

    def arguments(self):
        return f"{'(double*)' if self.types[1] == 'f64' else ''}in, ({dict(f32='float', f64='double').get(self.types[0], 'unsigned')}*)out"


class WarpGroupProduct:
    """A wgmma instruction: "wgmma m64n256k16 f32.f16.f16", with "registers" behind it where A is in registers. Its chain adds to the same sums."""

    def __init__(self, text):
        _, self.shape, types, *kinds = text.split()
        self.types = types.split(".")
        self.columns = int(re.search(r"n(\d+)k", self.shape)[1])
        self.from_registers = "registers" in kinds

    def code(self, name):
        letter, kind = {"f32": ("f", "float")}.get(self.types[0], ("r", "unsigned"))
        count = self.columns // 2 if self.types[0] != "f16" else self.columns // 4
        sums = ", ".join(f"%{i}" for i in range(count))
        a = ("{" + ", ".join(f"%{count + i}" for i in range(4)) + "}") if self.from_registers else f"%{count}"
        b = f"%{count + (4 if self.from_registers else 1)}"
        of_halves = self.types[1] in ("f16", "bf16")
        scales = "" if self.types[0] == "s32" else ", 1, 1"
        transposes = (", 0" if self.from_registers else ", 0, 0") if of_halves else ""
        instruction = (f"{{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.{self.shape}.{'.'.join(self.types)} {{{sums}}}, {a}, {b}, "
                       f"p{scales}{transposes};}}")
        outputs = ", ".join(f'"+{letter}"(sums[{i}])' for i in range(count))
        inputs = ", ".join(f'"r"(in_registers[{i}])' for i in range(4)) if self.from_registers else '"l"(a)'
        return f"""
template <int ways, int rounds> __global__ void __launch_bounds__(128) {name}(const unsigned* in, {kind}* out) {{
  __shared__ __align__(1024) uint4 memory[2560];
  for (int i = threadIdx.x; i < 2560; i += blockDim.x)
    memory[i] = {{}};
  __syncthreads();
  const unsigned long long a = __cvta_generic_to_shared(memory) >> 4 & 0x3fff | 64ULL << 32 | 1ULL << 16;
  const unsigned long long b = a + 512;
  unsigned in_registers[4] = {{in[threadIdx.x], in[threadIdx.x + 1], in[threadIdx.x + 2], in[threadIdx.x + 3]}};
  {kind} sums[{count}] = {{}};
  asm volatile("fence.proxy.async;\\n\\twgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {{
#pragma unroll
    for (int step = 0; step < {STEPS}; ++step)
      asm volatile("{instruction}" : {outputs} : {inputs}, "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }}
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  {kind} sum = in_registers[0];
  for (int i = 0; i < {count}; ++i)
    sum += sums[i];
  out[threadIdx.x] = sum;
}}
"""

    def arguments(self):
        return f"in, ({dict(f32='float').get(self.types[0], 'unsigned')}*)out"


class TensorMemoryProduct:
    """A tcgen05.mma instruction: "tcgen05 m128n256k16 bf16", with "tensor" behind it where A is in tensor memory, and "pair" where two blocks make it.
    Of one way, each product is committed and awaited; of two, all of them at the kernel's end."""

    KINDS = {"bf16": ("f16", 1, 1), "e4m3": ("f8f6f4", 1, 0), "s8": ("i8", 2, 1)}  # kind, type of the result, type of the factors
    STEPS = 16

    def __init__(self, text):
        _, shape, kind, *more = text.split()
        self.rows, self.columns = map(int, re.fullmatch(r"m(\d+)n(\d+)k\d+", shape).groups())
        self.kind, result, factors = self.KINDS[kind]
        self.shape = result << 4 | factors << 7 | factors << 10 | self.columns // 8 << 17 | self.rows // 16 << 24
        self.from_tensor_memory = "tensor" in more
        self.blocks = 2 if "pair" in more else 1

    def code(self, name):
        group = f"cta_group::{self.blocks}"
        a = '"[%1]"' if self.from_tensor_memory else '"%1"'
        operand = '"r"(base + 256)' if self.from_tensor_memory else '"l"(a)'
        return f"""
template <int ways, int rounds> __global__ void __cluster_dims__({self.blocks}) {name}(const unsigned* in, unsigned* out) {{
  __shared__ __align__(1024) uint4 memory[1024];
  __shared__ unsigned base, rank;
  __shared__ unsigned long long barrier;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x)
    memory[i] = {{}};
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x < 32) {{
    asm volatile("tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&base))) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.{group}.sync.aligned;");
  }}
  if (threadIdx.x == 0) {{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  }}
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  asm volatile("barrier.cluster.arrive.aligned;\\n\\tbarrier.cluster.wait.aligned;\\n\\ttcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned long long a = __cvta_generic_to_shared(memory) >> 4 & 0x3fff | 8ULL << 16 | 16ULL << 32 | 1ULL << 46, b = a + 256;
  unsigned phase = 0;
  const auto end = [&] {{
    asm volatile("tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at) : "memory");
    unsigned done = 0;
    while (!done)
      asm volatile("{{.reg .pred p;\\n\\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\\n\\tselp.u32 %0, 1, 0, p;}}"
                   : "=r"(done) : "r"(at), "r"(phase & 1) : "memory");
    ++phase;
  }};
  if (threadIdx.x == 0 && rank == 0) {{
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll
      for (int step = 0; step < {self.STEPS}; ++step) {{
        asm volatile("{{.reg .pred p;\\n\\tsetp.ne.b32 p, 1, 0;\\n\\ttcgen05.mma.{group}.kind::{self.kind} [%0], " {a} ", %2, %3, p;}}"
                     :: "r"(base), {operand}, "l"(b), "r"({self.shape}) : "memory");
        if (ways == 1)
          end();
      }}
    if (ways != 1)
      end();
  }}
  __syncthreads();
  asm volatile("barrier.cluster.arrive.aligned;\\n\\tbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x < 32)
    asm volatile("tcgen05.dealloc.{group}.sync.aligned.b32 %0, 512;" ::"r"(base));
  out[threadIdx.x] = in[threadIdx.x];
}}
"""

    def arguments(self):
        return "in, out"


class Whole:
    """wmma::mma_sync of 16 x 16 x 16 halves, to sums of this type: "wmma f32"."""

    def __init__(self, text):
        self.kind = {"f32": "float", "f16": "half"}[text.split()[1]]

    def code(self, name):
        return f"""
#include <mma.h>
template <int ways, int rounds> __global__ void {name}(const half* in, {self.kind}* out) {{
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fragment<accumulator, 16, 16, 16, {self.kind}> sums[ways];
  load_matrix_sync(a, in, 16);
  load_matrix_sync(b, in, 16);
  for (int way = 0; way < ways; ++way)
    fill_fragment(sums[way], {self.kind}(0.0F));
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int step = 0; step < {STEPS}; ++step)
#pragma unroll
      for (int way = 0; way < ways; ++way)
        mma_sync(sums[way], a, b, sums[way]);
  for (int way = 1; way < ways; ++way)
    for (int i = 0; i < sums[0].num_elements; ++i)
      sums[0].x[i] = sums[0].x[i] + sums[way].x[i];
  store_matrix_sync(out, sums[0], 16, mem_row_major);
}}
"""

    def arguments(self):
        return f"(half*)in, ({self.kind}*)out"


class LoadMatrices:
    """ldmatrix of one, two or four matrices: "ldmatrix x1". Each lane loads the address of its own row, which the next one of a chain takes."""

    def __init__(self, text):
        self.count = int(text[-1])

    def code(self, name):
        results = ", ".join(f"%{i}" for i in range(self.count))
        outputs = ", ".join(f'"=r"(words[way][{i}])' for i in range(self.count))
        return f"""
template <int ways, int rounds> __global__ void {name}(const unsigned* in, unsigned* out) {{
  __shared__ __align__(128) unsigned memory[128];
  const unsigned begin = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    memory[i] = begin + i % 32 * 16 + in[i];
  __syncthreads();
  unsigned words[ways][{self.count}];
  for (int way = 0; way < ways; ++way)
    words[way][0] = begin + threadIdx.x % 32 * 16;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int step = 0; step < {STEPS}; ++step)
#pragma unroll
      for (int way = 0; way < ways; ++way)
        asm volatile("ldmatrix.sync.aligned.m8n8.x{self.count}.shared.b16 {{{results}}}, [%{self.count}];"
                     : {outputs}
                     : "r"(words[way][0]));
  unsigned sum = 0;
  for (int way = 0; way < ways; ++way)
    for (int i = 0; i < {self.count}; ++i)
      sum += words[way][i];
  out[threadIdx.x] = sum;
}}
"""

    def arguments(self):
        return "in, out"


def instruction_of(text):
    return {"wgmma": WarpGroupProduct, "tcgen05": TensorMemoryProduct, "wmma": Whole, "ldmatrix": LoadMatrices}.get(text.split()[0], Product)(text)


def launches_of(text):
    """Returns by figure the ways and warps of an instruction's launches."""
    if text.startswith("wgmma"):
        return {"latency": (1, 4), "interval": (1, 4)}
    if text.startswith("tcgen05"):
        return {"latency": (1, 4), "interval": (2, 4)}
    return {"latency": (1, 1), "interval": (WAYS_FOR_RATE, WARPS_FOR_RATE)}


def program_of(texts):
    """Returns the program of some instructions, and the names of their kernels."""
    names = {text: re.sub(r"\W+", "_", text) for text in texts}
    code, calls = [PRELUDE], []
    for text, name in names.items():
        instruction = instruction_of(text)
        code.append(instruction.code(name))
        for ways, warps in dict.fromkeys(launches_of(text).values()):
            calls += [f"  {name}<{ways}, {rounds}><<<{getattr(instruction, 'blocks', 1)}, {32 * warps}>>>({instruction.arguments()});" for rounds in ROUNDS]
    code += ["int main() {", "  unsigned *in, *out;", "  cudaMalloc(&in, 1 << 16);", "  cudaMalloc(&out, 1 << 16);", "  cudaMemset(in, 0, 1 << 16);",
             "  warm_up<<<1, 512>>>(in, out);", *calls, "  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));", "}"]
    return "\n".join(code), names


def predictions(warplens, gpu, architecture, texts):
    """Returns by instruction and figure the cycles that the clock takes."""
    program, names = program_of(texts)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "chains.cu").write_text(program, encoding="utf-8")
        kernels = modelled.kernels_of(warplens, ["profile", "chains.cu", "--backend", "cpu", "--gpu", gpu, "--trials", "2",
                                                 "--nvcc", f"-arch={architecture}"], folder)
    cycles = {re.sub(r"\s|\(.*|^void ", "", kernel["name"]): modelled.cycles_of(kernel) for kernel in kernels if "time" in kernel}
    found = {}
    for text, name in names.items():
        for figure, (ways, warps) in launches_of(text).items():
            few, many = (cycles.get(f"{name}<{ways},{rounds}>") for rounds in ROUNDS)
            if few is None or many is None:
                continue
            of_way = (many - few) / ((ROUNDS[1] - ROUNDS[0]) * getattr(instruction_of(text), "STEPS", STEPS))
            found[text, figure] = of_way if figure == "latency" or text.startswith(("wgmma", "tcgen05")) else of_way / (ways * warps / SUB_CORES)
    return found


def results(warplens, regex):
    """Yields each row with our figure, or None, and its error."""
    rows = [row for row in table.read_tsv(HERE / "tensor.tsv") if re.search(regex, f"{row['board']} {row['instruction']}")]
    groups = collections.defaultdict(list)
    for row in rows:
        if row["ours"]:
            groups[row["gpu"], row["architecture"]].append(row["ours"])
    found = {}
    for (gpu, architecture), texts in groups.items():
        try:
            for key, cycles in predictions(warplens, gpu, architecture, list(dict.fromkeys(texts))).items():
                found[gpu, *key] = cycles
        except modelled.Failure as failure:
            print(f"{gpu} {architecture}: {str(failure).splitlines()[-1][:300]}", file=sys.stderr)
    for row in rows:
        for figure in ("latency", "interval"):
            if not row[figure]:
                continue
            ours = found.get((row["gpu"], row["ours"], figure))
            yield row, figure, ours, None if ours is None else ours / float(row[figure]) - 1


def line_of(row, figure, ours, error):
    cells = [row["board"], row["instruction"], figure, "–" if ours is None else f"{ours:.1f}", f"{float(row[figure]):g}",
             "not predicted" if error is None else f"{100 * error:+.1f} %", use_of(row), ("" if error is not None and abs(error) <= TOLERANCE else row["miss"])]
    return "| " + " | ".join(cells) + " |"


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("measure", "check", "write"):
        sys.exit(__doc__)
    command, warplens = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    lines, wrong, within, all_rows = [], [], collections.Counter(), collections.Counter()
    for row, figure, ours, error in results(warplens, sys.argv[3] if len(sys.argv) > 3 else ""):
        lines.append(line_of(row, figure, ours, error))
        print(lines[-1], flush=True)
        holds = error is not None and abs(error) <= TOLERANCE
        if not holds and not row["miss"]:
            wrong.append(lines[-1])
        all_rows[use_of(row)] += 1
        within[use_of(row)] += holds
    summary = ", ".join(f"{within[use]} of {all_rows[use]} ({use})" for use in sorted(all_rows))
    print(summary)
    if command == "write":
        head, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
        heading = "| board | instruction | cycles of | ours | measured | error | use | why |\n|---|---|---|---|---|---|---|---|"
        rows = "\n".join([BEGIN, f"Within {100 * TOLERANCE:g} %: {summary}.", "", heading, *lines, END])
        DOCUMENT.write_text(head + rows + rest.split(END)[1], encoding="utf-8")
    if command == "check" and wrong:
        sys.exit("off by more than 5 %, and no miss that is known:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
