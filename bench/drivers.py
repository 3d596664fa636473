# SPDX-License-Identifier: Apache-2.0
"""The page that compares the drivers of the event loop, from what run.py has measured."""

import ctypes.util
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

# What of run.py's subjects the page needs.
SUBJECTS = r"^(loop_(timers|pipes|watched)|echo)_(uv|ev|event|select)"

# Driver -> the library's name in the system; how it is called here; what is known of it.
LIBRARIES = {"uv": "uv", "ev": "ev", "event": "event_core-2.1", "select": None}
TITLES = {"uv": "libuv", "ev": "libev", "event": "libevent", "select": "ppoll(2)"}
FACTS = {
    "parts": {
        "uv": "all, files, names, datagrams, processes and threads too",
        "ev": "clock, timers, descriptors, signals, triggers, offload, TCP",
        "event": "as ev",
        "select": "as ev",
    },
    "descriptors": {
        "uv": "the system's limit",
        "ev": "the system's limit",
        "event": "the system's limit",
        "select": "the system's limit; `pselect`, on request, 1,024",
    },
    "what the library waits with": {
        "uv": "epoll, kqueue, event ports, AFD on Windows",
        "ev": "epoll, kqueue, event ports, poll, select; on Windows select",
        "event": "epoll, kqueue, /dev/poll, event ports, poll, select; on Windows select",
        "select": "ppoll, which Linux and the BSDs have",
    },
}

