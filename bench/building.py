# SPDX-License-Identifier: Apache-2.0
"""What compiling costs, in seconds of a processor, user and system, without a compiler's cache.

build/user_test  a small simulated test beside the same with GoogleTest alone, in each round
build/suite      all of `./dev run` before the suite runs, beside bench/build/floor.cpp, once
"""

import os
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bench" / "build"
FLAGS = ["-std=c++20", f"-I{ROOT / 'runtime'}", f"-I{ROOT / 'sim'}", "-DFMT_SHARED"]
LIMITS = {
    "build/user_test": 1.8,
    "build/suite": 450 / 3.9,  # the limit of ./dev run and the floor it was set at
}


def cost_of(command):
    """The CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cost_of_source(name, *flags):
    return cost_of(["g++", *FLAGS, *flags, "-c", SOURCES / name, "-o", "/dev/null"])


def cost_of_suite():
    with tempfile.TemporaryDirectory(prefix="fermata_build_") as folder:
        configure = ["cmake", "-S", ROOT, "--preset", "release", "-B", folder]
        build = ["cmake", "--build", folder, "--target", "fermata_suite"]
        return cost_of(configure) + cost_of([*build, "-j", str(len(os.sched_getaffinity(0)))])


class Building:
    def __init__(self, wanted):
        self.wanted = bool(wanted.search("build"))
        self.suite_is_built = False

    def samples(self):
        """(subject, contestant, value, unit) of one round."""
        if not self.wanted:
            return
        yield "build/user_test", "floor", cost_of_source("user_gtest.cpp"), "s"
        yield "build/user_test", "fermata", cost_of_source("user_sim_test.cpp"), "s"
        if not self.suite_is_built:
            self.suite_is_built = True
            yield "build/suite", "floor", cost_of_source("floor.cpp", "-O2"), "s"
            yield "build/suite", "fermata", cost_of_suite(), "s"
