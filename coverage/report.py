#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines covered, by folder, against coverage/thresholds.tsv.

Usage: report.py BUILD [--json FILE]   after the tests of the coverage build in BUILD have run
       report.py --self-test

Writes the lcov HTML report to BUILD/report. thresholds.tsv has the columns folder, percent and
exclusions: at least so many percent of the folder's lines run, and at most so many LCOV_EXCL
markers hide lines. Percentages only go up, exclusions only down. A file no test runs counts as 0 %.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKER = re.compile(r"LCOV_EXCL_(LINE|START|BR_LINE|BR_START)")
# lcov 1.16 loads a part of itself twice and perl says so; precompiled headers have no functions.
UNINTERESTING = re.compile(r" redefined at |_precompiled_")
SOURCE_SUFFIXES = {".hpp", ".cpp"}


def run_lcov(build):
    """Leaves the counts of our own sources in BUILD/report.info and the pages in BUILD/report."""
    quiet = ["lcov", "--quiet"]
    place = ["--directory", str(build), "--base-directory", str(ROOT)]
    ours = [str(ROOT / folder / "*") for folder in ("runtime", "sim")]
    started, ended, info = (str(build / f"{name}.info") for name in ("initial", "tests", "report"))
    pages = ["--prefix", str(ROOT), "--output-directory", str(build / "report")]
    for command in (
        [*quiet, "--capture", "--initial", *place, "--output-file", started],
        [*quiet, "--capture", *place, "--output-file", ended],
        [*quiet, "-a", started, "-a", ended, "--output-file", info],
        [*quiet, "--extract", info, *ours, "--output-file", info],
        ["genhtml", "--quiet", *pages, info],
    ):
        result = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        errors = [line for line in result.stderr.splitlines() if not UNINTERESTING.search(line)]
        print("\n".join(errors), end="\n" * bool(errors), file=sys.stderr)
        result.check_returncode()
    return info


def read_lines(info):
    """For each source of a tracefile, (lines that ran, lines), by its path in the repository."""
    counts, source = {}, None
    for line in info.splitlines():
        if line.startswith("SF:"):
            source = os.path.relpath(os.path.realpath(line[3:]), ROOT)
            counts.setdefault(source, {})
        elif line.startswith("DA:"):
            number, hits = line[3:].split(",")[:2]
            counts[source][number] = counts[source].get(number, 0) + int(hits)
    return {
        source: (sum(hits > 0 for hits in lines.values()), len(lines))
        for source, lines in counts.items()
    }


def folder_of(path):
    """runtime/fermata/core/event.cpp belongs to runtime/core, all below sim/ to sim."""
    parts = path.split("/")
    return f"runtime/{parts[2]}" if parts[0] == "runtime" and len(parts) > 3 else parts[0]


def by_folder(files):
    folders = {}
    for path, (hit, found) in files.items():
        total = folders.setdefault(folder_of(path), [0, 0])
        total[0] += hit
        total[1] += found
    return {folder: 100.0 * hit / found for folder, (hit, found) in folders.items() if found}


def count_markers(sources):
    """LCOV_EXCL markers by folder, from a mapping of path to text."""
    markers = {}
    for path, text in sources.items():
        folder = folder_of(path)
        markers[folder] = markers.get(folder, 0) + len(MARKER.findall(text))
    return markers


def read_sources():
    paths = [path for top in ("runtime", "sim") for path in sorted((ROOT / top).rglob("*"))]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in SOURCE_SUFFIXES
    }


def read_thresholds(text):
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {folder: (float(percent), int(exclusions)) for folder, percent, exclusions in rows}


def judge(percents, markers, thresholds):
    """Rows of {name, value, unit, ratio, limit, ok}. A folder without a threshold must get one."""
    rows = []
    for folder in sorted(percents.keys() | thresholds.keys()):
        percent, hidden = percents.get(folder, 0.0), markers.get(folder, 0)
        limit, hidden_limit = thresholds.get(folder, (100.0, 0))
        for name, value, unit, bound, ok in (
            (f"coverage/{folder}", round(percent, 2), "percent", limit, percent >= limit),
            (f"exclusions/{folder}", hidden, "markers", hidden_limit, hidden <= hidden_limit),
        ):
            row = {"name": name, "value": value, "unit": unit, "limit": bound, "ok": ok}
            rows.append({**row, "ratio": round(value / bound, 4) if bound else None})
    return rows


def show(rows):
    for row in rows:
        if row["unit"] == "percent" or row["value"] or not row["ok"]:
            verdict = "ok" if row["ok"] else "NOT OK"
            measured = f"{row['value']:>8} {row['unit']:<8} limit {row['limit']:<6}"
            print(f"{row['name']:<28} {measured} {verdict}")


def self_test():
    info = f"SF:{ROOT}/runtime/fermata/core/a.cpp\nDA:1,2\nDA:2,0\nend_of_record\n"
    info += f"SF:{ROOT}/sim/fermata/sim/tape/b.cpp\nDA:1,0\nend_of_record\n"
    info += f"SF:{ROOT}/runtime/fermata/core/a.cpp\nDA:2,1\nend_of_record\n"
    files = read_lines(info)
    assert files == {
        "runtime/fermata/core/a.cpp": (2, 2),
        "sim/fermata/sim/tape/b.cpp": (0, 1),
    }, files
    assert by_folder(files) == {"runtime/core": 100.0, "sim": 0.0}, by_folder(files)
    markers = count_markers({"sim/tape/b.cpp": "x  // LCOV_EXCL_LINE\n", "sim/c.cpp": ""})
    assert markers == {"sim": 1}, markers
    thresholds = read_thresholds("folder\tpercent\texclusions\nsim\t90\t0\nruntime/core\t95\t0\n")
    verdicts = {row["name"]: row["ok"] for row in judge(by_folder(files), markers, thresholds)}
    assert verdicts == {
        "coverage/runtime/core": True,
        "exclusions/runtime/core": True,
        "coverage/sim": False,
        "exclusions/sim": False,
    }, verdicts
    assert not all(row["ok"] for row in judge({"new": 99.0}, {}, {}))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.build is None:
        parser.error("which build?")

    info = pathlib.Path(run_lcov(arguments.build.resolve()))
    files = read_lines(info.read_text(encoding="utf-8"))
    thresholds = read_thresholds((ROOT / "coverage/thresholds.tsv").read_text(encoding="utf-8"))
    rows = judge(by_folder(files), count_markers(read_sources()), thresholds)
    show(rows)
    print(f"report: {arguments.build / 'report/index.html'}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