# Group of system calls -> their names.
CALLS = {
    "read": {"read", "readv", "recvfrom", "recvmsg"},
    "write": {"write", "writev", "sendto", "sendmsg"},
    "wait": {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"},
}
CALLS_CONNECTIONS = (1, 64)
CALLS_SECONDS = "1"


def count_calls(folder, command, connections):
    """Group -> system calls per request of an echo server, counted by strace from its start on."""
    with tempfile.NamedTemporaryFile(mode="r", prefix="fermata_bench_") as summary:
        strace = ["strace", "-f", "-c", "-U", "calls,name", "-o", summary.name, *command]
        server = subprocess.Popen(strace, stdout=subprocess.PIPE)
        port = server.stdout.readline().strip()
        load = subprocess.run(
            [folder / "bench_load", port, str(connections), CALLS_SECONDS],
            check=True,
            stdout=subprocess.PIPE,
            timeout=60,
        )
        children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children")
        os.kill(int(children.read_text(encoding="utf-8").split()[0]), 15)
        server.wait(timeout=20)
        server.stdout.close()
        rows = [line.split() for line in summary.read().splitlines()]
    counts = {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit()}
    counts.pop("total", None)
    requests = json.loads(load.stdout)["requests"]
    groups = {group: sum(counts.get(name, 0) for name in names) for group, names in CALLS.items()}
    groups["other"] = sum(counts.values()) - sum(groups.values())
    return {group: count / requests for group, count in groups.items()}


def size_of_library(name):
    """Bytes of code and data of a shared library; None for none."""
    file = name and ctypes.util.find_library(name)
    if not file:
        return None
    places = [pathlib.Path(place) / file for place in ("/usr/lib", "/lib")]
    places += [pathlib.Path(f"/usr/lib/{platform.machine()}-linux-gnu") / file]
    found = [place for place in places if place.exists()]
    return loaded_bytes(found[0]) if found else None


def loaded_bytes(file):
    """As size(1) tells; of an archive, all of it."""
    run = subprocess.run(["size", "-t", file], check=True, capture_output=True, text=True)
    return int(run.stdout.splitlines()[-1].split()[3])


def archive(build, library):
    return build / "runtime/fermata" / library / f"libfermata_{library}.a"


def row(title, drivers, cell):
    return f"| {title} | " + " | ".join(cell(driver) or "-" for driver in drivers) + " |"


def header(title, drivers):
    return row(title, drivers, lambda driver: driver) + "\n|---" + "|---" * len(drivers) + "|"


class Page:
    def __init__(self, table, drivers):
        self.table = table
        self.drivers = drivers

    def median(self, subject, contestant):
        values = self.table.get((subject, contestant))
        return statistics.median(values[0]) if values else None

    def ratio(self, subject):
        ours, floor = (self.table.get((subject, who)) for who in ("fermata", "floor"))
        if not ours or not floor:
            return None
        return statistics.median(a / b for a, b in zip(ours[0], floor[0]))

    def cell(self, subject, shown):
        value, ratio = self.median(subject, "fermata"), self.ratio(subject)
        if value is None:
            return None
        return shown(value) + ("" if ratio is None else f" ({ratio:.2f})")

    def rows(self, title, subject, shown):
        return row(title, self.drivers, lambda d: self.cell(subject.format(d), shown))


def text_of(table, servers, options):
    """The page. `servers` and `options`: run.py's."""
    folder = options.build / "bench" / "echo"
    drivers = [d for d in LIBRARIES if (f"loop_watched_{d}/100", "fermata") in table]
    page = Page(table, drivers)

    def thousands(value):
        return f"{value / 1000:,.1f}"

    def nanoseconds(value):
        return f"{value:,.0f}"

    lines = [
        "# Drivers of the event loop",
        "",
        f"Written by `./dev bench --drivers docs/bench/drivers.md`: {options.rounds} rounds on "
        f"{len(os.sched_getaffinity(0))} cores, {processor()}, Linux {platform.release()}.",
        "Medians; in parentheses the ratio to the same in C on the driver's own library, taken in",
        "the same round. On a machine that does something else at the same time only these tell",
        "anything.",
        "",
        "## Performance",
        "",
        "The echo server in callback style, thousands of messages of 64 bytes a second. The load",
        "is on the server's core, or on another one.",
        "",
        header("connections, load", drivers),
    ]
    for connections, where in ((1, "one_core"), (64, "one_core"), (64, "across"),
                               (1000, "one_core"), (1000, "across")):
        title = f"{connections:,}, {'same core' if where == 'one_core' else 'other core'}"
        lines.append(page.rows(title, f"echo_{{}}/{connections}/{where}", thousands))
    lines += [
        "",
        "Processor time of a call in nanoseconds: of 1,000 timers that fire each millisecond; of",
        "a pipe whose byte is read and written again, with one and with 100 pipes ready in each",
        "turn.",
        "",
        header("callback", drivers),
        page.rows("timer", "loop_timers_{}/1000", nanoseconds),
        page.rows("1 pipe", "loop_pipes_{}/1", nanoseconds),
        page.rows("100 pipes", "loop_pipes_{}/100", nanoseconds),
        "",
        "## Scaling",
        "",
        "Processor time in nanoseconds of a call that does nothing, while so many descriptors are",
        "watched and always the same 100 of them are ready.",
        "",
        header("watched", drivers),
        *(page.rows(f"{n:,}", f"loop_watched_{{}}/{n}", nanoseconds) for n in (100, 1000, 8000)),
        "",
        "## System calls",
        "",
        "Of the echo server per message, counted by `strace -c` from the start of the program, so",
        "that opening the connections is among the others. Fermata, and in parentheses C.",
        "",
        header("connections, call", drivers),
        *calls_rows(folder, drivers, servers),
        "",
        "## Size",
        "",
        "Code and data in KiB, as size(1) tells.",
        "",
        header("", drivers),
        row("the library", drivers, lambda d: kibibytes(size_of_library(LIBRARIES[d]))),
        row("what Fermata adds, TCP and all", drivers, lambda d: kibibytes(
            loaded_bytes(archive(options.build, "uv" if d == "uv" else "poll")))),
        "",
        "## Portability",
        "",
        "Fermata itself is tested on Linux only.",
        "",
        header("", drivers),
        row("library", drivers, TITLES.get),
        *(row(what, drivers, facts.get) for what, facts in FACTS.items()),
    ]
    return "\n".join(lines) + "\n"


def calls_rows(folder, drivers, servers):
    if not shutil.which("strace"):
        sys.exit("bench: install strace, which counts system calls")
    for connections in CALLS_CONNECTIONS:
        counts = {}
        for driver in drivers:
            for contestant, (server, *arguments) in servers[f"echo_{driver}"].items():
                command = [folder / f"bench_{server}_server", *arguments]
                counts[driver, contestant] = count_calls(folder, command, connections)
        for group in (*CALLS, "other"):
            yield row(f"{connections}, {group}", drivers,
                      lambda driver, group=group: f"{counts[driver, 'fermata'][group]:.2f} "
                      f"({counts[driver, 'floor'][group]:.2f})")


def kibibytes(size):
    return None if size is None else f"{size / 1024:,.0f}"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()
