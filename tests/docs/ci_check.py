#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/guide/ci shows works: the steps of its workflows, the tasks of its Slurm array.

usage: ci_check.py SOURCE_DIR BUILD_DIR

The variables that a scheduler sets are set by hand, and a script stands for sbatch, which runs the
tasks one after the other. Steps that install, check out or build are left out: that has been done,
and an example stands for the tests of the reader's project.
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


def check_complete(status):
    assert re.search(r"^plan .*: (\d+) of \1 chunks done, 0 leased", status, re.M), status


def check_fleet(text, folder):
    """The jobs of a workflow of GitHub, whose runners share a folder."""
    variables = {"GITHUB_SHA": COMMIT, "PLAN": str(folder / "shared/github")}
    assert re.search(r"PLAN: (\S+)", text)[1].startswith("/shared/")
    steps = dict(steps_of(text))
    assert list(steps) == ["plan", "work", "result"], steps
    for step in ("plan", "work", "work", "result"):
        run(steps[step], folder, variables)
    assert (folder / "result.json").exists() and (folder / "result.xml").exists()


def scripts_of(pipeline):
    """The commands of each job of a pipeline of GitLab, and how many do them."""
    jobs = {}
    for job, body in re.findall(r"^(\w+):\n((?:  .*\n|\n)+)", pipeline, re.M):
        script = re.search(r"^  script:\n((?:    - .*\n)+)", body, re.M)
        if script:
            commands = [line.strip()[2:] for line in script[1].splitlines()]
            parallel = re.search(r"^  parallel: (\d+)", body, re.M)
            jobs[job] = ([each for each in commands if not DONE_ALREADY.search(each)],
                         int(parallel[1]) if parallel else 1)
    return jobs


def check_gitlab(text, folder):
    variables = {"CI_COMMIT_SHA": COMMIT, "PLAN": str(folder / "shared/gitlab")}
    jobs = scripts_of(text)
    assert list(jobs) == ["plan", "work", "result"], jobs
    for commands, count in jobs.values():
        for index in range(1, count + 1):
            for command in commands:
                run(command, folder, {**variables, "CI_NODE_INDEX": str(index),
                                      "CI_NODE_TOTAL": str(count)})


SBATCH = """#!/usr/bin/env bash
# Stands for Slurm's, and runs the tasks at once.
script=${!#}
tasks=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
for ((task = 0; task <= tasks; task++)); do
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$((tasks + 1)) SLURM_ARRAY_TASK_MIN=0 \\
    SLURM_ARRAY_TASK_STEP=1 bash "$script" >"$(dirname "$script")/logs/$task.log" || exit 1
done
echo 17
"""


def check_slurm(nightly, script, folder):
    shared = str(folder / "shared")
    (folder / "bin/sbatch").write_text(SBATCH)
    (folder / "bin/sbatch").chmod(0o755)
    said = run(nightly.replace("/shared", shared), folder)
    assert "job: 17" in said, said
    check_complete(said)
    assert "merged from" in run(f"fermata fleet result {shared}/nightly", folder)
    printed = run(f"fermata fleet slurm {shared}/nightly --tasks 4 --jobs 8 --time 1h --print",
                  folder)
    assert printed == (folder / "shared/nightly/slurm.sh").read_text()
    subprocess.run(["bash", "-n"], input=printed, text=True, check=True)
    tool = str((folder / "bin/fermata").resolve())
    printed = printed.replace(shared, "/shared").replace(tool, "/usr/local/bin/fermata")
    shown = script.replace("# SPDX-License-Identifier: Apache-2.0\n", "")
    assert printed == shown, f"slurm.sh is not what `fermata fleet slurm` prints:\n{printed}"


def main(source, build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        (folder / "build/my_tests").symlink_to(
            build / "examples/replication/example_replication_sim_test")
        (folder / "bin").mkdir()
        (folder / "bin/fermata").symlink_to(build / "fermata")
        (folder / "shared").mkdir()
        shown = {path.name: path.read_text() for path in (source / "docs/guide/ci").iterdir()}
        check_workflow(shown["workflow.yml"], folder)
        check_fleet(shown["fleet.yml"], folder)
        check_gitlab(shown["gitlab.yml"], folder)
        check_slurm(shown["nightly.sh"], shown["slurm.sh"], folder)
    print("ci: the steps of the workflows and the tasks of the array work")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
