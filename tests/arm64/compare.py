#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On arm64 a run is the run that it is on x86-64: the same trace hashes, the same failures, and the
tapes of one replay on the other. Programs for arm64 run under qemu.

usage: compare.py BUILD ARM64_BUILD SYSROOT [--json FILE]

The hashes are those of `fermata_suite --trace-hashes`, twenty runs of each law. What fails is what
FAILING lists. Under qemu a program cannot start itself anew, so that exploring there ends with "the
process gave no answer" instead of a shrunk failure: failures are compared as tapes replay. gdb
shows a coroutine's backtrace on arm64 as well, where gdb-multiarch is there.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

EMULATORS = ("qemu-aarch64", "qemu-aarch64-static")
SUITE = "properties/fermata_suite"
# Programs whose one test fails, and its name.
FAILING = {
    "examples/lost_update/example_lost_update_sim_test": "Account.DepositsAreNotLost",
    "examples/transfer/example_transfer_sim_test": "Bank.TransfersComeToAnEnd",
}
SPECIMEN = "tests/end_to_end/gdb_specimen"
EXTENSION = pathlib.Path(__file__).resolve().parents[2] / "runtime/gdb/fermata.py"
# What a failure is: where, when, and every step before it.
OF_A_FAILURE = re.compile(
    r"^(?:safety: |deadlock: |  at \+|  coroutine |  signature |  cycle: |trace hash ).*", re.M)


class Side:
    """A build, and how its programs are started."""

    def __init__(self, name, build, starter=()):
        self.name, self.build, self.starter = name, build, starter

    def said_by(self, program, *arguments, **environment):
        folder = environment.pop("folder", None)
        command = [*self.starter, str(self.build / program), *arguments]
        clean = {"PATH": "/usr/bin:/bin", **environment}
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, env=clean, cwd=folder)
        return done.returncode, done.stdout


def compare_hashes(sides):
    """How many hashes there are; None when some differ."""
    printed = []
    for side in sides:
        code, text = side.said_by(SUITE, "--trace-hashes")
        if code != 0:
            print(f"{side.name}: {SUITE} --trace-hashes: exit code {code}\n{text[-2000:]}")
            return None
        printed.append(text.splitlines())
    different = [pair for pair in zip(*printed) if pair[0] != pair[1]]
    for pair in different:
        print(f"{sides[0].name} {pair[0]}\n{sides[1].name} {pair[1]}")
    if different or len(printed[0]) != len(printed[1]) or not printed[0]:
        return None
    print(f"{len(printed[0])} trace hashes, of {len({line.split()[0] for line in printed[0]})} "
          "laws, are the same on x86-64 and arm64")
    return len(printed[0])


def failure_in(text):
    return OF_A_FAILURE.findall(text)


def replay_across(sides, place):
    """How many tapes were replayed on the side that has not written them; None: one differs."""
    replayed = 0
    for program, test in FAILING.items():
        for writer, reader in (sides, sides[::-1]):
            folder = place / f"{writer.name}-{test}"
            folder.mkdir()
            code, said = writer.said_by(program, FERMATA_SEED="0x1", FERMATA_RUNS="1000",
                                        folder=folder)
            tapes = sorted((folder / "fermata-out" / test).glob("*.tape"))
            if not tapes:
                print(f"{writer.name}: {program} wrote no tape, exit code {code}\n{said}")
                return None
            for tape in tapes:
                told = [side.said_by(program, FERMATA_REPLAY=str(tape), folder=folder)
                        for side in (writer, reader)]
                (code, said), (other_code, other_said) = told
                if code != other_code or failure_in(said) != failure_in(other_said) or \
                        not failure_in(said):
                    print(f"{tape}: {writer.name}: exit code {code}\n{said}\n"
                          f"{reader.name}: exit code {other_code}\n{other_said}")
                    return None
                print(f"{test}: {tape.name} of {writer.name} fails on {reader.name} in the same "
                      f"way: {failure_in(said)[-1].strip()}")
                replayed += 1
    return replayed


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def backtrace_on(arm64, sysroot):
    """Whether gdb shows where a coroutine waits, in a program that qemu holds for it."""
    program, port = arm64.build / SPECIMEN, free_port()
    held = subprocess.Popen([arm64.starter[0], "-g", str(port), *arm64.starter[1:], str(program)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        commands = ("set width 0", f"set sysroot {sysroot}", f"source {EXTENSION}",
                    f"target remote 127.0.0.1:{port}", "break stop_here", "continue",
                    "fermata coroutines", "fermata bt clerk")
        line = ["gdb-multiarch", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
        for command in commands:
            line += ["-ex", command]
        done = subprocess.run([*line, str(program)], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              check=False)
    finally:
        held.kill()
        held.wait()
    text = done.stdout[max(done.stdout.rfind("'clerk' waits at"), 0) :]
    wanted = (r"^#\d+ .*wait_in_line \(mutex=.*\) at .*gdb_specimen.cpp:\d+$",
              r"^#\d+ .*serve_client \(mutex=.*client=7\) at .*gdb_specimen.cpp:\d+$",
              r"^#\d+ .*coroutine_context")
    for pattern in wanted:
        found = re.search(pattern, text, re.M)
        if not found:
            print(f"gdb on arm64: no '{pattern}' in\n{done.stdout}")
            return False
        text = text[found.end() :]
    print("gdb-multiarch shows the backtrace of a coroutine that waits, on arm64")
    return True


def row(name, value, unit, limit, ok):
    return {"name": name, "value": value, "unit": unit, "ratio": None, "limit": limit, "ok": ok}


def main(arguments):
    out = None
    if "--json" in arguments:
        at = arguments.index("--json")
        out = arguments[at + 1]
        del arguments[at : at + 2]
    build, arm64_build, sysroot = (pathlib.Path(each).resolve() for each in arguments)
    emulator = next((each for each in map(shutil.which, EMULATORS) if each), None)
    if emulator is None:
        sys.exit(f"compare.py: none of {', '.join(EMULATORS)} is here")
    arm64 = Side("arm64", arm64_build, (emulator, "-L", str(sysroot)))
    sides = (Side("x86-64", build), arm64)
    hashes = compare_hashes(sides)
    with tempfile.TemporaryDirectory() as place:
        replayed = replay_across(sides, pathlib.Path(place))
    rows = [row("arm64/hashes", hashes or 0, "hashes", 1, bool(hashes)),
            row("arm64/tapes", replayed or 0, "tapes", 2 * len(FAILING), bool(replayed))]
    if shutil.which("gdb-multiarch"):
        shown = backtrace_on(arm64, sysroot)
        rows.append(row("arm64/backtrace", int(shown), "backtraces", 1, shown))
    else:
        print("no gdb-multiarch: backtraces on arm64 were not looked at")
    if out:
        pathlib.Path(out).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(each["ok"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
