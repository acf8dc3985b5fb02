"""Checks that docs/code-tour.md names each source file of the tree exactly once, and no file that is not there.

The rule:
- A source file is a file of C++ or CUDA (.h .cpp .cu .cuh .def .h.in), Python (.py), shell (.sh, or no extension and a first
  line with #!), TypeScript or JavaScript (.ts .tsx .mts .mjs), or TOML. Not counted: programs that tests compile (.cu, .cuh and
  .c below test/), what lies in a folder named golden, and the files of GPUs.
- A heading that begins with a directory (`## lowering/ptx/: …`; `./` is the root) sets the directory for the rows below it.
- The first cell of a row holds names in backticks, each relative to that directory. A name with its extension names that
  file. A name without one names the file of that name, or else the .h and .cpp files with that stem (`gpu` for gpu.h and
  gpu.cpp). A name that ends in a slash names a folder, for files that are no source files.
- Tables whose first column is headed otherwise than "file" are not read.
"""
import posixpath
import re
import unittest

import source_tree

CODE_TOUR = "docs/code-tour.md"
SOURCE = re.compile(r"\.(h|cpp|cu|cuh|def|h\.in|py|sh|ts|tsx|mts|mjs|toml)$")
NOT_COUNTED = re.compile(r"^test/.*\.(cu|cuh|c)$|(^|/)golden/|^model/gpu/gpus/")
HEADING = re.compile(r"^#+ `?((?:[\w.-]+/)+)`?")
STEM_EXTENSIONS = (".h", ".cpp")


def is_source(path):
    """Returns whether the code tour has to name the file."""
    if NOT_COUNTED.search(path):
        return False
    if "." not in posixpath.basename(path):
        return source_tree.text(path).startswith("#!")
    return bool(SOURCE.search(path))


def named_files(known):
    """Returns pairs of the line in the code tour and a path that it names; a path that is not in the tree as it is written."""
    folder, reads_rows, named = None, False, []
    folders = {posixpath.dirname(path) for path in known}
    for number, line in enumerate(source_tree.text(CODE_TOUR).splitlines(), 1):
        if line.startswith("#"):
            heading = HEADING.match(line)
            folder = posixpath.normpath(heading.group(1)) if heading else None
        if not line.startswith("|"):
            reads_rows = False
            continue
        first = line.split("|")[1].strip()
        if first == "file":
            reads_rows = folder is not None
        if not reads_rows:
            continue
        for name in re.findall(r"`([^`]+)`", first):
            path = posixpath.normpath(posixpath.join(folder, name))
            files = [path] if path in known else [path + end for end in STEM_EXTENSIONS if path + end in known]
            if name.endswith("/") and any(f"{one}/".startswith(path + "/") for one in folders):
                continue
            named += [(number, one) for one in files or [path]]
    return named


class CodeTour(unittest.TestCase):
    def test_names_each_source_file_once(self):
        known = set(source_tree.files())
        named = named_files(known)
        where = {}
        problems = []
        for number, path in named:
            if path not in known:
                problems.append(f"{CODE_TOUR}:{number}: {path} is not in the tree")
            elif path in where:
                problems.append(f"{CODE_TOUR}:{number}: {path} is named in line {where[path]}, too")
            where.setdefault(path, number)
        problems += [f"{path} is not named in {CODE_TOUR}" for path in sorted(known) if is_source(path) and path not in where]
        if problems:
            self.fail(f"{len(problems)} differences:\n" + "\n".join(problems))


if __name__ == "__main__":
    unittest.main()
