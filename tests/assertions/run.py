#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the assertions of runtime/ and sim/, and the oracles of sim/, catch what they are there for?

mutants.toml has assertions that were drawn by seed, each with a change of one line that makes it
fail, and the test that reaches it: the test has to end with the assertion's own words. oracles.toml
has changes of one line that make an oracle blind, late or wrong, and the test that has to fail.
`--check` looks whether all of them still fit the sources. Without it each change is compiled,
linked with its test, and run; without the change the test has to pass.

Usage: run.py --check
       run.py [--build DIR] [--json FILE] [--list assertions|oracles] [--only NUMBER]...
       run.py --self-test
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(HERE.parent / "tidy"), str(HERE.parent / "mutants")]

import assertions  # noqa: E402
from patched_build import PatchedBuild, run  # noqa: E402

WALL_LIMIT = 120  # Seconds, of one test.
LISTS = {"assertions": "mutants.toml", "oracles": "oracles.toml"}
LEAST = {"assertions": 20, "oracles": 30}


class Mutant:
    """A row of one of the lists; of an oracle's, without an assertion."""

    def __init__(self, number, row, kind="assertions"):
        self.name = f"{kind}/{number:02}"
        self.number = number
        self.file = row["file"]
        self.function = row.get("function", "")
        self.condition = row.get("assertion")
        self.before, self.after = row["before"], row["after"]
        self.changed = row.get("changed", self.file)
        self.through = row.get("through", self.changed)  # A source, when a header is changed.
        self.program, self.filter = row["program"], row["filter"]
        self.says = row.get("says")

    def title(self):
        if self.condition:
            return f"{self.function}: {self.condition}"
        return f"{self.file}: {self.after.strip() or 'without ' + self.before.strip()}"

    def expected(self):
        """What the test prints when the assertion fails; None: anything."""
        if not self.condition:
            return self.says
        return self.says or f"assertion '{self.condition}' failed at .*{self.file}:"

    def is_caught(self, printed):
        """Whether the assertion, no other one, has spoken; of an oracle, the test."""
        if self.says or not self.condition:
            return self.says is None or self.says in printed
        said = f"assertion '{self.condition}' failed at "
        return any(said in line and f"{self.file}:" in line for line in printed.splitlines())

    def applied_to(self, text):
        """The text of the changed file; or None when the line is not there once."""
        return text.replace(self.before, self.after) if text.count(self.before) == 1 else None

    def complaints(self, root):
        """What does not fit the sources."""
        source = assertions.Source(self.file, (root / self.file).read_text(encoding="utf-8"))
        if self.condition and not any(each.function.endswith(self.function)
                                      and each.condition == self.condition
                                      for each in source.assertions):
            yield f"{self.file}: {self.function} does not assert '{self.condition}'"
        if self.applied_to((root / self.changed).read_text(encoding="utf-8")) is None:
            yield f"{self.changed}: expected once: '{self.before.strip()}'"
        if "\n" in self.before.strip() + self.after.strip() or self.before == self.after:
            yield f"{self.name}: expected a change of one line"


def mutants_of(kind):
    rows = tomllib.loads((HERE / LISTS[kind]).read_text(encoding="utf-8"))["mutant"]
    return [Mutant(number, row, kind) for number, row in enumerate(rows, start=1)]


def make(mutant, build):
    """The test with the mutant in it."""
    overlay = build.build / "mutants" / mutant.name
    shutil.rmtree(overlay, ignore_errors=True)
    changed = overlay / mutant.changed
    changed.parent.mkdir(parents=True)
    text = (ROOT / mutant.changed).read_text(encoding="utf-8")
    changed.write_text(mutant.applied_to(text), encoding="utf-8")
    compilations = build.touched_by([mutant.through])
    return build.make(mutant.program, compilations, overlay)


def outcome(binary, mutant):
    """Whether the test passed, and what it printed."""
    try:
        done = run([str(binary), f"--gtest_filter={mutant.filter}"], timeout=WALL_LIMIT,
                   cwd=binary.parent)
    except subprocess.TimeoutExpired:
        return False, "took too long"
    ran = re.search(r"\[==========\] [1-9]\d* tests? from", done.stdout)
    return done.returncode == 0 and ran is not None, done.stdout + done.stderr


def verdict_on(mutant, build):
    """Empty when the mutant is caught as it should be."""
    try:
        passed, printed = outcome(build.program(mutant.program), mutant)
        if not passed:
            return f"fails without the change:\n{printed}"
        passed, printed = outcome(make(mutant, build), mutant)
    except RuntimeError as error:
        return str(error)
    if mutant.is_caught(printed) and not passed:
        return ""
    expected = f'"{mutant.expected()}"' if mutant.expected() else "the test to fail"
    return f"expected {expected}:\n{printed[-2000:]}"


def check(kind):
    mutants = mutants_of(kind)
    complaints = [each for mutant in mutants for each in mutant.complaints(ROOT)]
    named = {(each.file, each.function, each.condition or each.before) for each in mutants}
    if len(named) < LEAST[kind]:
        complaints.append(f"expected mutants of at least {LEAST[kind]} {kind}")
    print("\n".join([*complaints, f"{kind}: {len(mutants)} mutants, {len(complaints)} complaints"]))
    return 1 if complaints else 0


def try_all(mutants, options):
    build, rows, failed = PatchedBuild(options.build.resolve()), [], 0
    for mutant in mutants:
        if options.only and mutant.number not in options.only:
            continue
        complaint = verdict_on(mutant, build)
        failed += bool(complaint)
        print(f"{mutant.name} {mutant.title()}: {complaint or 'caught'}", flush=True)
        rows.append({"name": mutant.name, "value": 0 if complaint else 1,
                     "unit": "caught", "ratio": None, "limit": 1, "ok": not complaint})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"mutants: {len(rows)}, {failed} not caught")
    return 1 if failed or not rows else 0


def self_test():
    row = {"file": "a.cpp", "function": "f", "assertion": "x > 0", "before": "a();",
           "after": "b();", "program": "p", "filter": "F.*"}
    mutant = Mutant(1, row)
    assert mutant.applied_to("{ a(); }") == "{ b(); }"
    assert mutant.applied_to("{ a(); a(); }") is None
    assert mutant.is_caught("fermata: assertion 'x > 0' failed at build/01/a.cpp:7")
    assert not mutant.is_caught("fermata: assertion 'x > 1' failed at build/01/a.cpp:7")
    oracle = Mutant(1, {key: row[key] for key in ("file", "before", "after", "program", "filter")})
    assert oracle.is_caught("[  FAILED  ] F.Fails")
    assert oracle.title() == "a.cpp: b();"


def main():
    parser = argparse.ArgumentParser(description="Do assertions and oracles catch their mutants?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", choices=LISTS)
    parser.add_argument("--only", action="append", type=int, metavar="NUMBER")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    kinds = [options.list] if options.list else list(LISTS)
    if options.check:
        return max(check(kind) for kind in kinds)
    return try_all([mutant for kind in kinds for mutant in mutants_of(kind)], options)


if __name__ == "__main__":
    sys.exit(main())
