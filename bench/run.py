#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Fermata against its floors and says whether it keeps its limits.

Every subject is measured by up to three contestants: `raw`, the physical limit; `floor`, the least
that may be called a scheduler or a server; `fermata`. Peers that have the same are measured too,
such as `fiber`, Boost.Fiber. All of them run once in each round, in fresh processes, so that a
noisy machine hurts them alike; a ratio is taken within its round and its median over the rounds is
shown. A floor has a limit too, against raw: a lame one would flatter.
"""

import argparse
import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile

import building
import drivers
import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "database"))
from with_servers import PostgreSQL  # noqa: E402, of the tests, which start it for themselves too

# Subject -> limit of fermata/floor. At most where less is better (ns, B), at least for rates.
LIMITS = {
    "yield/2": 1.5,
    "yield/1000": 1.5,
    "yield/10000": 1.3,
    "spawn_finish/1000": 2.8,
    "spawn_await": 2.2,
    "cancel": 1.5,  # beside one exception that is thrown and caught
    "mutex": 0.5,
    "always": 3.0,  # beside a check written by hand: a third of a nanosecond more
    "sometimes": 3.0,  # beside the test of a null pointer
    "pool": 2.0,
    "database_query": 100.0,
    "database_acquire": 15.0,
    "postgresql_queries/64": 0.9,
    "postgresql_stream/1000000": 0.9,
    "sqlite_queries": 0.8,
    "future_complete_await": 3.5,
    "channel_round_trip": 2.4,
    "channel_message/128": 2.5,
    "select": 1.5,
    "co_await_ready": 1.3,  # beside the plain await
    "co_await_wake": 1.2,  # beside the plain wait
    "task_call": 1.6,
    "draw": 0.01,  # 5 M/s, each on the tape, where the floor does 500 M/s
    "lost_update": 0.256,  # 1.5 M/s where mini does 5.87 M/s
    "small_test": 0.0077,  # 20,000/s where mini does 2.6 M/s
    "simulated_sleepers/1000": 0.5,  # 6 M/s where mini does 12.2 M/s
    "ping_pong/1": 0.230,  # 4 M/s where the floor does 17.4 M/s
    "ping_pong/50": 0.263,  # 3 M/s where it does 11.4 M/s
    "echo/1/one_core": 0.97,
    "echo/64/across": 0.97,
    "echo/64/one_core": 0.97,
    "echo/1000/across": 0.95,
    "echo/1000/one_core": 0.95,
    "echo_turns/1000/across": 0.95,
    "echo_turns/1000/one_core": 0.95,
    "send_file/1GiB": 0.95,
    "connect/100000": 0.85,
    "idle_connection/15000": 1.3,
    "processes/2": 1.9,
    "linearizability/10000": 20.0,
    **building.LIMITS,
    "cancelled_timers": 1.5,  # beside the queue of timers alone
    "loop_timers_uv/1000": 1.2,
    "loop_pipes_uv/1": 2.0,
    "loop_pipes_uv/100": 1.3,
    "echo_uv/64/across": 0.95,
    "echo_uv/64/one_core": 0.95,
    **{
        f"echo_{driver}/{connections}/{placement}": 0.9
        for driver in ("ev", "event", "select")
        for connections in (64, 1000)
        for placement in ("across", "one_core")
    },
    # On io_uring beside the same server on libuv: 15 % more requests in a second of processor time.
    "echo_cpu_uring/64/across": 1 / 1.15,
    "echo_cpu_uring/64/one_core": 1 / 1.15,
    "echo_cpu_uring/1000/across": 1 / 1.15,
    "echo_cpu_uring/1000/one_core": 1 / 1.15,
}
# Subject -> what of fermata's value is not compared with the floor's: a coroutine, which has none.
ALLOWANCE = {"idle_connection/15000": 5.5 * 1024}
# Subject -> limit of floor/raw.
HONESTY = {
    "yield/2": 6.0,
    "spawn_finish/1000": 2.2,
    "echo/64/across": 0.90,
    "echo/64/one_core": 0.90,
    "echo/1000/across": 0.90,
    "echo/1000/one_core": 0.90,
}
# Subject, peer -> limit of fermata/peer.
PEER = {
    ("channel_round_trip", "fiber"): 0.6,
    ("channel_message/128", "fiber"): 1.0,
    ("cancelled_timers", "libuv"): 1.0,
    ("cancelled_timers", "clock"): 1.5,
}
# Subject -> limit of fermata's value itself, in its unit. Of clusters: virtual seconds in a second.
ABSOLUTE = {
    "memory/10000": 4.8 * 1024,
    "memory/200000": 4.8 * 1024,
    "calm_cluster/5": 1500,
    "cluster/5": 1500,
    "postgresql_stream_memory/1000000": 1 << 20,
}

# Subject -> (smaller subject, limit of the cost of an item in relation to it): what is linear.
LINEAR = {
    "when_all/1000": ("when_all/100", 1.5),
    "when_all/10000": ("when_all/1000", 2.0),
    "ping_pong/10": ("ping_pong/1", 1.5),  # 20 machines against 2
    "ping_pong/100": ("ping_pong/1", 2.0),
    "loop_watched_uv/8000": ("loop_watched_uv/100", 1.3),  # descriptors, of which 100 are ready
    "loop_watched_ev/8000": ("loop_watched_ev/100", 1.3),
    "loop_watched_event/8000": ("loop_watched_event/100", 1.3),
}

SHOWN_AS_RATES = {
    "draw",
    "lost_update",
    "small_test",
    "simulated_sleepers",
    "ping_pong",
    "calm_cluster",
    "cluster",
    "echo",
}

# Subject -> contestant -> the server's program and arguments. Of echo_*, in callback style on each
# driver, the floor is the same in C on the driver's library; of echo_uring, with coroutines, the
# same on libuv; of echo_turns, libuv in C under the rules that coroutines bring.
ECHO_SERVERS = {
    "echo": {"raw": ["epoll"], "floor": ["libuv"], "fermata": ["fermata"]},
    "echo_turns": {"floor": ["turns"], "fermata": ["fermata"]},
    "echo_uring": {"floor": ["fermata"], "fermata": ["fermata", "uring"]},
    "echo_uv": {"floor": ["libuv"], "fermata": ["loop", "uv"]},
    "echo_ev": {"floor": ["ev"], "fermata": ["loop", "ev"]},
    "echo_event": {"floor": ["event"], "fermata": ["loop", "event"]},
    "echo_select": {"floor": ["poll"], "fermata": ["loop", "select"]},
}
ECHO_CONNECTIONS = (1, 64, 1000)
ECHO_SECONDS = 0.5
TOOL_SECONDS = 2

# Subject -> the folder of the programs that measure it, their arguments, the unit, contestants.
BOTH = ("floor", "fermata")
PROGRAM_SUBJECTS = {
    "send_file/1GiB": ("io", ["send_file", "{file}", str(1 << 30)], "/s", BOTH),
    "connect/100000": ("io", ["connect", "100000"], "/s", BOTH),
    "idle_connection/15000": ("io", ["idle_connection", "15000"], "B", BOTH),
    "postgresql_queries/64": ("database", ["queries", "{server}", "8", "40000"], "/s", BOTH),
    "postgresql_stream/1000000": ("database", ["stream", "{server}", "1000000"], "/s", BOTH),
    "postgresql_stream_memory/1000000": (
        "database", ["stream_memory", "{server}", "1000000"], "B", ("fermata",)
    ),
    "sqlite_queries": ("database", ["sqlite", "{file}", "2000"], "/s", BOTH),
}
PROGRAMS = {
    "io": {"floor": "libuv_io", "fermata": "fermata_io"},
    "database": {"floor": "plain_database", "fermata": "fermata_database"},
}

Sample = collections.namedtuple("Sample", "subject contestant value unit")


def sample_of(row):
    """The Sample in one row of Google Benchmark, named <what>/<contestant>[/<arguments>]."""
    if row.get("error_occurred"):
        sys.exit(f"bench: {row['name']}: {row['error_message']}")
    what, contestant, *arguments = re.sub(r"/iterations:\d+", "", row["name"]).split("/")
    subject = "/".join([what, *arguments])
    if "bytes" in row:
        return Sample(subject, contestant, row["bytes"], "B")
    if "items_per_second" not in row:
        return Sample(subject, contestant, row["cpu_time"], row["time_unit"])
    if what in SHOWN_AS_RATES:
        return Sample(subject, contestant, row["items_per_second"], "/s")
    return Sample(subject, contestant, 1e9 / row["items_per_second"], "ns")


class Micro:
    """A Google Benchmark program: a process for each family of rows, pinned to the last core."""

    LISTING = "--benchmark_list_tests"

    def __init__(self, program, wanted, min_time):
        self.program = program
        self.min_time = min_time
        listing = subprocess.run(
            [self.program, self.LISTING], check=True, capture_output=True, text=True
        )
        names = [name.split("/")[0] for name in listing.stdout.split()]
        self.families = [name for name in dict.fromkeys(names) if wanted.search(name)]

    def samples(self):
        for family in self.families:
            run = subprocess.run(
                [self.program, *self.arguments(family)],
                check=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                preexec_fn=pinned_to(-1),
                timeout=300,
            )
            yield from self.read(run.stdout)

    def arguments(self, family):
        return [
            f"--benchmark_filter=^{family}/",
            f"--benchmark_min_time={self.min_time}",
            f"--benchmark_min_warmup_time={self.min_time}",  # Once, the memory is there.
            "--benchmark_format=json",
        ]

    def read(self, output):
        return map(sample_of, json.loads(output)["benchmarks"])


class PeerMicro(Micro):
    """The same of a peer in another language, which prints a line of JSON for each row."""

    LISTING = "--list"

    def arguments(self, family):
        return [family, str(self.min_time)]

    def read(self, output):
        for row in map(json.loads, output.splitlines()):
            what, contestant, *arguments = row["name"].split("/")
            yield Sample("/".join([what, *arguments]), contestant, row["value"], row["unit"])


def uring_refusal(servers):
    """Why the system refuses io_uring; empty when it does not. `servers`: their folder."""
    command = [servers / "bench_fermata_server", "uring-refusal"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Echo:
    """Echo servers under one load, which runs on the server's own core or on another."""

    def __init__(self, build, wanted, peer_servers):
        """`peer_servers`: peer -> its server's command."""
        self.folder = build / "bench" / "echo"
        cores = len(os.sched_getaffinity(0))
        placements = {"one_core": 0, "across": -1} if cores > 1 else {"one_core": 0}
        commands = {
            subject: {
                contestant: [self.folder / f"bench_{server}_server", *arguments]
                for contestant, (server, *arguments) in servers.items()
            }
            for subject, servers in ECHO_SERVERS.items()
        }
        commands["echo"] |= peer_servers
        self.cases = [
            (f"{subject}/{connections}/{placement}", servers, connections, load_core)
            for subject, servers in commands.items()
            for connections in ECHO_CONNECTIONS
            for placement, load_core in placements.items()
            if (wanted.search(subject) or wanted.search(self.cpu_of(subject)))
            and (connections > 1 or placement == "one_core")
        ]
        self.skipped = {}  # Subject -> why.
        if any(subject.startswith("echo_uring") for subject, *_ in self.cases):
            self.skip_if_refused("echo_uring")

    @staticmethod
    def cpu_of(subject):
        return subject.replace("echo", "echo_cpu", 1)

    def skip_if_refused(self, subject):
        if refusal := uring_refusal(self.folder):
            self.skipped |= {subject: refusal, self.cpu_of(subject): refusal}
            self.cases = [case for case in self.cases if not case[0].startswith(subject)]

    def samples(self):
        for subject, servers, connections, load_core in self.cases:
            for contestant, command in servers.items():
                if not command[0].exists():
                    continue
                rate, cpu = self.measure(command, connections, load_core)
                yield Sample(subject, contestant, rate, "/s")
                yield Sample(self.cpu_of(subject), contestant, cpu, "ns")

    def measure(self, command, connections, load_core):
        """Requests per second, and the server's processor time per request in nanoseconds."""
        server = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=pinned_to(0))
        try:
            port = server.stdout.readline().strip()
            load = subprocess.run(
                [self.folder / "bench_load", port, str(connections), str(ECHO_SECONDS)],
                check=True,
                stdout=subprocess.PIPE,
                preexec_fn=pinned_to(load_core),
                timeout=60,
            )
        finally:
            os.kill(server.pid, signal.SIGKILL)
            _, server.returncode, usage = os.wait4(server.pid, 0)
            server.stdout.close()
        if server.returncode != signal.SIGKILL:
            sys.exit(f"bench: {command[0].name} ended by itself, status {server.returncode}")
        result = json.loads(load.stdout)
        spent = usage.ru_utime + usage.ru_stime
        return result["requests_per_second"], spent / result["requests"] * 1e9


