#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs of simulated programs with libraries that nobody here wrote.

usage: long_runs.py BUILD_DIR [--only TEXT] [--runs N] [--json FILE]

Each row of ROWS is a test program, how often it runs each of its tests, and what is asked of that:
  schedules  every run passes
  pairs      every run is the same in a second process with fixed addresses, another heap, another
             environment and another locale
  lives      the memory of the process stays as it was, from a tenth of the runs to all of them
--runs N takes N for all of them. A row that a program is missing for is an error.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# SQLite takes no notice when it cannot open or sync the directory of its files; libuv ends the
# process when there is no descriptor left.
SQLITE = "all,-out-of-descriptors,-disk-error"
LIBUV = "all,-out-of-descriptors"

THREADS = "examples/foreign_threads/example_foreign_threads_sim_test"
HIREDIS = "examples/foreign_client/example_foreign_client_sim_test"
LIBPQ = "tests/posix/postgresql_sim_test"
ROWS = [
    # (what, kind, program, filter, faults, runs)
    ("threads", "schedules", THREADS, "*", "all", 100_000),
    ("hiredis", "schedules", HIREDIS, "*", "all", 10_000),
    ("SQLite", "schedules", "tests/posix/sqlite_sim_test", "*.LosesNothing*", SQLITE, 25_000),
    ("SQLite's driver", "schedules", "tests/posix/sqlite_driver_sim_test", "*", SQLITE, 20_000),
    ("libpq", "schedules", LIBPQ, "BankOverLibpq.*", "all", 20_000),
    ("libpq's law", "schedules", "properties/libpq_properties_test", "*", "all", 20_000),
    ("LevelDB", "schedules", "tests/posix/leveldb_sim_test", "*", "all", 10_000),
    ("threads", "pairs", THREADS, "*", "all", 10_000),
    ("hiredis", "pairs", HIREDIS, "*", "all", 10_000),
    ("SQLite", "pairs", "tests/posix/sqlite_sim_test", "*.LosesNothing*", SQLITE, 10_000),
    ("SQLite's driver", "pairs", "tests/posix/sqlite_driver_sim_test", "*", SQLITE, 10_000),
    ("libpq", "pairs", LIBPQ, "BankOverLibpq.*", "all", 10_000),
    ("LevelDB", "pairs", "tests/posix/leveldb_sim_test", "*", "all", 10_000),
    ("libuv", "pairs", "tests/posix/libuv_sim_test", "*", LIBUV, 10_000),
    ("SQLite", "lives", "tests/posix/sqlite_sim_test", "*.LosesNothingOfItsLog", SQLITE, 10_000),
    ("LevelDB", "lives", "tests/posix/leveldb_sim_test", "*", "all", 10_000),
    ("libuv", "lives", "tests/posix/libuv_sim_test", "*.TwoMachinesTalkOverTcp", LIBUV, 10_000),
]
GROWTH_KIB = 2048  # What a process may grow by from a tenth of its lives to all.


def run(program, chosen, faults, runs, determinism):
    """(exit code, output, most memory it had in KiB)"""
    environment = dict(os.environ, FERMATA_RUNS=str(runs), FERMATA_FAULTS=faults,
                       FERMATA_CHECK_DETERMINISM=determinism)
    memory = 0
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen([program, f"--gtest_filter={chosen}"], env=environment,
                                   stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:  # The system's own count begins with that of this process.
            memory = max(memory, memory_of(process.pid))
            time.sleep(0.05)
        output.seek(0)
        return process.returncode, output.read(), memory


def memory_of(pid):
    """The most that it has had, in KiB; 0 when it has just ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.M)
    return int(found[1]) if found else 0


def measure(kind, program, chosen, faults, runs):
    """(whether it passes, what to tell, output)"""
    if kind == "pairs":
        code, output, _ = run(program, chosen, faults, runs, "twin:1")
        return code == 0, "no difference" if code == 0 else "differs or fails", output
    code, output, memory = run(program, chosen, faults, runs, "0")
    if kind == "schedules" or code != 0:
        return code == 0, "pass" if code == 0 else "fails", output
    _, _, before = run(program, chosen, faults, runs // 10, "0")
    return memory - before <= GROWTH_KIB, f"{before} KiB, then {memory} KiB", output


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    results = []
    for what, kind, path, chosen, faults, usual in ROWS:
        if arguments.only not in f"{kind}/{what}":
            continue
        program = arguments.build / path
        if not program.exists():
            raise SystemExit(f"long_runs: {program} is not built")
        runs = arguments.runs or usual
        start = time.monotonic()
        passes, told, output = measure(kind, program, chosen, faults, runs)
        print(f"{kind:<10} {what:<16} {runs:>7} of each test, {time.monotonic() - start:6.0f} s: "
              f"{told}", flush=True)
        if not passes:
            print(output)
        results.append({"name": f"foreign/{kind}/{what}", "value": runs, "unit": "runs",
                        "ratio": None, "limit": usual, "ok": passes})
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["ok"] for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
