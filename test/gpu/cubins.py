#!/usr/bin/env python3
"""Prints what the machine code of programs is, so that counts per instruction stay readable: a line "PROGRAM\tSHA256\tFUNCTIONS" for each file
PROGRAM/*.sm_90.cubin in a folder, made by `nvcc --keep`. The sum is of the functions' instructions alone, by name: the rest of a cubin has paths in it.

usage: cubins.py FOLDER
"""

import hashlib
import pathlib
import struct
import sys


def code(cubin):
    """Returns the machine code of each function of a cubin, {mangled name: bytes}; a cubin is an ELF file of 64 bits."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<II4Q", cubin, table + i * size) for i in range(count)]
    strings = sections[names][4]
    found = {}
    for name, _, _, _, offset, length in sections:
        begin = strings + name
        text = cubin[begin:cubin.index(b"\0", begin)].decode()
        if text.startswith(".text."):
            found[text.removeprefix(".text.")] = cubin[offset:offset + length]
    return found


def digest(cubin):
    """Returns the sum of all functions' code and their number."""
    functions = code(cubin)
    total = hashlib.sha256()
    for name in sorted(functions):
        total.update(name.encode() + b"\0" + functions[name])
    return total.hexdigest(), len(functions)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*.sm_90.cubin")):
        total, functions = digest(path.read_bytes())
        if functions > 0:  # else it is the linker's
            print(path.parent.name, total, functions, sep="\t")


if __name__ == "__main__":
    main()
