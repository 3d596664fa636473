# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of two nodes on 127.0.0.1, which exists for as long as the caller has it.

    with Cluster() as cluster:
        job = cluster.submit(script)
        cluster.wait_until("all tasks run", lambda: ...)
        cluster.kill_node("n2")

munged, slurmctld and slurmd are Debian's, each started in the foreground, without root, systemd or
cgroups, with all state in a folder of the cluster and on ports that are free. Where they cannot be
started, `Unavailable` says why.

Nothing outlives the caller, however it ends: every process of the cluster, down to the tasks of
jobs, has the cluster's folder in its environment, and a watcher kills those that have when the
caller is gone.
"""

import contextlib
import getpass
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmstepd", "sbatch", "scontrol")
NODES = ("n1", "n2")
START_SECONDS = 30
MARK = "TEST_SLURM_CLUSTER"  # What processes have in their environment,
NODE_MARK = "TEST_SLURM_NODE"  # those of a node besides,
TASK_MARK = "SLURMD_NODENAME"  # and the tasks of jobs.

CONFIGURATION = """
ClusterName=fermata
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool_%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd_%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd_%n.log
PlugStackConfig=/dev/null
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU,CR_LLN
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=1
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=3
KillWait=5
JobRequeue=1
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """There can be no cluster here."""


def program(name):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not found:
        raise Unavailable(f"{name} is not installed")
    return found


def free_ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def environment_of(pid):
    """Of a process of ours; empty when it is gone or of somebody else."""
    with contextlib.suppress(OSError):
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return dict(entry.decode(errors="replace").split("=", 1) for entry in entries
                    if b"=" in entry)
    return {}


def kill_marked(folder, wanted=lambda _: True):
    """Kills the processes of the cluster in `folder` whose environment is `wanted`, with those that
    they start meanwhile."""
    while True:
        found = False
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            environment = environment_of(entry.name)
            if environment.get(MARK) == str(folder) and wanted(environment):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(entry.name), signal.SIGKILL)
                    found = True
        if not found:
            return
        time.sleep(0.02)


def watch(folder):
    """Starts a process that ends the cluster when this one is gone. Returns what keeps it from
    doing so for as long as it is open."""
    theirs, ours = os.pipe()
    os.set_inheritable(theirs, True)
    code = (f"import os, shutil, sys\nsys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
            f"import slurm_cluster\nos.read({theirs}, 1)\n"
            f"slurm_cluster.kill_marked({str(folder)!r})\n"
            f"shutil.rmtree({str(folder)!r}, ignore_errors=True)\n")
    # Twice a child, so that who kills all descendants of this process does not find it.
    start = ("import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', sys.argv[1]], "
             f"pass_fds=[{theirs}], start_new_session=True, stdin=subprocess.DEVNULL, "
             "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)")
    subprocess.run([sys.executable, "-c", start, code], pass_fds=[theirs], check=True)
    os.close(theirs)
    return ours


