#!/usr/bin/env python3
"""Writes an installed Warplens as a portable folder in a tarball, and as a Python wheel: write_archives.py FOLDER CLANG_HEADERS OUTPUT.

FOLDER is completed by Clang's own headers. The wheel holds the folder within the package `warplens`, whose console entries start the
program. Equal folders give equal bytes: names are sorted, and all times are the same.
"""
import base64
import gzip
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

LARGEST_FOLDER = 250_000_000
OLDEST_GLIBC = (2, 31)
TAG = 'py3-none-manylinux_%d_%d_x86_64' % OLDEST_GLIBC
ENTRY = '''"""Starts the programs of the folder beside this file, with the CUDA Toolkit of NVIDIA's wheels where they are installed."""
import os
import sys


def find_toolkit():
    """Returns the folder in which NVIDIA's wheels of CUDA 13 make a toolkit together; None if they are not there."""
    for folder in sys.path:
        root = os.path.join(folder, "nvidia", "cu13")
        if os.path.exists(os.path.join(root, "bin", "nvcc")) and os.path.exists(os.path.join(root, "include", "cuda_runtime.h")):
            return root
    return None


def start(name):
    if not os.environ.get("CUDA_PATH") and not os.environ.get("CUDA_HOME"):
        root = find_toolkit()
        if root is not None:
            os.environ["CUDA_PATH"] = root
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "portable", "bin", "warplens")
    os.execv(program, [name, *sys.argv[1:]])


def main():
    start("warplens")


def nvcc():
    start("warplens-nvcc")
'''
METADATA = '''Metadata-Version: 2.1
Name: warplens
Version: {}
Summary: memory profiler for CUDA programs that needs no GPU
Requires-Python: >=3.8
'''


def complete(folder, clang_headers):
    """Adds Clang's headers where warplens-compile looks for them, and leaves out what does not run everywhere."""
    headers = folder / 'lib/warplens/clang/lib/clang/19/include'
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(clang_headers, headers)
    # nvcc links it for the C library of this machine; it measures GPUs for `warplens calibrate`.
    (folder / 'libexec/warplens/warplens-measure').unlink(missing_ok=True)
    shutil.rmtree(folder / 'share/lintian', ignore_errors=True)


def files_of(folder):
    return sorted(path for path in folder.rglob('*') if not path.is_dir() or path.is_symlink())


def check_c_library(folder):
    """Ends with an error if a program or library needs a newer C library, or another library than its parts and ours."""
    for path in files_of(folder):
        if path.is_symlink() or path.read_bytes()[:4] != b'\x7fELF':
            continue
        described = subprocess.run(['objdump', '-p', path], capture_output=True, text=True, check=True).stdout
        versions = [tuple(map(int, version.split('.'))) for version in re.findall(r'GLIBC_([\d.]+)', described)]
        if max(versions, default=OLDEST_GLIBC)[:2] > OLDEST_GLIBC:
            sys.exit(f'{path}: needs glibc {max(versions)}, beyond {OLDEST_GLIBC}')
        for library in re.findall(r'NEEDED +(\S+)', described):
            if not re.match(r'(lib(c|m|dl|pthread)|ld-linux-x86-64|libwarplens_\w+)\.so', library):
                sys.exit(f'{path}: needs {library}, which not every machine has')


def write_tarball(folder, name, output):
    def same_owner(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = 'root'
        return entry
    # Debian's smallest system has gzip, and no xz. Its header would hold the time.
    with gzip.GzipFile(output, 'wb', compresslevel=6, mtime=0) as packed, tarfile.open(fileobj=packed, mode='w') as archive:
        for path in files_of(folder):
            archive.add(path, f'{name}/{path.relative_to(folder)}', filter=same_owner)


def write_wheel(folder, version, output):
    """Writes the wheel. A zip archive has no symbolic links: those of bin/ are console entries, others are stored as what they lead to."""
    information = f'warplens-{version}.dist-info'
    records = []
    with zipfile.ZipFile(output, 'w', zipfile.ZIP_DEFLATED) as archive:
        def add(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
            records.append(f'{name},sha256={digest},{len(content)}')
        for path in files_of(folder):
            if not (path.is_symlink() and path.parent.name == 'bin'):
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                add(f'warplens/portable/{path.relative_to(folder)}', path.read_bytes(), mode)
        add('warplens/__init__.py', ENTRY.encode())
        add(f'{information}/METADATA', METADATA.format(version).encode())
        add(f'{information}/WHEEL', f'Wheel-Version: 1.0\nGenerator: write_archives\nRoot-Is-Purelib: false\nTag: {TAG}\n'.encode())
        add(f'{information}/entry_points.txt', b'[console_scripts]\nwarplens = warplens:main\nwarplens-nvcc = warplens:nvcc\n')
        records.append(f'{information}/RECORD,,')
        archive.writestr(zipfile.ZipInfo(f'{information}/RECORD'), '\n'.join(records) + '\n')


def main(folder, clang_headers, output):
    complete(folder, clang_headers)
    check_c_library(folder)
    size = sum(path.lstat().st_size for path in files_of(folder))
    if size > LARGEST_FOLDER:
        sys.exit(f'{folder}: {size} bytes are more than the {LARGEST_FOLDER} that the portable folder may have')
    version = subprocess.run([folder / 'bin/warplens', '--version'], capture_output=True, text=True, check=True).stdout.split()[1]
    tarball, wheel = output / f'warplens-{version}-linux-x86_64.tar.gz', output / f'warplens-{version}-{TAG}.whl'
    write_tarball(folder, f'warplens-{version}', tarball)
    write_wheel(folder, version, wheel)
    print(f'{size / 1e6:.0f} MB: {tarball} ({tarball.stat().st_size / 1e6:.0f} MB), {wheel} ({wheel.stat().st_size / 1e6:.0f} MB)')


if __name__ == '__main__':
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
