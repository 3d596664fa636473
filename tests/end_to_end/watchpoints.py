#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watchpoints.py COMPILER: do gdb's hardware watchpoints trigger on this machine?"""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = "int x; int main() { for (int i = 0; i < 3; ++i) x += i; return x; }\n"


def main(compiler):
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name) / "watched.cpp"
        source.write_text(PROGRAM)
        binary = source.with_suffix("")
        subprocess.run([compiler, "-g", "-O0", "-o", binary, source], check=True)
        steps = ["break main", "run", "watch x", "continue"]
        told = subprocess.run(["gdb", "-batch", *[f"-ex={step}" for step in steps], binary],
                              capture_output=True, text=True)
    return 0 if "New value" in told.stdout else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
