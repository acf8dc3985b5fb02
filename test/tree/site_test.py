"""Builds the site of the documentation and follows every link in its pages; a link that leads nowhere stops the builder."""
import html.parser
import pathlib
import posixpath
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import source_tree

BUILDER = pathlib.Path(source_tree.ROOT) / "tools/build_site.py"


class Page(html.parser.HTMLParser):
    """The links and the names of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        self.links += [values[key] for key in ("href", "src") if values.get(key)]


def build(folder, *options):
    return subprocess.run([sys.executable, "-B", BUILDER, folder, *options], capture_output=True, text=True, timeout=300)


class Site(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_every_link_leads_somewhere(self):
        report = self.folder / "a report.html"
        report.write_text("<html>figures</html>")
        site = self.folder / "site"
        done = build(site, "--page", f"SpMV on a C2050={report}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pages = {path.relative_to(site).as_posix(): Page(path.read_text()) for path in site.rglob("*.html") if path.parent.name != "gallery"}
        for document in source_tree.files():
            if document.startswith("docs/") and document.endswith(".md"):
                self.assertIn(document[:-3] + ".html", pages)
        checked = 0
        for path, page in pages.items():
            for link in page.links:
                if ":" in link.split("/")[0]:
                    continue  # elsewhere
                self.assertNotIn(".md", link)
                file, _, name = urllib.parse.unquote(link).partition("#")
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                self.assertTrue((site / target).is_file(), f"{path}: {link}")
                if name:
                    self.assertIn(name, pages[target].names, f"{path}: {link}")
                checked += 1
        self.assertGreater(checked, 500)
        self.assertIn("SpMV on a C2050", (site / "gallery.html").read_text())
        self.assertEqual((site / "gallery/1.html").read_text(), "<html>figures</html>")

    def test_a_broken_link_stops_it(self):
        root = self.folder / "project"
        (root / "docs").mkdir(parents=True)
        (root / "docs/a.md").write_text("# A\n\n## Of `b`\n")
        for text, message in (("[a](docs/none.md)", "README.md: docs/none.md leads nowhere"), ("[a](../out.md)", "README.md: ../out.md leads nowhere"),
                              ("[a](docs/a.md#of-c)", "README.md: docs/a.md has no heading #of-c")):
            with self.subTest(text=text):
                (root / "README.md").write_text(f"# Title\n{text}\n")
                done = build(self.folder / "site", "--root", root)
                self.assertEqual((done.returncode, done.stderr), (1, f"build_site: {message}\n"))
        (root / "README.md").write_text("# Title\n[a](docs/a.md#of-b) [docs](docs)\n")
        self.assertEqual(build(self.folder / "site", "--root", root).returncode, 0)
        self.assertIn('href="a.html"', (self.folder / "site/docs/index.html").read_text())


if __name__ == "__main__":
    unittest.main()
