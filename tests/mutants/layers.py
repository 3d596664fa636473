# SPDX-License-Identifier: Apache-2.0
"""The layers of tests, and what their programs say of a build with a mutant in it."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from patched_build import ROOT, run

# In the order in which they are asked: first what users of the method see.
LAYERS = ("suite", "unit", "conformance", "rest")
# By where the build puts their programs.
LAYER_OF = (
    ("tests/unit/", "unit"),
    ("tests/conformance/", "conformance"),
    ("properties/fermata_suite", "suite"),
    ("properties/", "rest"),
    ("tests/meta/", "rest"),
    ("tests/end_to_end/c", "rest"),  # Those that run themselves, not programs of the build.
    ("tests/soak/", "rest"),
    ("examples/", "rest"),
)
ARGUMENTS = {"zoo_applications": ["--gtest_filter=-Buggy.*"], "fermata_soak": ["4"],
             "fermata_loop_soak": ["all", "2"]}
# What they are there to show is a failure, or they are not tests.
NO_TESTS = re.compile(
    r"example_(lost_update|transfer)_sim_test|cli_obligations_test|examples/.*(?<!_sim_test)$")
COVERING = {"runtime/fermata/io/": "unit_drivers_test", "runtime/": "unit_runtime_test",
            "sim/": "unit_sim_test"}

FILE_LIMIT = 1 << 30  # Bytes; and whoever eats all memory is the first that the kernel ends.
SLOWER = 4  # Times as long as without a mutant, and then it hangs.
SLOWER_BY = 20  # Seconds.
CRASH_SIGNALS = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                 signal.SIGTRAP}

SUITE = re.compile(r"^\w*TEST\w*\(\s*(\w+),", re.M)
RUNNING = re.compile(r"^\[ RUN      \] (\S+)", re.M)
FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
# By the suite.
FOUND = re.compile(r"^(\S+ (?:\[\S+\]|--strategy [^:]*): (?:run \d+: )?(\w+): .*)", re.M)
VERDICT_OF = {"crash": "crashed", "hang": "hung"}
ASSERTED = re.compile(r"assertion '.*' failed at [^\n,]*")


class Outcome:
    """How a program ended."""

    def __init__(self, verdict, words=""):
        self.verdict, self.words = verdict, " ".join(words.split())[:160]


def outcome_of(status, printed):
    """What an exit status, None when it had to be stopped, and the output come to."""
    running = RUNNING.findall(printed)
    last = running[-1] if running else ""
    if status is None:
        return Outcome("hung", last)
    if status == 0:
        return Outcome("passed")
    if asserted := ASSERTED.search(printed):
        return Outcome("failed", f"{asserted[0]} {last}")
    if status < 0:
        name = signal.Signals(-status).name
        return Outcome("crashed" if -status in CRASH_SIGNALS else "failed", f"{name} {last}")
    if found := FOUND.search(printed):
        return Outcome(VERDICT_OF.get(found[2], "failed"), found[1])
    if failed := FAILED.search(printed):
        return Outcome("failed", failed[1])
    lines = [line for line in printed.splitlines() if line.strip()]
    return Outcome("failed", f"exit code {status}: {lines[-1] if lines else ''} {last}")


def nearest_tests(path):
    """Of GoogleTest: the unit tests of the folder of `path`, which are asked before all others."""
    place = path.replace("runtime/fermata/", "").replace("sim/fermata/", "")
    folder = ROOT / "tests" / "unit" / place.rpartition("/")[0]
    suites = sorted({suite for test in folder.glob("*_test.cpp")
                     for suite in SUITE.findall(test.read_text(encoding="utf-8"))})
    return ":".join(f"{suite}.*:*/{suite}.*" for suite in suites)


class Runner:
    """Runs programs within limits, each with its children in a session of its own."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def run(self, program, name, folder, limit, tests=""):
        """Its outcome, and how many seconds it took. What it printed is in folder/name.log."""
        if self.stopped:
            raise KeyboardInterrupt
        folder.mkdir(parents=True, exist_ok=True)
        command = ["choom", "-n", "1000", "--", "prlimit", f"--fsize={FILE_LIMIT}", "--core=0",
                   program]
        command += ARGUMENTS.get(name, [])
        if name.endswith("_test") or name == "zoo_applications":
            command.append("--gtest_fail_fast")
        if tests:
            command.append(f"--gtest_filter={tests}")
        environment = dict(os.environ)
        if name == "fermata_suite":  # That there is a failure is all that is asked.
            environment["FERMATA_SHRINK"] = "off"
        log, start = folder / f"{name}.log", time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, start_new_session=True, env=environment)
            with self.lock:
                self.running.add(process.pid)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self.end(process.pid)
                process.wait()
        if self.stopped:
            raise KeyboardInterrupt
        printed = log.read_bytes()[-(1 << 20):].decode(errors="replace")
        return outcome_of(status, printed), time.monotonic() - start

    def end(self, session):
        with self.lock:
            self.running.discard(session)
        try:
            os.killpg(session, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop(self):
        """Ends all that runs: nobody waits for it any more."""
        self.stopped = True
        for session in list(self.running):
            self.end(session)


class Programs:
    """The programs of the layers in a build, and what they take without a mutant."""

    def __init__(self, build, results):
        self.build, self.results, self.lock, self.digests = build, results, threading.Lock(), {}
        self.layers = {layer: [] for layer in LAYERS}
        commands = run(["ninja", "-t", "commands", "fermata_tested"], cwd=build.build).stdout
        for output in re.findall(r" -o (\S+/\w+)  ", commands):
            place = next((layer for start, layer in LAYER_OF if output.startswith(start)), None)
            if place and not NO_TESTS.search(output):
                self.layers[place].append(output.split("/")[-1])

    def of(self, layer, path, compilations):
        """Those that are linked from one of `compilations`: what covers `path` first, then the
        quick ones."""
        def rank(name):
            return name != self.covering(path), self.results.seconds_of(name), name

        return sorted((name for name in self.layers[layer] if any(
            each.is_linked_by(self.build.link_of(name)[0]) for each in compilations)), key=rank)

    @staticmethod
    def covering(path):
        return next(each for start, each in COVERING.items() if path.startswith(start))

    def digest(self, name):
        """Of its bytes: as long as it stays the same, it says the same."""
        with self.lock:
            if name not in self.digests:
                content = self.build.program(name).read_bytes()
                self.digests[name] = hashlib.blake2b(content, digest_size=8).hexdigest()
            return self.digests[name]

    def digest_of(self, layer, path, compilations):
        names = sorted(self.of(layer, path, compilations))
        text = " ".join(f"{name} {self.digest(name)}" for name in names)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def limit_of(self, name, runner, folder):
        """Seconds, from what it takes without a mutant, where it has to pass."""
        digest = self.digest(name)
        with self.lock:
            seconds = self.results.seconds_of(name, digest)
            if not seconds:
                outcome, seconds = runner.run(self.build.program(name), name, folder, 600)
                if outcome.verdict != "passed":
                    raise RuntimeError(f"{name} fails without a mutant: {outcome.words}, "
                                       f"see {folder / name}.log")
                self.results.keep_program(name, digest, round(seconds, 1))
            return SLOWER * seconds + SLOWER_BY

    def try_layer(self, layer, path, compilations, objects, overlay, runner):
        """(outcome, program) of the first that does not pass, or of the last."""
        outcome, name, nearest = Outcome("passed"), "", nearest_tests(path)
        for name in self.of(layer, path, compilations):
            limit = self.limit_of(name, runner, self.build.build / "mutate" / "baseline")
            linked = {output: file for output, (file, each) in objects.items()
                      if each.is_linked_by(self.build.link_of(name)[0])}
            program = self.build.link(name, linked, overlay)
            filters = [nearest, ""] if nearest and name == self.covering(path) else [""]
            for tests in filters:
                outcome, _ = runner.run(program, name, overlay / "run", limit, tests)
                if outcome.verdict != "passed":
                    break
            program.unlink()
            if outcome.verdict != "passed":
                logs = self.build.build / "mutate" / "logs"
                logs.mkdir(exist_ok=True)
                shutil.copy(overlay / "run" / f"{name}.log", logs / f"{overlay.name}.{layer}.log")
                break
        return outcome, name
