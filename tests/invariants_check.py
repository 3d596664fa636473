#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Were the invariants we owe really checked?

Usage: invariants_check.py TABLE FOLDER            compare TABLE with what a run noted in FOLDER
       invariants_check.py --table TABLE [PAGE]    only check that TABLE is well formed, and that
                                                   PAGE has its rows
       invariants_check.py --write PAGE TABLE FOLDER
       invariants_check.py --self-test

TABLE (invariants.tsv) has the columns id, status, rule. FOLDER is FERMATA_CHECKS_OUT of the run:
files with lines of id, test and count, written when an assertion is executed behind
FERMATA_CHECKS; the count 0 says that none was. PAGE (docs/invariants.md) shows both: each rule, the
tests that checked it, and how often.

Status: `required` must have been checked; `when-checked` is counted; `later: SUBJECT` waits for its
subject. An id that the table does not know is an error, and so is a claim with no assertion behind
it.
"""

import collections
import pathlib
import re
import sys
import tempfile

ID = re.compile(r"[A-Z]+(-[A-Z]+)?-\d{2}")
SHOWN_TESTS = 4  # For each rule, on the page.
PAGE_HEAD = """# Invariants

What is always true, which tests have asserted it, and how often they did in one run of
`./dev test`, which writes this page to `build/invariants.md`. A test under simulation counts once
however many schedules it explores, unless it counts each.

| id | rule | checked by | times |
|---|---|---|---|"""
STATUS = re.compile(r"required|when-checked|later: \w[\w ]*")


class TableError(Exception):
    pass


def read_table(path):
    """Status and rule of each id, in the order of the table."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    if not lines or lines[0] != "id\tstatus\trule":
        raise TableError(f"{path}:1: expected the header id, status, rule, separated by tabs")
    rows = {}
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 3 or not all(cells):
            raise TableError(f"{path}:{number}: expected three cells, got {len(cells)}: {line!r}")
        name, status, rule = cells
        if not ID.fullmatch(name):
            raise TableError(f"{path}:{number}: '{name}' is not an invariant id")
        if not STATUS.fullmatch(status):
            raise TableError(f"{path}:{number}: '{status}' is not a status")
        if name in rows:
            raise TableError(f"{path}:{number}: '{name}' is listed twice")
        rows[name] = (status, rule)
    return rows


def read_checked(folder):
    """How often each test of a run has checked each id: {id: {test: count}}."""
    checked = collections.defaultdict(collections.Counter)
    for file in sorted(pathlib.Path(folder).glob("*.checks")):
        for line in file.read_text(encoding="utf-8").splitlines():
            name, test, count = line.split("\t")
            checked[name][test] += int(count)
    return checked


def compare(rows, checked):
    """Complaints, and a sentence for each kind of status."""
    complaints = [f"unknown id checked: {name}" for name in sorted(checked.keys() - rows.keys())]
    complaints += [
        f"claimed, with no assertion behind it: {name} in {test}"
        for name in sorted(checked)
        for test, count in checked[name].items()
        if count == 0
    ]
    checked = {name: tests for name, tests in checked.items() if any(tests.values())}
    complaints += [
        f"required, not checked: {name}"
        for name, (status, _) in rows.items()
        if status == "required" and name not in checked
    ]
    summary = []
    for kind in ("required", "when-checked", "later"):
        names = {name for name, (status, _) in rows.items() if status.split(":")[0] == kind}
        summary.append(f"{kind}: {len(names & checked.keys())} of {len(names)} checked")
    return complaints, summary


def page(rows, checked):
    """docs/invariants.md."""
    lines = [PAGE_HEAD]
    for name, (status, rule) in rows.items():
        tests = checked.get(name, {})
        shown = ", ".join(f"`{test}`" for test in sorted(tests)[:SHOWN_TESTS])
        if len(tests) > SHOWN_TESTS:
            shown += f" and {len(tests) - SHOWN_TESTS} more"
        if not tests and status.startswith("later"):
            shown = status
        rule = rule.replace("|", "\\|")
        lines.append(f"| {name} | {rule} | {shown} | {sum(tests.values()) or ''} |")
    return "\n".join(lines) + "\n"


