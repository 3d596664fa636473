#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Would the harness notice if the runtime were broken? Puts real bugs back and hunts them.

Each *.patch beside this script is one bug, in copies of the sources that it changes.
It counts as found when the workload of its entry, among 3 to 10 unrelated coroutines, reports the
invariant that the bug breaks; when its seed replays; when the calm order does not show it, if it
needs two orderings or more; and when the same workload passes without the bug. The tests of
foreign.tsv have to find theirs, too. Then the programs
in applications/ are hunted, as applications.py has it, and docs/bench/finding.md is written, unless
only some were asked for.

Usage: run.py [--build DIR] [--json FILE] [--only ID] [--seeds N] [--limit N] [--control N]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import applications

ZOO = pathlib.Path(__file__).resolve().parent
ROOT = ZOO.parent.parent
sys.path.append(str(ROOT / "tests" / "mutants"))

from patched_build import PatchedBuild, run  # noqa: E402

STRATEGIES = ("fifo", "random", "pct:3")
DEFAULT = "random"  # The strategy that has to find each bug, whatever the others do.
CALM_SEEDS = 50
FIRST_LAW_SCHEDULES = 100
WALL_LIMIT = 300  # Seconds, of one hunt.
WORKERS = 2
FOREIGN = ZOO / "foreign.tsv"
FOREIGN_SEEDS = (1, 2, 3)
REPORTED = (2, 3, 4, 6)  # Exit codes of what a simulated test reports.


class Mutant:
    """A copy of the sources with one patch, and programs linked against it."""

    def __init__(self, patch, build):
        self.patch, self.build = patch, build
        self.name = patch.stem
        self.title = patch.read_text(encoding="utf-8").splitlines()[0]  # "Z-CB-01: what is wrong."
        self.folder = build.build / "zoo" / self.name

    def prepare(self):
        touched = re.findall(r"^\+\+\+ b/(\S+)", self.patch.read_text(encoding="utf-8"), re.M)
        shutil.rmtree(self.folder, ignore_errors=True)
        for file in touched:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.folder / file)
        applied = run(["patch", "-p1", "-F0", "--no-backup-if-mismatch", "-i", str(self.patch)],
                      cwd=self.folder)
        if applied.returncode != 0:
            sys.exit(f"zoo: {self.patch.name} no longer applies:\n{applied.stdout}{applied.stderr}")
        self.compilations = self.build.touched_by(touched)

    def make(self, program):
        try:
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                return self.build.make(program, self.compilations, self.folder, pool)
        except RuntimeError as error:
            sys.exit(f"zoo: {self.name}: {error}")


def hunt(binary, what, strategy, seed, limit):
    """What one hunt printed; a hunt that died before it printed has found nothing."""
    try:
        result = run([str(binary), what, strategy, str(seed), str(limit)], timeout=WALL_LIMIT)
    except subprocess.TimeoutExpired:
        return {"runs": limit, "found": False, "message": "took too long"}
    line = result.stdout.splitlines()[:1]
    if not line:
        return {"runs": 0, "found": False, "message": f"died: {result.returncode} {result.stderr}"}
    return json.loads(line[0])


def hunts(binary, what, strategy, seeds, limit, pool):
    return list(pool.map(lambda seed: hunt(binary, what, strategy, seed, limit), seeds))


def median_runs(results, limit):
    """Schedules to the first failure that counts; as many as the limit when there is none."""
    return statistics.median(
        each["runs"] if each["found"] and each["about"] else limit for each in results)


class Trial:
    """One mutant, hunted by its workload and by the laws."""

    def __init__(self, entry, mutant, plain, options, pool):
        self.entry, self.mutant, self.options, self.pool = entry, mutant, options, pool
        self.plain, self.binary = plain, mutant.make("zoo_hunt")
        self.complaints = []
        self.medians = {}
        self.laws = []
        self.message = ""

    def hold(self, laws):
        name, limit = self.entry["mutant"], self.options.limit
        seeds = range(1, self.options.seeds + 1)
        for strategy in STRATEGIES:
            results = hunts(self.binary, name, strategy, seeds, limit, self.pool)
            self.medians[strategy] = median_runs(results, limit)
            self.check(strategy, results)
        if self.entry["depth"] >= 2:
            calm = hunt(self.binary, name, "calm", 1, CALM_SEEDS)
            if calm["found"] or calm["runs"] != CALM_SEEDS:
                self.complaints.append(f"the calm run shows it: {calm.get('message')}")
        for strategy in STRATEGIES:
            control = hunt(self.plain, name, strategy, 1, self.options.control)
            if control["found"] or control["runs"] != self.options.control:
                self.complaints.append(f"fails without the mutant: {control.get('message')}")
        self.laws = self.laws_that_find(laws)
        if not self.laws:
            self.complaints.append("no law finds it")

    def laws_that_find(self, laws):
        """Those that do in as few schedules as it takes one of them, in powers of ten."""
        limit = FIRST_LAW_SCHEDULES
        while True:
            limit = min(limit, self.options.limit)
            results = self.pool.map(
                lambda law: hunt(self.binary, law, DEFAULT, 1, limit), laws)
            found = [(law, result) for law, result in zip(laws, results) if result["found"]]
            if found or limit == self.options.limit:
                return found
            limit *= 10

    def check(self, strategy, results):
        found = [each for each in results if each["found"]]
        if any(not each["replays"] for each in found):
            self.complaints.append(f"a seed of {strategy} does not replay")
        if any(not each["about"] for each in found):
            other = next(each["message"] for each in found if not each["about"])
            self.complaints.append(f"{strategy} finds something else: {other}")
        if strategy == DEFAULT:
            self.message = found[0]["message"] if found else ""
            missed = [each for each in results if not each["found"]]
            if missed:
                self.complaints.append(
                    f"{len(missed)} of {len(results)} seeds of {strategy} miss it "
                    f"{missed[0].get('message', '')}")

    def ok(self):
        return not self.complaints

    def rows(self):
        limit = self.options.limit
        for strategy, median in self.medians.items():
            yield {"name": f"zoo/{self.entry['mutant']}/{strategy}", "value": median,
                   "unit": "schedules", "ratio": median / limit, "limit": limit,
                   "ok": self.ok() and (strategy != DEFAULT or median < limit)}

    def show(self):
        entry, limit = self.entry, self.options.limit
        print(f"{self.mutant.title} (depth {entry['depth']})")
        shown = ", ".join(f"{strategy} {'not found' if median >= limit else f'{median:g}'}"
                          for strategy, median in self.medians.items())
        print(f"  {'FOUND' if self.ok() else 'NOT FOUND'}: median schedules over "
              f"{self.options.seeds} seeds: {shown}")
        print(f"  by its workload: {self.message}")
        for law, result in self.laws:
            print(f"  by law {law}, {result['runs']} schedules, seed {result['seed']}: "
                  f"{result['message']}")
        for complaint in self.complaints:
            print(f"  ! {complaint}")
        sys.stdout.flush()


