"""Holds `warplens inspect` against NVIDIA's disassembler, instruction by instruction, and prints the agreement.

    against_nvdisasm.py WARPLENS NVDISASM CUBIN... [--show N]

compares, for each instruction of each kernel: the operation's name, the registers read and written (from the
disassembler's table of live ranges), the guard, the branch's target, the schedule's bits, and the source line with the
calls that it is inlined at. nvdisasm of CUDA 11.8 knows sm_75 to sm_90 (Debian 12: package nvidia-cuda-toolkit of
non-free; `apt-get download` and `dpkg-deb -x` unpack it without installing it). It refuses the header of CUDA 13's
cubins, so it is given a copy with the header of its time.

The table of live ranges shows which registers each instruction defines (^), uses (v) or both (x). At calls it shows the
callee's registers, and for P2R and R2P all predicates instead of those of the mask: the registers of these are left out.
It leaves out R63, which is RZ on older GPUs. It names one call of a function
where a line has several: "inlined at" differs there. The labels of the few instructions of sm_90 that it does not print are missing: branches there are left out.
Where it does not find a register's definition, as in functions that are called, it shows no use: "live reads" compares
the reads of the registers that are live by its analysis.
"""
import argparse
import collections
import re
import struct
import subprocess
import tempfile

FIELDS = ("name", "reads", "live reads", "writes", "guard", "target", "schedule", "line", "inlined at")
# nvdisasm 11.8 does not print these, or under other names.
RENAMED = {"REDG": "RED"}


def with_old_header(cubin):
    """Returns the cubin with the ELF header of CUDA 11: ABI version 7, the architecture in the flags' lowest bits."""
    copy = bytearray(cubin)
    architecture = struct.unpack_from("<I", copy, 0x30)[0] >> 8 & 0xff
    copy[7], copy[8] = 0x33, 7
    struct.pack_into("<I", copy, 0x14, 0x76)
    struct.pack_into("<I", copy, 0x30, architecture << 16 | 0x500 | architecture)
    return bytes(copy)


