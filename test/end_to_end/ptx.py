"""Reads the accesses in the PTX that nvcc makes of a source."""

import collections
import re
import subprocess
import tempfile
from pathlib import Path

from warplens_tool import base_name, real_nvcc

ACCESS = re.compile(r"\s*(?:@\S+\s+)?(ld|st)\.(?:volatile\.)?(global|shared)(?:\.nc)?(?:\.v([24]))?\.[a-z](\d+)\s")


def accesses_of(source):
    """Returns for each kernel without loops how often a thread makes each access, a (kind, space, bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder, "source.ptx")
        subprocess.run([real_nvcc(), "-ptx", "-arch=sm_80", "-o", ptx, source], check=True)
        text = ptx.read_text()
    accesses, kernel = {}, None
    for statement in text.splitlines():
        if entry := re.search(r"\.entry (\w+)", statement):
            kernel, labels, has_loop = entry[1], set(), False
            accesses[kernel] = collections.Counter()
        elif label := re.match(r"(\$\w+):", statement):
            labels.add(label[1])
        elif branch := re.search(r"\bbra\S*\s+(\$\w+);", statement):
            has_loop |= branch[1] in labels
        elif access := ACCESS.match(statement):
            kind = "load" if access[1] == "ld" else "store"
            accesses[kernel][kind, access[2], int(access[3] or 1) * int(access[4]) // 8] += 1
        elif statement.startswith("}") and kernel:
            if has_loop:
                del accesses[kernel]
            kernel = None
    done = subprocess.run(["c++filt"], input="\n".join(accesses), capture_output=True, text=True, check=True)
    return {base_name(name): of_kernel for name, of_kernel in zip(done.stdout.splitlines(), accesses.values())}


def max_loads_in_a_block(source):
    """Returns for each kernel how many loads from global or shared memory its basic block with the most loads has."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder, "source.ptx")
        subprocess.run([real_nvcc(), "-ptx", "-arch=sm_80", "-o", ptx, source], check=True)
        text = ptx.read_text()
    maximum, loads = collections.Counter(), 0
    for statement in text.splitlines():
        if entry := re.search(r"\.entry (\w+)", statement):
            kernel = entry[1]
        if entry or re.match(r"\$\w+:", statement) or re.search(r"\bbra\S*\s", statement):
            loads = 0
        elif (access := ACCESS.match(statement)) and access[1] == "ld":
            loads += 1
            maximum[kernel] = max(maximum[kernel], loads)
    done = subprocess.run(["c++filt"], input="\n".join(maximum), capture_output=True, text=True, check=True)
    return {base_name(name): maximum[mangled] for name, mangled in zip(done.stdout.splitlines(), maximum)}
