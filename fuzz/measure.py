#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is it worth it? How many runs libFuzzer needs to find each of a few bugs, from an empty corpus,
and how many the strategies `random` and `portfolio` need. Prints a table for docs/bench/fuzzing.md.

The bugs are the canary, which was made for fuzzers, and the applications of properties/zoo, which
were not. Each is hunted with several seeds; a hunt that finds nothing counts as its limit, marked
with `>`.

Usage: measure.py --fuzz BUILD --plain BUILD [--seeds N] [--limit N] [--only NAME]
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s+(\d+)$", re.M)
RUN = re.compile(r", run (\d+) of \d+")
STRATEGIES = ("random", "portfolio")


def run(command, variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FERMATA_")}
    done = subprocess.run(command, cwd=ROOT, env=kept | variables, text=True, errors="replace",
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def by_fuzzer(program, test, seed, limit, folder):
    code, output = run([str(program), f"-seed={seed}", f"-runs={limit}", "-print_final_stats=1",
                        "-detect_leaks=0", f"-artifact_prefix={folder}/"],
                       {"FERMATA_FUZZ": test, "FERMATA_SHRINK": "off", "FERMATA_EXPLAIN": "off",
                        "FERMATA_OUT": str(folder), "ASAN_OPTIONS": "detect_leaks=0"})
    return int(EXECUTED.search(output)[1]) if code else None


def by_strategy(program, test, strategy, seed, limit, folder):
    code, output = run([str(program), f"--gtest_filter={test}"],
                       {"FERMATA_STRATEGY": strategy, "FERMATA_SEED": str(seed),
                        "FERMATA_RUNS": str(limit), "FERMATA_SHRINK": "off",
                        "FERMATA_EXPLAIN": "off", "FERMATA_OUT": str(folder)})
    return int(RUN.search(output)[1]) if code else None


def cell(hunts, limit):
    value = statistics.median(limit if each is None else each for each in hunts)
    missed = sum(each is None for each in hunts)
    return f"{'>' if 2 * missed > len(hunts) else ''}{value:,.0f}" + (
        f" ({missed} missed)" if missed else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fuzz", type=pathlib.Path, required=True)
    parser.add_argument("--plain", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=200_000)
    parser.add_argument("--only")
    options = parser.parse_args()
    fuzz, plain = options.fuzz.resolve() / "fuzz", options.plain.resolve()
    folder = fuzz / "measure"
    folder.mkdir(parents=True, exist_ok=True)

    bugs = [("canary", fuzz / "fuzz_canary", plain / "fuzz/fuzz_canary", "Canary.TheLockStaysShut")]
    zoo = plain / "properties/zoo_applications"
    listed = run([str(zoo), "--gtest_list_tests", "--gtest_filter=Buggy.*"], {})[1]
    for name in re.findall(r"^  (\w+)", listed, re.M):
        bugs.append((name, fuzz / "fuzz_applications", zoo, f"Buggy.{name}"))

    print("| bug | libFuzzer | random | portfolio |\n|---|--:|--:|--:|", flush=True)
    for name, fuzzer, program, test in bugs:
        if options.only and options.only != name:
            continue
        seeds = range(1, options.seeds + 1)
        cells = [cell([by_fuzzer(fuzzer, test, s, options.limit, folder) for s in seeds],
                      options.limit)]
        for strategy in STRATEGIES:
            cells.append(cell([by_strategy(program, test, strategy, s, options.limit, folder)
                               for s in seeds], options.limit))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