class Processes:
    """The tool with two processes (fermata) against the tool with one (floor): runs in a second."""

    def __init__(self, build, wanted):
        self.tool = build / "fermata"
        self.program = (
            build / "examples/dining_philosophers/example_dining_philosophers_sim_test"
        )
        cores = len(os.sched_getaffinity(0))
        self.wanted = cores > 1 and bool(wanted.search("processes"))

    def samples(self):
        for contestant, jobs in {"floor": 1, "fermata": 2}.items() if self.wanted else ():
            with tempfile.TemporaryDirectory() as folder:
                flags = ["--time", f"{TOOL_SECONDS}s", "--jobs", str(jobs), "--out", folder]
                run = subprocess.run(
                    [self.tool, "run", self.program, *flags, "--json", f"{folder}/result"],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    timeout=60,
                )
                with open(f"{folder}/result", encoding="utf-8") as result:
                    events = {line["event"]: line for line in map(json.loads, result)}
            rate = events["test"]["runs"] / events["end"]["elapsed_ms"] * 1e3
            yield Sample("processes/2", contestant, rate, "/s")


class Building(building.Building):
    """Compilers instead of contestants."""

    def samples(self):
        return itertools.starmap(Sample, super().samples())


class Peers:
    """Other runtimes, built for this."""

    def __init__(self, options):
        self.options = options
        self.folder = options.build / "bench" / "peers"
        self.reasons = peers.built(self.folder)
        self.own_servers = options.build / "bench" / "echo"
        refusal = uring_refusal(self.own_servers)
        self.refused = {"uring": refusal} if refusal else {}
        for peer, reason in self.all_reasons().items():
            print(f"bench: {peers.TITLES[peer]} is not measured: {reason}", file=sys.stderr)

    def all_reasons(self):
        return self.reasons | self.refused

    def micros(self, wanted):
        for peer in peers.BUILDS:
            if peer not in self.reasons:
                kind = PeerMicro if peer in ("go", "tokio") else Micro
                yield kind(self.folder / f"bench_{peer}", wanted, self.options.min_time)

    def servers(self):
        servers = {
            peer: [self.folder / f"bench_{peer}_server"]
            for peer in peers.SERVERS
            if peer not in self.reasons
        }
        if not self.refused:
            servers["uring"] = [self.own_servers / "bench_fermata_server", "uring"]
        return servers

    def missing(self):
        for peer, reason in self.reasons.items():
            yield unmeasured(f"peers/{peer}") | {"reason": reason}

    def write(self, table):
        about = peers.about(self.folder, self.options.rounds)
        page = peers.text_of(table, self.all_reasons(), about)
        self.options.peers.write_text(page, encoding="utf-8")


