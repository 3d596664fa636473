#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Suites that nobody here wrote, on Linux and in the simulated world.

usage: run.py SOURCE_DIR BUILD_DIR [--suite NAME] [--seeds N] [--only TEXT] [--write]

Fetches the source package of a suite from Debian (nothing of it is kept in the repository), builds
its tests as shared libraries and runs each with outside_runner: once on Linux, and in the world
with the strategy `calm` and with N seeds of `random` (default 20), without faults; each run of a
seed a second time, which must be the same. A test counts when it passes everywhere. Those that
count stand in PACKAGE.txt beside this script, and must go on to count; --write adds new ones, and
writes docs/bench/outside.md. Why the others do not count is in a table: a pattern of names, a tab
and the reason.
"""

import argparse
import pathlib
import sys

from libuv import Libuv
from posixtestsuite import PosixTestSuite

SUITES = {suite.package: suite for suite in (PosixTestSuite, Libuv)}
PAGE = """# Suites that others wrote

`./dev outside` fetches the sources of a suite, builds its tests unchanged and runs each on Linux
and in a simulated machine. A test counts when it passes on Linux, and in the world with the
strategy `calm` and with {seeds} seeds of `random`, each seed twice with the same trace. There are
no faults. `./dev outside --write` writes this page.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--suite", choices=SUITES, action="append")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.only:
        parser.error("--write needs all tests of a suite: leave out --only")
    runner = (arguments.build / "tests/outside/outside_runner").resolve()
    folder = (arguments.build / "outside").resolve()
    page = arguments.source / "docs/bench/outside.md"
    sections = read_sections(page)
    is_worse = False
    for name in arguments.suite or SUITES:
        suite = SUITES[name](runner, arguments.seeds)
        suite.run(folder, arguments.only)
        is_worse = suite.report() or is_worse
        if arguments.write:
            suite.write_counted()
            sections[suite.title] = suite.section()
    if arguments.write:
        text = PAGE.format(seeds=arguments.seeds) + "\n".join(sections.values())
        page.write_text(text, encoding="utf-8")
    return 1 if is_worse else 0


def read_sections(page):
    """title -> section of the page as it is, in the order of SUITES."""
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:] if page.exists() else []
    found = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}
    titles = [suite.title for suite in SUITES.values()]
    return {title: found.get(title, "") for title in titles}


if __name__ == "__main__":
    sys.exit(main())
