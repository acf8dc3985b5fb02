"""Checks that each link in the tree's Markdown files leads somewhere: to a file, and to a heading where it names one."""
import posixpath
import re
import unittest
import urllib.parse

import source_tree

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(text):
    """Returns the names by which GitHub links to a text's headings: lower case, blanks as hyphens, other signs left out."""
    names, seen = set(), {}
    for heading in HEADING.findall(re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


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
                elif anchor and anchor not in anchors(source_tree.text(named)):
                    faults.append(f"{path}: {target}: {named} has no such heading")
        self.assertEqual(faults, [])
        self.assertGreater(checked, 100)

    def test_the_checker_finds_what_is_wrong(self):
        self.assertEqual(anchors("# A `b`: [c](d)!\n## A\n```\n# no\n```\n## A\n"), {"a-b-c", "a", "a-1"})


if __name__ == "__main__":
    unittest.main()
