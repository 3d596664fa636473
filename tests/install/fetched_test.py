#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A project that fetches Fermata's sources builds what it links, and no more.

usage: fetched_test.py SOURCE_DIR FOLDER CXX

The project of tests/install/fetched is built in FOLDER, where it stays, so that the next time
little is compiled.
"""

import pathlib
import shutil
import subprocess
import sys

BUILT = {"runtime", "sim", "sim_main"}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def main(source, folder, compiler):
    project, build = folder / "project", folder / "build"
    (project / "third_party").mkdir(parents=True, exist_ok=True)
    tests = source / "tests/install"
    for file in (tests / "fetched/CMakeLists.txt", tests / "my_test.cpp"):
        shutil.copy2(file, project)
    sources = project / "third_party/fermata"
    if not sources.is_symlink():
        sources.symlink_to(source)
    run("cmake", "-G", "Ninja", "-S", project, "-B", build, "-DCMAKE_BUILD_TYPE=None",
        f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", build)
    for program in ("my_test", "foreign_test"):
        run(build / program, cwd=build)

    built = {path.stem.removeprefix("libfermata_") for path in build.rglob("libfermata_*.a")}
    assert built == BUILT, f"built are {sorted(built)} instead of {sorted(BUILT)}"
    assert not [path for path in build.rglob("fermata") if path.is_file()], "the tool was built"
    targets = run("cmake", "--build", build, "--target", "help")
    for unwanted in ("fermata_tested", "unit_sim_test", "example_chat", "fermata_bench"):
        assert f"{unwanted}:" not in targets, f"the project has the target {unwanted}"
    known = run("ctest", "--test-dir", build, "-N")
    assert "Total Tests: 0" in known, known
    print(f"fetched: built are {', '.join(sorted(built))}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3])
