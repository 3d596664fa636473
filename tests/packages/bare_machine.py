#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fermata's Debian packages on a machine that has nothing else: installed, and first_simulation.md
followed there.

usage: bare_machine.py [DEBS] PLACE [--json FILE]

DEBS is the folder of the packages. The machine is a root of Debian 12 as debootstrap makes it, with
a compiler and what the page calls, in PLACE, where it is kept for the next time. Needs root, for
chroot, and a mirror of Debian. Without DEBS only the machine is made.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_MAX = 60  # From installed to the first simulation.
PACKAGES = ("fermata", "fermata-doc", "libfermata-dev")
# What the page uses besides, and the interpreter of the script that follows it.
TOOLS = ("g++", "cmake", "ninja-build", "python3")
INSTALLED = (
    "usr/bin/fermata", "usr/include/fermata/runtime.hpp", "usr/share/fermata/fermata.py",
    "usr/share/man/man1/fermata.1.gz", "usr/share/bash-completion/completions/fermata",
    "usr/share/zsh/vendor-completions/_fermata",
    "usr/share/doc/fermata-doc/html/guide/first_simulation.html")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def pack(root, archive):
    run("tar", "-C", root, "--numeric-owner", "-cf", f"{archive}.part", ".")
    os.replace(f"{archive}.part", archive)


def bare_root(place):
    """An archive of a machine with nothing but what every Debian has."""
    archive = place / "bare.tar"
    if not archive.exists():
        fresh = place / "bare"
        shutil.rmtree(fresh, ignore_errors=True)
        run("debootstrap", "--variant=minbase", "bookworm", fresh,
            "http://deb.debian.org/debian")
        pack(fresh, archive)
        shutil.rmtree(fresh)
    return archive


class Machine:
    def __init__(self, archive, root):
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        run("tar", "-C", root, "-xpf", archive)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")

    def run(self, *command):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
        return run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc",
                   "chroot", self.root, *command, env=environment)


def root_with_tools(place):
    """An archive of a bare machine with TOOLS."""
    archive = place / "tools.tar"
    if not archive.exists():
        machine = Machine(bare_root(place), place / "with_tools")
        machine.run("apt-get", "-q", "update")
        machine.run("apt-get", "-q", "install", "-y", "--no-install-recommends", *TOOLS)
        machine.run("apt-get", "clean")
        pack(machine.root, archive)
        shutil.rmtree(machine.root)
    return archive


def main(arguments):
    out = None
    if "--json" in arguments:
        at = arguments.index("--json")
        out = pathlib.Path(arguments[at + 1])
        del arguments[at : at + 2]
    *debs, place = (pathlib.Path(each).resolve() for each in arguments)
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("skipped: to make a machine of its own takes root and debootstrap")
        return 0
    place.mkdir(parents=True, exist_ok=True)
    archive = root_with_tools(place)
    if not debs:
        return 0
    files = [max(debs[0].glob(f"{name}_*.deb")) for name in PACKAGES]
    machine = Machine(archive, place / "machine")
    try:
        for file in (*files, ROOT / "tests/docs/walk_check.py",
                     ROOT / "docs/guide/first_simulation.md"):
            shutil.copy(file, machine.root / "tmp")
        machine.run("apt-get", "-q", "update")
        begun = time.monotonic()
        machine.run("apt-get", "-q", "install", "-y", "--no-install-recommends",
                    *(f"/tmp/{file.name}" for file in files))
        print(f"{time.monotonic() - begun:.1f} s to install {' '.join(PACKAGES)}")
        missing = [each for each in INSTALLED if not (machine.root / each).exists()]
        followed = machine.run("python3", "/tmp/walk_check.py", "--installed",
                               "/tmp/first_simulation.md")
    finally:
        shutil.rmtree(machine.root, ignore_errors=True)
    print(followed, end="")
    seconds = float(re.search(r"^([0-9.]+) s: fermata run", followed, re.M)[1])
    ok = seconds <= SECONDS_MAX and not missing
    print(f"{seconds} s from installed to the first simulation, of at most {SECONDS_MAX}")
    if missing:
        print(f"not installed: {' '.join(missing)}")
    if out:
        out.write_text(json.dumps([{
            "name": "packages/first_simulation", "value": seconds, "unit": "s", "ratio": None,
            "limit": SECONDS_MAX, "ok": ok}]) + "\n")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
