# SPDX-License-Identifier: Apache-2.0
"""The tables that layering.py holds the tree to."""


def below(tree, folders):
    return {f"{tree}/{folder}" for folder in folders.split()}


def runtime(folders):
    return below("runtime", folders)


def sim(folders):
    return below("sim", folders)


# What each folder includes besides itself, lower folders first: no row names one of a later row.
MAY_INCLUDE = {
    "runtime/base": set(),
    # What the kernel is called by, and nothing else.
    "runtime/system": runtime("base"),
    "runtime/context": runtime("base system"),
    "runtime/core": runtime("base context system"),
    "runtime/sync": runtime("base core"),
    "runtime/reactor": runtime("base core system"),
    "runtime/io": runtime("base core sync reactor system"),
    "runtime/os": runtime("base core reactor system"),
    # What foreign code sees as its operating system.
    "runtime/posix": runtime("base system"),
    # The real one, for coroutines of real programs.
    "runtime/posix/suspending": runtime("base core reactor io os posix system"),
    # The functions of the C library, defined anew.
    "runtime/posix/served": runtime("base posix system"),
    "runtime/poll": runtime("base core reactor system os"),
    "runtime/host": runtime("base context core reactor os poll system"),
    "runtime/uv": runtime("base core reactor os host"),
    "runtime/uring": runtime("base core reactor system os"),
    "runtime/loop": runtime("base core reactor system"),
    "runtime/loop/tcp": runtime("base core reactor loop"),
    # Knows every reactor that a loop can have.
    "runtime/drivers": runtime("base core uv poll"),
    "runtime/db": runtime("base core sync"),
    "runtime/db/sqlite": runtime("base io db"),
    "runtime/db/postgresql": runtime("base core io db"),
    "runtime/db/mariadb": runtime("base core io db"),
    "runtime/db/odbc": runtime("base io db"),
    # Knows every driver that a database can have.
    "runtime/db/drivers": runtime("base db db/sqlite db/postgresql db/mariadb db/odbc"),
    "runtime": runtime("base core sync io posix/suspending"),
    "sim/base": runtime("base system"),
    "sim/tape": runtime("base core") | sim("base"),
    "sim/guard": runtime("base posix") | sim("base"),
    # What foreign files import, and whether that is served.
    "sim/inspect": runtime("base posix posix/served"),
    "sim/strategy": runtime("base") | sim("base tape"),
    "sim/record": runtime("base core reactor") | sim("base tape"),
    "sim/waits": runtime("base core") | sim("record"),
    "sim/audit": runtime("base core system") | sim("base tape strategy guard record waits"),
    "sim/machine": runtime("base core") | sim("base tape record"),
    "sim/net": runtime("base reactor") | sim("base record machine"),
    "sim/fs": runtime("base core system reactor") | sim("base record machine"),
    "sim/posix": runtime("base core system reactor os posix")
    | sim("base tape record machine net fs"),
    "sim/process": runtime("base reactor") | sim("base record machine net"),
    "sim/world": runtime("base context core reactor io posix")
    | sim("base record waits audit machine net fs posix process guard"),
    "sim/history": runtime("base") | sim("base tape world"),
    "sim/report": runtime("base reactor") | sim("base tape record"),
    "sim/run/process": runtime("base system") | sim("record tape guard"),
    "sim/run": runtime("base core sync system")
    | sim("base tape strategy record audit machine posix guard inspect world report run/process"),
    "sim/fuzz": runtime("base") | sim("base tape strategy record run"),
    "sim/property": runtime("base") | sim("base run"),
    # Headers for users of other test frameworks.
    "sim/adapters": runtime("base core sync") | sim("run world"),
    "sim/db": runtime("base core sync reactor io db"),
    "sim/main": runtime("base") | sim("run fuzz"),
    # Workers that share a folder; of the tool, and of tests in the simulated world.
    "sim/fleet": runtime("base core io") | sim("base"),
    "sim/cli": runtime("base") | sim("base inspect tape record report run/process run"),
    "sim/cli/fleet": runtime("base core io") | sim("base tape run fleet cli"),
    # The only place of sim/ that knows a real reactor: that of the tool itself.
    "sim/cli/tool": runtime("uv") | sim("cli cli/fleet"),
    "sim": runtime("core sync") | sim("waits guard world history run property"),
    "models": runtime("base"),
}

# A room is a source with its header. Of those that include each other in a circle there are at
# most three, but for these, which may only shrink: folder -> rooms.
ROOMS_IN_A_CIRCLE = 3
KNOWN_CIRCLES = {
    "runtime/core": 13,
    "runtime/reactor": 7,
    "runtime/sync": 6,
}

# Libraries that belong to some folders only: header prefix -> folders.
LIBRARIES = {
    "boost/context": ("runtime/context", "bench"),
    "boost/fiber": ("bench",),
    "boost/asio": ("runtime/host", "tests", "examples", "bench"),
    "glib": ("runtime/host", "tests", "examples"),
    "libpq-fe.h": ("runtime/db/postgresql", "bench"),
    "sqlite3.h": ("runtime/db/sqlite", "tests", "bench"),
    "mysql": ("runtime/db/mariadb",),
    "sql.h": ("runtime/db/odbc",),
    "sqlext.h": ("runtime/db/odbc",),
    "uv.h": ("runtime/uv", "tests", "examples", "bench"),
    "liburing": ("runtime/uring", "bench"),
    "ev.h": ("runtime/poll", "bench"),
    "event2/": ("runtime/poll", "bench"),
    "gtest/": ("sim/run", "sim/fuzz", "laws", "tests", "examples", "bench"),
    "rapidcheck": ("sim/property", "laws", "tests"),
    "catch2/": ("sim/adapters", "tests"),
    "doctest/": ("sim/adapters", "tests"),
    "benchmark/": ("bench",),
}