class Programs:
    """Programs that do one thing with sockets, files or databases and print one number."""

    def __init__(self, build, wanted, cleanup):
        self.folder = build / "bench"
        self.subjects = {
            subject: case
            for subject, case in PROGRAM_SUBJECTS.items()
            if wanted.search(subject.split("/")[0])
        }
        self.server = None
        if any("{server}" in arguments for _, arguments, _, _ in self.subjects.values()):
            self.start_server(cleanup)

    def start_server(self, cleanup):
        if PostgreSQL.server is None:
            sys.exit("bench: PostgreSQL is missing; `./dev bench` installs it")
        server = PostgreSQL()
        cleanup.callback(server.remove)
        server.start()
        self.server = server.url()

    def samples(self):
        for subject, (folder, arguments, unit, contestants) in self.subjects.items():
            for contestant in contestants:
                program = self.folder / folder / f"bench_{PROGRAMS[folder][contestant]}"
                yield Sample(subject, contestant, self.measure(program, arguments), unit)

    def measure(self, program, arguments):
        with tempfile.NamedTemporaryFile(prefix="fermata_bench_") as file:
            places = {"file": file.name, "server": self.server}
            run = subprocess.run(
                [program, *(argument.format(**places) for argument in arguments)],
                check=True,
                stdout=subprocess.PIPE,
                timeout=120,
            )
        return float(run.stdout)


