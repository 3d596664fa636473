#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries of Debian, and whether `fermata inspect` is right about each.

usage: surface.py BUILD_DIR [--all]
       surface.py --packages

Loads each library of libraries.tsv (package, tab, library) into a process of its own that serves
functions, and compares what is said of each function that the library imports with what the loader
has found for it. A library that is not installed is left out; with --all it is an error. --packages
prints what --all needs.
"""

import argparse
import pathlib
import subprocess
import sys

LIBRARIES = pathlib.Path(__file__).parent / "libraries.tsv"


def installed():
    """Names of the libraries that the loader finds."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in listed.stdout.splitlines()[1:] if line.strip()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--packages", action="store_true")
    arguments = parser.parse_args()
    rows = [line.split("\t") for line in LIBRARIES.read_text(encoding="utf-8").splitlines()]
    if arguments.packages:
        print(" ".join(package for package, _ in rows))
        return 0
    there = installed()
    missing = [library for _, library in rows if library not in there]
    wrong = []
    for _, library in rows:
        if library in missing:
            continue
        done = subprocess.run([arguments.build / "tests/outside/outside_surface", library],
                              capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 0:
            wrong.append(library)
        print(f"{library}: {done.stdout.strip() or done.stderr.strip()}")
    for library in missing:
        print(f"{library}: is not installed")
    print(f"surface: {len(rows) - len(missing)} libraries, {len(wrong)} of them with a difference")
    return 1 if wrong or (arguments.all and missing) else 0


if __name__ == "__main__":
    sys.exit(main())
