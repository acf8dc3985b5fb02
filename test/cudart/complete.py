"""Compares the CPU back end's runtime with the toolkit's headers: python3 complete.py NM LIBRARY REFUSALS INCLUDE-FOLDER...

Every function that they declare is defined, under each of its names; the list of refusals names no other."""

import pathlib
import re
import subprocess
import sys

nm, library, refusals, *folders = sys.argv[1:]
headers = {name: next(path for folder in ";".join(folders).split(";") if (path := pathlib.Path(folder, name)).exists()).read_text()
           for name in ("cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h")}
code = {name: re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL) for name, text in headers.items()}

declared = {name for text in code.values() for name in re.findall(r"\bCUDARTAPI\s+(cuda(?!WGL)\w+)\s*\(", text)}  # WGL is Windows's
# A call refers to a function of another name under --default-stream per-thread.
per_thread = {f"{name}_{form.lower()}" for name, form in
              re.findall(r"#\s*define\s+(cuda\w+)\s+__CUDART_API_(PTDS|PTSZ)\(", code["cuda_runtime_api.h"])}
symbols = subprocess.run([nm, "--defined-only", "--extern-only", library], capture_output=True, text=True, check=True).stdout
defined = set(re.findall(r" [TW] (\w+)$", symbols, re.MULTILINE))
refused = set(re.findall(r"^CUDA_REFUSAL\((\w+),", pathlib.Path(refusals).read_text(), re.MULTILINE))

problems = [f"{name} is neither defined nor refused" for name in sorted((declared | per_thread) - defined)]
problems += [f"{name} is refused, but not declared" for name in sorted(refused - declared - per_thread)]
if len(declared) < 300 or len(per_thread) < 50:
    problems.append(f"only {len(declared)} and {len(per_thread)} functions found in the headers")
for problem in problems:
    print(problem)
print(f"{len(declared)} functions and {len(per_thread)} other names of theirs; {len(refused)} are refused")
sys.exit(1 if problems else 0)
