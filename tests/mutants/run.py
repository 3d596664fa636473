#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Would our tests notice a small mistake? Puts some in, one at a time, and says which tests did.

The mutants are those of operators.py in the sources of FOLDERS, in an order that the seed draws.
One after the other is compiled and tried, until N of them count: they compile, and to other object
code. Each meets the layers of tests up to the first that kills it, by a failure, a crash or a hang:
the bundled suite comes first, since that is the layer users see. What is known of a mutant stays in
BUILD/mutate/results.json, so that the same command goes on where it was stopped: a kill as long as
the mutated file stays as it is, a pass as long as the tests do, too.

Usage: run.py [--sample N] [--seed S] [--jobs N] [--only PATH] [--build DIR] [--json FILE]
       run.py --list ...    the first N of the draw; reads sources only
       run.py --check       do the rows of equivalents.toml fit the sources?
       run.py --self-test
"""

import argparse
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import threading
import tomllib

import operators
from layers import LAYERS, Outcome, Programs, Runner, outcome_of
from patched_build import ROOT, PatchedBuild

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = (
    *(f"runtime/fermata/{each}" for each in ("core", "sync", "reactor", "io")),
    *(f"sim/fermata/sim/{each}" for each in ("tape", "world", "net", "fs")),
    *(f"sim/fermata/sim/{each}" for each in ("audit", "guard", "history", "waits")),  # What judges.
)
ALL_ROOTS = ("runtime", "sim", "properties", "tests", "examples")
# A header that sources in more folders include would cost a build of everything.
HEADER_FOLDERS = 3
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)
LEAST_ALL, LEAST_SUITE = 97, 70  # Percent killed.


def digest_of(text):
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


# --- what can be drawn ----------------------------------------------------------------------------


def folders_including(root):
    """{header: folders of the sources that include it, directly or not}"""
    includes = {}
    for part in ALL_ROOTS:
        for path in (root / part).rglob("*.[hc]pp"):
            found = INCLUDED.findall(path.read_text(encoding="utf-8"))
            includes[path.relative_to(root).as_posix()] = [
                place for each in found for place in (f"runtime/{each}", f"sim/{each}", each)]
    folders = {}
    for source in (path for path in includes if path.endswith(".cpp")):
        waiting, seen = [source], set()
        while waiting:
            for each in includes[waiting.pop()]:
                if each in includes and each not in seen:
                    seen.add(each)
                    waiting.append(each)
        for header in seen:
            folders.setdefault(header, set()).add(source.rpartition("/")[0])
    return folders


class Population:
    """The mutants of the sources below `root`, and how many are left out with their headers."""

    def __init__(self, root):
        self.mutants, self.left_out, self.headers = [], 0, 0
        folders = folders_including(root)
        for path in sorted(path for each in FOLDERS for path in (root / each).rglob("*.[hc]pp")):
            name = path.relative_to(root).as_posix()
            found = operators.Source(name, path.read_text(encoding="utf-8")).mutants()
            if name.endswith(".hpp") and len(folders.get(name, ())) > HEADER_FOLDERS:
                self.left_out += len(found)
                self.headers += 1
            else:
                self.mutants += found


class Equivalents:
    """The rows of equivalents.toml."""

    def __init__(self, text):
        self.rows = tomllib.loads(text).get("equivalent", [])

    @staticmethod
    def key_of(row):
        return (f"{row['file']} {row['function']} {row['kind']}: {row['before']} -> "
                f"{row['after']} {row.get('nth', 1)}")

    def reasons(self):
        return {self.key_of(row): row["reason"] for row in self.rows}

    def complaints(self, mutants):
        keys = {mutant.key() for mutant in mutants}
        for row in self.rows:
            if self.key_of(row) not in keys:
                yield f"{row['file']}: {row['function']} does not allow '{row['after']}'"
            if not row["reason"].strip():
                yield f"{row['file']}: {row['function']}: expected a reason for '{row['after']}'"


def known_equivalents():
    return Equivalents((HERE / "equivalents.toml").read_text(encoding="utf-8"))


# --- one mutant -----------------------------------------------------------------------------------


class Results:
    """What is known of mutants and of programs, in a file."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.mutants, self.programs = known.get("mutants", {}), known.get("programs", {})

    def of(self, mutant, content):
        """The record of a mutant; a new one when the file has changed."""
        record = self.mutants.get(mutant.id(), {})
        if record.get("content") != content:
            record = {"mutant": mutant.key(), "content": content, "state": "new", "layers": {}}
        return record

    def seconds_of(self, program, digest=None):
        """What it takes without a mutant; 0 when that is not known, or of another `digest`."""
        known = self.programs.get(program, {"seconds": 0})
        return known["seconds"] if digest in (None, known.get("digest")) else 0

    def keep_program(self, name, digest, seconds):
        with self.lock:
            self.programs[name] = {"digest": digest, "seconds": seconds}

    def keep(self, mutant, record):
        with self.lock:
            self.mutants[mutant.id()] = record
            text = json.dumps({"programs": self.programs, "mutants": self.mutants}, indent=1)
            new = self.path.with_suffix(".new")
            new.write_text(text + "\n", encoding="utf-8")
            os.replace(new, self.path)


