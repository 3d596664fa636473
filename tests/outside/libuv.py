# SPDX-License-Identifier: Apache-2.0
"""libuv's own tests, on Debian's libuv.so.1."""

import concurrent.futures
import os
import re
import shutil
import subprocess

from suite import HERE, Suite, Test, run

FLAGS = ["-fPIC", "-O1", "-g", "-w", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
         "-DUSING_UV_SHARED=1"]
LIST = """#define TEST_ENTRY(name) outside(test, name, )
#define TEST_ENTRY_CUSTOM(name, is_helper, show_output, timeout) outside(test, name, )
#define TEST_HELPER(name, helper) outside(helper, name, helper)
#include "test-list.h"
"""
ENTRY = re.compile(r"outside\((\w+), (\w+), ?(\w*) ?\)")


class Libuv(Suite):
    package = "libuv1"
    title = "libuv 1.44.2"
    about = """The tests of libuv itself, on Debian's `libuv.so.1`. Their helpers, such as an echo
server, are processes of their own. What does not pass on Linux starts libuv's own runner, needs a
terminal or the internet, or is for other systems."""
    reasons_file = "libuv1_not_counted.tsv"
    at_once_on_linux = 1  # They use the same ports and files.
    leftovers = [f"/tmp/uv-test-sock{number}" for number in ("", "2", "3")]

    def build(self, sources, folder, only):
        libraries = build_libraries(sources, folder)
        files = folder / "files"
        shutil.copytree(sources / "test/fixtures", files / "test/fixtures", dirs_exist_ok=True)
        tests = {}
        for kind, name, helper in entries(sources):
            if kind == "test":
                tests[name] = Test(libraries[name], main=f"run_test_{name}", files=files)
            else:
                tests[name].helper = f"run_helper_{helper}"
        return len(tests), {name: test for name, test in tests.items() if only in name}


def entries(sources):
    """(test or helper, name, helper) of what is active on Linux."""
    done = subprocess.run(["cc", *FLAGS, "-I", sources / "test", "-E", "-P", "-"], input=LIST,
                          capture_output=True, text=True, check=True)
    return ENTRY.findall(done.stdout)


def build_libraries(sources, folder):
    """Name of a test -> library; one for each source file, so that little is copied in a run."""
    common = [compile_one(each, sources, folder)
              for each in (sources / "test/echo-server.c", sources / "test/blackhole-server.c",
                           HERE / "libuv_runner.c")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        compiled = list(pool.map(lambda each: compile_one(each, sources, folder),
                                 sorted((sources / "test").glob("test-*.c"))))
        archive = folder / "tests.a"  # Some files use functions of others.
        if is_older(archive, *compiled):
            must_run("made", archive, ["ar", "rc", archive, *compiled])
        libraries = pool.map(lambda each: link_one(each, [*common, archive]), compiled)
    return {name: library for each, library in zip(compiled, libraries) for name in tests_in(each)}


def link_one(compiled, common):
    library = compiled.with_suffix(".so")
    if is_older(library, compiled, *common):
        must_run("linked", library, ["cc", "-shared", "-o", library, compiled, *common, "-luv",
                                     "-lpthread", "-ldl", "-lutil"])
    return library


def compile_one(source, sources, folder):
    compiled = folder / f"{source.stem}.o"
    if is_older(compiled, source):
        must_run("compiled", source, ["cc", *FLAGS, "-I", sources / "test", "-I", sources / "src",
                                      "-c", source, "-o", compiled])
    return compiled


def is_older(made, *sources):
    newest = max(each.stat().st_mtime for each in sources)
    return not made.exists() or made.stat().st_mtime < newest


def must_run(verb, what, command):
    code, output = run(command, 60, stderr=subprocess.STDOUT)
    if code != 0:
        raise SystemExit(f"outside: {what} cannot be {verb}:\n{output}")


def tests_in(compiled):
    done = subprocess.run(["nm", "--defined-only", compiled], capture_output=True, text=True,
                          check=True)
    return re.findall(r" T run_test_(\w+)$", done.stdout, re.M)