def compare_page(rows, text):
    """Complaints about a page that does not have the rows of the table."""
    cells = (re.split(r" (?<!\\)\| ", line) for line in text.splitlines())
    shown = {row[0].removeprefix("| "): row for row in cells if ID.fullmatch(row[0][2:])}
    complaints = []
    for name, (status, rule) in rows.items():
        row = shown.pop(name, None)
        if row is None or row[1] != rule.replace("|", "\\|"):
            complaints.append(f"the page does not have {name} as the table has it")
        elif status == "required" and not row[2].strip():
            complaints.append(f"the page shows no check of {name}")
    return complaints + [f"the page has {name}, the table has not" for name in shown]


def self_test():
    rows = {"A-01": ("required", "one"), "A-02": ("required", "a|b"),
            "B-01": ("when-checked", "three"), "C-01": ("later: x", "four")}
    one = {"S.T": 2}
    complaints, summary = compare(rows, {"A-01": one, "C-01": one, "Z-09": one})
    assert complaints == ["unknown id checked: Z-09", "required, not checked: A-02"], complaints
    assert summary == [
        "required: 1 of 2 checked",
        "when-checked: 0 of 1 checked",
        "later: 1 of 1 checked",
    ], summary
    checked = {"A-01": one, "A-02": {"S.T": 1, "S.U": 2}}
    assert compare(rows, checked)[0] == []
    assert compare(rows, {"A-01": one, "A-02": {"S.V a.cpp:7": 0}})[0] == [
        "claimed, with no assertion behind it: A-02 in S.V a.cpp:7",
        "required, not checked: A-02",
    ]
    shown = page(rows, checked)
    assert "| A-02 | a\\|b | `S.T`, `S.U` | 3 |" in shown, shown
    assert compare_page(rows, shown) == []
    assert compare_page({**rows, "D-01": ("required", "five")}, shown) == [
        "the page does not have D-01 as the table has it"
    ]
    assert compare_page(rows, page(rows, {"A-01": one})) == ["the page shows no check of A-02"]

    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "table.tsv")
        header = "id\tstatus\trule\n"
        twice = "A-01\trequired\tr\n" * 2
        for bad in ("A-01\trequired\n", "a-1\trequired\tr\n", "A-01\tsoon\tr\n", twice):
            table.write_text(header + bad, encoding="utf-8")
            try:
                read_table(table)
            except TableError:
                continue
            raise AssertionError(f"accepted {bad!r}")
        table.write_text(header + "CORE-CB-01\tlater: big things\tr\n", encoding="utf-8")
        assert read_table(table) == {"CORE-CB-01": ("later: big things", "r")}

        pathlib.Path(folder, "1.checks").write_text("A-01\tS.T\t1\nA-01\tS.T\t4\n")
        pathlib.Path(folder, "2.checks").write_text("A-01\tS.U\t1\n")
        assert read_checked(folder) == {"A-01": {"S.T": 5, "S.U": 1}}


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    try:
        if arguments[:1] == ["--table"] and len(arguments) in (2, 3):
            rows = read_table(arguments[1])
            text = pathlib.Path(arguments[2]).read_text(encoding="utf-8") if arguments[2:] else None
            complaints = compare_page(rows, text) if text is not None else []
            print("\n".join(complaints))
            return 1 if complaints else 0
        if len(arguments) == 4 and arguments[0] == "--write":
            text = page(read_table(arguments[2]), read_checked(arguments[3]))
            pathlib.Path(arguments[1]).write_text(text, encoding="utf-8")
            return 0
        if len(arguments) == 2:
            complaints, summary = compare(read_table(arguments[0]), read_checked(arguments[1]))
            print("\n".join(complaints + ["invariants: " + "; ".join(summary)]))
            return 1 if complaints else 0
    except (OSError, TableError) as error:
        print(f"invariants_check: {error}", file=sys.stderr)
        return 1
    print(__doc__, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
