#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""misuse_test.py SOURCE COMPILER: mistakes that the compiler must explain.

Each file beside this one is a mistake; its line "// expects: TEXT" is what the compiler prints
when it refuses the file. Warnings count as errors, as in a build that treats them so.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

EXPECTS = re.compile(r"^// expects: (.+)$", re.MULTILINE)


def command(source, compiler, snippet):
    roots = [f"-I{source / root}" for root in ("runtime", "sim")]
    return [compiler, "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", *roots, str(snippet)]


def complaint_about(source, compiler, snippet):
    """What is wrong with the compiler's answer; empty when it is as expected."""
    expected = EXPECTS.search(snippet.read_text())
    if expected is None:
        return f"{snippet.name}: expected a line '// expects: TEXT'"
    done = subprocess.run(command(source, compiler, snippet), capture_output=True, text=True)
    if done.returncode == 0:
        return f"{snippet.name}: compiles, expected an error with '{expected[1]}'"
    if expected[1] not in done.stderr:
        return f"{snippet.name}: expected '{expected[1]}' in:\n{done.stderr[:3000]}"
    return ""


def main(source, compiler):
    snippets = sorted(pathlib.Path(__file__).parent.glob("*.cpp"))
    assert len(snippets) >= 10, f"{len(snippets)} mistakes: expected at least 10"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda each: complaint_about(source, compiler, each), snippets))
    for complaint in filter(None, complaints):
        print(complaint, file=sys.stderr)
    print(f"{len(snippets)} mistakes, {sum(map(bool, complaints))} not explained")
    return any(complaints)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
