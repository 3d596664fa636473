#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gdb's extension shows of a program: stopped, attached to, and in a core file.

usage: gdb_test.py GDB EXTENSION SPECIMEN SIMULATED_TEST
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

GDB, EXTENSION, SPECIMEN, SIMULATED_TEST = sys.argv[1:]
SOURCE = "tests/end_to_end/gdb_specimen.cpp"
failures = []


def gdb(*commands, arguments=(SPECIMEN,)):
    """What gdb prints for `commands`, after the extension is there."""
    line = [GDB, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set width 0"]
    for command in (f"source {EXTENSION}", *commands):
        line += ["-ex", command]
    run = subprocess.run([*line, *arguments], text=True, timeout=100, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.stdout


def expect(name, output, *patterns):
    """Each pattern is found after the one before."""
    rest = output
    for pattern in patterns:
        found = re.search(pattern, rest, re.M)
        if not found:
            failures.append(f"{name}: no '{pattern}' in\n{output}")
            return
        rest = rest[found.end() :]


def expect_coroutines(name, output):
    for patterns in (
        (r"^runtime 1 '(main|second)', \d+ coroutines$", r"^runtime 2 '(main|second)', \d+ coro"),
        (rf"^  \d+ 'holder' waits at {SOURCE}:\d+ \(sleep_long\)$",
         rf"^      spawned at {SOURCE}:\d+ \(.*\)$", r"^      for Timer"),
        (rf"^  \d+ 'clerk' waits at {SOURCE}:\d+ \(wait_in_line\)$", r"^      for Mutex 'ledger'$"),
        (r"'reader' waits at .* \(read_orders\)$", r"^      for Channel.* 'orders'$"),
        (r"'joiner' waits", r"^      for coroutine \d+ 'clerk'$"),
        (r"'lonely' waits",),
    ):
        expect(name, output, *patterns)


def expect_waits(name, output):
    expect(name, output, r"^  \d+ 'clerk' -> Mutex 'ledger', held by \d+ 'holder'$",
           r"'joiner' -> coroutine \d+ 'clerk'$",
           r"^  ring: \d+ 'left' -> \d+ 'right' -> \d+ 'left'$")
    if len(re.findall("ring:", output)) != 1:
        failures.append(f"{name}: expected one ring in\n{output}")


def expect_backtrace(name, output):
    """Of the clerk, after all that gdb says by itself."""
    output = output[max(output.rfind("'clerk' waits at"), 0) :]
    expect(name, output, r"^#\d+ .*wait_in_line \(mutex=.*\) at .*gdb_specimen.cpp:\d+$",
           r"^#\d+ .*serve_client \(mutex=.*client=7\) at .*gdb_specimen.cpp:\d+$",
           r"^#\d+ .*coroutine_context")
    if re.search(r"epoll_wait|stop_here|make_fcontext", output):
        failures.append(f"{name}: frames of the thread in\n{output}")


def check_stopped(core):
    output = gdb("break stop_here", "run", "fermata coroutines", "echo ==waits\\n", "fermata waits",
                 "echo ==clerk\\n", "fermata bt clerk", "echo ==reporter\\n", "fermata bt reporter",
                 "echo ==late\\n", "fermata bt late", "echo ==select\\n", "fermata select clerk",
                 "up", "info locals", "fermata select", "frame", f"gcore {core}",
                 "echo ==errors\\n", "fermata bt nobody")
    parts = dict(re.findall(r"==(\w+)\n(.*?)(?===|\Z)", output, re.S))
    for part in ("waits", "clerk", "reporter", "late", "select", "errors"):
        if part not in parts:
            failures.append(f"stopped: no part '{part}' in\n{output}")
            return
    expect_coroutines("stopped", output)
    expect("stopped", output, r"'reporter' runs$")
    expect("stopped", output, r"'late' not started yet$")
    expect_waits("stopped, waits", parts["waits"])
    expect_backtrace("stopped, bt", parts["clerk"])
    expect("stopped, who runs", parts["reporter"], r"^\d+ 'reporter' runs$", r"^#0 +.*stop_here")
    expect("stopped, not started", parts["late"], r"^it has no stack yet; it was spawned at ")
    expect("stopped, select", parts["select"], r"^#0 .*stop_here")
    expect("stopped, errors", parts["errors"], r"no coroutine 'nobody'")


def check_core(core):
    arguments = (SPECIMEN, core)
    output = gdb("fermata coroutines", arguments=arguments)
    expect_coroutines("core", output)
    expect_waits("core, waits", gdb("fermata waits", arguments=arguments))
    expect_backtrace("core, bt", gdb("fermata bt clerk", arguments=arguments))
    expect("core, who runs", gdb("fermata bt reporter", arguments=arguments), r"^#0 +.*stop_here")


def check_attached():
    process = subprocess.Popen([SPECIMEN, "stay"], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        arguments = ("-p", str(process.pid))
        output = gdb("fermata coroutines", "fermata bt clerk", arguments=arguments)
        expect_coroutines("attached", output)
        expect_backtrace("attached, bt", output)
    finally:
        process.kill()
        process.wait()


def check_refusals():
    expect("nothing runs", gdb("fermata coroutines"), "there is no process and no core file")
    expect("another layout", gdb("break stop_here", "run",
                                 "set {long}((char*)&fermata_debugger_anchor + 16) = 99",
                                 "fermata coroutines"),
           "objects are of layout 99, this extension knows 1")
    expect("a foreign program", gdb("starti", "fermata waits", arguments=("/bin/true",)),
           "no symbol fermata_debugger_anchor")
    expect("no argument", gdb("break stop_here", "run", "fermata bt"), "expected the id or")


def check_break_at(folder):
    """A replay stops at the begin of the step that it is told, and goes on from there."""
    fresh = {name: value for name, value in os.environ.items() if not name.startswith("FERMATA_")}
    run = subprocess.run([SIMULATED_TEST], env={**fresh, "FERMATA_OUT": folder}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tape = re.search("^tape: (.*)$", run.stdout, re.M)
    if not tape:
        failures.append(f"break at: no tape in\n{run.stdout}")
        return
    output = gdb(f"set environment FERMATA_REPLAY={tape[1]}", "set environment FERMATA_BREAK_AT=4",
                 "run", "fermata coroutines", "continue", arguments=(SIMULATED_TEST,))
    expect("break at", output, "received signal SIGTRAP", r"^runtime 1 'main', 3 coroutines$",
           r"'first' ", r"'second' runs", "matched", "exited with code")


def main():
    if os.environ.get("LD_PRELOAD"):
        sys.exit("gdb_test: not with LD_PRELOAD")
    with tempfile.TemporaryDirectory() as folder:
        core = str(pathlib.Path(folder) / "core")
        check_stopped(core)
        check_core(core)
        check_break_at(folder)
    check_attached()
    check_refusals()
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"gdb: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
