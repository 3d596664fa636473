#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does each changed source, and each changed header, compile on its own?

usage: compile_alone.py SOURCE_DIR BUILD_DIR [--base COMMIT] [--all]

Builds compile many sources as one, behind precompiled headers, so that a missing include does not
show. BUILD_DIR is a configured build without either, of which only compile_commands.json is used.
What has changed since COMMIT, or is not tracked, is compiled with -fsyntax-only; with --all, every
header is. A header is compiled as a source that includes nothing else.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

HEADER_ROOTS = ("runtime/", "sim/", "tests/", "properties/", "examples/", "bench/")


def git(source, *arguments):
    run = subprocess.run(["git", *arguments], cwd=source, capture_output=True, text=True,
                         check=True)
    return run.stdout.split("\0")


def changed(source, base):
    names = git(source, "diff", "--name-only", "--diff-filter=d", "-z", base)
    names += git(source, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({name for name in names if name.endswith((".cpp", ".hpp"))})


def commands(source, build):
    """The arguments that each source is compiled with, without input and output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(source) or path.is_relative_to(build):
            continue
        arguments = shlex.split(entry["command"])
        if pathlib.Path(arguments[0]).name == "ccache":
            del arguments[0]
        output = arguments.index("-o")
        del arguments[output : output + 2]
        arguments.remove("-c")
        found.setdefault(path.relative_to(source).as_posix(), arguments[:-1])
    return found


def nearest(name, known):
    """The source whose path has most in common with that of a header: it has the same options."""
    def common(other):
        return len(os.path.commonprefix([name, other]))
    return max(sorted(known), key=common)


def complaint_about(name, source, known):
    """What the compiler says; None where this build does not compile such a file."""
    if name.endswith(".cpp"):
        if name not in known:
            return None
        arguments, text = [*known[name], str(source / name)], None
    else:
        if not name.startswith(HEADER_ROOTS):
            return None
        arguments = [*known[nearest(name, known)], f"-I{source}", "-x", "c++", "-"]
        text = f'#include "{source / name}"\n'
    run = subprocess.run([*arguments, "-fsyntax-only"], input=text, capture_output=True, text=True,
                         check=False)
    return run.stderr if run.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--base", default="HEAD")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    known = commands(source, arguments.build.resolve())
    if arguments.all:
        names = [name for name in git(source, "ls-files", "-z") if name.endswith(".hpp")]
    else:
        names = changed(source, arguments.base)
    failed = compiled = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = pool.map(lambda name: complaint_about(name, source, known), names)
        for name, complaint in zip(names, complaints):
            if complaint is None:
                print(f"{name}: not compiled here")
                continue
            compiled += 1
            if complaint:
                failed += 1
                print(f"{name} does not compile on its own:\n{complaint}", file=sys.stderr)
    print(f"compiled alone: {compiled} files, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
