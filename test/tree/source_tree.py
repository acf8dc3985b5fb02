"""Lists and reads the files of the source tree, for the tests of this directory."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCE = {".git", "node_modules", "__pycache__"}


def files():
    """Returns the paths of the tree's files, relative to its root, sorted: those that git tracks or would add.
    Without git, they come from a walk that leaves out build directories (those with a CMakeCache.txt) and node_modules."""
    if (ROOT / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if listed.returncode == 0:
            return sorted({path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()})
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if name not in NOT_SOURCE and not (Path(folder) / name / "CMakeCache.txt").exists()]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(found)


def text(path):
    """Returns the text of a file of the tree; bytes that are not UTF-8 become U+FFFD."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")
