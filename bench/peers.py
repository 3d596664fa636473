# SPDX-License-Identifier: Apache-2.0
"""Peers that are Debian packages: they are built here, and compared on a page.

Their sources are in bench/peers: what an expert would write, doing the same work as ours. A peer
that cannot be built has a reason, which the page tells.
"""

import datetime
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess

import drivers

SOURCES = pathlib.Path(__file__).resolve().parent / "peers"

# What of run.py's subjects the page needs.
SUBJECTS = (
    r"^(yield|spawn_await|spawn_finish|channel_round_trip|channel_message|echo|cancelled_timers"
    r"|simulated_sleepers)$"
)

# Contestant -> its title; the order of columns.
TITLES = {
    "floor": "floor",
    "fermata": "Fermata",
    "uring": "Fermata on io_uring",
    "libuv": "libuv in C",
    "fiber": "Boost.Fiber",
    "asio": "Boost.Asio",
    "go": "Go",
    "tokio": "tokio",
}
SERVERS = ("asio", "go", "tokio")  # Peers that have an echo server.

# Unit of a row -> run.py's unit in it.
UNITS = {"ns": 1, "1,000/s": 1e3, "M/s": 1e6}
ROWS = {  # Subject -> title and unit.
    "yield/2": ("yield among 2", "ns"),
    "yield/1000": ("yield among 1,000", "ns"),
    "yield/10000": ("yield among 10,000", "ns"),
    "spawn_await": ("spawn and await, one by one", "ns"),
    "spawn_finish/1000": ("spawn and finish, batches of 1,000", "ns"),
    "channel_round_trip": ("channel, round trip", "ns"),
    "channel_message/128": ("channel of 128, one message", "ns"),
    "cancelled_timers": ("one of 100,000 timers, armed and cancelled", "ns"),
    "echo/1/one_core": ("echo, 1 connection, load on the same core", "1,000/s"),
    "echo/64/one_core": ("echo, 64 connections, same core", "1,000/s"),
    "echo/64/across": ("echo, 64 connections, other core", "1,000/s"),
    "echo/1000/one_core": ("echo, 1,000 connections, same core", "1,000/s"),
    "echo/1000/across": ("echo, 1,000 connections, other core", "1,000/s"),
    "simulated_sleepers/1000": ("1,000 sleepers in virtual time, naps", "M/s"),
}

# Peer, what was measured, figure: of those that Debian does not package.
EARLIER = (
    ("neco", "spawn and await, one by one", "1.8 times the floor"),
    ("neco", "spawn and finish, batches of 1,000", "3.4 times the floor"),
    ("neco", "channel, round trip", "4.2 times the floor"),
    ("Photon", "spawn and finish, batches of 1,000", "4.3 times the floor"),
    ("libsimulator", "1,000 sleepers in virtual time, callbacks without coroutines", "4.8 M/s"),
    ("libsimulator", "messages between simulated machines", "0.74 M/s"),
    ("turmoil", "messages between simulated machines", "0.03 M/s"),
    ("Shuttle", "schedules of a lost update", "0.28 M/s"),
    ("VOPR", "virtual seconds in a second, as its authors say", "700"),
)

NOTES = """\
- Fermata runs on libuv, in the column beside on its own reactor for io_uring, which a program
  chooses when it starts.
- The floor of echo is libuv in C. The other floors are the least that may be called a scheduler, a
  channel or a queue of timers ([bench/README.md](../../bench/README.md)).
- Each program runs on one core: Go with `GOMAXPROCS=1`, tokio on its runtime of one thread. Rows in
  ns are processor time; Go's include its garbage collection.
- Boost.Fiber has pooled stacks and no sockets. Boost.Asio runs C++20 coroutines without locks;
  release 1.74 has no channel.
- A channel of the round trip has no buffer, but tokio's and the floor's have room for one message.
- tokio runs without its driver of sockets in all rows but echo, which makes a yield cheaper.
- tokio's timers have a resolution of a millisecond: its simulated sleepers nap for up to a second,
  ours for up to a millisecond. Its virtual time is `time::pause`.
"""


# --- building -------------------------------------------------------------------------------------


def built(folder, builds=None):
    """Builds all peers into `folder`: peer -> why it could not be, for those that could not."""
    folder = folder.resolve()  # The compilers run elsewhere.
    folder.mkdir(parents=True, exist_ok=True)
    reasons = {}
    for peer, build in (builds or BUILDS).items():
        try:
            build(folder)
        except FileNotFoundError as error:
            reasons[peer] = f"{error.filename} is not installed"
        except subprocess.CalledProcessError as error:
            reasons[peer] = reason_in(error.output)
        except subprocess.TimeoutExpired as error:
            reasons[peer] = f"{error.cmd[0]} took longer than {error.timeout:.0f} s"
    return reasons