def pinned_to(index):
    core = sorted(os.sched_getaffinity(0))[index]
    return lambda: os.sched_setaffinity(0, {core})


def measure(contestants, rounds):
    """(subject, contestant) -> (one value a round, unit)."""
    table = {}
    for number in range(rounds):
        for part in contestants:
            for sample in part.samples():
                key = (sample.subject, sample.contestant)
                table.setdefault(key, ([], sample.unit))[0].append(sample.value)
                progress(f"round {number + 1} of {rounds}: {sample.subject}")
    progress("")
    return table


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def judged(table):
    """One row of the report for each (subject, contestant)."""
    for (subject, contestant), (values, unit) in table.items():
        below = {"floor": "raw", "raw": None}.get(contestant, "floor")
        ratio = ratio_of(table, subject, contestant, below)
        limit = {"fermata": LIMITS, "floor": HONESTY}.get(contestant, {}).get(subject)
        absolute = ABSOLUTE.get(subject) if contestant == "fermata" else None
        value = statistics.median(values)
        row = {"name": f"{subject}/{contestant}", "value": value, "unit": unit}
        if absolute is not None:
            yield row | {"ratio": ratio, "limit": absolute, "ok": keeps(value, absolute, unit)}
        else:
            yield row | {"ratio": ratio, "limit": limit, "ok": keeps(ratio, limit, unit)}
        for peer in peers_of(table, subject) if contestant == "fermata" else ():
            ratio, limit = ratio_of(table, subject, contestant, peer), PEER.get((subject, peer))
            yield row | {
                "name": f"{subject}/fermata:{peer}",
                "ratio": ratio,
                "limit": limit,
                "ok": keeps(ratio, limit, unit),
            }