class Cluster:
    def __init__(self):
        self.programs = {name: program(name) for name in PROGRAMS}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fermata_slurm_"))
        self.folder.chmod(0o755)  # munged insists.
        self.watcher = watch(self.folder)
        self.processes = {}
        self.configuration = self.folder / "slurm.conf"

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        kill_marked(self.folder)
        for process in self.processes.values():
            process.wait()
        os.close(self.watcher)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- daemons --------------------------------------------------------------------------------

    def environment(self, **more):
        return {**os.environ, "SLURM_CONF": str(self.configuration), MARK: str(self.folder), **more}

    def launch(self, name, *command, **environment):
        with open(self.folder / f"{name}.out", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, start_new_session=True, env=self.environment(**environment))

    def start(self):
        munge = self.folder / "munge"
        for made in (munge, self.folder / "state", *(self.folder / f"spool_{n}" for n in NODES)):
            made.mkdir(mode=0o755)
        (munge / "key").touch(mode=0o600)
        (munge / "key").write_bytes(secrets.token_bytes(128))
        controller_port, *node_ports = free_ports(1 + len(NODES))
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4"
            for node, port in zip(NODES, node_ports))
        self.configuration.write_text(CONFIGURATION.format(
            host=host, folder=self.folder, controller_port=controller_port, nodes=nodes,
            user=getpass.getuser()))
        self.launch("munged", self.programs["munged"], "--foreground", "--force",
                    f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--log-file={munge}/log", f"--pid-file={munge}/pid",
                    f"--seed-file={munge}/seed", "--num-threads=1")
        self.await_start("munged", (munge / "socket").exists)
        self.start_controller()
        for node in NODES:
            self.start_node(node)

    def await_start(self, name, is_up):
        deadline = time.monotonic() + START_SECONDS
        while not is_up():
            process = self.processes[name]
            if process.poll() is not None or time.monotonic() > deadline:
                logs = [self.folder / f"{name}.out", self.folder / f"{name}.log",
                        self.folder / "munge/log"]
                said = "".join(path.read_text(errors="replace")[-2000:]
                               for path in logs if path.exists())
                raise Unavailable(f"{name} does not start (exit code {process.poll()}):\n{said}")
            time.sleep(0.05)

    def start_controller(self):
        self.launch("slurmctld", self.programs["slurmctld"], "-D", "-f", self.configuration)
        self.await_start("slurmctld", lambda: self.command("scontrol", "ping")[0] == 0)

    def await_saved(self, job):
        """Until the controller has written down all that it has done so far. What it has not, it
        does again when it is killed and started, and fails at that: a node takes no task that it
        was told to end within the same second."""
        state = self.folder / "state/job_state"
        before = state.stat().st_mtime_ns if state.exists() else 0
        self.told("scontrol", "update", f"JobId={job}", "Comment=to-be-saved")
        self.wait_until("the controller's state is saved",
                        lambda: state.exists() and state.stat().st_mtime_ns != before)

    def kill_controller(self):
        self.processes["slurmctld"].kill()
        self.processes["slurmctld"].wait()

    def start_node(self, node):
        name = f"slurmd_{node}"
        self.launch(name, self.programs["slurmd"], "-D", "-N", node, "-f", self.configuration,
                    "-d", self.programs["slurmstepd"], **{NODE_MARK: node})
        self.await_start(name, lambda: self.node_state(node) in ("IDLE", "MIXED", "ALLOCATED"))

    def kill_node(self, node):
        """As a machine that loses its power: its daemon and all tasks on it."""
        kill_marked(self.folder, lambda environment: node in (environment.get(NODE_MARK),
                                                              environment.get(TASK_MARK)))
        self.processes[f"slurmd_{node}"].wait()

    def kill_daemon(self, node):
        """As a machine that the network loses: its tasks go on, and nobody hears of them."""
        self.processes[f"slurmd_{node}"].kill()
        self.processes[f"slurmd_{node}"].wait()

    def node_state(self, node):
        return self.shown("node", node).get("State", "")

    # --- jobs -----------------------------------------------------------------------------------

    def command(self, name, *arguments):
        """Exit code, output, and what was said of errors."""
        done = subprocess.run([self.programs[name], *map(str, arguments)], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              cwd=self.folder, env=self.environment())
        return done.returncode, done.stdout, done.stderr

    def told(self, name, *arguments):
        code, out, err = self.command(name, *arguments)
        if code != 0:
            raise RuntimeError(f"{name} {' '.join(map(str, arguments))}: {code}\n{out}{err}")
        return out

    def shown(self, *what):
        """What scontrol shows of one thing, by its names; nothing when there is none."""
        _, out, _ = self.command("scontrol", "show", "--oneliner", *what)
        return dict(re.findall(r"(\S+?)=(\S*)", out.splitlines()[0] if out else ""))

    def submit(self, *arguments):
        return re.search(r"Submitted batch job (\d+)", self.told("sbatch", *arguments))[1]

    def tasks(self, job):
        """Of each task of an array that has begun, by its number, what scontrol shows."""
        _, out, _ = self.command("scontrol", "show", "--oneliner", "job", job)
        tasks = {}
        for line in out.splitlines():
            task = dict(re.findall(r"(\S+?)=(\S*)", line))
            for number in numbers(task.get("ArrayTaskId", "")):
                tasks[number] = task
        return tasks

    def task_of(self, job, process):
        """The number of the task that a process belongs to, whatever Slurm knows of it."""
        environment = environment_of(process)
        is_ours = environment.get(MARK) == str(self.folder)
        is_of_job = environment.get("SLURM_ARRAY_JOB_ID") == job
        return int(environment["SLURM_ARRAY_TASK_ID"]) if is_ours and is_of_job else None

    def release(self, job):
        """A task that is queued again waits for two minutes; not so here."""
        for number, task in self.tasks(job).items():
            if task["JobState"] == "PENDING":
                self.command("scontrol", "update", f"JobId={job}_{number}", "StartTime=now")

    def wait_until(self, what, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"after {seconds} s: not {what}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"=== {path.name}\n{path.read_text(errors='replace')[-4000:]}"
                         for path in sorted(self.folder.glob("*.log")))


def numbers(text):
    """Of `0-2,5%2`: 0, 1, 2 and 5."""
    for part in text.split("%")[0].split(","):
        bounds = part.split("-")
        if all(bound.isdigit() for bound in bounds):
            yield from range(int(bounds[0]), int(bounds[-1]) + 1)
