# SPDX-License-Identifier: Apache-2.0
"""posixtestsuite: a library for each file, with its main under another name."""

import concurrent.futures
import os
import re

from suite import Suite, Test, run

FOLDERS = re.compile(r"(pthread_\w+|sem_\w+|clock_\w+|nanosleep)")
TESTS = re.compile(r"\d+-\d+\.c")
# They set the clock of the real machine.
DANGEROUS = re.compile(r"\bclock_settime\s*\(")


class PosixTestSuite(Suite):
    package = "posixtestsuite"
    title = "posixtestsuite 1.5.2"
    about = """The tests of threads, semaphores, clocks and `nanosleep`. Those that call
`clock_settime` are left out: on Linux they set the clock of the real machine."""
    reasons_file = "not_counted.tsv"

    def build(self, sources, folder, only):
        paths = {}
        for path in sorted((sources / "conformance/interfaces").glob("*/*.c")):
            name = f"{path.parent.name}/{path.name}"
            is_test = FOLDERS.fullmatch(path.parent.name) and TESTS.fullmatch(path.name)
            is_wanted = is_test and only in name
            if is_wanted and not DANGEROUS.search(path.read_text(errors="replace")):
                paths[name] = path
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            built = pool.map(lambda path: build_one(path, sources, folder), paths.values())
        return len(paths), {name: Test(library)
                            for name, library in zip(paths, built) if library is not None}


def build_one(source, sources, folder):
    """The test as a library; None when it does not compile."""
    library = folder / f"{source.parent.name}_{source.stem}.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-O1", "-g", "-w", "-Dmain=outside_main",
                   "-I", sources / "include", "-o", library, source, "-lpthread", "-lrt"]
        if run(command, 60)[0] != 0:
            return None
    return library
