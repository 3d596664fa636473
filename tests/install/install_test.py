#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is what each library needs, and no more.

usage: install_test.py BUILD_DIR CXX

Installs to a fresh prefix. For each library a program that knows only that prefix and has only the
packages that the library needs is compiled, with all public headers of the library, and run: found
with find_package(Fermata COMPONENTS ...), and linked once more with what pkg-config says. Headers
of packages that no user of the library should parse are hidden by ones that do not compile.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# What libraries need: targets that CMake makes, and their modules of pkg-config.
PACKAGES = {
    "PkgConfig::libuv": "libuv",
    "PkgConfig::libevent": "libevent_core",
    "PkgConfig::liburing": "liburing",
    "PkgConfig::sqlite": "sqlite3",
    "PkgConfig::postgresql": "libpq",
    "PkgConfig::mariadb": "libmariadb",
    "PkgConfig::odbc": "odbc",
    "GTest::gtest": "gtest",
    "rapidcheck": None,
    "nlohmann_json::nlohmann_json": "nlohmann_json",
    "CLI11::CLI11": "CLI11",
    "benchmark::benchmark": "benchmark",
}
DATABASES = ("sqlite", "postgresql", "mariadb", "odbc")
GTEST = {"GTest::gtest"}
NEEDS = {
    "runtime": set(),
    "uv": {"PkgConfig::libuv"},
    "uring": {"PkgConfig::liburing"},
    "poll": {"PkgConfig::libevent"},
    "host": {"PkgConfig::libevent", "PkgConfig::libuv"},
    "loop": set(),
    "drivers": {"PkgConfig::libevent", "PkgConfig::libuv"},
    "db": set(),
    **{f"db_{name}": {f"PkgConfig::{name}"} for name in DATABASES},
    "db_drivers": {f"PkgConfig::{name}" for name in DATABASES},
    "sim": GTEST,
    "sim_property": GTEST | {"rapidcheck"},
    "sim_db": GTEST,
    "sim_main": GTEST,
    "fuzz_main": GTEST,
    "libfuzzer_main": GTEST,
}
PROGRAMS = {"sim_main": "main", "fuzz_main": "main"}
NOT_LINKED = {"libfuzzer_main"}  # Its users have clang, whose libFuzzer it calls.

# Headers of others that public headers include: of those that users of a library have.
MAY_PARSE = {
    **{name: {"gtest/gtest.h"} for name in ("sim", "sim_db", "sim_main", "fuzz_main")},
    "sim_property": {"gtest/gtest.h", "rapidcheck.h"},
}
# For loops and loggers of others; examples and tests compile them.
HEADERS_OF_OTHERS = {
    "fermata/host/asio.hpp", "fermata/host/glib.hpp", "fermata/core/spdlog_sink.hpp",
    "fermata/sim/adapters/catch2.hpp", "fermata/sim/adapters/doctest.hpp"}
FOREIGN_HEADERS = (
    *("fmt/core.h", "fmt/format.h", "boost/context/detail/fcontext.hpp"),
    *("gtest/gtest.h", "gtest/gtest-spi.h", "gmock/gmock.h", "rapidcheck.h"),
    *("nlohmann/json.hpp", "nlohmann/json_fwd.hpp", "CLI/CLI.hpp", "benchmark/benchmark.h"),
    *("uv.h", "ev.h", "event2/event.h", "liburing.h"),
    *("glib.h", "boost/asio.hpp", "spdlog/spdlog.h"),
    *("catch2/catch.hpp", "doctest/doctest.h"),
    *("sqlite3.h", "libpq-fe.h", "mysql.h", "sql.h", "sqlext.h"),
)


