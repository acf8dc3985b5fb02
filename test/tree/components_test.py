"""Checks that the components include each other as docs/code-tour.md says, and in no cycle; and that judge/ does not print.

A component is a top-level directory with C++ or CUDA sources, or one of the directories below it that SUBCOMPONENTS
names; a file belongs to the innermost component around it. Component A includes from component B where a file of A has
an #include line with a header of B: "header", from the tree's root or from the file's own directory, or
<warplens/header>, from runtime/device. Tests, benchmarks and examples are no components.
"""
import posixpath
import re
import unittest

import source_tree

SUBCOMPONENTS = (
    "runtime/abi", "runtime/device", "runtime/host", "runtime/gpu", "runtime/compatibility",
    "runtime/cpu/device", "runtime/cpu/memory", "runtime/cpu/machine", "runtime/cpu/execution", "runtime/cpu/device_library",
    "runtime/cpu/cudart", "runtime/cpu/driver", "runtime/cpu/launcher", "runtime/cpu/libraries", "runtime/cpu/nvml", "runtime/cpu/stub_libraries",
    "model/gpu", "model/code", "model/snapshot", "model/cache", "model/counts", "model/dram", "model/sm", "model/mshrs", "model/memory", "model/clock", "model/replay", "model/replay/observers",
    "report/comparison", "report/significance",
)
NO_COMPONENTS = ("test", "bench", "examples", "packaging")
SOURCE = re.compile(r"\.(h|cpp|cu|cuh|def)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(warplens/[^>]+)>)', re.MULTILINE)
TABLE = re.compile(r"<!-- components: begin[^>]*-->\n(.*?)<!-- components: end -->", re.DOTALL)
CODE_TOUR = "docs/code-tour.md"
# What lays text out, colours it, and reads or writes files: judge/ leaves it to report/.
PRINTS = re.compile(r"\b(Style|TextOptions|width_of|wrapped|wrapped_code|pad_left|pad_right|labelled|read_source|[io]?f?stream)\b")
COMMENT = re.compile(r"//[^\n]*")


def component_of(path):
    """Returns the innermost component around a file; None for a file of no component."""
    top = path.split("/")[0]
    if "/" not in path or top in NO_COMPONENTS:
        return None
    inner = [name for name in SUBCOMPONENTS if path.startswith(name + "/")]
    return max(inner, key=len, default=top)


def includes_of(path, known):
    """Returns the files of the tree that a source includes."""
    found = []
    for quoted, angled in INCLUDE.findall(source_tree.text(path)):
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), quoted))
        candidates = [f"runtime/device/{angled}"] if angled else [quoted, beside]
        found += [candidate for candidate in candidates if candidate in known][:1]
    return found


def component_graph():
    """Returns, for each component, a map from the components that it includes from to one file that does."""
    known = set(source_tree.files())
    graph = {}
    for path in sorted(known):
        component = component_of(path)
        if component is None or not SOURCE.search(path):
            continue
        included = graph.setdefault(component, {})
        for header in includes_of(path, known):
            if component_of(header) not in (None, component):
                included.setdefault(component_of(header), f"{path} includes {header}")
    return graph


def cycle_in(graph):
    """Returns the components of a cycle, the first of them again at the end; an empty list if there is none."""
    finished = set()

    def search(component, path):
        if component in path:
            return path[path.index(component):] + [component]
        if component in finished:
            return []
        for included in graph.get(component, {}):
            cycle = search(included, path + [component])
            if cycle:
                return cycle
        finished.add(component)
        return []

    for component in graph:
        cycle = search(component, [])
        if cycle:
            return cycle
    return []


def documented_graph():
    """Returns the table of components: each with the set of those that it includes from."""
    table = TABLE.search(source_tree.text(CODE_TOUR))
    if not table:
        raise AssertionError(f"{CODE_TOUR} has no table between the comments 'components: begin' and 'components: end'")
    graph = {}
    for line in table.group(1).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = re.fullmatch(r"`([^`]+)/`", cells[0])
        if name:
            graph[name.group(1)] = set(re.findall(r"`([^`]+)/`", cells[1]))
    return graph


def as_table(graph):
    """Returns the rows of the table as they belong in the code tour."""
    return "\n".join(f"| `{component}/` | {', '.join(f'`{name}/`' for name in sorted(graph[component])) or '–'} |"
                     for component in sorted(graph))


class Components(unittest.TestCase):
    def test_no_cycle(self):
        graph = component_graph()
        cycle = cycle_in(graph)
        steps = [f"  {a} -> {b}: {graph[a][b]}" for a, b in zip(cycle, cycle[1:])]
        if cycle:
            self.fail("components include each other in a cycle:\n" + "\n".join(steps))

    def test_code_tour_has_the_graph(self):
        graph = component_graph()
        documented = documented_graph()
        differences = []
        for component in sorted(graph.keys() | documented.keys()):
            actual, written = set(graph.get(component, {})), documented.get(component, set())
            differences += [f"{graph[component][name]}: {component} -> {name} is not in the table"
                            for name in sorted(actual - written)]
            differences += [f"no file includes: {component} -> {name} is in the table" for name in sorted(written - actual)]
        if graph.keys() != documented.keys():
            differences.append(f"components: {sorted(graph.keys() ^ documented.keys())} are only in one of table and tree")
        if differences:
            self.fail(f"{CODE_TOUR} has other components than the tree:\n" + "\n".join(differences)
                      + "\nThe rows should be:\n" + as_table(graph))

    def test_statements_are_not_laid_out(self):
        found = [f"{path}: {match.group(1)}" for path in source_tree.files() if path.startswith("judge/") and SOURCE.search(path)
                 for match in PRINTS.finditer(COMMENT.sub("", source_tree.text(path)))]
        self.assertEqual(found, [], "judge/ goes from facts to statements; report/ lays them out")


if __name__ == "__main__":
    unittest.main()
