#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `fermata debug` does with tapes: to any step, back, to the last write, and why.

usage: debug_test.py FERMATA SPECIMEN SOURCE_OF_SPECIMEN
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FERMATA, SPECIMEN, SOURCE = sys.argv[1:]
FRESH = {name: value for name, value in os.environ.items() if not name.startswith("FERMATA_")}
LINES = pathlib.Path(SOURCE).read_text(encoding="utf-8").splitlines()
BAD_LINE = next(i for i, line in enumerate(LINES, start=1) if "The bug is seen here." in line)
# From then on each replay is counted.
COUNT_REPLAYS = (
    "python starts = []; start = replay.start; "
    "replay.start = lambda *a, **k: (starts.append(1), start(*a, **k))"
)
failures = []


def run(*words, path=None):
    environment = dict(FRESH, PATH=path) if path is not None else FRESH
    done = subprocess.run([*map(str, words)], env=environment, text=True, timeout=100,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout


def tape_of(folder, test, *options):
    run("env", f"FERMATA_OUT={folder}", FERMATA, "run", SPECIMEN, "--filter", test, "--runs", 1,
        "--faults", "none", *options)
    tapes = sorted((folder / test).glob("*.tape"), key=lambda path: len(path.name))
    if not tapes:
        sys.exit(f"debug_test: {test} has left no tape")
    return tapes[0]


def debug(tape, *commands, options=()):
    """What gdb prints, in parts: one of what comes before the commands, and one for each."""
    words = ["-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set width 0"]
    for command in commands:
        words += ["-ex", "echo ==\\n", "-ex", command]
    output = run(FERMATA, "debug", tape, *options, "--", *words)
    parts = output.split("==\n")
    if len(parts) != len(commands) + 1:
        failures.append(f"{commands}: not one part each in\n{output}")
        parts += [""] * len(commands)
    return parts


def expect(name, output, *patterns):
    """Each pattern is found after the one before."""
    rest = output
    for pattern in patterns:
        found = re.search(pattern, rest, re.M)
        if not found:
            failures.append(f"{name}: no '{pattern}' in\n{output}")
            return
        rest = rest[found.end() :]


def check_moving(tape):
    (begin, back, again, goto, forward, first, out, zero, word, after, end, gone) = debug(
        tape, "fermata back 10", "fermata goto failure", "fermata goto 50000",
        "fermata goto 50,007", "fermata goto 1", "fermata goto 200000", "fermata back 5",
        "fermata back far", "continue", "continue", "fermata back")
    at_failure = r"^step (100,\d\d\d) of 100,\d\d\d, \+\d+\.\d+ ms: 'main' fails$"
    expect("begin", begin, at_failure, r"^#\d+ .*check \(ledger=.*debug_specimen.cpp:\d+$")
    last = int(re.search(at_failure, begin, re.M)[1].replace(",", "")) if begin else 0
    expect("back", back, rf"^step {last - 10:,} of .*: 'worker( #\d)?' runs$", r"^#\d+ .*work \(")
    expect("failure", again, at_failure)
    expect("goto", goto, r"^step 50,000 of .* runs$")
    expect("goto on", forward, r"^step 50,007 of .* runs$")
    expect("goto 1", first, r"^step 1 of .*: 'main' runs$")
    expect("too far", out, r"no step 200,000: this run has steps 1 to 100,\d\d\d$")
    expect("before the first", zero, r"no step -4: this run has steps 1 to 100,\d\d\d$")
    expect("no number", word, r"fermata back: 'far' is not a number of steps$")
    expect("continue", after, at_failure)
    expect("continue to the end", end, r"^the run is over$")
    expect("back from the end", gone, rf"^step {last - 1:,} of .* runs$")


def check_breakpoints(tape):
    """They stop nobody on the way, and are there again after it."""
    _, _, stop, back, again = debug(tape, "break put", "fermata goto 100", "fermata back 50",
                                    "continue")
    expect("goto over a breakpoint", stop, r"^step 100 of .* runs$")
    expect("back over a breakpoint", back, r"^step 50 of .* runs$")
    expect("breakpoint", again, r"^Breakpoint 1.*put \(")


def check_last_write(tape):
    (_, _, limit, replays, before, _, hot, hotter, warm, replays_of_hot, _, calm) = debug(
        tape, COUNT_REPLAYS, "fermata last-write ledger.limit", "python print(len(starts))",
        "fermata last-write slots[8]", "fermata goto failure", "fermata last-write ledger.turns",
        "fermata last-write ledger.turns", "fermata last-write ledger.warm_up",
        "python print(len(starts))", "fermata goto 1000",
        "fermata last-write untouched")
    place = rf"tests/end_to_end/debug_specimen.cpp:{BAD_LINE}"
    expect("the corrupted field", limit,
           r"^step 61,\d\d\d of .*: 'worker.*' changed 'ledger.limit' from 500 to 61234$",
           rf"^at {place}$", r"^#0 +.*put at ", r"^#1 +.*take_turn at ", r"work at ")
    expect("how often it was replayed", replays, "^2$")
    expect("the write before", before, r"^step 1 of .*'main' changed 'slots\[8\]' from .* to 500$")
    expect("a hot field", hot, r"changed 'ledger.turns' from 99999 to 100000$", r"^#0 .*take_turn")
    expect("a hot field, the write before", hotter, "changed 'ledger.turns' from 99998 to 99999$")
    expect("a field that was hot", warm, "changed 'ledger.warm_up' from 49999 to 50000$")
    expect("how often that was replayed", replays_of_hot, "^12$")
    expect("what is never written", calm, r"^'untouched' has not changed since the run began$")


def check_last_write_refused(tape):
    _, nothing, none, number, large, where, _, changed = debug(
        tape, "fermata last-write", "fermata last-write nobody", "fermata last-write 5",
        "fermata last-write ledger", "fermata back 0", "set disable-randomization off",
        "fermata last-write ledger.limit")
    expect("no expression", nothing, "expected an expression, such as object.member")
    expect("no variable", none, "'nobody': No symbol \"nobody\" in current context")
    expect("a number", number, "'5': has no address, as it is in a register or no variable")
    expect("what is large", large, "'ledger': has 44 bytes; expected at most 32: name a member")
    expect("after that", where, "^step 100,")
    expect("other addresses", changed, "the addresses of this program change from run to run")


def check_write_in_step(tape):
    """From the middle of a step, only what was written before that counts."""
    _, _, _, _, _, before, _, after = debug(
        tape, "fermata goto 50000", "tbreak put", "continue", "up",
        "fermata last-write ledger.slots[(ledger.turns) % 8]", "fermata goto 50001",
        "fermata last-write ledger.turns")
    found = re.search(r"^step (\d+),(\d+) of .* from (\d+) to (\d+)$", before, re.M)
    expect("before the write", before, r"^step 4\d,\d\d\d of .* changed 'ledger.slots")
    expect("after the write", after, r"^step 50,000 of .* changed 'ledger.turns' from")
    if found and int(found[4]) - int(found[3]) != 8:
        failures.append(f"before the write: not the write before in\n{before}")


def check_why(tape, parcel):
    begin, why = debug(tape, "fermata why")
    expect("why", why, r"^step 100,\d\d\d of ",
           r"^  'main' runs because 'worker.*' woke it in step 100,\d\d\d \(\+.*\); it waited for "
           r"Coroutine \d+ 'worker' at debug_specimen.cpp:\d+$")
    if len(why.splitlines()) > 21:
        failures.append(f"why: {len(why.splitlines())} lines in\n{why}")
    begin, why = debug(parcel, "fermata why")
    expect("another machine", begin, r"^step \d+ of \d+, \+\d.*: 'main' on 'home' fails$")
    expect("why, by a message", why,
           r"^  'main' on 'home' runs because what 'shop' sent in step \d+ \(\+5\.0+ ms\) came: "
           r"udp shop:7800 -> home:7800, 4 bytes; it waited for Request.* at debug_specimen.cpp",
           r"^  'main' on 'shop' runs because what it waited for has come: Timer",
           r"^  'main' on 'shop' runs because its program begins with it$")


def check_at(tape):
    begin, where = debug(tape, "fermata why", options=("--at", 5, "--program", SPECIMEN))
    expect("--at", begin, r"^step 5 of ")
    expect("--at, why", where, "^step 5 of ")
    (begin,) = debug(tape, options=("--at", 300_000))
    expect("--at too far", begin, r"no step 300,000: this run has steps 1 to \d$")
    expect("--at nothing", run(FERMATA, "debug", tape, "--at", "x"),
           "--at: 'x' is not a valid step; expected a number from 1 on")


def check_death(tape):
    begin, back = debug(tape, "fermata goto 1")
    expect("death", begin, "there is no record of this run, whose process",
           r"^step \d+: it gets the signal SIGABRT$", r"^#\d+ .*Process_Dies_body")
    expect("death, the begin", back, "^step 1: it runs$")


def check_refusals(tape, folder):
    expect("no tape", run(FERMATA, "debug", folder / "none.tape"), "none.tape")
    expect("two tapes", run(FERMATA, "debug", tape, tape), "debug takes one TAPE")
    expect("no gdb", run(FERMATA, "debug", tape, path="/nowhere"),
           "there is no gdb in PATH: it comes with the package `gdb`")
    _, _, gone = debug(tape, "set environment FERMATA_REPLAY /nowhere", "fermata back")
    expect("no run", gone, "the process has ended before its first step")
    expect("another program", run(FERMATA, "debug", tape, "--program", "/bin/true"),
           "/bin/true does not list simulated tests")
    _, _, old = debug(tape, "set {long}((char*)&fermata_debugger_stops + 16) = 99", "fermata back")
    expect("another version", old, "the program stops by version 99, this extension knows 1")


def main():
    if os.environ.get("LD_PRELOAD"):
        sys.exit("debug_test: not with LD_PRELOAD")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        quick = ("--shrink", "off", "--explain", "off")
        tape = tape_of(folder, "Ledger.KeepsItsLimit", *quick)
        parcel = tape_of(folder, "Parcel.ComesWhole", *quick)
        check_moving(tape)
        check_breakpoints(tape)
        check_last_write(tape)
        check_last_write_refused(tape)
        check_write_in_step(tape)
        check_why(tape, parcel)
        check_at(parcel)
        check_death(tape_of(folder, "Process.Dies"))
        check_refusals(parcel, folder)
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"fermata debug: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