def is_killed(layer):
    return layer is not None and layer["verdict"] != "passed"


class Trials:
    """Tries mutants in a build."""

    def __init__(self, build, results, runner):
        self.build, self.results, self.runner = build, results, runner
        self.programs = Programs(build, results)
        self.tested = [build.link_of(name)[0] for each in self.programs.layers.values()
                       for name in each]

    def try_mutant(self, mutant):
        """Its record, with whatever it lacked."""
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        record = self.results.of(mutant, digest_of(text))
        if record["state"] in ("stillborn", "same"):
            return record
        trial = Trial(self, mutant, record)
        overlay = trial.overlay
        shutil.rmtree(overlay, ignore_errors=True)
        try:
            trial.complete(mutant.applied_to(text))
        finally:
            shutil.rmtree(overlay, ignore_errors=True)
        self.results.keep(mutant, record)
        return record


class Trial:
    """One mutant among the layers."""

    def __init__(self, trials, mutant, record):
        self.build, self.programs, self.runner = trials.build, trials.programs, trials.runner
        self.mutant, self.record = mutant, record
        self.overlay = self.build.build / "mutate" / mutant.id()
        self.compilations = [each for each in self.build.touched_by([mutant.path])
                             if any(map(each.is_linked_by, trials.tested))]
        self.objects = None  # {output: (file, compilation)}, once they are needed.

    def complete(self, text):
        for layer in LAYERS:
            if self.is_asked(layer):
                if self.objects is None and not self.compile(text):
                    return
                self.ask(layer)
            if is_killed(self.record["layers"].get(layer)):
                return

    def is_asked(self, layer):
        """Whether the layer has something to say that is not known."""
        known = self.record["layers"].get(layer)
        if known is None:
            return True
        return not is_killed(known) and known["digest"] != self.digest_of(layer)

    def digest_of(self, layer):
        return self.programs.digest_of(layer, self.mutant.path, self.compilations)

    def compile(self, text):
        """False when there is nothing to try."""
        changed = self.overlay / self.mutant.path
        changed.parent.mkdir(parents=True)
        changed.write_text(text, encoding="utf-8")
        # An argument of another type that is converted is not a mistake of a kind that compiles.
        strict = "-Werror=conversion" if self.mutant.kind == "swapped" else ""
        self.objects = {}
        try:
            for each in self.compilations:
                made = each.compile(self.overlay, self.build.build, strict)
                self.objects[each.output] = made, each
        except RuntimeError as error:
            errors = [line for line in str(error).splitlines() if "error:" in line]
            self.record.update(state="stillborn", why=errors[0][-160:] if errors else str(error))
            return False
        same = all(file.read_bytes() == (self.build.build / output).read_bytes()
                   for output, (file, _) in self.objects.items())
        self.record["state"] = "same" if same else "tried"
        return not same

    def ask(self, layer):
        outcome, program = self.programs.try_layer(
            layer, self.mutant.path, self.compilations, self.objects, self.overlay, self.runner)
        self.record["layers"][layer] = {"verdict": outcome.verdict, "words": outcome.words,
                                        "program": program, "digest": self.digest_of(layer)}


# --- a sample -------------------------------------------------------------------------------------


class Sample:
    """The first mutants of a draw that count, as many as are wanted."""

    def __init__(self, order, wanted, reasons):
        self.order, self.wanted, self.reasons = iter(order), wanted, reasons
        self.lock, self.under_way = threading.Lock(), 0
        self.stillborn, self.same, self.counted = [], [], []  # The last with their records.

    def next(self):
        """One to try; None when there are enough, once those under way count."""
        with self.lock:
            if len(self.counted) + self.under_way >= self.wanted:
                return None
            mutant = next(self.order, None)
            self.under_way += mutant is not None
            return mutant

    def add(self, mutant, record):
        with self.lock:
            self.under_way -= 1
            if record["state"] == "stillborn":
                self.stillborn.append(mutant)
            elif record["state"] == "same":
                self.same.append(mutant)
            else:
                self.counted.append((mutant, record))

    def is_full(self):
        with self.lock:
            return len(self.counted) + self.under_way >= self.wanted and self.under_way == 0

    def judged(self):
        return [(mutant, record) for mutant, record in self.counted
                if mutant.key() not in self.reasons]


