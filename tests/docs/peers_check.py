#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/bench/peers.md is what bench/peers.py writes, which does what it says.

usage: peers_check.py SOURCE_DIR

Nothing is built or measured here: the tables and programs of the tests are planted.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

UNDER_TEST = {"rounds": 3, "date": "2026-01-02", "machine": "a machine", "versions": {}}


def planted():
    """Three rounds of rows, of which some peers have only a part."""
    return {
        ("yield/2", "floor"): ([10.0, 20.0, 40.0], "ns"),
        ("yield/2", "fermata"): ([20.0, 30.0, 100.0], "ns"),
        ("yield/2", "go"): ([1500.0, 1000.0, 4000.0], "ns"),
        ("yield/2", "fiber"): ([50.0] * 3, "ns"),
        ("yield/100", "floor"): ([20.0] * 3, "ns"),  # No row of the page.
        ("echo/64/across", "floor"): ([50_000.0, 60_000.0, 70_000.0], "/s"),
        ("echo/64/across", "fermata"): ([45_000.0, 54_000.0, 63_000.0], "/s"),
        ("echo/64/across", "uring"): ([60_000.0, 66_000.0, 70_000.0], "/s"),
        ("cancelled_timers", "floor"): ([40.0] * 3, "ns"),
        ("cancelled_timers", "fermata"): ([220.0] * 3, "ns"),
        ("cancelled_timers", "libuv"): ([200.0] * 3, "ns"),
    }


def row_of(page, title):
    """Column -> cell of the row that begins with a title."""
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    head = next(row for row in rows if "Fermata" in row)
    row = next(row for row in rows if row.startswith(f"| {title}, "))
    cells = [[cell.strip() for cell in each.strip("|").split("|")] for each in (head, row)]
    return dict(zip(*cells))


def check_writer(peers):
    reasons = {"fiber": "not all of it is there", "tokio": "cargo is not installed"}
    page = peers.text_of(planted(), reasons, UNDER_TEST)
    among_two = row_of(page, "yield among 2")
    # Medians of each; ratios 2, 1.5, 2.5 and 150, 50, 100 of the same rounds.
    assert among_two["floor"] == "20.0", among_two
    assert among_two["Fermata"] == "30.0 (2.00)", among_two
    assert among_two["Go"] == "1,500 (100)", among_two
    assert among_two["Boost.Asio"] == "-", among_two
    assert among_two["tokio"] == "not measured", among_two
    assert among_two["Fermata on io_uring"] == "-", among_two
    assert among_two["Boost.Fiber"] == "50.0 (2.50)", among_two  # A part that was built elsewhere.
    echo = row_of(page, "echo, 64 connections, other core")
    assert echo["libuv in C"] == "60.0 (1.00)", echo  # It is the floor of echo.
    assert echo["Fermata"] == "54.0 (0.90)", echo
    assert echo["Fermata on io_uring"] == "66.0 (1.10)", echo
    assert row_of(page, "one of 100,000 timers, armed and cancelled")["libuv in C"] == "200 (5.00)"
    assert "tokio was not measured: cargo is not installed." in page
    assert "3 rounds on a machine, 2026-01-02" in page


def check_reasons(peers):
    """A peer that cannot be built is named; the others are built."""

    def without_program(folder):
        raise FileNotFoundError(2, "No such file", "go")

    def without_header(folder):
        output = "in a.cpp:3:\na.cpp:3:10: fatal error: asio.hpp: No such file\ncompilation ended\n"
        raise subprocess.CalledProcessError(1, ["g++"], output=output)

    def too_slow(folder):
        raise subprocess.TimeoutExpired(["cargo", "build"], 900)

    done = []
    builds = {"go": without_program, "asio": without_header, "tokio": too_slow,
              "fiber": done.append}
    with tempfile.TemporaryDirectory() as name:
        reasons = peers.built(pathlib.Path(name), builds)
    assert len(done) == 1
    assert reasons == {
        "go": "go is not installed",
        "asio": "a.cpp:3:10: fatal error: asio.hpp: No such file",
        "tokio": "cargo took longer than 900 s",
    }, reasons


def check_limits(run):
    """A limit of a ratio to a peer is kept, missed, or missing."""
    rows = {row["name"]: row for row in run.judged(planted())}
    beside_libuv = rows["cancelled_timers/fermata:libuv"]
    assert (beside_libuv["ratio"], beside_libuv["limit"], beside_libuv["ok"]) == (1.1, 1.0, False)
    assert rows["cancelled_timers/libuv"]["ratio"] == 5
    assert rows["yield/2/go"]["limit"] is None and rows["yield/2/go"]["ok"]
    without = {key: values for key, values in planted().items() if key[1] != "libuv"}
    missing = [row["name"] for row in run.missing(without, re.compile("^cancelled_timers$"), {})]
    assert missing == ["cancelled_timers/libuv", "cancelled_timers/clock"], missing


def check_rows(peers, root):
    """What a peer's program measures is on the page, under the peer's name."""
    families = re.compile(peers.SUBJECTS)
    shown = {subject.split("/")[0] for subject in peers.ROWS}
    assert all(families.search(family) for family in shown), shown
    sources = [
        path for path in (root / "bench/peers").rglob("*") if path.suffix in (".cpp", ".go", ".rs")
    ]
    measured = {
        name
        for path in sources
        for name in re.findall(r'"(\w+/\w+)(?:/\d+)?"', path.read_text(encoding="utf-8"))
    }
    for peer in peers.BUILDS:
        own = {name.split("/")[0] for name in measured if name.split("/")[1] == peer}
        assert own and own <= shown, (peer, own)


def check_page(peers, page):
    """The page in the repository has all rows and peers."""
    empty = peers.text_of({}, {}, UNDER_TEST)
    for subject, (title, _) in peers.ROWS.items():
        row = row_of(page, title)
        assert list(row)[1:] == list(peers.TITLES.values()), row
        assert row["Fermata"] != "-", f"docs/bench/peers.md: {subject} was not measured"
    for who, title in peers.TITLES.items():
        told = f"| {title} | " in page or f"{title} was not measured: " in page
        assert told, f"docs/bench/peers.md: nothing is told of {who}"
    for line in (*peers.NOTES.splitlines(), *empty.split("## Measured earlier")[1].splitlines()):
        assert line in page.splitlines(), f"docs/bench/peers.md: write it anew, it lacks: {line}"


DYING = """#!/bin/sh
case $1 in --benchmark_list_tests) echo yield/fermata/2;; *) kill -SEGV $$;; esac
"""


def check_deaths(root):
    """The program that dies while it measures is named."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("fermata_bench", DYING), ("loop/fermata_loop_bench", "#!/bin/sh\n")):
            program = pathlib.Path(folder) / "bench" / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        command = [root / "bench/run.py", "--build", folder, "--rounds", "1", "--filter", "yield"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    assert done.stderr.startswith("bench: ") and "fermata_bench" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and "SIGSEGV" in done.stderr, done.stderr


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(root / "bench"))
    sys.dont_write_bytecode = True
    import peers
    import run

    check_writer(peers)
    check_reasons(peers)
    check_limits(run)
    check_deaths(root)
    check_rows(peers, root)
    check_page(peers, (root / "docs/bench/peers.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
