"""Checks that each link in the tree's Markdown files leads somewhere: to a file, and to a heading where it names one."""
import pathlib
import posixpath
import re
import sys
import unittest
import urllib.parse

import source_tree

sys.path.insert(0, str(pathlib.Path(source_tree.ROOT) / "tools"))
from build_site import heading_names  # noqa: E402

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        known = set(source_tree.files())
        folders = {posixpath.dirname(path) for path in known}
        folders |= {posixpath.dirname(folder) for folder in folders}
        faults, checked = [], 0
        for path in sorted(known):
            if not path.endswith(".md"):
                continue
            for target in LINK.findall(CODE.sub("", source_tree.text(path))):
                if re.match(r"[a-z]+:", target):
                    continue  # elsewhere
                checked += 1
                file, _, anchor = urllib.parse.unquote(target).partition("#")
                named = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                if named not in known and named not in folders:
                    faults.append(f"{path}: {target}: there is no {named}")
                elif anchor and anchor not in heading_names(source_tree.text(named)):
                    faults.append(f"{path}: {target}: {named} has no such heading")
        self.assertEqual(faults, [])
        self.assertGreater(checked, 100)

    def test_the_checker_finds_what_is_wrong(self):
        self.assertEqual(heading_names("# A `b`: [c](d)!\n## A\n```\n# no\n```\n## A\n"), ["a-b-c", "a", "a-1"])


if __name__ == "__main__":
    unittest.main()