def library_of(header):
    """The library that the installed `header` belongs to."""
    parts = header.split("/")[1:]
    special = {
        "runtime.hpp": "runtime",
        "sim.hpp": "sim",
        "sim_property.hpp": "sim_property",
        "uv/guest.hpp": "host",
    }
    if "/".join(parts) in special:
        return special["/".join(parts)]
    if parts[0] == "sim":
        return {"db": "sim_db", "property": "sim_property"}.get(parts[1], "sim")
    if parts[0] == "db":
        return "db" if len(parts) == 2 else f"db_{parts[1]}"
    layers_of_runtime = ("base", "context", "core", "sync", "reactor", "io", "os", "posix",
                         "system")
    return "runtime" if parts[0] in layers_of_runtime else parts[0]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_headers(prefix, folder, libraries):
    """For each library a header that includes all of its headers."""
    headers = {name: [] for name in libraries}
    for path in sorted((prefix / "include").rglob("*")):
        header = str(path.relative_to(prefix / "include"))
        if path.is_file() and header not in HEADERS_OF_OTHERS:
            headers[library_of(header)].append(header)
    for name, included in headers.items():
        write(folder / f"{name}.hpp", "".join(f"#include <{header}>\n" for header in included))
    return sum(map(len, headers.values()))


def hide_headers(folder):
    """Each of FOREIGN_HEADERS in a folder of its own, where it does not compile."""
    folders = {}
    for header in FOREIGN_HEADERS:
        folders[header] = folder / header.replace("/", "_")
        write(folders[header] / header, f"#error public headers must not include {header}\n")
    return folders


def settings(libraries, hidden):
    """What the CMakeLists.txt of the programs are told."""
    told = []
    for name in libraries:
        unwanted = PACKAGES.keys() - NEEDS[name]
        folders = [str(hidden[each]) for each in FOREIGN_HEADERS
                   if each not in MAY_PARSE.get(name, ())]
        told.append(f"-DUNWANTED_{name}={';'.join(sorted(unwanted))}")
        told.append(f"-DHIDDEN_{name}={';'.join(folders)}")
        told.append(f"-DPROGRAM_{name}={PROGRAMS.get(name, name)}")
    return told


def other_modules(place, name):
    """A folder with what pkg-config knows in this system, but for what `name` does not need."""
    places = run("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")
    unwanted = {module for target, module in PACKAGES.items() if target not in NEEDS[name]}
    folder = place / f"modules_{name}"
    folder.mkdir(exist_ok=True)
    for file in [file for each in places for file in pathlib.Path(each).glob("*.pc")]:
        if file.stem not in unwanted and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file)
    return folder


