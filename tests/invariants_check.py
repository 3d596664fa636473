#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Were the invariants we owe really checked?

Usage: invariants_check.py TABLE FOLDER      compare TABLE with what a run noted in FOLDER
       invariants_check.py --table TABLE     only check that TABLE is well formed
       invariants_check.py --self-test

TABLE (invariants.tsv) has the columns id, status, rule. FOLDER is FERMATA_CHECKS_OUT of the run:
files of ids, one per line, written by FERMATA_CHECKS as it is executed.

Status: `required` must have been checked; `when-checked` is counted; `later: SUBJECT` waits for its
subject. An id that the table does not know is an error.
"""

import pathlib
import re
import sys
import tempfile

ID = re.compile(r"[A-Z]+(-[A-Z]+)?-\d{2}")
STATUS = re.compile(r"required|when-checked|later: \w[\w ]*")


class TableError(Exception):
    pass


def read_table(path):
    """The status of each id, in the order of the table."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    if not lines or lines[0] != "id\tstatus\trule":
        raise TableError(f"{path}:1: expected the header id, status, rule, separated by tabs")
    statuses = {}
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 3 or not all(cells):
            raise TableError(f"{path}:{number}: expected three cells, got {len(cells)}: {line!r}")
        name, status, _ = cells
        if not ID.fullmatch(name):
            raise TableError(f"{path}:{number}: '{name}' is no invariant id")
        if not STATUS.fullmatch(status):
            raise TableError(f"{path}:{number}: '{status}' is no status")
        if name in statuses:
            raise TableError(f"{path}:{number}: '{name}' is listed twice")
        statuses[name] = status
    return statuses


def read_checked(folder):
    """The ids noted by the processes of a run."""
    files = sorted(pathlib.Path(folder).glob("*.checks"))
    return {line for file in files for line in file.read_text(encoding="utf-8").splitlines()}


def compare(statuses, checked):
    """Complaints, and a sentence for each kind of status."""
    complaints = [f"unknown id checked: {name}" for name in sorted(checked - statuses.keys())]
    complaints += [
        f"required, not checked: {name}"
        for name, status in statuses.items()
        if status == "required" and name not in checked
    ]
    summary = []
    for kind in ("required", "when-checked", "later"):
        names = {name for name, status in statuses.items() if status.split(":")[0] == kind}
        summary.append(f"{kind}: {len(names & checked)} of {len(names)} checked")
    return complaints, summary


def self_test():
    statuses = {"A-01": "required", "A-02": "required", "B-01": "when-checked", "C-01": "later: x"}
    complaints, summary = compare(statuses, {"A-01", "C-01", "Z-09"})
    assert complaints == ["unknown id checked: Z-09", "required, not checked: A-02"], complaints
    assert summary == [
        "required: 1 of 2 checked",
        "when-checked: 0 of 1 checked",
        "later: 1 of 1 checked",
    ], summary
    assert compare(statuses, {"A-01", "A-02"})[0] == []

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
        assert read_table(table) == {"CORE-CB-01": "later: big things"}

        pathlib.Path(folder, "1.checks").write_text("A-01\nA-02\n", encoding="utf-8")
        pathlib.Path(folder, "2.checks").write_text("A-02\n", encoding="utf-8")
        assert read_checked(folder) == {"A-01", "A-02"}


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    try:
        if len(arguments) == 2 and arguments[0] == "--table":
            read_table(arguments[1])
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
