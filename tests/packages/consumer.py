# SPDX-License-Identifier: Apache-2.0
"""The project of the README, built on an installed Fermata and run."""

import pathlib
import re
import shutil
import subprocess
import sys

INSTALL = pathlib.Path(__file__).resolve().parent.parent / "install"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def build_and_run(prefix, place):
    """What the project's test prints, with nothing of Fermata known but `prefix`."""
    project = place / "consumer"
    shutil.copytree(INSTALL / "found", project)
    shutil.copy(INSTALL / "my_test.cpp", project)
    run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", project / "build")
    printed = run(project / "build/my_test", cwd=place)
    if "1 test." not in printed or "PASSED" not in printed:
        sys.exit(f"the consumer's test did not pass:\n{printed}")
    return printed


def version_of(root):
    """The version in the CMakeLists.txt of the tree."""
    return re.search(r"project\(Fermata VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