def reason_in(output):
    """The first line that is about an error; else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines[-1:] or ["its build said nothing"])[0]


def run(command, folder, **variables):
    """With Debian's compilers, whichever others come first elsewhere."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8", **variables}
    done = subprocess.run(
        [str(word) for word in command],
        check=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    return done.stdout


def compile_cpp(name, folder, *libraries):
    flags = ["-std=c++20", "-O2", "-DNDEBUG", f"-I{SOURCES.parent.parent}"]
    links = [f"-l{library}" for library in (*libraries, "pthread")]
    source = SOURCES / f"{name}.cpp"
    run(["g++", *flags, source, "-o", folder / f"bench_{name}", *links], folder)


def build_fiber(folder):
    compile_cpp("fiber", folder, "benchmark_main", "benchmark", "boost_fiber", "boost_context")


def build_asio(folder):
    compile_cpp("asio", folder, "benchmark_main", "benchmark")
    compile_cpp("asio_server", folder)


def build_go(folder):
    caches = {"GOCACHE": str(folder / "go_cache"), "GOPATH": str(folder / "go_path")}
    for name, package in (("bench_go", "./measure"), ("bench_go_server", "./server")):
        command = ["go", "build", "-buildvcs=false", "-o", folder / name, package]
        run(command, SOURCES / "go", GOFLAGS="-mod=mod", GOPROXY="off", **caches)


def build_tokio(folder):
    """In a copy of the sources, since cargo writes beside them."""
    copy = folder / "tokio"
    shutil.copytree(SOURCES / "tokio", copy, dirs_exist_ok=True)
    run(["cargo", "build", "--release", "--offline"], copy, CARGO_HOME=str(folder / "cargo"))
    for name in ("bench_tokio", "bench_tokio_server"):
        shutil.copy(copy / "target" / "release" / name, folder / name)


BUILDS = {"fiber": build_fiber, "asio": build_asio, "go": build_go, "tokio": build_tokio}


# --- the page -------------------------------------------------------------------------------------


def versions(folder):
    """Contestant -> version, and what it was built with."""
    gcc = f"g++ {answer('g++', '-dumpfullversion')}"
    boost = found(r'BOOST_LIB_VERSION "(.*)"', "/usr/include/boost/version.hpp").replace("_", ".")
    tokio = found(r'name = "tokio"\nversion = "(.*)"', folder / "tokio" / "Cargo.lock")
    fermata = found(r"project\(Fermata VERSION ([\d.]+)", SOURCES.parent.parent / "CMakeLists.txt")
    rust = answer("rustc", "--version").split("(")[0].strip()
    return {
        "floor": ("bench/floor", f"{gcc}, -O2"),
        "fermata": (fermata, f"{gcc}, -O2"),
        "uring": (f"liburing {answer('pkg-config', '--modversion', 'liburing')}", f"{gcc}, -O2"),
        "libuv": (answer("pkg-config", "--modversion", "libuv"), f"{gcc}, -O2"),
        "fiber": (boost, f"{gcc}, -O2 -DNDEBUG"),
        "asio": (boost, f"{gcc}, -O2 -DNDEBUG"),
        "go": (answer("go", "version").split("go")[-1].split()[0], "its own compiler"),
        "tokio": (tokio, f"{rust}, --release, with link-time optimisation"),
    }


def answer(*command):
    """What a program says in one line, or a question mark."""
    try:
        return run(command, SOURCES).strip()
    except (OSError, subprocess.CalledProcessError):
        return "?"


def found(pattern, path):
    try:
        match = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError:
        match = None
    return match[1] if match else "?"


def machine():
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {drivers.processor()}, Linux {platform.release()}"


class Page:
    def __init__(self, table, reasons):
        self.table = table
        self.reasons = reasons

    def values(self, subject, column):
        """One a round; None where the peer has no such thing."""
        who = "floor" if column == "libuv" and subject.startswith("echo/") else column
        values = self.table.get((subject, who))
        return values and values[0]

    def cell(self, subject, column, scale):
        values, floor = self.values(subject, column), self.values(subject, "floor")
        if not values:
            return "not measured" if column in self.reasons else None
        shown = number(statistics.median(values) / scale)
        if column == "floor" or not floor:
            return shown
        ratio = statistics.median(value / other for value, other in zip(values, floor))
        return f"{shown} ({number(ratio)})"

    def row(self, subject):
        title, unit = ROWS[subject]
        return drivers.row(f"{title}, {unit}", TITLES,
                           lambda column: self.cell(subject, column, UNITS[unit]))


def number(value):
    """Three digits."""
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def text_of(table, reasons, about):
    """The page. `about`: "rounds", "date", "machine", and versions() as "versions"."""
    page = Page(table, reasons)
    lines = [
        "# Beside other runtimes",
        "",
        f"Written by `./dev bench --peers`: {about['rounds']} rounds on {about['machine']}, "
        f"{about['date']}.",
        "All contestants run in each round, in fresh processes. A cell is a median; in parentheses",
        "is the median ratio to the floor of the same round. For ns less is better, for rates (/s)",
        "more. A dash means that the peer has no equivalent. On a machine that does something else",
        "at the same time only the ratios tell anything.",
        "",
        "## Measured",
        "",
        drivers.row("", TITLES, TITLES.get),
        "|---" + "|---" * len(TITLES) + "|",
        *(page.row(subject) for subject in ROWS),
        "",
        *(f"{TITLES[peer]} was not measured: {reason}.\n" for peer, reason in reasons.items()),
        NOTES,
        "| | version | built with |",
        "|---|---|---|",
        *(f"| {TITLES[who]} | {version} | {tools} |"
          for who, (version, tools) in about["versions"].items() if who not in reasons),
        "",
        "## Measured earlier",
        "",
        "Debian does not package these peers. They were measured on the same kind of machine, and",
        "`./dev bench --peers` does not measure them again.",
        "",
        "| peer | what | figure |",
        "|---|---|---|",
        *(f"| {peer} | {what} | {figure} |" for peer, what, figure in EARLIER),
    ]
    return "\n".join(lines) + "\n"


def about(folder, rounds):
    return {
        "rounds": rounds,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(folder),
    }