def killer_of(record):
    """The first layer that killed it; empty when none did."""
    return next((each for each in LAYERS if is_killed(record["layers"].get(each))), "")


def story_of(record):
    """What each layer said, in a line."""
    said = []
    for layer in LAYERS:
        known = record["layers"].get(layer)
        if known is not None:
            words = f" {known['program']}: {known['words']}" if is_killed(known) else ""
            said.append(f"{layer} {known['verdict']}{words}")
    return "; ".join(said)


def try_all(sample, trials, jobs):
    """Fills the sample; with several workers it is the same one, however they interleave."""
    def work():
        while not trials.runner.stopped:
            mutant = sample.next()
            if mutant is None:
                if sample.is_full() or sample.under_way == 0:
                    return
                threading.Event().wait(0.2)  # Those under way may turn out not to count.
                continue
            if mutant.key() in sample.reasons:
                record = {"state": "equivalent", "layers": {}}
            else:
                record = trials.try_mutant(mutant)
            sample.add(mutant, record)
            with sample.lock:
                told = record.get("why") or story_of(record) or sample.reasons.get(mutant.key(), "")
                print(f"[{len(sample.counted)}/{sample.wanted}] {mutant.shown()}\n"
                      f"    {record['state']}: {told}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        workers = [pool.submit(work) for _ in range(jobs)]
        try:
            for worker in concurrent.futures.as_completed(workers):
                worker.result()
        except BaseException:
            trials.runner.stop()
            raise


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def report(sample, population, options):
    """Prints it; returns its rows."""
    judged = sorted(sample.judged(), key=lambda each: (each[0].path, each[0].line))
    listed = len(sample.counted) - len(judged)
    print(f"\nsample: {len(sample.counted)} of seed {options.seed}, from {len(population.mutants)} "
          f"mutants; {population.left_out} in {population.headers} headers are left out\n"
          f"no part of it: {len(sample.stillborn)} that do not compile, "
          f"{len(sample.same)} that compile to the same\n"
          f"equivalents that are listed with a reason: {listed}\n")
    print(f"{'killed first by':16} {'mutants':>8} {'by crash':>9} {'by hang':>8}")
    for layer in (*LAYERS, ""):
        of_layer = [record for _, record in judged if killer_of(record) == layer]
        verdicts = [record["layers"][layer]["verdict"] for record in of_layer] if layer else []
        print(f"{layer or 'nobody':16} {len(of_layer):8} {verdicts.count('crashed'):9} "
              f"{verdicts.count('hung'):8}")
    survivors = [mutant for mutant, record in judged if not killer_of(record)]
    missed = [(mutant, record) for mutant, record in judged
              if killer_of(record) not in ("", "suite")]
    print("\nnobody kills")
    for mutant in survivors:
        print(f"  {mutant.shown()}")
    print("\nthe suite alone does not kill, besides")
    for mutant, record in missed:
        print(f"  {mutant.shown()}\n    {story_of(record)}")
    killed = len(judged) - len(survivors)
    by_suite = killed - len(missed)
    rows = []
    for name, part, least in (("all", killed, LEAST_ALL), ("suite", by_suite, LEAST_SUITE)):
        share = percent(part, len(judged))
        rows.append({"name": f"mutate/{name}", "value": round(share, 1), "unit": "%",
                     "ratio": round(share / least, 3), "limit": least, "ok": share >= least})
        print(f"\nkilled by {'all tests together' if name == 'all' else 'the suite alone'}: "
              f"{part} of {len(judged)}, {share:.1f} %; the least is {least} %", end="")
    print()
    return rows


def mutate(options):
    population = Population(ROOT)
    mutants = [each for each in population.mutants if each.path.startswith(options.only)]
    if not mutants:
        sys.exit(f"mutate: no mutant in '{options.only}'; there are some in {', '.join(FOLDERS)}")
    order = operators.draw(mutants, options.seed)
    if options.list:
        print("\n".join(each.shown() for each in order[: options.sample]))
        return 0
    build = options.build.resolve()
    if not (build / "compile_commands.json").exists():
        sys.exit(f"mutate: there is no build in {build}; `./dev build release` makes it")
    (build / "mutate").mkdir(exist_ok=True)
    with (build / "mutate" / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"mutate: another one is at work in {build}")
        return mutate_in(build, population, order, options)


def mutate_in(build, population, order, options):
    reasons = known_equivalents().reasons()
    results = Results(build / "mutate" / "results.json")
    trials = Trials(PatchedBuild(build), results, Runner())
    sample = Sample(order, options.sample, reasons)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)
    try:
        try_all(sample, trials, options.jobs)
    except KeyboardInterrupt:
        print("\nmutate: stopped; the same command goes on", file=sys.stderr)
        return 130
    except RuntimeError as error:
        sys.exit(f"mutate: {error}")
    rows = report(sample, population, options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["ok"] for row in rows) else 1


