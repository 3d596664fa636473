#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The last stage of packaging/container/Dockerfile in a bare Debian 12: its commands, and a worker.

usage: container_root.py SOURCE_DIR BUILD_DIR

Needs root, debootstrap and a mirror of Debian; without the first two it is skipped, with exit code
77. The tool of BUILD_DIR stands for that of the first stage, whose commands are not executed. The
worker has the image's user and folder, and its result is that of a worker outside.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import container
import plan_check

RUNS = 2000
MIRROR = "http://deb.debian.org/debian"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def inside(root, user, folder, *command):
    """Runs a command as the first process of a machine whose files are in `root`."""
    environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "DEBIAN_FRONTEND": "noninteractive"}
    return run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot",
               f"--userspec={user}", root, "env", "-C", folder, *command, env=environment)


def main(source, build):
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("skipped: a root of its own takes the user root and debootstrap")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # Removes the folder.
    text = (source / "packaging/container/Dockerfile").read_text()
    final = text[text.rindex("\nFROM "):]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        root = folder / "root"
        run("debootstrap", "--variant=minbase", "bookworm", root, MIRROR)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        for kind, argument in container.instructions(final):
            if kind == "RUN":
                inside(root, "0:0", "/", "sh", "-c", argument)
            elif kind == "COPY":
                target = root / argument.split()[-1].lstrip("/")
                shutil.copy(build / target.name, target)
        plans = [plan_check.Plan(build / "fermata", {"PATH": "/usr/bin:/bin"}, path)
                 for path in (root / "plan", folder / "reference")]
        for plan in plans:
            plan.make(build / "tests/fleet/fleet_specimen", RUNS)
        user = container.last(text, "USER")
        run("chown", "-R", user, root / "plan")
        said = inside(root, user, container.last(text, "WORKDIR"), *container.entry_point(text),
                      "--jobs", "2")
        plans[1].work("--jobs", 1)
        plan_check.check_same(plans[0].result(), plans[1].result())
    print(f"container: worked in a bare root as {user}:\n{said}", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
