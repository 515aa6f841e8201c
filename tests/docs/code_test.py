#!/usr/bin/env python3
"""code_test.py CC INCLUDE_DIR FILE...: every ```c block of the files compiles by itself."""

import re
import subprocess
import sys

compiler, include, *files = sys.argv[1:]
blocks = failed = 0
for name in files:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        blocks += 1
        line = text.count("\n", 0, match.start()) + 2
        source = f'#line {line} "{name}"\n{match.group(1)}'
        done = subprocess.run(
            [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{include}"]
            + ["-fsyntax-only", "-x", "c", "-"],
            input=source,
            text=True,
        )
        failed += done.returncode != 0
print(f"{blocks - failed} passed, {failed} failed")
sys.exit(failed > 0 or blocks == 0)
