#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Would the harness notice if the runtime were broken? Puts real bugs back and hunts them.

Each *.patch beside this script is one bug, against a copy of runtime/ and sim/ that is built apart.
It counts as found when the workload of its entry, among 3 to 10 unrelated coroutines, reports the
invariant that the bug breaks; when its seed replays; when the calm order does not show it, if it
needs two orderings or more; and when the same workload passes without the bug. Then the programs
in applications/ are hunted, as applications.py has it, and docs/bench/finding.md is written, unless
only some were asked for.

Usage: run.py [--build DIR] [--json FILE] [--only ID] [--seeds N] [--limit N] [--control N]
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys

import applications

ZOO = pathlib.Path(__file__).resolve().parent
ROOT = ZOO.parent.parent
STRATEGIES = ("fifo", "random", "pct:3")
DEFAULT = "random"  # The strategy that has to find each bug, whatever the others do.
CALM_SEEDS = 50
FIRST_LAW_SCHEDULES = 100
WALL_LIMIT = 300  # Seconds, of one hunt.
WORKERS = 2
PATCHED = ("runtime", "sim")
UNITY = ".cxx"  # Of a file that includes the sources which are compiled as one.


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def sources_of(file):
    """The sources of the repository that compiling `file` compiles."""
    if file.suffix != UNITY:
        return {str(file.relative_to(ROOT))}
    included = re.findall(r'^#include "(/[^"]+)"', file.read_text(encoding="utf-8"), re.M)
    return {str(pathlib.Path(each).relative_to(ROOT)) for each in included}


class Mutant:
    """A copy of the runtime with one patch, and zoo_hunt linked against it."""

    def __init__(self, patch, build):
        self.patch, self.build = patch, build
        self.name = patch.stem
        self.title = patch.read_text(encoding="utf-8").splitlines()[0]  # "Z-CB-01: what is wrong."
        self.folder = build / "zoo" / self.name
        self.binary = self.folder / "zoo_hunt"

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for part in PATCHED:
            shutil.copytree(ROOT / part, self.folder / part)
        applied = run(["patch", "-p1", "-F0", "--no-backup-if-mismatch", "-i", str(self.patch)],
                      cwd=self.folder)
        if applied.returncode != 0:
            sys.exit(f"zoo: {self.patch.name} no longer applies:\n{applied.stdout}{applied.stderr}")
        touched = re.findall(r"^\+\+\+ b/(\S+)", self.patch.read_text(encoding="utf-8"), re.M)
        commands = self.compile_commands(touched)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for result in pool.map(lambda each: run(each[1], shell=True, cwd=self.build), commands):
                if result.returncode != 0:
                    sys.exit(f"zoo: {self.name} does not compile:\n{result.stderr}")
        self.link([output for output, _ in commands])

    def compile_commands(self, touched):
        """What must be compiled again: (object, command) for each source concerned."""
        entries = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        headers = {file for file in touched if file.endswith(".hpp")}
        dependents = self.dependents_of(headers) if headers else set()
        linked = self.link_command()
        commands = []
        for entry in entries:
            target = re.search(r"-o ((?:\S+/)?CMakeFiles/(\w+)\.dir/\S+)", entry["command"])
            if not target or (f"lib{target[2]}.a" not in linked and target[1] not in linked):
                continue
            sources = sources_of(pathlib.Path(entry["file"]))
            if not sources & set(touched) and target[1] not in dependents:
                continue
            output = self.folder / "objects" / target[1]
            output.parent.mkdir(parents=True, exist_ok=True)
            command = entry["command"].replace(f"-o {target[1]}", f"-o {output}")
            for part in PATCHED:
                command = command.replace(f"-I{ROOT / part} ", f"-I{self.folder / part} ")
            command = re.sub(r"-M[FT] \S+|-MD|-Werror", "", command)
            command = command.replace(entry["file"], str(self.patched(pathlib.Path(entry["file"]))))
            commands.append((target[1], command))
        return commands

    def patched(self, file):
        """What is to be compiled in place of `file`."""
        if file.suffix == UNITY:
            copy = self.folder / "objects" / file.relative_to(self.build)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8")
            for part in PATCHED:
                text = text.replace(f'"{ROOT / part}/', f'"{self.folder / part}/')
            copy.write_text(text, encoding="utf-8")
            return copy
        source = file.relative_to(ROOT)
        return self.folder / source if source.parts[0] in PATCHED else file

    def dependents_of(self, headers):
        """Objects that were compiled with one of `headers`."""
        found, current = set(), None
        for line in run(["ninja", "-t", "deps"], cwd=self.build).stdout.splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif any(line.endswith("/" + header) for header in headers):
                found.add(current)
        return found

    def link_command(self):
        commands = run(["ninja", "-t", "commands", "zoo_hunt"], cwd=self.build).stdout
        return commands.strip().splitlines()[-1]

    def link(self, objects):
        if not objects:
            sys.exit(f"zoo: nothing that zoo_hunt is linked from has {self.name}")
        command = self.link_command()
        extra = []
        for name in objects:
            mutated = str(self.folder / "objects" / name)
            if f" {name} " in command:
                command = command.replace(f" {name} ", f" {mutated} ")
            else:
                extra.append(mutated)  # It comes before the library that has the original.
        command = re.sub(r"-o \S*zoo_hunt", f"{shlex.join(extra)} -o {self.binary}", command)
        linked = run(command, shell=True, cwd=self.build)
        if linked.returncode != 0:
            sys.exit(f"zoo: {self.name} does not link:\n{linked.stderr}")


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
        self.plain = plain
        self.complaints = []
        self.medians = {}
        self.laws = []
        self.message = ""

    def hold(self, laws):
        name, limit = self.entry["mutant"], self.options.limit
        seeds = range(1, self.options.seeds + 1)
        for strategy in STRATEGIES:
            results = hunts(self.mutant.binary, name, strategy, seeds, limit, self.pool)
            self.medians[strategy] = median_runs(results, limit)
            self.check(strategy, results)
        if self.entry["depth"] >= 2:
            calm = hunt(self.mutant.binary, name, "calm", 1, CALM_SEEDS)
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
                lambda law: hunt(self.mutant.binary, law, DEFAULT, 1, limit), laws)
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
    if {patch.stem for patch in patches} != entries.keys():
        sys.exit(f"zoo: patches {[p.stem for p in patches]} and workloads {list(entries)} differ")

    rows, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for patch in patches:
            if options.only and patch.stem not in options.only:
                continue
            mutant = Mutant(patch, build)
            mutant.make()
            trial = Trial(entries[patch.stem], mutant, plain, options, pool)
            trial.hold(laws)
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