def words_of(cubin):
    """Returns, for each section of code, its instructions as (low, high)."""
    at, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3a)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    strings = sections[names][4]
    code = {}
    for section in sections:
        begin = strings + section[0]
        name = cubin[begin:cubin.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            code[name[6:]] = [struct.unpack_from("<QQ", cubin, section[4] + i) for i in range(0, section[5], 16)]
    return code


def live_registers(columns):
    """Returns the registers used, defined and not live in one row of the table of live ranges."""
    used, defined, dead = set(), set(), set()
    for prefix, text in zip(("R", "P", "UR", "UP"), columns):
        # " 12 ::v^": the number of live registers, then a letter for each
        for register, letter in enumerate(text):
            if prefix == "R" and register == 63:
                continue
            if letter in "vx":
                used.add(f"{prefix}{register}")
            if letter in "^x":
                defined.add(f"{prefix}{register}")
            if letter == " ":
                dead.add(f"{prefix}{register}")
    return used, defined, dead


def run_nvdisasm(nvdisasm, path, *options):
    """Yields the lines of each section of code as (section, line)."""
    text = subprocess.run([nvdisasm, "-c", *options, path], capture_output=True, text=True).stdout
    section = None
    for line in text.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([^,]+),", line):
            section = match.group(1).strip('"')
        elif section is not None:
            yield section, line


INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


def instructions_of(nvdisasm, path):
    """Returns, for each section, a map from address to the instruction's text and its registers used and defined; and
    a map from (section, label) to address."""
    sections, labels, open_labels, offsets = {}, {}, [], {}
    for section, line in run_nvdisasm(nvdisasm, path, "-plr", "-lrm", "narrow"):
        before, _, table = line.partition("//")
        cells = table.split("|")[1:5]
        if section not in offsets and "# 0" in table:
            # The row with the registers' numbers tells where each column begins; one without registers is empty.
            offsets[section] = [cell.find("# ") + 2 if "# " in cell else None for cell in cells]
        if match := re.match(r"(\.?[\w$.]+):\s*$", before):
            open_labels.append((section, match.group(1)))
        elif match := INSTRUCTION.match(before):
            address = int(match.group(1), 16)
            labels.update(dict.fromkeys(open_labels, address))
            open_labels = []
            live = None
            if section in offsets:
                live = live_registers([cell[offset:] if offset else "" for cell, offset in zip(cells, offsets[section])])
            sections.setdefault(section, {})[address] = (match.group(2), live)
    return sections, labels


def places_of(nvdisasm, path):
    """Returns, for each section, a map from address to its place and those that it is inlined at, as "file:line"."""
    sections, place, goes_on = {}, None, False
    for section, line in run_nvdisasm(nvdisasm, path, "-gi"):
        if section not in sections:
            sections[section], place, goes_on = {}, None, False
        if match := re.match(r'\s*//## File "(.*?)", line (\d+)( inlined at)?', line):
            # The line that follows one "inlined at" is the place of the call.
            place = (place if goes_on else ()) + (f"{match.group(1)}:{match.group(2)}",)
            goes_on = match.group(3) is not None
        elif match := INSTRUCTION.match(line):
            sections[section][int(match.group(1), 16)] = place
    return sections


def registers_of(text):
    registers = set()
    for part in text.split(","):
        if match := re.fullmatch(r"(U?[RP])(\d+)(?::(\d+))?", part):
            first = int(match.group(2))
            registers |= {f"{match.group(1)}{i}" for i in range(first, int(match.group(3) or first) + 1)}
    return registers


LINE = re.compile(r"    ([0-9a-f]{4,}) (.{2})(.) (.) (.) (......) (\w+) (@\S+ )?(\S+) (\S+) <- (\S+)"
                  r"( \d+ bytes)?( B\d+)?( to [0-9a-f]+)? \| (.*)$")


def inspect(warplens, path):
    """Returns, for each function's section, a map from address to what warplens says of the instruction there."""
    text = subprocess.run([warplens, "inspect", path], capture_output=True, text=True, check=True).stdout
    kernels, kernel, unknown = {}, None, 0
    for line in text.splitlines():
        if match := re.match(r"kernel (\S+): .* (\d+) unknown$", line):
            kernel, unknown = kernels.setdefault(match.group(1), {}), unknown + int(match.group(2))
        elif match := LINE.match(line):
            address, stall, yields, writes, reads, waits, _, guard, name, defined, used, _, _, target, place = match.groups()
            kernel[int(address, 16)] = {
                "schedule": (int(stall), yields == "y", writes, reads, waits), "guard": (guard or "").strip(), "name": name,
                "writes": registers_of(defined), "reads": registers_of(used),
                "target": int(target[4:], 16) if target else None, "line": place.split(" < ")[0] or None, "inlined at": tuple(place.split(" < ")[1:]) if place else None}
        elif line.startswith("    "):
            raise AssertionError(f"not understood: {line}")
    return kernels, unknown


def schedule_of(high):
    bits = high >> 41
    scoreboard = lambda index: "-" if index == 7 else str(index)
    waits = "".join(str(i) if bits >> 11 + i & 1 else "-" for i in range(6))
    return bits & 15, not bits >> 4 & 1, scoreboard(bits >> 5 & 7), scoreboard(bits >> 8 & 7), waits


def expectation(text, live, high, section, labels, place):
    guard = re.match(r"@(!?U?P\w+)\s+", text)
    operation = text[guard.end():] if guard else text
    name = operation.split()[0].split(".")[0]
    expected = {"name": RENAMED.get(name, name), "guard": guard.group(0).strip() if guard else "",
                "schedule": schedule_of(high), "line": place and place[0], "inlined at": place and place[1:]}
    if name in ("BRA", "BSSY", "CALL", "JMP"):
        # A register before the label makes the target unknown.
        match = re.search(r"`\((.*?)\)$", operation) if not re.search(r" R\d+", operation) else None
        expected["target"] = labels.get((section, match.group(1)), "unknown") if match else None
    if live is not None and name not in ("CALL", "RET", "BRX", "P2R", "R2P"):
        used, defined, expected["dead"] = live
        if guard and guard.group(1).lstrip("!") not in ("PT", "UPT"):
            used = used - {guard.group(1).lstrip("!")}
            expected["guard register"] = guard.group(1).lstrip("!")
        expected["reads"], expected["writes"] = used, defined
    return expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("nvdisasm")
    parser.add_argument("cubins", nargs="+")
    parser.add_argument("--show", type=int, default=5, help="examples of each kind of difference")
    options = parser.parse_args()
    agreed, compared = collections.Counter(), collections.Counter()
    different, total, unknown, hidden = collections.defaultdict(list), 0, 0, 0
    for path in options.cubins:
        with open(path, "rb") as file:
            cubin = file.read()
        with tempfile.NamedTemporaryFile(suffix=".cubin") as old:
            old.write(with_old_header(cubin))
            old.flush()
            theirs, labels = instructions_of(options.nvdisasm, old.name)
            places = places_of(options.nvdisasm, old.name)
        ours, count = inspect(options.warplens, path)
        unknown += count
        words = words_of(cubin)
        for kernel, instructions in ours.items():
            for address, mine in instructions.items():
                total += 1
                if address not in theirs.get(kernel, {}):
                    hidden += 1
                    continue
                text, live = theirs[kernel][address]
                place = places.get(kernel, {}).get(address)
                expected = expectation(text, live, words[kernel][address // 16][1], kernel, labels, place)
                if expected["name"] in ("NOP",):
                    del expected["line"], expected["inlined at"]
                mine = dict(mine, name=mine["name"].split(".")[0])
                mine["reads"], mine["writes"] = mine["reads"] - {"R63"}, mine["writes"] - {"R63"}
                if "guard register" in expected:
                    mine["reads"] = mine["reads"] - {expected["guard register"]}
                for field in FIELDS:
                    if field == "live reads" and "reads" in expected:
                        mine[field], expected[field] = mine["reads"] - expected["dead"], expected["reads"]
                    if field not in expected or expected[field] == "unknown":
                        continue
                    compared[field] += 1
                    if mine[field] == expected[field]:
                        agreed[field] += 1
                    else:
                        different[field, expected["name"]].append(
                            f"{path} {kernel[:30]} {address:04x} {text}: {mine[field]}, expected {expected[field]}")
    for (field, name), examples in sorted(different.items(), key=lambda entry: -len(entry[1])):
        print(f"{field} of {name}: {len(examples)} differ")
        for example in examples[:options.show]:
            print(f"    {example}")
    print(f"{len(options.cubins)} cubins, {total} instructions, {unknown} unknown, {hidden} not printed by nvdisasm")
    for field in FIELDS:
        if compared[field]:
            print(f"{field}: {agreed[field]} of {compared[field]} agree ({100 * agreed[field] / compared[field]:.3f} %)")


if __name__ == "__main__":
    main()