def peers_of(table, subject):
    ours = ("raw", "floor", "fermata")
    return [who for measured, who in table if measured == subject and who not in ours]


def growth(table):
    """A row for each subject that may not cost more an item than a smaller one of its kind."""
    for subject, (smaller, limit) in LINEAR.items():
        if (subject, "fermata") not in table:
            continue
        values, unit = table[subject, "fermata"]
        pairs = zip(values, table[smaller, "fermata"][0])
        ratio = statistics.median(
            other / value if unit == "/s" else value / other for value, other in pairs
        )
        yield {
            "name": f"{subject}/fermata:{smaller.rsplit('/', 1)[1]}",
            "value": statistics.median(values),
            "unit": unit,
            "ratio": ratio,
            "limit": limit,
            "ok": ratio <= limit,
        }


def ratio_of(table, subject, contestant, other):
    """The median over the rounds; None when the other one was not measured."""
    if (subject, other) not in table:
        return None
    values, others = table[subject, contestant][0], table[subject, other][0]
    allowance = ALLOWANCE.get(subject, 0) if contestant == "fermata" else 0
    return statistics.median((v - allowance) / o for v, o in zip(values, others))


def keeps(ratio, limit, unit):
    if limit is None:
        return True
    return ratio is not None and (ratio >= limit if unit == "/s" else ratio <= limit)


