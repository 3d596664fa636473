#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/guide/ci shows works: the steps of its workflow, the tasks of its Slurm array.

usage: ci_check.py SOURCE_DIR BUILD_DIR

The variables that a scheduler sets are set by hand. Steps that install, check out or build are left
out: that has been done, and an example stands for the tests of the reader's project.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

DONE_ALREADY = re.compile(r"apt-get|dev install|cmake --build")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def indented(lines, depth):
    """The lines up to the first that is not deeper than `depth`, stripped."""
    inside = []
    for line in lines:
        if len(line) - len(line.lstrip()) <= depth:
            break
        inside.append(line.strip())
    return inside


def steps_of(workflow):
    """The commands of each `run:`, by the name of its step where it has one."""
    lines, steps, name = workflow.splitlines(), [], ""
    for i, line in enumerate(lines):
        named = re.match(r"\s*- name: (\w+)", line)
        name = named[1] if named else ("" if re.match(r"\s*- ", line) else name)
        step = re.match(r"(\s*)(?:- )?run: (.*)", line)
        if not step:
            continue
        command = step[2]
        if command == ">":
            command = " ".join(indented(lines[i + 1 :], len(step[1])))
        if not DONE_ALREADY.search(command):
            steps.append((name, command))
    return steps


def run(command, folder, variables=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("FERMATA_", "GTEST_"))}
    environment["PATH"] = f"{folder / 'bin'}:{environment['PATH']}"
    done = subprocess.run(command, shell=True, cwd=folder, env={**environment, **(variables or {})},
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=110)
    if done.returncode != 0:
        sys.exit(f"`{command}` failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def total_runs(output):
    return int(re.search(r"^  runs +(\d+) of", output, re.M)[1])


def check_workflow(text, folder):
    tests = re.search(r"TESTS: (\S+)", text)[1]
    variables = {"TESTS": tests, "GITHUB_SHA": COMMIT}
    steps = dict(steps_of(text))
    assert set(steps) == {"explore", "merge"}, steps
    for shard in ("1", "2"):
        command = steps["explore"].replace("${{ matrix.shard }}", shard)
        assert f"shard={shard}/2" in run(command, folder, variables)
        assert (folder / f"shard-{shard}.xml").exists()
    merged = run(steps["merge"], folder, variables)
    whole = run(f"fermata run {tests} --seed {COMMIT} --runs 200", folder)
    assert total_runs(merged) == total_runs(whole), (merged, whole)


def check_slurm(script, folder):
    tasks = int(re.search(r"--array=0-(\d+)", script.read_text())[1]) + 1
    for task in range(tasks):
        run(str(script), folder, {
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(tasks),
            "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_STEP": "1"})
    folders = " ".join(f"nightly-{task}" for task in range(tasks))
    assert f"merged from {tasks} shards" in run(f"fermata merge {folders}", folder)


def main(source, build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        (folder / "build/my_tests").symlink_to(
            build / "examples/replication/example_replication_sim_test")
        (folder / "bin").mkdir()
        (folder / "bin/fermata").symlink_to(build / "fermata")
        check_workflow((source / "docs/guide/ci/workflow.yml").read_text(), folder)
        check_slurm(source / "docs/guide/ci/slurm.sh", folder)
    print("ci: the workflow's steps and the array's tasks work")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
