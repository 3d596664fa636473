#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What packaging/container/Dockerfile names is there, as far as that shows without Docker.

usage: container_test.py SOURCE_DIR BUILD_DIR

Its commands are read by a shell, its packages are Debian 12's, its sources are in the tree, its
last stage has every library that the tool and a test program are linked to, and its entry point
works a plan and ends in order on SIGTERM. What needs apt is left out where there is none.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import container
import plan_check

BASE = "debian:12-slim"
TOLD = 130  # The exit code of who was told to end before the plan was complete.
OF_THE_BASE = {"gcc-12-base", "libc6", "libgcc-s1"}


def shown(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    return done.stdout if done.returncode == 0 else ""


def check_stages(text):
    stages = []
    for name, argument in container.instructions(text):
        if name == "FROM":
            image, _, stage = argument.partition(" AS ")
            assert image == BASE, f"FROM {image} instead of {BASE}"
            stages.append(stage)
        copied = re.match(r"--from=(\S+)", argument) if name == "COPY" else None
        assert not copied or copied[1] in stages[:-1], f"COPY from {copied[1]}, not a stage"
    assert stages == ["build", ""], stages


def check_sources(text, source):
    for name, argument in container.instructions(text):
        if name == "COPY" and not argument.startswith("--from"):
            for path in argument.split()[:-1]:
                assert (source / path).exists(), f"COPY {path}: there is no such path"
        for path in re.findall(r"(?<=\s)/fermata/(\S+)", f" {argument}") if name == "RUN" else []:
            assert (source / path).exists(), f"RUN {argument}: there is no {path} in the tree"


def check_commands(text):
    for name, argument in container.instructions(text):
        if name == "RUN":
            subprocess.run(["sh", "-n", "-c", argument], check=True)


def check_packages(text):
    named = [package for name, argument in container.instructions(text) if name == "RUN"
             for package in container.packages(argument)]
    assert named, "no packages"
    if not re.search(r'VERSION_ID="12"', pathlib.Path("/etc/os-release").read_text()) \
            or not shutil.which("apt-cache") or not shown("apt-cache", "show", "libc6"):
        print("container: not on Debian 12 with lists of packages: their names are not checked")
        return
    for package in named:
        assert shown("apt-cache", "show", package), f"Debian 12 has no package {package}"


def libraries_of(program):
    return re.findall(r"^\s*(\S+) => (/\S+)", shown("ldd", str(program)), re.M)


def package_of(path):
    """The package of a file that may be known by its path before or after /usr was merged."""
    for candidate in (path, str(pathlib.Path(path).resolve())):
        for name in (candidate, candidate.removeprefix("/usr")):
            owner = shown("dpkg", "-S", name)
            if owner:
                return owner.split(":")[0]
    return None


def check_libraries(text, programs):
    final = text[text.rindex("\nFROM "):]
    there = {package for name, argument in container.instructions(final) if name == "RUN"
             for package in container.packages(argument)} | OF_THE_BASE
    if not shutil.which("dpkg"):
        print("container: no dpkg: the packages of the libraries are not checked")
        return
    for program in programs:
        for library, path in libraries_of(program):
            package = package_of(path)
            assert package in there, f"{program} needs {library} of {package}; there are {there}"


def check_entry_point(text, tool, program, folder):
    words = container.entry_point(text)
    assert words == ["/usr/local/bin/fermata", "fleet", "work", "/plan"], words
    assert container.last(text, "VOLUME") == words[-1]
    assert container.last(text, "STOPSIGNAL") == "SIGTERM"
    assert int(container.last(text, "USER").split(":")[0]) > 0, "runs as root"
    plan = plan_check.Plan(tool, {"PATH": "/usr/bin:/bin"}, folder / "plan")
    plan.make(program, 100_000)
    ends_in_order(plan, [str(tool), *words[1:-1], str(plan.root)], 60, namespace_of_pids())


def namespace_of_pids():
    """What starts a command as the first process that it sees; nothing where this user may not."""
    prefix = ["unshare", "--pid", "--fork", "--kill-child"]
    done = subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False) if shutil.which(prefix[0]) else None
    return prefix if done and done.returncode == 0 else []


def ends_in_order(plan, command, within=60, prefix=()):
    """Starts a worker, and tells it to end when it has something to give back."""
    with subprocess.Popen([*prefix, *command], env=plan.environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as worker:
        try:
            while plan.status()["leased"] == 0:
                assert worker.poll() is None, worker.communicate()[0]
                time.sleep(0.05)
            process = worker.pid
            if prefix:  # It hands no signal on.
                children = f"/proc/{process}/task/{process}/children"
                process = int(pathlib.Path(children).read_text().split()[0])
            os.kill(process, signal.SIGTERM)
            said = worker.communicate(timeout=within)[0]
        finally:
            worker.kill()
    assert worker.returncode == TOLD, f"exit code {worker.returncode} after SIGTERM:\n{said}"
    status = plan.status()
    assert status["leased"] == 0 and status["done"] < status["chunks"], status


def main(source, build):
    text = (source / "packaging/container/Dockerfile").read_text()
    tool, program = build / "fermata", build / "tests/fleet/fleet_specimen"
    check_stages(text)
    check_sources(text, source)
    check_commands(text)
    check_packages(text)
    check_libraries(text, (tool, program))
    with tempfile.TemporaryDirectory() as folder:
        check_entry_point(text, tool, program, pathlib.Path(folder))
    print("container: what the Dockerfile names is there, and its entry point ends in order")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
