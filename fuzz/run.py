#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every target of the build in turn, the canary first: a fuzzer that does not find the bug
that is planted there is blind, and nothing else it says counts.

A line for each target says how many inputs it ran and what came of it. What fails is an input in
fuzz/corpus/TARGET, a tape in the output folder and a line to paste; the exit code is then 1. Inputs
that reached something new are in BUILD/fuzz/new/TARGET; --merge adds to the corpus those of them
that still do.

Usage: run.py [--build DIR] [--time SECONDS] [--seed N] [--only TARGET] [--merge] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent
CORPUS = FOLDER / "corpus"

# The canary has to be found within so many inputs.
CANARY_BUDGET = 50_000
# By target: the simulated test that is fuzzed; the parsers are none.
TARGETS = {
    "canary": "Canary.TheLockStaysShut",
    "worker_pool": "WorkerPool.DoesWhatItHasAccepted",
    "core_laws": "CoreLaws.HoldForEveryProgram",
    "parsers": None,
}
SECONDS_FOR_ONE_INPUT = 10
MEGABYTES = 4096

STATISTIC = re.compile(r"^stat::(\w+):\s+(\d+)$", re.M)
ARTIFACT = re.compile(r"Test unit written to (\S+)")


class Fuzzer:
    """One target's program."""

    def __init__(self, build, name):
        self.name, self.test = name, TARGETS[name]
        self.program = build / "fuzz" / f"fuzz_{name}"
        self.out = build / "fuzz" / "out"
        self.new = build / "fuzz" / "new" / name
        self.corpus = CORPUS / name
        if not self.program.exists():
            sys.exit(f"fuzz: {self.program} is missing; `./dev fuzz` builds it")

    def run(self, arguments):
        """Its exit code, and what it printed."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FERMATA_")}
        # Leaks are looked for by the simulator, after each run, and by the tests.
        environment["ASAN_OPTIONS"] = "detect_leaks=0"
        if self.test:
            environment |= {"FERMATA_FUZZ": self.test, "FERMATA_OUT": str(self.out)}
        done = subprocess.run([str(self.program), "-print_final_stats=1", "-detect_leaks=0",
                               f"-timeout={SECONDS_FOR_ONE_INPUT}", f"-rss_limit_mb={MEGABYTES}",
                               *arguments],
                              cwd=ROOT, env=environment, text=True, errors="replace", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def flags(self):
        dictionary = FOLDER / f"{self.name}.dict"
        return [f"-dict={dictionary}"] if dictionary.exists() else []

    def hunt_canary(self, seed):
        """From nothing: what its corpus has is the bug."""
        self.out.mkdir(parents=True, exist_ok=True)
        return self.run([f"-seed={seed}", f"-runs={CANARY_BUDGET}",
                         f"-artifact_prefix={self.out}/"])

    def fuzz(self, seed, seconds):
        self.new.mkdir(parents=True, exist_ok=True)
        self.corpus.mkdir(parents=True, exist_ok=True)
        return self.run([f"-seed={seed}", f"-max_total_time={seconds}", *self.flags(),
                         f"-artifact_prefix={self.corpus}/", str(self.new), str(self.corpus)])

    def merge(self):
        code, output = self.run(["-merge=1", str(self.corpus), str(self.new)])
        if code != 0:
            print(output)
            sys.exit(f"fuzz: {self.name}: the new inputs could not be merged")
        shutil.rmtree(self.new)

    def reproduction(self, artifact):
        """The line that repeats an input whose run has killed the process."""
        if not self.test:
            return f"{self.program} {artifact}"
        data = pathlib.Path(artifact).read_bytes()
        seed = int.from_bytes(data[:8], "little")
        return (f"FERMATA_SEED={seed:#x} FERMATA_STRATEGY=bytes:{data.hex()} {self.program} "
                f"--gtest_filter={self.test}")


def statistics_of(output):
    found = dict(STATISTIC.findall(output))
    runs = int(found.get("number_of_executed_units", 0))
    rate = int(found.get("average_exec_per_sec", 0))
    return runs, rate, int(found.get("new_units_added", 0))


def told(output):
    """What is for people; after a report the fuzzer's own stack is none of it."""
    if "reproduce: " in output:
        output = output.split("ERROR: libFuzzer: deadly signal", maxsplit=1)[0]
    return output[-20000:]


def row(name, value, unit, ok, limit=None):
    return {"name": f"fuzz.{name}", "value": value, "unit": unit, "ratio": None, "limit": limit,
            "ok": ok}


def say(name, runs, rate, new, verdict):
    print(f"{name:<12} {runs:>9} inputs  {rate:>7}/s  {new:>5} new  {verdict}", flush=True)


def look_at_canary(fuzzer, seed):
    code, output = fuzzer.hunt_canary(seed)
    runs, rate, new = statistics_of(output)
    found = code != 0 and "safety: " in output and "reproduce: " in output
    say(fuzzer.name, runs, rate, new, "found, as it must be" if found else "NOT FOUND")
    if not found:
        print(output[-4000:])
    return [row("canary.inputs", runs, "inputs", found, CANARY_BUDGET)]


def fuzz_one(fuzzer, seed, seconds):
    code, output = fuzzer.fuzz(seed, seconds)
    runs, rate, new = statistics_of(output)
    artifact = ARTIFACT.search(output)
    say(fuzzer.name, runs, rate, new, "passes" if code == 0 else "FAILS")
    if code != 0:
        print(told(output))
        if artifact:
            print(f"{fuzzer.name}: the input is {artifact[1]}: it is a test from now on")
            if "reproduce: " not in output:
                print(f"reproduce: {fuzzer.reproduction(artifact[1])}")
    return [row(f"{fuzzer.name}.inputs", runs, "inputs", code == 0),
            row(f"{fuzzer.name}.rate", rate, "inputs/s", runs > 0),
            row(f"{fuzzer.name}.new", new, "inputs", True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/fuzz")
    parser.add_argument("--time", type=int, default=60,
                        help="seconds for all targets but the canary, which takes what it takes")
    parser.add_argument("--seed", type=int, default=1, help="libFuzzer's")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--merge", action="store_true", help="add what is new to the corpora")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.time < 1:
        parser.error(f"--time: {options.time} is too short; expected seconds, at least 1")
    names = [options.only] if options.only else list(TARGETS)
    seconds = max(1, options.time // max(1, len(names) - ("canary" in names)))
    rows = []
    for name in names:
        fuzzer = Fuzzer(options.build.resolve(), name)
        if name == "canary":
            rows += look_at_canary(fuzzer, options.seed)
            if not rows[-1]["ok"]:
                break
            continue
        rows += fuzz_one(fuzzer, options.seed, seconds)
        if options.merge and rows[-3]["ok"]:
            fuzzer.merge()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(each["ok"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
