#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Suites that nobody here wrote, on Linux and in the simulated world.

usage: run.py SOURCE_DIR BUILD_DIR [--seeds N] [--only TEXT] [--write]

Fetches the source package of a suite from Debian (nothing of it is kept in the repository), builds
each test as a shared library and runs it with outside_runner: once on Linux, and in the world with
the strategy `calm` and with N seeds of `random` (default 20), without faults; each run of a seed a
second time, which must be the same. A test counts when it passes everywhere. Those that count stand
in posixtestsuite.txt beside this script, and must go on to count; --write adds new ones, and writes
docs/bench/outside.md. Why the others do not count is in not_counted.tsv: a pattern of names, a tab
and the reason.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
COUNTED = HERE / "posixtestsuite.txt"
REASONS = HERE / "not_counted.tsv"
PACKAGE = "posixtestsuite"
FOLDERS = re.compile(r"(pthread_\w+|sem_\w+|clock_\w+|nanosleep)")
TESTS = re.compile(r"\d+-\d+\.c")
# They set the clock of the real machine.
DANGEROUS = re.compile(r"\bclock_settime\s*\(")
PASSES = "ends with 0"
LINUX_LIMIT_S = 40
WORLD_LIMIT_S = 20


def run(command, limit, **options):
    """(exit code, output); None instead of a code when it has taken too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=limit, check=False, **options)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


def fetch(folder):
    """The unpacked sources."""
    sources = folder / PACKAGE
    if sources.exists():
        return sources
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lists").mkdir(exist_ok=True)
    (folder / "sources.list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list",
           "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists",
           "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Sandbox::User=root"]
    for verb in (["update"], ["source", "--download-only", PACKAGE]):
        code, output = run([*apt, *verb], 600, cwd=folder)
        if code != 0:
            raise SystemExit(f"outside: apt-get {' '.join(verb)} fails:\n{output}")
    archive = next(folder.glob(f"{PACKAGE}_*.orig.tar.*"))
    subprocess.run(["tar", "xf", archive.name], cwd=folder, check=True)
    return sources


def tests_of(sources, only):
    """name -> source of each test."""
    found = {}
    for path in sorted((sources / "conformance/interfaces").glob("*/*.c")):
        name = f"{path.parent.name}/{path.name}"
        if FOLDERS.fullmatch(path.parent.name) and TESTS.fullmatch(path.name) and only in name:
            found[name] = path
    return found


def build(source, sources, folder):
    """The test as a library; None when it does not compile."""
    library = folder / f"{source.parent.name}_{source.stem}.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-O1", "-g", "-w", "-Dmain=outside_main",
                   "-I", sources / "include", "-o", library, source, "-lpthread", "-lrt"]
        if run(command, 60)[0] != 0:
            return None
    return library


class Suite:
    def __init__(self, runner, seeds):
        self.runner = runner
        self.seeds = seeds

    def on_linux(self, library):
        """Empty when it passes, else how it ends."""
        code, output = run([self.runner, "linux", library], LINUX_LIMIT_S)
        if code is None:
            return "takes too long on Linux"
        return "" if code == 0 and (PASSES in output or "ends with" not in output) else \
            "does not pass on Linux"

    def in_world(self, library):
        """Empty when it passes everywhere, else how it ends."""
        seeds = range(1, self.seeds + 1)
        for seed, strategy in [(1, "calm"), *((each, "random") for each in seeds)]:
            command = [self.runner, "world", library, str(seed), strategy]
            first, second = run(command, WORLD_LIMIT_S), run(command, WORLD_LIMIT_S)
            if first[0] is None:
                return f"takes too long with {strategy} {seed}"
            if told(first[1]) != told(second[1]):
                return f"is not the same twice with {strategy} {seed}"
            if PASSES not in first[1]:
                return f"{outcome(first[1])} with {strategy} {seed}"
        return ""


def outcome(output):
    found = re.search(r"^(ends with .*|fails: .*)$", output, re.M)
    return found[1] if found else "crashes"


def told(output):
    """What must be the same in two runs."""
    return re.findall(r"^(?:ends with .*|fails: .*|trace .*)$", output, re.M)


def reason_for(name, reasons):
    return next((why for pattern, why in reasons if fnmatch.fnmatch(name, pattern)), None)


def read_reasons():
    lines = REASONS.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.build / "outside"
    sources = fetch(folder)
    tests = {name: path for name, path in tests_of(sources, arguments.only).items()
             if not DANGEROUS.search(path.read_text(errors="replace"))}
    libraries_folder = folder / "libraries"
    libraries_folder.mkdir(exist_ok=True)
    suite = Suite(arguments.build / "tests/outside/outside_runner", arguments.seeds)
    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        libraries = dict(zip(tests, pool.map(
            lambda path: build(path, sources, libraries_folder), tests.values())))
    built = {name: library for name, library in libraries.items() if library is not None}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:  # They sleep most of the time.
        linux = dict(zip(built, pool.map(suite.on_linux, built.values())))
    passing = {name: built[name] for name, why in linux.items() if not why}
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        world = dict(zip(passing, pool.map(suite.in_world, passing.values())))
    return report(arguments, tests, world)


def report(arguments, tests, world):
    counted = sorted(name for name, why in world.items() if not why)
    known = COUNTED.read_text(encoding="utf-8").split() if COUNTED.exists() else []
    reasons = read_reasons()
    lost = [name for name in known if world.get(name)]
    unexplained = [name for name, why in world.items() if why and not reason_for(name, reasons)]
    print(f"posixtestsuite: {len(tests)} tests, {len(world)} pass on Linux, "
          f"{len(counted)} of them in the world with calm and {arguments.seeds} seeds")
    for name, why in world.items():
        if why:
            print(f"  {name}: {why} ({reason_for(name, reasons) or 'no reason is known'})")
    for name in lost:
        print(f"outside: {name} has counted before: {world[name]}")
    for name in unexplained:
        print(f"outside: {name} has no line in {REASONS.name}")
    if arguments.write and not arguments.only:
        COUNTED.write_text("\n".join(sorted({*known, *counted})) + "\n", encoding="utf-8")
        write_page(arguments.source / "docs/bench/outside.md", tests, world, counted, reasons,
                   arguments.seeds)
    return 1 if lost or unexplained else 0


def write_page(page, tests, world, counted, reasons, seeds):
    rows = {}
    for name, why in world.items():
        if why:
            rows.setdefault(reason_for(name, reasons) or "not known", []).append(name)
    lines = [f"| {why} | {', '.join(f'`{name}`' for name in names)} |"
             for why, names in sorted(rows.items())]
    page.write_text(PAGE.format(tests=len(tests), linux=len(world), counted=len(counted),
                                seeds=seeds, rows="\n".join(lines)), encoding="utf-8")


PAGE = """# Suites that others wrote

`./dev outside` fetches the sources of a suite, builds its tests unchanged and runs each on Linux
and in a simulated machine. A test counts when it passes on Linux, and in the world with the
strategy `calm` and with {seeds} seeds of `random`, each seed twice with the same trace. There are
no faults. `./dev outside --write` writes this page.

## posixtestsuite 1.5.2

The tests of threads, semaphores, clocks and `nanosleep`. Those that call `clock_settime` are left
out: on Linux they set the clock of the real machine.

| tests | pass on Linux | count |
|---|---|---|
| {tests} | {linux} | {counted} |

The others that pass on Linux:

| why | tests |
|---|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
