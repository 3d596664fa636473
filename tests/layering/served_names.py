#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who calls the functions that fermata::posix serves by their names.

Usage: served_names.py SOURCES BUILD    (or --self-test)

What runs beside simulated code must not be served itself: the runtime and the simulator call the
system through os::kernel only, whose table is one object. Reads the undefined symbols of their
archives. Real reactors and the drivers of databases are left out: the first do not run in simulated
programs, the second are simulated code themselves. Parts of the simulator that run outside of
simulated programs may use files.
"""

import re
import subprocess
import sys
from pathlib import Path

ROW = re.compile(r"ROW\((\w+), (\w+)\)")
# Told by who calls them: only foreign libraries are served. Told by what it is for: memory that
# shows no file is the system's.
TOLD_OTHERWISE = ("end", "environment", "map")
ARCHIVES = [
    "runtime/fermata/libfermata_runtime.a",
    "runtime/fermata/loop/libfermata_loop.a",
    "runtime/fermata/poll/libfermata_poll.a",
    "runtime/fermata/uring/libfermata_uring.a",
    "sim/fermata/sim/libfermata_sim.a",
    "sim/fermata/sim/db/libfermata_sim_db.a",
    "sim/fermata/sim/main/libfermata_sim_main.a",
    "sim/fermata/sim/property/libfermata_sim_property.a",
]
# They write tapes and reports, outside of simulated programs.
FILE_USERS = re.compile(r"unity_sim_fermata_sim_(base|run|run_process)_cxx")
TABLE = re.compile(r"system_calls|fermata_system_")


def served_names(header):
    """name -> kind of those that are served, whoever calls."""
    return {name: kind for kind, name in ROW.findall(header)
            if kind not in (*TOLD_OTHERWISE, "kind")}


def violations(listing, names):
    """Lines of `nm -uA` that name a served function outside of the table."""
    found = []
    for line in listing.splitlines():
        place, _, symbol = line.rpartition(" U ")
        name = symbol.split("@")[0].strip()
        if names.get(name) in ("file", "stdio") and FILE_USERS.search(place):
            continue
        if name in names and not TABLE.search(place):
            found.append(f"{place.strip().rstrip(':')}: {name}, expected os::kernel.{name}")
    return found


def self_test():
    names = served_names("#define ROWS(ROW) ROW(fdio, read) ROW(end, abort)")
    assert names == {"read": "fdio"}, names
    listing = "a.a:x.o:                 U read@GLIBC_2.2.5\na.a:x.o:   U abort\n"
    assert violations(listing, names) == ["a.a:x.o: read, expected os::kernel.read"]
    run = "a.a:unity_sim_fermata_sim_run_cxx.cxx.o:  U "
    assert violations(run + "open\n" + run + "read\n", {"open": "file", "read": "fdio"}) == [
        "a.a:unity_sim_fermata_sim_run_cxx.cxx.o: read, expected os::kernel.read"]
    assert violations("a.a:unity_runtime_fermata_system_cxx.o:  U read\n", names) == []


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    sources, build = Path(sys.argv[1]), Path(sys.argv[2])
    folder = sources / "runtime/fermata/posix/served"
    headers = [folder / "functions.hpp", folder / "thread_functions.hpp"]
    names = served_names("".join(each.read_text(encoding="utf-8") for each in headers))
    assert names, f"{folder}: no rows"
    archives = [build / each for each in ARCHIVES if (build / each).exists()]
    listing = subprocess.run(["nm", "-uA", *archives], check=True, text=True, capture_output=True)
    found = violations(listing.stdout, names)
    for each in found:
        print(each)
    print(f"served names: {len(archives)} archives, {len(names)} names, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