# --- the script itself ----------------------------------------------------------------------------


def check():
    equivalents = known_equivalents()
    complaints = list(equivalents.complaints(Population(ROOT).mutants))
    print("\n".join([*complaints, f"equivalents: {len(equivalents.rows)}, "
                                  f"{len(complaints)} do not fit"]))
    return 1 if complaints else 0


def self_test():
    operators.self_test()
    assert outcome_of(None, "[ RUN      ] A.B\n").verdict == "hung"
    assert outcome_of(0, "").verdict == "passed"
    crashed = outcome_of(-11, "[ RUN      ] A.B\n")
    assert crashed.verdict == "crashed" and crashed.words == "SIGSEGV A.B", crashed.words
    assert outcome_of(-9, "").verdict == "failed"
    asserted = "fermata: assertion 'x > 0' failed at a.cpp:7, in f()\n"
    assert outcome_of(-6, asserted).words == "assertion 'x > 0' failed at a.cpp:7"
    found = outcome_of(2, "  law/a 5 schedules\nlaw/b [random]: safety: it broke\n")
    assert found.verdict == "failed" and found.words == "law/b [random]: safety: it broke"
    hung = outcome_of(5, "law/b --strategy fifo --seed 0x1: run 1: hang: took long\n")
    assert hung.verdict == "hung" and hung.words.startswith("law/b --strategy"), hung.words
    assert outcome_of(1, "[  FAILED  ] A.B (3 ms)\n").words == "A.B"

    source = operators.Source("a.cpp", operators.SPECIMEN)
    mutants = source.mutants()
    order = operators.draw(mutants, 1)
    assert order == operators.draw(mutants[::-1], 1) and order != operators.draw(mutants, 2)
    gone = {mutant.id() for mutant in order[:2]}
    assert operators.draw([each for each in mutants if each.id() not in gone], 3)

    # The sample is the same whether what does not count comes to an end early or late.
    dead = {order[0].id(), order[2].id()}
    for early in (True, False):
        sample, waiting = Sample(order, 3, {order[4].key(): "why"}), []
        while not sample.is_full():
            mutant = sample.next()
            if mutant:
                waiting.append(mutant)
            else:
                done = waiting.pop(0 if early else -1)
                state = "stillborn" if done.id() in dead else "tried"
                sample.add(done, {"state": state, "layers": {}})
        kept = {mutant.id() for mutant, _ in sample.counted}
        assert kept == {order[place].id() for place in (1, 3, 4)}, kept
        assert len(sample.judged()) == 2

    row = {"file": "a.cpp", "function": mutants[0].function, "kind": mutants[0].kind,
           "before": mutants[0].before, "after": mutants[0].after, "reason": "so"}
    text = "[[equivalent]]\n" + "\n".join(f"{key} = {json.dumps(value)}"
                                          for key, value in row.items())
    assert not list(Equivalents(text).complaints(mutants))
    assert len(list(Equivalents(text).complaints(mutants[1:]))) == 1
    assert not is_killed({"verdict": Outcome("passed").verdict}) and not is_killed(None)


def count(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"expected 1 or more, got '{text}'")
    return int(text)


def main():
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=count, default=40, metavar="N", help="mutants that count")
    parser.add_argument("--seed", type=int, default=25, metavar="S", help="of the draw")
    parser.add_argument("--jobs", type=count, default=2, metavar="N", help="mutants at a time")
    parser.add_argument("--only", default="", metavar="PATH", help="files that start so")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--list", action="store_true", help="show the draw, and try nothing")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--self-test", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    return check() if options.check else mutate(options)


if __name__ == "__main__":
    sys.exit(main())