class ForeignTrial:
    """One mutant, hunted by a test over foreign code, such as the real libpq."""

    def __init__(self, mutant, program, test, limit):
        self.mutant, self.test, self.limit = mutant, test, limit
        self.binary = mutant.make(program)
        self.results = []

    def hold(self):
        self.results = [self.explore(seed) for seed in FOREIGN_SEEDS]

    def explore(self, seed):
        environment = {**os.environ, "FERMATA_SEED": str(seed), "FERMATA_RUNS": str(self.limit),
                       "FERMATA_OUT": str(self.mutant.folder / "out"), "FERMATA_SHRINK": "off"}
        try:
            done = run([str(self.binary), f"--gtest_filter={self.test}"], timeout=WALL_LIMIT,
                       env=environment)
        except subprocess.TimeoutExpired:
            return {"runs": self.limit, "found": False, "message": "took too long"}
        found = re.search(r"^((?:safety|liveness|deadlock|leak): .*)\n(?:.*\n)*?.* run (\d+) of ",
                          done.stdout, re.M)
        if done.returncode not in REPORTED or not found:
            return {"runs": self.limit, "found": False, "message": f"exit code {done.returncode}"}
        return {"runs": int(found[2]), "found": True, "message": found[1]}

    def ok(self):
        return all(each["found"] for each in self.results)

    def rows(self):
        median = statistics.median(each["runs"] for each in self.results)
        yield {"name": f"zoo/{self.mutant.name}/{self.test}", "value": median, "unit": "schedules",
               "ratio": median / self.limit, "limit": self.limit, "ok": self.ok()}

    def show(self):
        runs = ", ".join(str(each["runs"]) if each["found"] else "not found"
                         for each in self.results)
        print(f"{self.mutant.title}\n  {'FOUND' if self.ok() else 'NOT FOUND'} by {self.test}: "
              f"{runs} schedules\n  {self.results[0]['message']}")
        sys.stdout.flush()


def foreign_tests():
    """mutant -> the programs and tests over foreign code that have to find it."""
    tests = {}
    for line in FOREIGN.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            mutant, program, test = line.split("\t")
            tests.setdefault(mutant, []).append((program, test))
    return tests


def main():
    parser = argparse.ArgumentParser(description="Are the mutants in properties/zoo found?")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", action="append", metavar="ID")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--control", type=int, default=10_000,
                        help="schedules of each workload without its mutant")
    options = parser.parse_args()
    build = options.build.resolve()
    plain = build / "properties" / "zoo_hunt"
    listed = [json.loads(line) for line in run([str(plain), "list"]).stdout.splitlines()]
    entries = {each["mutant"]: each for each in listed if "mutant" in each}
    laws = [each["law"] for each in listed if "law" in each]
    patches = sorted(ZOO.glob("*.patch"))
    tests = foreign_tests()
    if {patch.stem for patch in patches} != entries.keys() | tests.keys():
        sys.exit(f"zoo: patches {[p.stem for p in patches]} and workloads {list(entries)} differ")

    rows, failed, patched = [], 0, PatchedBuild(build)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for patch in patches:
            if options.only and patch.stem not in options.only:
                continue
            mutant = Mutant(patch, patched)
            mutant.prepare()
            trials = []
            if patch.stem in entries:
                trials.append(Trial(entries[patch.stem], mutant, plain, options, pool))
                trials[-1].hold(laws)
            for program, test in tests.get(patch.stem, []):
                trials.append(ForeignTrial(mutant, program, test, options.limit))
                trials[-1].hold()
            for trial in trials:
                trial.show()
                rows += trial.rows()
                failed += not trial.ok()
    finding = None if options.only else ROOT / "docs" / "bench" / "finding.md"
    found, wrong = applications.hunt(build, options.only, options.control, finding)
    rows += found
    failed += wrong
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("all found" if not failed else f"{failed} not found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
