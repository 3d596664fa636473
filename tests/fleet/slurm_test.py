#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Slurm runs the workers of a plan, and loses a machine meanwhile.

usage: slurm_test.py BUILD_DIR          one array of four tasks; a node is killed while they run
       slurm_test.py BUILD_DIR --long [--json FILE]
                                        200,000 runs; also the controller is killed and started
                                        again, tasks run twice at once, 50 workers are killed
                                        at drawn times

Whatever happens, the result is byte for byte that of one worker without Slurm, and no task of the
job fails. The exit code is 77 where Slurm cannot be started, with the reason.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import plan_check
import slurm_cluster

SKIPPED = 77
TASKS = 4
FAILED = ("BOOT_FAIL", "CANCELLED", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT")
SHORT_RUNS = 4000
LONG_RUNS = 66_667  # Of each of three tests.
LONG_KILLS = 50
BEGAN = time.monotonic()


def say(text):
    print(f"{time.monotonic() - BEGAN:6.1f} s  {text}", flush=True)


class Array:
    """The job that `fermata fleet slurm` has submitted."""

    def __init__(self, cluster, plan):
        self.cluster = cluster
        self.plan = plan
        said = plan.fleet("slurm", plan.root, "--tasks", TASKS, "--time", "10min")
        self.job = said.split("job: ")[1].split()[0]

    def tasks(self):
        return self.cluster.tasks(self.job)

    def states(self):
        return sorted((number, task["JobState"], task.get("NodeList", ""),
                       int(task["Restarts"])) for number, task in self.tasks().items())

    def run_on(self, node):
        return [number for number, state, where, _ in self.states()
                if state == "RUNNING" and where == node]

    def all_run(self):
        return [state for _, state, _, _ in self.states()] == ["RUNNING"] * TASKS

    def run_twice(self):
        """The tasks of which the status has two workers that are alive."""
        self.cluster.release(self.job)
        seen = collections.Counter()
        for worker in self.plan.status()["workers"]:
            if worker["state"] in ("works", "waits"):
                process = worker["worker"].split("-")[-2]
                seen[self.cluster.task_of(self.job, process)] += 1
        return {number for number, workers in seen.items() if number is not None and workers > 1}

    def are_again(self, numbers):
        """Whether these tasks have been begun again."""
        self.cluster.release(self.job)
        restarts = {number: again for number, _, _, again in self.states()}
        return all(restarts[number] > 0 for number in numbers)

    def all_completed(self):
        self.cluster.release(self.job)
        states = self.states()
        failed = [task for task in states if task[1] in FAILED]
        if failed:
            raise RuntimeError(f"tasks have failed: {failed}\n{self.logs()}")
        return [state for _, state, _, _ in states] == ["COMPLETED"] * TASKS

    def logs(self):
        return "\n".join(f"=== {path.name}\n{path.read_text(errors='replace')}"
                         for path in sorted((self.plan.root / "logs").glob("*")))


def plans(build, cluster, runs):
    """One for Slurm, in a folder whose name has a blank, and the same for a single worker."""
    both = []
    for name in ("by slurm", "by one"):
        plan = plan_check.Plan(build / "fermata", cluster.environment(), cluster.folder / name)
        plan.make(build / "tests/fleet/fleet_specimen", runs)
        both.append(plan)
    return both


def begin(build, cluster, runs):
    plan, reference = plans(build, cluster, runs)
    array = Array(cluster, plan)
    cluster.wait_until("all tasks run", array.all_run)
    cluster.wait_until("something is done", lambda: plan.status()["done"] > 1)
    return plan, reference, array


def check_result(plan, reference):
    got, expected = plan.result(), reference.result()
    plan_check.check_same(got, expected)
    assert "FleetSpecimen.FailsOften" in got["json"], got["json"]
    assert "canary: found" in plan.fleet("status", plan.root)
    say(f"the result is that of one worker: {len(got)} parts, "
        f"{sum(len(part) for part in got.values())} bytes")


def short_test(build, cluster):
    plan, reference, array = begin(build, cluster, SHORT_RUNS)
    lost = array.run_on("n2")
    status = plan.status()
    assert lost and status["leased"] > 0, (array.states(), status)
    cluster.kill_node("n2")
    say(f"n2 is dead, with tasks {lost}; {status['done']} of {status['chunks']} chunks were done")
    reference.work("--jobs", 1)
    cluster.wait_until("the lost tasks run again", lambda: array.are_again(lost))
    say("the lost tasks were queued again")
    cluster.wait_until("all tasks are completed", array.all_completed)
    say(f"all tasks are completed: {array.states()}")
    print(plan.fleet("status", plan.root), end="")
    check_result(plan, reference)


@contextlib.contextmanager
def killed_workers(plan, count, chance):
    """Meanwhile kills workers beside those of Slurm, one after the other, at drawn times."""
    problems, killed = [], []

    def kill_them():
        while len(killed) < count:
            with subprocess.Popen([plan.tool, "fleet", "work", str(plan.root), "--jobs", "1"],
                                  env=plan.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as worker:
                time.sleep(chance.uniform(0.05, 1.5))
                worker.send_signal(signal.SIGKILL)
                said = worker.communicate()[0]
            if worker.returncode == -signal.SIGKILL:
                killed.append(worker.pid)
            else:  # It had ended before.
                problems.append(f"worker {len(killed)}: {worker.returncode}\n{said}")
                return

    thread = threading.Thread(target=kill_them)
    thread.start()
    try:
        yield killed, problems
    finally:
        thread.join()


def long_test(build, cluster):
    seed = int(time.time())
    say(f"times are drawn with seed {seed}")
    plan, reference, array = begin(build, cluster, LONG_RUNS)
    with killed_workers(plan, LONG_KILLS, random.Random(seed)) as (killed, problems):
        # The machine goes on, and nobody hears of it.
        lost = array.run_on("n2")
        cluster.await_saved(array.job)
        cluster.kill_daemon("n2")
        cluster.kill_controller()
        cluster.start_controller()
        say(f"the controller was started again, and does not hear of n2, which has tasks {lost}")
        cluster.wait_until("tasks run twice", lambda: array.run_twice() >= set(lost))
        say(f"tasks {lost} run twice at once, as the status of the plan has it")
        first = array.run_on("n1")
        cluster.kill_node("n2")
        cluster.start_node("n2")
        cluster.kill_node("n1")
        cluster.start_node("n1")
        say(f"both nodes were killed, one after the other; n1 had tasks {first}")
        cluster.wait_until("all tasks are completed", array.all_completed, 3600)
    say(f"all tasks are completed: {array.states()}; {len(killed)} workers were killed")
    assert len(killed) == LONG_KILLS, problems
    print(plan.fleet("status", plan.root), end="")
    reference.work("--jobs", 1)
    check_result(plan, reference)
    assert "FleetSpecimen.FailsRarely" in plan.result()["json"]


def write_row(path, is_ok):
    runs = 3 * LONG_RUNS
    path.write_text(json.dumps([{"name": "fleet/slurm", "value": runs if is_ok else 0,
                                 "unit": "runs", "ratio": None, "limit": runs, "ok": is_ok}]))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    build = arguments.build.resolve()
    try:
        with slurm_cluster.Cluster() as cluster:
            say("Slurm runs, with two nodes")
            if not arguments.long:
                short_test(build, cluster)
                return 0
            if arguments.json:
                write_row(arguments.json, False)
            long_test(build, cluster)
            if arguments.json:
                write_row(arguments.json, True)
            return 0
    except slurm_cluster.Unavailable as reason:
        print(f"skipped: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
