#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the tool find, shrink and explain the bugs of programs in applications/?

Each buggy program is given to `fermata run` as a user would do it, with defaults, on two cores. It
counts when it fails within 60 s, in the class that applications/expected.tsv says; when the shrunk
tape has at most 1.5 times the decisions of the smallest one there is; and when the explanation
names the pair that decides. Its correct twin has to pass.

Usage: applications.py [--build DIR] [--json FILE] [--write FILE] [--only NAME] [--control N]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import by_hand

FOLDER = pathlib.Path(__file__).resolve().parent / "applications"
ROOT = FOLDER.parent.parent.parent
BUDGET = 60  # Seconds, of each hunt.
JOBS = 2
ABOVE_MINIMUM = 1.5
COLUMNS = ("name", "family", "entry", "verdict", "minimum", "coroutine", "line", "against",
           "against_line", "why")


def read_expected():
    rows = []
    for line in (FOLDER / "expected.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            rows.append(dict(zip(COLUMNS, line.split("\t"), strict=True)))
            rows[-1]["minimum"] = int(rows[-1]["minimum"])
    return rows


class Tool:
    """`fermata run` of the program that holds all of them."""

    def __init__(self, build):
        self.command = [str(build / "fermata"), "run", str(build / "properties/zoo_applications")]

    def run(self, test, *options):
        """The lines of its JSON, the tapes' decisions counted, and the seconds it took."""
        with tempfile.TemporaryDirectory() as out:
            result = pathlib.Path(out) / "result.json"
            command = [*self.command, "--filter", test, "--jobs", str(JOBS), "--out", out,
                       "--json", str(result), *options]
            start = time.monotonic()
            process = subprocess.run(command, capture_output=True, text=True, check=False)
            seconds = time.monotonic() - start
            if not result.exists():
                sys.exit(f"zoo: {' '.join(command)}:\n{process.stdout}{process.stderr}")
            events = [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
            failure = next((each for each in events if each["event"] == "failure"), None)
            if failure:
                tape = pathlib.Path(failure["tape"])
                failure["decisions"] = decisions_in(tape)
                failure["shrunk"] = decisions_in(tape.with_suffix(".shrunk.tape"))
            runs = sum(each["runs"] for each in events if each["event"] == "test")
            return failure, runs, seconds


def decisions_in(tape):
    """Of the tape; nothing when there is no such tape."""
    if not tape.exists():
        return None
    lines = tape.read_text(encoding="utf-8").splitlines()
    return sum(line.startswith(("pick ", "draw ")) for line in lines)


class Party:
    """Who ran, or would have run, according to a report."""

    def __init__(self, report, role):
        found = re.search(rf"^ *{role}: '([^\n]*)' (?:was suspended at|had not begun; spawned at) "
                          r"([^\s:]+):(\d+)", report, re.M)
        self.coroutine, self.line = "", ""
        if found:
            self.coroutine = found[1]
            path = ROOT / found[2]
            if path.exists():
                lines = path.read_text(encoding="utf-8").splitlines()
                self.line = lines[int(found[3]) - 1].strip()

    def is_at(self, coroutines, line):
        return self.coroutine in coroutines.split("|") and line.strip() in self.line


class Trial:
    """One program: the bug, and its twin."""

    def __init__(self, expected, tool, control):
        self.expected = expected
        self.complaints = []
        self.failure, self.runs, self.seconds = tool.run(
            f"Buggy.{expected['name']}", "--time", f"{BUDGET}s")
        self.decides = ""
        if self.failure:
            self.check_found()
        else:
            self.complaints.append(f"not found in {self.runs} schedules")
        broken, self.control, _ = tool.run(
            f"Correct.{expected['name']}", "--runs", str(control))
        if broken or self.control != control:
            self.complaints.append(f"the correct twin fails: {(broken or {}).get('message')}")

    def check_found(self):
        expected, failure = self.expected, self.failure
        if failure["class"] not in expected["verdict"].split("|"):
            self.complaints.append(f"class {failure['class']}, not {expected['verdict']}")
        if self.seconds > BUDGET:
            self.complaints.append(f"took {self.seconds:.1f} s")
        shrunk = failure["shrunk"]
        if shrunk is None or shrunk > ABOVE_MINIMUM * expected["minimum"]:
            self.complaints.append(f"shrunk to {shrunk} decisions, of {expected['minimum']}")
        decides = re.search(r"^ *decides: (.*)$", failure["report"], re.M)
        self.decides = decides[1] if decides else ""
        if not self.names_the_pair():
            self.complaints.append(f"another pair decides: {self.decides or 'none'}")

    def names_the_pair(self):
        expected, report = self.expected, self.failure["report"]
        if expected["against"] == "decision":
            return re.search(expected["against_line"], self.decides) is not None
        one = (expected["coroutine"], expected["line"])
        other = (expected["against"], expected["against_line"])
        ran, waited = Party(report, "ran"), Party(report, "would have run")
        return ((ran.is_at(*one) and waited.is_at(*other)) or
                (ran.is_at(*other) and waited.is_at(*one)))

    def ok(self):
        return not self.complaints

    def rows(self):
        name, minimum = f"zoo/{self.expected['name']}", self.expected["minimum"]
        yield {"name": f"{name}/found", "value": round(self.seconds, 2), "unit": "s",
               "ratio": self.seconds / BUDGET, "limit": BUDGET, "ok": self.ok()}
        if self.failure and self.failure["shrunk"] is not None:
            shrunk, limit = self.failure["shrunk"], ABOVE_MINIMUM * minimum
            yield {"name": f"{name}/shrunk", "value": shrunk, "unit": "decisions",
                   "ratio": shrunk / minimum, "limit": limit, "ok": shrunk <= limit}

    def show(self):
        print(f"{self.expected['name']}  {'FOUND' if self.ok() else 'NOT FOUND'}: "
              f"{self.runs} schedules, {self.seconds:.1f} s")
        if self.failure:
            print(f"  {self.failure['decisions']} decisions, shrunk to {self.failure['shrunk']} of "
                  f"{self.expected['minimum']}; decides: {self.decides}")
        for complaint in self.complaints:
            print(f"  ! {complaint}")
        sys.stdout.flush()

    def table_row(self):
        expected, failure = self.expected, self.failure or {}
        entry = "" if expected["entry"] == "-" else expected["entry"]
        cells = [expected["name"], expected["family"], entry, failure.get("class", ""),
                 str(self.runs), f"{self.seconds:.1f}", str(failure.get("decisions", "")),
                 str(failure.get("shrunk", "")), str(expected["minimum"]),
                 self.decides.replace("|", "\\|"), "yes" if self.ok() else
                 "; ".join(self.complaints).replace("|", "\\|")]
        return "| " + " | ".join(cells) + " |"


def document(trials, control):
    """The text of docs/bench/finding.md."""
    found = sum(trial.ok() for trial in trials)
    head = f"""# What is found

Programs with a bug of their own, in [applications](../../properties/zoo/applications), each given
to `fermata run` with its defaults on {JOBS} cores for at most {BUDGET} s. What the smallest failing
tape is, and which pair of steps or which misfortune decides, was written down by hand before
([expected.tsv](../../properties/zoo/applications/expected.tsv)); a test tries all smaller tapes.

A row is right when the bug was found, shrunk to at most {ABOVE_MINIMUM} times the smallest tape,
and explained by that pair. The correct twin of each, which differs in the faulty lines alone,
passed {control:,} schedules. Seconds are from start to report: exploring, once more in a fresh
process, shrinking and explaining.

{found} of {len(trials)} are right. Written by `./dev zoo`.

"""
    titles = ("program", "family", "zoo", "class", "schedules", "seconds", "decisions", "shrunk",
              "smallest", "decides", "right")
    head += f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}\n"
    table = "".join(trial.table_row() + "\n" for trial in trials)
    return head + table + by_hand.bought() + by_hand.before_and_after()


def hunt(build, only, control, write):
    """Hunts those in `only`, all when it is empty. Returns rows for --json, and how many are not
    as they should be."""
    tool = Tool(build)
    trials = []
    for expected in read_expected():
        if only and expected["name"] not in only:
            continue
        trials.append(Trial(expected, tool, control))
        trials[-1].show()
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(document(trials, control), encoding="utf-8")
    return [row for trial in trials for row in trial.rows()], sum(not t.ok() for t in trials)


def main():
    parser = argparse.ArgumentParser(description="Are the bugs in applications/ found?")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, help="the table, as docs/bench/finding.md")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--control", type=int, default=10_000,
                        help="schedules of each correct twin")
    options = parser.parse_args()
    rows, wrong = hunt(options.build.resolve(), options.only, options.control, options.write)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("all found" if not wrong else f"{wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
