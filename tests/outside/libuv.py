# SPDX-License-Identifier: Apache-2.0
"""libuv's own tests: one library with all of them, on Debian's libuv.so.1."""

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
server, are processes of their own."""
    reasons_file = "libuv1_not_counted.tsv"
    at_once_on_linux = 1  # They use the same ports and files.

    def build(self, sources, folder, only):
        library = build_library(sources, folder)
        files = folder / "files"
        shutil.copytree(sources / "test/fixtures", files / "test/fixtures", dirs_exist_ok=True)
        tests = {}
        for kind, name, helper in entries(sources):
            if kind == "test":
                tests[name] = Test(library, [name], files)
            else:
                tests[name].helper = helper
        return len(tests), {name: test for name, test in tests.items() if only in name}


def entries(sources):
    """(test or helper, name, helper) of what is active on Linux."""
    done = subprocess.run(["cc", *FLAGS, "-I", sources / "test", "-E", "-P", "-"], input=LIST,
                          capture_output=True, text=True, check=True)
    return ENTRY.findall(done.stdout)


def build_library(sources, folder):
    files = [*sorted((sources / "test").glob("test-*.c")), sources / "test/echo-server.c",
             sources / "test/blackhole-server.c", HERE / "libuv_main.c"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(lambda each: compile_one(each, sources, folder), files))
    library = folder / "libuv_tests.so"
    code, output = run(["cc", "-shared", "-o", library, *objects, "-luv", "-lpthread", "-ldl",
                        "-lutil"], 60, stderr=subprocess.STDOUT)
    if code != 0:
        raise SystemExit(f"outside: {library} cannot be linked:\n{output}")
    return library


def compile_one(source, sources, folder):
    compiled = folder / f"{source.stem}.o"
    if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
        command = ["cc", *FLAGS, "-I", sources / "test", "-I", sources / "src", "-c", source,
                   "-o", compiled]
        code, output = run(command, 60, stderr=subprocess.STDOUT)
        if code != 0:
            raise SystemExit(f"outside: {source} cannot be compiled:\n{output}")
    return compiled
