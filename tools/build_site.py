#!/usr/bin/env python3
"""Makes a static site of the documentation: `tools/build_site.py FOLDER [--page TITLE=REPORT.html …]`.

It begins with README.md and follows the links: each Markdown file becomes a page (cmark-gfm renders it), any other file is copied to
the same place, and a folder becomes a list of its files. `--page` adds report pages to a gallery. A link that leads nowhere is an error.
"""

import argparse
import html
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

PROJECT = pathlib.Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
STYLE = """
:root { color-scheme: light dark; --line: #8884; --shade: #8881 }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr) }
nav { padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: .9rem }
nav a { display: block; padding: .15rem 0; text-decoration: none }
nav a[aria-current] { font-weight: 600 }
main { padding: 1.5rem 2rem 4rem; max-width: 60rem }
table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid var(--line); padding: .3rem .6rem; vertical-align: top }
pre { background: var(--shade); padding: .8rem; overflow-x: auto } code { font-size: .9em } img { max-width: 100% }
@media (max-width: 50rem) { body { display: block } nav { border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem } }
"""


class SiteError(Exception):
    pass


def heading_names(text):
    """Returns the names by which GitHub links to a text's headings, in order: lower case, blanks as hyphens, other signs left out."""
    names, seen = [], {}
    for heading in HEADING.findall(CODE_BLOCK.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.append(f"{name}-{count}" if count else name)
    return names


def render(text):
    """Returns the HTML of a Markdown text; its headings have the names that links use."""
    if shutil.which("cmark-gfm") is None:
        raise SiteError("there is no cmark-gfm: install the package of that name")
    done = subprocess.run(["cmark-gfm", "--unsafe", "--extension", "table", "--extension", "strikethrough"], input=text, capture_output=True,
                          text=True, check=True)
    names = iter(heading_names(text))
    return re.sub(r"<h([1-6])>", lambda match: f'<h{match[1]} id="{html.escape(next(names))}">', done.stdout)


def title_of(text, path):
    """Returns the first heading as plain text."""
    heading = HEADING.search(CODE_BLOCK.sub("", text))
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "") if heading else path


def place_of(path, root):
    """Returns where a file or folder of the project lies in the site."""
    if path == "README.md":
        return "index.html"
    if (root / path).is_dir():
        return posixpath.join(path, "index.html")
    return path[:-3] + ".html" if path.endswith(".md") else path


class Site:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.pages = {}  # path: (title, HTML)
        self.waiting, self.seen = ["README.md"], {"README.md"}
        self.anchors = []  # (page, target path, name): checked once all pages are there

    def build(self, reports):
        while self.waiting:
            self.add(self.waiting.pop(0))
        for page, target, name in self.anchors:
            if f'id="{html.escape(name)}"' not in self.pages[target][1]:
                raise SiteError(f"{page}: {target} has no heading #{name}")
        if reports:
            self.add_gallery(reports)
        for path, (title, body) in self.pages.items():
            self.write(path, title, body)

    def add(self, path):
        source = self.root / path
        if source.is_dir():
            files = sorted(entry.name for entry in source.iterdir() if entry.name[0] not in "._")
            links = "".join(f'<li><a href="{html.escape(name)}">{html.escape(name)}</a></li>\n' for name in files)
            self.pages[path] = (path, self.with_links(path + "/", f"<h1>{html.escape(path)}</h1>\n<ul>\n{links}</ul>\n"))
        elif path.endswith(".md"):
            text = source.read_text()
            self.pages[path] = (title_of(text, path), self.with_links(path, render(text)))
        else:
            copy = self.folder / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)

    def with_links(self, path, body):
        """Points the links and pictures of a page to their places in the site, and adds what they lead to."""
        def replace(match):
            target = html.unescape(match[2])
            if re.match(r"[a-z]+:", target):
                return match[0]
            file, _, name = urllib.parse.unquote(target).partition("#")
            named = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path.rstrip("/")
            if named.startswith("..") or not (self.root / named).exists():
                raise SiteError(f"{path}: {target} leads nowhere")
            if named not in self.seen:
                self.seen.add(named)
                self.waiting.append(named)
            if name and named.endswith(".md"):
                self.anchors.append((path, named, name))
            own = posixpath.dirname(place_of(path.rstrip("/"), self.root)) or "."
            new = posixpath.relpath(place_of(named, self.root), own) if file else ""
            return f'{match[1]}"{html.escape(new + ("#" + name if name else ""))}"'
        return re.sub(r'(<(?:a|img)\b[^>]*? (?:href|src)=)"([^"]*)"', replace, body)

    def add_gallery(self, reports):
        (self.folder / "gallery").mkdir(parents=True, exist_ok=True)
        rows = ""
        for number, (title, file) in enumerate(reports, 1):
            shutil.copyfile(file, self.folder / f"gallery/{number}.html")
            rows += f'<li><a href="gallery/{number}.html">{html.escape(title)}</a></li>\n'
        self.pages["gallery"] = ("Report pages", f"<h1>Report pages</h1>\n<p>As <code>warplens profile --format html</code> writes them.</p>\n<ul>\n{rows}</ul>\n")

    def write(self, path, title, body):
        place = "gallery.html" if path == "gallery" else place_of(path, self.root)
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        top = [path for path in self.pages if path.count("/") <= 1 and (path.endswith(".md") or path == "gallery")]
        links = ""
        for other in sorted(top, key=lambda path: (path != "README.md", self.pages[path][0].lower())):
            its_place = "gallery.html" if other == "gallery" else place_of(other, self.root)
            current = ' aria-current="page"' if other == path else ""
            links += f'<a href="{posixpath.relpath(its_place, posixpath.dirname(place) or ".")}"{current}>{html.escape(self.pages[other][0])}</a>\n'
        file.write_text(f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
                        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body><nav>\n{links}</nav><main>\n{body}</main></body></html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--page", action="append", default=[], metavar="TITLE=REPORT.html", help="a report page for the gallery")
    parser.add_argument("--root", type=pathlib.Path, default=PROJECT, help="the project")
    arguments = parser.parse_args()
    reports = [page.split("=", 1) for page in arguments.page]
    if any(len(report) != 2 for report in reports):
        parser.error("--page takes TITLE=REPORT.html")
    try:
        Site(arguments.root, arguments.folder).build(reports)
    except SiteError as error:
        sys.exit(f"build_site: {error}")


if __name__ == "__main__":
    main()