def link_with_pkg_config(place, prefix, compiler, name):
    modules = next(prefix.rglob("fermata-runtime.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(modules),
                   "PKG_CONFIG_LIBDIR": str(other_modules(place, name))}
    flags = run("pkg-config", "--libs", f"fermata-{name}", env=environment).split()
    if name not in NOT_LINKED:
        objects = (place / "build" / name).rglob("*.o")
        run(compiler, *objects, "-o", place / f"linked_{name}", *flags)
        run(place / f"linked_{name}", cwd=place)


def check_partial(source, place, prefix, compiler, libraries):
    """Without libuv, GoogleTest and RapidCheck there is the rest, and errors name them."""
    told = run("cmake", "-G", "Ninja", "-S", source / "partial", "-B", place / "partial",
               f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
               "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", f"-DLIBRARIES={';'.join(libraries)}",
               "-DCOMPONENTS=runtime;uv;sim_main;nonsense",
               env={**os.environ, "PKG_CONFIG_LIBDIR": str(other_modules(place, "runtime"))})
    there = {name for name in libraries if f"there is {name}\n" in told}
    wanted = {name for name in libraries if not NEEDS[name]}
    expected = {
        "runtime: 1": True,
        "uv: 0 component uv needs libuv (of pkg-config): not found": "uv" in libraries,
        "sim_main: 0 component sim_main needs GTest: not found": "sim_main" in libraries,
        "nonsense: 0 component nonsense: expected one of runtime, ": True,
    }
    missing = [line for line, holds in expected.items() if holds and line not in told]
    assert there == wanted and not missing, f"{there} instead of {wanted}; {missing}\n{told}"


def check_readme(source, place, prefix, compiler):
    """The project that the README shows."""
    project = place / "found"
    shutil.copytree(source / "found", project)
    shutil.copy(source / "my_test.cpp", project)
    run("cmake", "-G", "Ninja", "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", project / "build")
    run(project / "build/my_test", cwd=place)


REFUSED = {
    "nothing": "'nothing' is not a target; expected an executable",
    "fermata::sim_main": "'fermata::sim_main' is of the type STATIC_LIBRARY",
    "my_test;RUNS;0": "RUNS '0'; expected a number, at least 1",
    "my_test;RUNS": "RUNS without a value",
    "my_test;DISCOVERY_TIMEOUT;soon": "DISCOVERY_TIMEOUT 'soon'; expected seconds, at least 1",
    "my_test;PROPERTIES;TIMEOUT": "PROPERTIES 'TIMEOUT'; expected pairs of a name and a value",
    "my_test;COLOUR;red": "unknown argument 'COLOUR;red'; expected EXTRA_ARGS, RUNS,",
}


def said_by(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, " ".join(done.stdout.split())


def check_discovered(source, place, prefix, compiler):
    """Each simulated test is a test of ctest; what fermata_discover_tests cannot use it names."""
    project = place / "discovered"
    shutil.copytree(source / "discovered", project)
    configure = ("cmake", "-G", "Ninja", "-S", project, f"-DCMAKE_PREFIX_PATH={prefix}",
                 f"-DCMAKE_CXX_COMPILER={compiler}", "-B")
    build = project / "build"
    run(*configure, build)
    code, said = said_by("ctest", "--test-dir", build, "-N")
    assert "my_test_NOT_BUILT" in said, said
    run("cmake", "--build", build)
    code, said = said_by("ctest", "--test-dir", build, "-L", "simulation")
    for wanted in ("my.My.Passes", "my.My.Skips", "my.My.Fails", "my.My.IsLeftOut"):
        assert wanted in said, f"{wanted}\n{said}"
    for wanted in ("Skips (Skipped)", "IsLeftOut (Disabled)", "Fails (Failed)",
                   "1 tests failed out of 3"):
        assert code != 0 and wanted in said, f"{wanted}\n{said}"
    code, said = said_by("ctest", "--test-dir", build, "-R", "my.My.Passes", "-V")
    assert code == 0 and "explored 30 schedules" in said and "Plain" not in said, said
    assert (build / "results/fermata-out/My.Fails").is_dir(), "not in the working directory"
    code, said = said_by("cmake", "--build", build, "--target", "plain")
    wanted = "plain does not list simulated tests: it exited with code 3; expected a test program"
    assert code != 0 and wanted in said, said
    for arguments, wanted in REFUSED.items():
        code, said = said_by(*configure, project / "refused", f"-DWRONG={arguments}")
        assert code != 0 and f"fermata_discover_tests: {wanted}" in said, f"{wanted}\n{said}"


def main(build, compiler):
    source = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        prefix = place / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        libraries = [name for name in NEEDS if list(prefix.rglob(f"libfermata_{name}.a"))]
        count = write_headers(prefix, place / "headers", libraries)
        hidden = hide_headers(place / "hidden")
        linked = [name for name in libraries if name not in NOT_LINKED]
        run("cmake", "-G", "Ninja", "-S", source / "consumer", "-B", place / "build",
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DHEADERS={place / 'headers'}", f"-DLIBRARIES={';'.join(linked)}",
            *settings(linked, hidden))
        run("cmake", "--build", place / "build", "--", "-k0")
        for each in linked:
            run(place / "build" / each / each, cwd=place)
        for each in libraries:
            link_with_pkg_config(place, prefix, compiler, each)
        check_partial(source, place, prefix, compiler, libraries)
        if "sim_main" in libraries:
            check_readme(source, place, prefix, compiler)
            check_discovered(source, place, prefix, compiler)
    print(f"install: {count} headers, {len(libraries)} libraries: {' '.join(libraries)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
