"""Tests `warplens trace accel-sim`: the files are read by the rules of Accel-Sim's reader, and say what `trace dump` says."""

import collections
import pathlib
import re
import tempfile
import unittest

import warplens_tool
from warplens_tool import PROJECT, warplens

SOURCE = """
#include <cstdio>
__constant__ float factor[2];
__global__ void mixed(const float* a, float* b, double2* wide, unsigned char* bytes, int* sum, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i] * factor[blockIdx.x % 2];
  __syncthreads();
  if (threadIdx.x % 3 == 0)
    b[i] += tile[63 - threadIdx.x];
  double2 w = wide[i];
  wide[i] = make_double2(w.y, w.x);
  bytes[i * 2] = (unsigned char)i;
  if (atomicAdd(sum, 1) == n)
    atomicAdd(sum + 1, 2);
}
int main() {
  float *a, *b, host[256] = {};
  double2* wide;
  unsigned char* bytes;
  int* sum;
  cudaMalloc(&a, 1024); cudaMalloc(&b, 1024); cudaMalloc(&wide, 4096); cudaMalloc(&bytes, 512); cudaMalloc(&sum, 8);
  cudaMemcpy(a, host, 1024, cudaMemcpyHostToDevice);
  mixed<<<dim3(2, 2), 56>>>(a, b, wide, bytes, sum, 5);
  return cudaDeviceSynchronize();
}
"""

# The instructions of the export that the reader's table for Ampere has, and those for which it needs addresses.
ACCESSES = {"LDG", "STG", "LDS", "STS", "ATOMG", "ATOMS", "RED"}
KNOWN = ACCESSES | {"LDC", "BAR", "EXIT"}


def width_of(opcode):
    """Returns the bytes of a lane, as the reader takes them from the instruction's name."""
    for token in opcode.split("."):
        if token.isdigit():
            return int(token) // 8
        if token[0] == "U" and token[1:].isdigit():
            return int(token[1:]) // 8
    return 4


def addresses_of(words, mask):
    """Returns {lane: address} from the words behind the width, of which none may be left."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    mode = int(words.pop(0))
    if mode == 0:
        addresses = [int(words.pop(0), 16) for _ in lanes]
    else:
        assert mode == 1 and lanes == list(range(lanes[0], lanes[-1] + 1))
        base, stride = int(words.pop(0), 16), int(words.pop(0))
        addresses = [base + stride * index for index in range(len(lanes))]
    assert not words
    return dict(zip(lanes, addresses))


def read_instruction(line):
    """Returns (opcode, mask, result, sources, {lane: address}) by the reader's rules."""
    words = line.split()
    int(words.pop(0), 16)
    mask = int(words.pop(0), 16)
    results = [words.pop(0) for _ in range(int(words.pop(0)))]
    opcode = words.pop(0)
    sources = [words.pop(0) for _ in range(int(words.pop(0)))]
    assert len(results) <= 1 and len(sources) <= 4 and all(re.fullmatch(r"R\d+", word) for word in results + sources)
    assert opcode.split(".")[0] in KNOWN, opcode
    width = int(words.pop(0))
    assert (width > 0) == (opcode.split(".")[0] in ACCESSES), line
    assert width in (0, width_of(opcode))
    return opcode, mask, results, sources, addresses_of(words, mask) if width else (words and None) or {}


def read_kernel(path):
    """Returns (header, {(x, y, z): {warp: [instruction]}}) of a kernel's file."""
    header, blocks = {}, {}
    lines = [line for line in path.read_text().splitlines() if line]
    while not lines[0].startswith("#traces"):
        name, value = lines.pop(0)[1:].split(" = ", 1)
        header[name] = value
    lines.pop(0)
    block = None
    left = 0
    for line in lines:
        if line == "#BEGIN_TB":
            assert block is None
            block = {}
        elif line == "#END_TB":
            assert left == 0
            blocks[place] = block
            block = None
        elif line.startswith("thread block = "):
            place = tuple(map(int, line.split(" = ")[1].split(",")))
        elif line.startswith("warp = "):
            assert left == 0
            warp = block.setdefault(int(line.split(" = ")[1]), [])
        elif line.startswith("insts = "):
            left = int(line.split(" = ")[1])
        else:
            warp.append(read_instruction(line))
            left -= 1
    assert block is None
    return header, blocks


class AccelSim(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_every_access_is_there(self):
        source = self.folder / "mixed.cu"
        source.write_text(SOURCE)
        trace = self.folder / "a.trace"
        done = warplens("profile", source, "--backend", "cpu", "--trials", "2", "--quiet", "--trace", trace, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = warplens("trace", "accel-sim", trace, self.folder / "out")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        listed = (self.folder / "out/kernelslist.g").read_text().splitlines()
        self.assertRegex(listed[0], r"^MemcpyHtoD,0x[0-9a-f]{16},1024$")
        self.assertEqual(listed[-1], "kernel-1.traceg")
        header, blocks = read_kernel(self.folder / "out/kernel-1.traceg")
        self.assertEqual((header["grid dim"], header["block dim"], header["shmem"]), ("(2,2,1)", "(56,1,1)", "256"))
        self.assertEqual((header["binary version"], header["accelsim tracer version"]), ("80", "3"))
        self.assertEqual(sorted(blocks), [(x, y, 0) for x in range(2) for y in range(2)])

        expected = collections.defaultdict(list)
        for line in warplens("trace", "dump", trace).stdout.splitlines():
            words = line.split()
            if words[0] == "access" and words[4] != "mark":
                _, launch, block, warp, kind, space, width, place, mask, *addresses = words
                lanes = [lane for lane in range(32) if int(mask, 16) >> lane & 1]
                expected[int(block), int(warp)].append((kind, space, int(width), int(mask, 16), dict(zip(lanes, (int(a, 16) for a in addresses)))))
        names = {"load": ["LDG"], "store": ["STG"], "update": ["LDG", "STG"], "atomic": ["ATOMG", "RED"], "barrier": ["BAR"]}
        for (x, y, _), warps in blocks.items():
            self.assertEqual(sorted(warps), [0, 1])
            for warp, found in warps.items():
                self.assertEqual((found[-1][0], found[-1][1]), ("EXIT", 2**32 - 1 if warp == 0 else 2**24 - 1))
                found = found[:-1]
                for kind, space, width, mask, addresses in expected.pop((x + 2 * y, warp)):
                    for name in names[kind][:2 if kind == "update" else 1]:
                        opcode, its_mask, results, _, its_addresses = found.pop(0)
                        wanted = {"shared": name.replace("G", "S"), "constant": "LDC"}.get(space, name)
                        self.assertTrue(opcode.split(".")[0] == wanted or (kind == "atomic" and opcode.startswith("RED")), (opcode, wanted))
                        self.assertEqual(its_mask, mask)
                        if wanted not in ("LDC", "BAR"):
                            self.assertEqual((width_of(opcode), its_addresses), (width, addresses))
                        self.assertEqual(len(results), wanted.startswith(("LD", "ATOM")) and not opcode.startswith("RED"))
                self.assertEqual(found, [])
        self.assertFalse(expected)

    def test_the_named_errors(self):
        done = warplens("trace", "accel-sim", self.folder / "none.trace", self.folder / "out")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.trace", done.stderr)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    warplens_tool.main()
