#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the simulation of each example find the bug that its comment warns of?

usage: examples_bugs.py SOURCE_DIR BUILD_DIR [NAME]

examples/NAME/bug.patch puts that bug back. It is applied to a copy, NAME's simulated test is built
from the copy, and must fail with a line to reproduce the failure. An example whose bug is behind a
flag needs no patch: its tests that are called DISABLED_ run with the bug, and each must print a
signature that begins with what the comment before it names, in a report that people read at a
glance: from several seeds it has at most forty lines, not counted those for tools. Of a single NAME
that is given it prints what the test prints.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def with_bug(patch, source, build):
    """The simulated test of an example, built with its bug; or what went wrong."""
    name = patch.parent.name
    folder = build / "examples_bugs" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(patch.parent, folder / "examples" / name)
    applied = run(["patch", "-p1", "-F0", "-i", str(patch)], cwd=folder)
    if applied.returncode != 0:
        return None, f"bug.patch no longer applies:\n{applied.stdout}"
    target = f"example_{name}_sim_test"
    binary = folder / target
    link = run(["ninja", "-t", "commands", target], cwd=build).stdout.strip().splitlines()[-1]
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        arguments = shlex.split(entry["command"])
        output = arguments[arguments.index("-o") + 1]
        if f"{target}.dir/" not in output:
            continue
        relative = pathlib.Path(entry["file"]).relative_to(source)
        changed = folder / f"{relative.name}.o"
        arguments[arguments.index("-o") + 1] = str(changed)
        arguments[-1] = str(folder / relative)
        include = next(i for i, one in enumerate(arguments) if one.startswith("-I"))
        arguments.insert(include, f"-I{folder}")
        compiled = run(arguments, cwd=build)
        if compiled.returncode != 0:
            return None, f"does not compile with its bug:\n{compiled.stderr}"
        link = link.replace(f" {output} ", f" {changed} ")
    link = link.replace(f"-o examples/{name}/{target}", f"-o {binary}")
    linked = run(link, shell=True, cwd=build)
    if linked.returncode != 0:
        return None, f"does not link with its bug:\n{linked.stderr}"
    return binary, ""


def complaint_about(patch, source, build):
    binary, complaint = with_bug(patch, source, build)
    if binary is None:
        return complaint
    tried = run([str(binary)], cwd=binary.parent, timeout=300)
    if tried.returncode == 0:
        return "its simulation does not find its bug"
    if "reproduce: " not in tried.stdout + tried.stderr:
        return f"its simulation fails in another way:\n{tried.stdout}{tried.stderr}"
    return ""


DISABLED_TEST = re.compile(r"^// Finds: (.+)\nSIM_TEST\((\w+), (DISABLED_\w+)\)", re.MULTILINE)


def disabled_tests(folder):
    """Name and signature of each test of an example that runs it with its bug."""
    for path in sorted(folder.glob("*_sim_test.cpp")):
        for found in DISABLED_TEST.finditer(path.read_text(encoding="utf-8")):
            yield f"{found[2]}.{found[3]}", found[1]


def disabled_command(build, name, test):
    binary = build / "examples" / name / f"example_{name}_sim_test"
    return [str(binary), "--gtest_also_run_disabled_tests", f"--gtest_filter={test}"]


SEEDS = ("1", "2", "3")
MOST_LINES = 40
REPORT = re.compile(r"^Failed\n(.+?)^trace hash", re.MULTILINE | re.DOTALL)
FOR_TOOLS = ("reproduce: ", "  signature  ", "shrunk: ")


def lines_for_people(output):
    """The lines of the first report in a test's output that people read; tools have the others."""
    found = REPORT.search(output)
    lines = found[1].splitlines() if found else []
    return [line for line in lines if not line.startswith(FOR_TOOLS)]


def complaint_about_disabled(build, name, test, signature, seed):
    folder = build / "examples_bugs" / name
    folder.mkdir(parents=True, exist_ok=True)
    seeded = {**os.environ, "FERMATA_SEED": seed, "FERMATA_RUNS": "2000"}
    tried = run(disabled_command(build, name, test), cwd=folder, timeout=300, env=seeded)
    output = tried.stdout + tried.stderr
    if tried.returncode == 0:
        return f"{test} does not find its bug from seed {seed}"
    if f"signature  {signature}" not in output:
        return f"{test} fails in another way from seed {seed}:\n{output}"
    lines = lines_for_people(output)
    if not 0 < len(lines) <= MOST_LINES:
        return f"{test} has a report of {len(lines)} lines from seed {seed}:\n{output}"
    return ""


def show(name, source, build):
    folder = build / "examples_bugs" / name
    for test, _ in disabled_tests(source / "examples" / name):
        folder.mkdir(parents=True, exist_ok=True)
        command = disabled_command(build, name, test)
        return subprocess.run(command, cwd=folder, timeout=300, check=False).returncode
    binary, complaint = with_bug(source / "examples" / name / "bug.patch", source, build)
    if binary is None:
        print(complaint)
        return 1
    return subprocess.run([str(binary)], cwd=binary.parent, timeout=300, check=False).returncode


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 1
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if len(sys.argv) == 4:
        return show(sys.argv[3], source, build)
    complaints = {}
    for patch in sorted(source.glob("examples/*/bug.patch")):
        complaints[patch.parent.name] = complaint_about(patch, source, build)
    for folder in sorted(source.glob("examples/*/")):
        for test, signature in disabled_tests(folder):
            name = folder.name
            for seed in SEEDS:
                complaint = complaint_about_disabled(build, name, test, signature, seed)
                complaints[f"{name}: {test}, seed {seed}"] = complaint
    for name, complaint in complaints.items():
        print(f"{name}: {complaint or 'found'}")
    return 1 if any(complaints.values()) or not complaints else 0


if __name__ == "__main__":
    sys.exit(main())
