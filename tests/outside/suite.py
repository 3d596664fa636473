# SPDX-License-Identifier: Apache-2.0
"""What every suite has in common: fetching, running and judging its tests."""

import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
PASSES = "ends with 0"
LINUX_LIMIT_S = 40
WORLD_LIMIT_S = 60


def run(command, limit, **options):
    """(exit code, output); None instead of a code when it has taken too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, errors="replace",
                              timeout=limit, check=False,
                              **{"stderr": subprocess.DEVNULL, **options})
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


def fetch(package, folder):
    """The unpacked sources."""
    unpacked = folder / package
    if unpacked.exists():
        return unpacked
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lists").mkdir(exist_ok=True)
    (folder / "sources.list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list",
           "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists",
           "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Sandbox::User=root"]
    for verb in (["update"], ["source", "--download-only", package]):
        code, output = run([*apt, *verb], 600, cwd=folder)
        if code != 0:
            raise SystemExit(f"outside: apt-get {' '.join(verb)} fails:\n{output}")
    archive = next(folder.glob(f"{package}_*.orig.tar.*"))
    part = folder / f"{package}.part"
    part.mkdir(exist_ok=True)
    subprocess.run(["tar", "xf", archive, "-C", part, "--strip-components=1"], check=True)
    return part.rename(unpacked)


@dataclasses.dataclass
class Test:
    library: pathlib.Path
    main: str = "outside_main"
    helper: str = ""  # The main of another process.
    files: pathlib.Path | None = None  # What its working directory has.

    def command(self, runner, place, files):
        options = ["--files", files] if files else []
        options += ["--helper", self.helper] if self.helper else []
        return [runner, *options, place, self.library, self.main]


def outcome(code, output):
    found = re.search(r"^(ends with .*|fails: .*)$", output, re.M)
    return found[1] if found else f"crashes ({code})"


def told(output):
    """What must be the same in two runs."""
    return re.findall(r"^(?:ends with .*|fails: .*|trace .*)$", output, re.M)


class Suite:
    """A suite names its package, title and about; build() makes its tests."""

    package = title = about = ""
    reasons_file = ""
    at_once_on_linux = 16  # Most sleep most of the time.
    leftovers = []  # What a test must not find on Linux.

    def __init__(self, runner, seeds):
        self.runner = runner
        self.seeds = seeds
        self.tests = 0
        self.world = {}  # Name -> empty, or how it ends; of those that pass on Linux.

    def build(self, sources, folder, only):
        """The number of tests, and name -> Test of those that compile."""
        raise NotImplementedError

    def run(self, folder, only):
        sources = fetch(self.package, folder)
        libraries = folder / "built" / self.package
        libraries.mkdir(parents=True, exist_ok=True)
        self.tests, built = self.build(sources, libraries, only)
        linux = self.map(self.on_linux, built, self.at_once_on_linux)
        passing = {name: built[name] for name, why in linux.items() if not why}
        for name, why in linux.items():
            if why:
                print(f"  {name} {why}")
        self.world = self.map(self.in_world, passing, os.cpu_count() or 1)

    @staticmethod
    def map(function, tests, at_once):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return dict(zip(tests, pool.map(function, tests.values())))

    def on_linux(self, test):
        """Empty when it passes, else how it ends."""
        for path in self.leftovers:
            pathlib.Path(path).unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            if test.files:
                shutil.copytree(test.files, folder, dirs_exist_ok=True)
            code, output = run(test.command(self.runner, "linux", None), LINUX_LIMIT_S, cwd=folder)
        if code is None:
            return "takes too long on Linux"
        return "" if code == 0 and (PASSES in output or "ends with" not in output) else \
            "does not pass on Linux"

    def in_world(self, test):
        """Empty when it passes everywhere, else how it ends."""
        seeds = range(1, self.seeds + 1)
        for place in ["calm:1", *(f"random:{each}" for each in seeds)]:
            command = test.command(self.runner, place, test.files)
            first, second = run(command, WORLD_LIMIT_S), run(command, WORLD_LIMIT_S)
            if None in (first[0], second[0]):
                return f"takes too long with {place}"
            if told(first[1]) != told(second[1]):
                return f"is not the same twice with {place}"
            if PASSES not in first[1]:
                return f"{outcome(*first)} with {place}"
        return ""

    # --- what is known of its tests ---

    @property
    def counted_file(self):
        return HERE / f"{self.package}.txt"

    def counted(self):
        return sorted(name for name, why in self.world.items() if not why)

    def known(self):
        file = self.counted_file
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    def reasons(self):
        lines = (HERE / self.reasons_file).read_text(encoding="utf-8").splitlines()
        return [tuple(line.split("\t", 1)) for line in lines if line]

    def reason_for(self, name):
        return next((why for pattern, why in self.reasons() if fnmatch.fnmatch(name, pattern)),
                    None)

    def report(self):
        """Prints what has come out; whether something is lost or not explained."""
        lost = [name for name in self.known() if self.world.get(name)]
        unexplained = [name for name, why in self.world.items()
                       if why and not self.reason_for(name)]
        print(f"{self.package}: {self.tests} tests, {len(self.world)} pass on Linux, "
              f"{len(self.counted())} of them in the world with calm and {self.seeds} seeds")
        for name, why in self.world.items():
            if why:
                print(f"  {name}: {why} ({self.reason_for(name) or 'no reason is known'})")
        for name in lost:
            print(f"outside: {name} has counted before: {self.world[name]}")
        for name in unexplained:
            print(f"outside: {name} has no line in {self.reasons_file}")
        return bool(lost or unexplained)

    def write_counted(self):
        names = sorted({*self.known(), *self.counted()})
        self.counted_file.write_text("\n".join(names) + "\n", encoding="utf-8")

    def section(self):
        """Its section of docs/bench/outside.md."""
        rows = {}
        for name, why in self.world.items():
            if why:
                rows.setdefault(self.reason_for(name) or "not known", []).append(name)
        lines = [f"| {why} | {', '.join(f'`{name}`' for name in names)} |"
                 for why, names in sorted(rows.items())]
        return SECTION.format(title=self.title, about=self.about, tests=self.tests,
                              linux=len(self.world), counted=len(self.counted()),
                              rows="\n".join(lines))


SECTION = """## {title}

{about}

| tests | pass on Linux | count |
|---|---|---|
| {tests} | {linux} | {counted} |

The others that pass on Linux:

| why | tests |
|---|---|
{rows}
"""