def missing(table, wanted, skipped):
    """A limit nobody was measured against is not kept, unless its subject was skipped."""
    limits = {(subject, "fermata"): limit for subject, limit in (LIMITS | ABSOLUTE).items()}
    limits |= {(subject, "floor"): limit for subject, limit in HONESTY.items()}
    for (subject, contestant), limit in (limits | PEER).items():
        two_cores = "across" in subject or "processes" in subject
        one_core_machine = two_cores and len(os.sched_getaffinity(0)) == 1
        excused = one_core_machine or subject.split("/")[0] in skipped
        measured = (subject, contestant) in table
        if not measured and not excused and wanted.search(subject.split("/")[0]):
            yield unmeasured(f"{subject}/{contestant}") | {"limit": limit}


def unmeasured(name):
    return {"name": name, "value": None, "unit": "", "ratio": None, "limit": None, "ok": False}


def shown(row):
    def number(value):
        return "-" if value is None else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"

    verdict = "MISSED" if not row["ok"] else "" if row["limit"] is None else "ok"
    return (
        f"{row['name']:<34} {number(row['value']):>12} {row['unit']:<3} "
        f"{number(row['ratio']):>8} {number(row['limit']):>8}  {verdict}".rstrip()
    )


def main():
    parser = argparse.ArgumentParser(description="Benchmarks, each with its ratio to its floor.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=9, help="default 9")
    parser.add_argument("--min-time", type=float, default=0.05, help="seconds a row takes at least")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows there as a flat list")
    subjects = parser.add_mutually_exclusive_group()
    subjects.add_argument("--filter", default="", help="which subjects: a regular expression")
    subjects.add_argument(
        "--drivers",
        type=pathlib.Path,
        help="measure the drivers of the event loop only, and write their comparison there",
    )
    subjects.add_argument(
        "--peers",
        type=pathlib.Path,
        nargs="?",
        const=ROOT / "docs" / "bench" / "peers.md",
        help="build and measure other runtimes beside ours, and write their comparison there",
    )
    options = parser.parse_args()

    if options.drivers:
        options.filter = drivers.SUBJECTS
    elif options.peers:
        options.filter = peers.SUBJECTS
    wanted = re.compile(options.filter)
    others = Peers(options) if options.peers else None
    with contextlib.ExitStack() as cleanup:
        echo = Echo(options.build, wanted, others.servers() if others else {})
        contestants = [
            Micro(options.build / "bench/fermata_bench", wanted, options.min_time),
            Micro(options.build / "bench/loop/fermata_loop_bench", wanted, options.min_time),
            *(others.micros(wanted) if others else ()),
            echo,
            Programs(options.build, wanted, cleanup),
            Processes(options.build, wanted),
            Building(wanted),
        ]
        try:
            table = measure(contestants, options.rounds)
        except subprocess.SubprocessError as error:  # It names the command.
            sys.exit(f"bench: {error}")
    rows = [*judged(table), *growth(table), *missing(table, wanted, echo.skipped)]
    rows += others.missing() if others else ()

    print(f"{'name':<34} {'value':>12} {'':<3} {'ratio':>8} {'limit':>8}")
    for row in rows:
        print(shown(row))
    for subject, cause in echo.skipped.items():
        print(f"skipped {subject}: {cause}")
    print("ratio: fermata/floor, peer/floor, floor/raw, fermata/peer; median of", options.rounds,
          "interleaved rounds")
    if options.drivers:
        page = drivers.text_of(table, ECHO_SERVERS, options)
        options.drivers.write_text(page, encoding="utf-8")
    if others:
        others.write(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
