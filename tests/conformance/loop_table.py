#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which case of the callback loop's conformance list runs on which driver?

Usage: loop_table.py --binaries BUILD --arms ARM,ARM,...
       loop_table.py --self-test

Runs conformance_loop_test of a build, once for each arm, and prints a table of the cases in
loop_cases.tsv against the arms. A case has a name in the list, and that of the test that is it.
Fails when a case fails, is missing on an arm that its row does not leave out, or is not in the
list, and when there are other arms than those that are named.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PASSED, FAILED, HOSTED, ABSENT, ORDERED, TAPED, HOLE = "x", "F", "h", "-", "o", "t", "?"
LEGEND = (
    f"{PASSED} passed   {HOSTED} passed: refused with loop_is_hosted   "
    f"{ABSENT} not for this arm   {FAILED} failed   {HOLE} missing\n"
    f"{ORDERED} not for this arm: asserts the canonical order of what the contract leaves open, "
    "and the arm calls in others\n"
    f"{TAPED} not for this arm: asserts that nothing is allocated, and its tape keeps each draw"
)
SHUFFLED = {"O": ORDERED, "T": TAPED}  # Why the arm lacks a case.
SIMULATED = {"simulated", "shuffle"}
LISTED = pathlib.Path(__file__).with_name("loop_cases.tsv")


def cases_in(text):
    """[(section, case, test, marks)] of the list."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(*row[:3], row[3] if len(row) > 3 else "") for row in rows]


def without_outcome(arm, marks):
    """The cell of a case with these marks that has not run on `arm`."""
    if arm == "shuffle" and set(marks) & set(SHUFFLED):
        return next(SHUFFLED[mark] for mark in marks if mark in SHUFFLED)
    kinds = set(marks) - set(SHUFFLED)
    kind = "M" if arm in SIMULATED else "R"
    return ABSENT if kinds and kind not in kinds else HOLE


def outcomes_in(report):
    """[(test, arm, outcome)] of a program's report in JSON."""
    found = []
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            name, _, arm = test["name"].partition("/")
            if test.get("failures"):
                outcome = FAILED
            elif test.get("result") != "COMPLETED":
                continue
            else:
                outcome = HOSTED if "loop_is_hosted" in test else PASSED
            found.append((name, arm, outcome))
    return found


def judge(cases, arms, outcomes):
    """(complaints, {(case, arm): cell})"""
    names = {test: case for _, case, test, _ in cases}
    complaints, cells = [], {}
    for test, arm, outcome in outcomes:
        case = names.get(test)
        if case is None:
            complaints.append(f"{test} is not in the list")
        elif arm not in arms:
            complaints.append(f"{test}: there is no arm {arm}")
        else:
            cells[case, arm] = FAILED if cells.get((case, arm)) == FAILED else outcome
    for _, case, _, marks in cases:
        for arm in arms:
            cell = cells.setdefault((case, arm), without_outcome(arm, marks))
            if cell == FAILED:
                complaints.append(f"{case} fails on {arm}")
            elif cell == HOLE:
                complaints.append(f"{case} does not run on {arm}")
    return sorted(set(complaints)), cells


def table(cases, arms, cells):
    width = max(len(name) for _, name, _, _ in cases)
    lines = [f"{'':{width + 3}}" + "".join(f"{arm:>13}" for arm in arms)]
    for section, name, _, _ in cases:
        row = "".join(f"{cells[name, arm]:>13}" for arm in arms)
        lines.append(f"{section}  {name:{width}}{row}")
    return lines


def run(program, tests):
    """The outcomes of these tests of a program; raises OSError when it gives none."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run(
            [program, f"--gtest_filter={tests}", f"--gtest_output=json:{report}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return outcomes_in(json.loads(report.read_text(encoding="utf-8")))


def self_test():
    text = (
        "# a comment\nA\ttestOne\tOne\nG\ttestTwo\tTwo\tR\n"
        "X\tX01\tOff\tMR\nX\tX02\tOn\tM\nX\tX03\tOnce\tO\n"
    )
    cases = cases_in(text)
    assert cases[0] == ("A", "testOne", "One", ""), cases
    assert cases[1] == ("G", "testTwo", "Two", "R"), cases
    report = {
        "testsuites": [
            {
                "testsuite": [
                    {"name": "One/uv", "result": "COMPLETED"},
                    {"name": "One/simulated", "result": "COMPLETED", "loop_is_hosted": "1"},
                    {"name": "Two/uv", "result": "COMPLETED", "failures": [{}]},
                    {"name": "Two/simulated", "result": "SKIPPED"},
                ]
            }
        ]
    }
    outcomes = outcomes_in(report)
    complaints, cells = judge(cases, ["uv", "simulated"], outcomes + [("other", "uv", PASSED)])
    assert complaints == [
        "X01 does not run on simulated",
        "X01 does not run on uv",
        "X02 does not run on simulated",
        "X03 does not run on simulated",
        "X03 does not run on uv",
        "other is not in the list",
        "testTwo fails on uv",
    ], complaints
    assert cells["testOne", "simulated"] == HOSTED
    assert cells["testTwo", "simulated"] == ABSENT
    assert cells["X02", "uv"] == ABSENT
    shuffled = judge(cases, ["uv", "shuffle"], outcomes)[1]
    assert shuffled["X03", "shuffle"] == ORDERED
    assert shuffled["X03", "uv"] == HOLE
    assert shuffled["testTwo", "shuffle"] == ABSENT
    assert "X01 does not run on ev" in judge(cases, ["ev"], outcomes)[0]
    assert table(cases, ["uv", "simulated"], cells)[1].split() == ["A", "testOne", "x", "h"]
    assert len(cases_in(LISTED.read_text(encoding="utf-8"))) == 124


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--binaries", type=pathlib.Path)
    parser.add_argument("--arms", type=lambda text: text.split(","))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.binaries is None or arguments.arms is None:
        parser.error("which build, and which arms?")

    cases = cases_in(LISTED.read_text(encoding="utf-8"))
    program = arguments.binaries / "tests/conformance/conformance_loop_test"
    outcomes, complaints = [], []
    of_arms = {arm: f"*/{arm}" for arm in arguments.arms}
    for arm, tests in {**of_arms, "no arm": "-" + ":".join(of_arms.values())}.items():
        try:
            outcomes += run(program, tests)
        except (OSError, ValueError) as error:
            complaints.append(f"{arm}: no report: {error}")
    more, cells = judge(cases, arguments.arms, outcomes)
    print("\n".join(table(cases, arguments.arms, cells) + [LEGEND]))
    complaints += more
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
