#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every virtual function of the reactor reached by bodies that run on both arms?

Usage: reached.py ROOT --binaries BUILD [--list]
       reached.py --self-test

Takes the virtual functions that runtime/reactor and runtime/core/reactor.hpp declare, destructors
aside, and runs the conformance programs, once for each arm, with a breakpoint at every function
that overrides one of them. Fails when an arm reaches no overrider of a function, unless the last
table of docs/not_modelled.md says so, and when the arms have not the same number of cases. --list
shows which programs reach what. Breakpoints are for x86-64; elsewhere only the cases are counted.
"""

import argparse
import ctypes
import errno
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys

# How the types that a suite runs on name the arm.
ARMS = {
    "uv": re.compile(r"RealArm<fermata::conformance::OnUv>|ProgramsOnUv"),
    "sim": re.compile(r"SimArm|ProgramsOnSim"),
}

# --- sources --------------------------------------------------------------------------------------

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
SCOPE = re.compile(
    r"\b(?:class|struct)\s+(?P<name>\w+)(?:\s+final)?\s*(?::\s*(?P<bases>[^{};()]*))?\{"
    r"|\bvirtual\b(?P<function>[^;{]*)[;{]|(?P<brace>[{}])"
)


def bases_in(text):
    """The names of the classes in a base clause, without namespaces and arguments."""
    while "<" in text:
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            break
        text = shorter
    return {re.split(r"::|\s", base.strip())[-1] for base in text.split(",") if base.strip()}


def given_in(text):
    """(template, the classes that it is given) of each template in a base clause."""
    return [(name, types_in(given)) for name, given in re.findall(r"(\w+)<([^<>]*)>", text)]


def types_in(parameters):
    """What tells overloads apart: the classes in a parameter list, in order."""
    return tuple(re.findall(r"\b[A-Z]\w+", parameters))


def scan(text):
    """(classes: {name: bases}, [(class, function, types of parameters)]) of a source."""
    classes, functions, scopes = {}, [], []
    for found in SCOPE.finditer(COMMENT.sub("", text)):
        if found["name"]:
            classes.setdefault(found["name"], set()).update(bases_in(found["bases"] or ""))
            for template, given in given_in(found["bases"] or ""):
                classes.setdefault(template, set()).update(given)  # It may derive from them.
            scopes.append(found["name"])
        elif found["brace"] == "}":
            if scopes:
                scopes.pop()
        elif found["brace"]:
            scopes.append(None)
        else:
            declared = re.match(r"[^(]*?(~?\w+)\s*\((.*)\)([^()]*)$", found["function"], re.S)
            if declared and "~" not in declared[1] and "override" not in declared[3]:
                name, parameters, _ = declared.groups()
                functions.append((scopes[-1], name, types_in(parameters)))
            if found[0].endswith("{"):
                scopes.append(None)
    return classes, functions


def with_descendants(name, classes):
    family = {name}
    while True:
        more = {each for each, bases in classes.items() if bases & family} - family
        if not more:
            return family
        family |= more


class Virtual:
    """A virtual function where it is declared first."""

    def __init__(self, owner, name, types, overloaded, family):
        self.owner, self.name, self.types = owner, name, types
        self.overloaded, self.family = overloaded, family

    def __str__(self):
        arguments = f"({', '.join(self.types)})" if self.overloaded else ""
        return f"{self.owner}::{self.name}{arguments}"

    def is_overridden_by(self, owner, name, types):
        """Whether `owner`, with its namespaces, has this function, and is not where it began."""
        namespaces = ("fermata", "fermata::backend", "fermata::detail")
        if owner in (f"{namespace}::{self.owner}" for namespace in namespaces):
            return False
        if name != self.name or owner.rsplit("::", 1)[-1] not in self.family:
            return False
        return not self.overloaded or types == self.types


def virtuals_of(headers, sources):
    """The virtual functions of `headers`, whose overriders are looked for in `sources`."""
    classes = {}
    for text in sources:
        for name, bases in scan(text)[0].items():
            classes.setdefault(name, set()).update(bases)
    declared = [function for text in headers for function in scan(text)[1]]
    names = [function[:2] for function in declared]
    return [
        Virtual(*function, names.count(function[:2]) > 1, with_descendants(function[0], classes))
        for function in declared
    ]


# --- programs -------------------------------------------------------------------------------------


def member_named(symbol):
    """(class with its namespaces, function, types of parameters) of a demangled symbol; None when
    it is not a member."""
    symbol = symbol.replace("(anonymous namespace)::", "")
    if "[clone" in symbol:
        return None
    plain, depth = [], 0
    for character in symbol:
        depth += character == "<"
        if depth == 0:
            plain.append(character)
        depth -= character == ">"
    member = re.fullmatch(r"(?:.*\s)?([\w:]+)::(\w+)\((.*)\)(?: const)?", "".join(plain))
    return (member[1], member[2], types_in(member[3])) if member else None


def addresses_of(program, virtuals):
    """{address: names of the virtual functions that the code there overrides}."""
    names = {virtual.name for virtual in virtuals}
    text = subprocess.run(
        ["nm", "--demangle", "--defined-only", program], check=True, capture_output=True, text=True
    ).stdout
    text = text.replace("[abi:cxx11]", "")
    found = {}
    for address, kind, symbol in (line.split(" ", 2) for line in text.splitlines()):
        if kind not in "TtWw" or not any(f"::{name}(" in symbol for name in names):
            continue
        member = member_named(symbol)
        for virtual in virtuals if member else ():
            if virtual.is_overridden_by(*member):
                found.setdefault(int(address, 16), set()).add(str(virtual))
    return found


def program_built_from(source):
    """The cases of the callback loop are one program, all others another one."""
    return "conformance_loop_test" if source.startswith("conformance_loop_") else "conformance_test"


def cases_of(program):
    """{suite/number: (TypeParam, cases)} of the typed suites of a program."""
    text = subprocess.run(
        [program, "--gtest_list_tests"], check=True, capture_output=True, text=True
    ).stdout
    suites, current = {}, None
    for line in text.splitlines():
        if not line.startswith(" "):
            name, _, kind = line.partition("  # TypeParam = ")
            current = name.rstrip(".") if kind else None
            if current:
                suites[current] = [kind, 0]
        elif current:
            suites[current][1] += 1
    return suites


# --- breakpoints ----------------------------------------------------------------------------------

TRACEME, PEEKUSER, POKEUSER, CONT, SETOPTIONS = 0, 3, 6, 7, 0x4200
FORK, VFORK, CLONE, EXEC, EXITKILL = 0x2, 0x4, 0x8, 0x10, 0x100000
EVENT_EXEC = 4
PROGRAM_COUNTER = 16 * 8  # In the user area of x86-64.
WALL = 0x40000000
BREAKPOINT = b"\xcc"

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, process, address=0, data=0):
    ctypes.set_errno(0)
    result = LIBC.ptrace(request, process, address, data)
    if result == -1 and ctypes.get_errno() not in (0, errno.ESRCH):  # It may have been killed.
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")
    return result


class Trace:
    """A run of a program that says which of `addresses` it came to."""

    def __init__(self, program, addresses):
        self.program, self.addresses = os.path.realpath(program), addresses
        self.reached = set()
        self.planted = {}  # Address in memory: address in the program and the byte that was there.

    def run(self, arguments):
        """Returns its exit status."""
        main = os.fork()
        if main == 0:
            self.become_program(arguments)
        os.waitpid(main, 0)
        ptrace(SETOPTIONS, main, 0, FORK | VFORK | CLONE | EXEC | EXITKILL)
        self.plant(main)
        ptrace(CONT, main)
        known, result = {main}, None
        while True:
            try:
                task, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                return result
            if not os.WIFSTOPPED(status):
                if task == main:
                    result = status
                continue
            try:
                answer = self.stopped(task, status, known)
            except (FileNotFoundError, ProcessLookupError):
                continue  # It has been killed since it stopped.
            ptrace(CONT, task, 0, answer)

    def become_program(self, arguments):
        try:
            ptrace(TRACEME, 0)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            os.execv(self.program, [self.program, *arguments])
        finally:
            os._exit(127)

    def stopped(self, task, status, known):
        """Returns the signal that the task is to get."""
        stop, event = os.WSTOPSIG(status), status >> 16
        is_new = task not in known
        known.add(task)
        if event:
            if event == EVENT_EXEC and os.path.realpath(f"/proc/{task}/exe") == self.program:
                self.plant(task)
            return 0
        if stop == signal.SIGTRAP:
            return 0 if self.came_to_breakpoint(task) else stop
        return 0 if stop == signal.SIGSTOP and is_new else stop

    def plant(self, task):
        with open(f"/proc/{task}/maps", encoding="utf-8") as maps:
            base = min(
                int(line.split("-")[0], 16)
                for line in maps
                if line.rstrip().endswith(self.program)
            )
        with open(self.program, "rb") as program:
            is_relocatable = program.read(18)[16] == 3
        for address in self.addresses:
            place = address + (base if is_relocatable else 0)
            self.planted[place] = (address, self.write(task, place, BREAKPOINT))

    def came_to_breakpoint(self, task):
        place = ptrace(PEEKUSER, task, PROGRAM_COUNTER) - 1
        if place not in self.planted:
            return False
        address, byte = self.planted[place]
        self.reached.add(address)
        self.write(task, place, byte)
        ptrace(POKEUSER, task, PROGRAM_COUNTER, place)
        return True

    @staticmethod
    def write(task, place, byte):
        """Returns what was there."""
        with open(f"/proc/{task}/mem", "r+b", buffering=0) as memory:
            memory.seek(place)
            before = memory.read(1)
            memory.seek(place)
            memory.write(byte)
        return before


# --- verdict --------------------------------------------------------------------------------------


def judge_cases(cases):
    """Complaints about {(program, suite): {arm: number of cases}}."""
    return [
        f"{program}: {suite}: {counts.get('uv', 0)} cases on uv, {counts.get('sim', 0)} on sim"
        for (program, suite), counts in sorted(cases.items())
        if counts.get("uv", 0) != counts.get("sim", 0)
    ]


def judge_reached(virtuals, overriders, reached, excepted):
    """Complaints, and the functions that no backend overrides.

    overriders: names of functions; reached: {arm: names}; excepted: pairs of name and arm."""
    complaints, absent = [], []
    for name in map(str, virtuals):
        if name not in overriders:
            absent.append(name)
            continue
        for arm in ARMS:
            if (name, arm) not in excepted and name not in reached[arm]:
                complaints.append(f"{name}: no body reaches it on {arm}")
            if (name, arm) in excepted and name in reached[arm]:
                complaints.append(f"{name}: said not to be reached on {arm}, and it is")
    for name in sorted({name for name, _ in excepted} - set(map(str, virtuals))):
        complaints.append(f"{name}: there is no such virtual function")
    return complaints, absent


def exceptions_in(text):
    """Pairs of function and arm in the table of docs/not_modelled.md about them."""
    table = text.split("| function | arm | why |\n", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[1:]]
    return {
        (name, arm)
        for names, arms, _ in rows
        for name in re.findall(r"`([^`]+)`", names)
        for arm in arms.split(", ")
    }


def self_test():
    header = """
    class Part : public Base {  // virtual int comment() = 0;
     public:
      virtual ~Part() = default;
      virtual void open(const Place& place, int flags) = 0;
      virtual void open(Other place) = 0;
      virtual int answer() const noexcept { if (x) { return 1; } return 42; }
      [[nodiscard]] virtual std::unique_ptr<Thing> make(Duration limit,
                                                        Thing::Report report);
      void plain() override;
    };"""
    source = "namespace uv { class UvPart final : public detail::Part, private Kept<A, B> {}; }"
    virtuals = virtuals_of([header], [header, source])
    names = [str(virtual) for virtual in virtuals]
    assert names == ["Part::open(Place)", "Part::open(Other)", "Part::answer", "Part::make"], names
    assert virtuals[0].family == {"Part", "UvPart"}, virtuals[0].family
    symbol = "fermata::uv::(anonymous namespace)::UvPart::open(fermata::Place const&, int)"
    assert member_named(symbol) == ("fermata::uv::UvPart", "open", ("Place",)), member_named(symbol)
    symbol = "fermata::TaskOf<fermata::(anonymous namespace)::f()::{lambda()#1}, void>::work()"
    assert member_named(symbol) == ("fermata::TaskOf", "work", ()), member_named(symbol)
    assert member_named("main") is None
    assert not virtuals[1].is_overridden_by("UvPart", "open", ("Place",))
    mixin = "template <class Base> class Kept : public Base {}; class Mixed : os::Kept<uv::Part> {}"
    family = virtuals_of([header], [header, mixin])[0].family
    assert family == {"Part", "Kept", "Mixed"}, family
    answer = virtuals[2:3]
    overriders, uv_alone = {"Part::answer"}, {"uv": {"Part::answer"}, "sim": set()}
    assert judge_reached(answer, overriders, uv_alone, set())[0] == [
        "Part::answer: no body reaches it on sim"
    ]
    table = "| function | arm | why |\n|---|---|---|\n| `Part::answer` | sim | so it is |\n\n..."
    excepted = exceptions_in(table)
    assert excepted == {("Part::answer", "sim")}, excepted
    assert judge_reached(answer, overriders, uv_alone, excepted) == ([], [])
    both = {arm: {"Part::answer"} for arm in ARMS}
    assert len(judge_reached(answer, overriders, both, excepted)[0]) == 1
    assert len(judge_reached([], overriders, both, excepted)[0]) == 1
    assert judge_reached(answer, set(), uv_alone, set()) == ([], ["Part::answer"])
    assert judge_cases({("p", "S"): {"uv": 2, "sim": 1}, ("p", "T"): {"uv": 1, "sim": 1}}) == [
        "p: S: 2 cases on uv, 1 on sim"
    ]


# --- all of it ------------------------------------------------------------------------------------


def read_sources(root):
    paths = [
        path
        for folder in ("runtime", "sim", "tests")
        for path in sorted((root / folder).rglob("*.[ch]pp"))
    ]
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    headers = [
        text
        for path, text in texts.items()
        if re.fullmatch(r"runtime/fermata/(core/reactor|reactor/\w+)\.hpp", path)
    ]
    return headers, texts.values()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("root", nargs="?", type=pathlib.Path)
    parser.add_argument("--binaries", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.root is None or arguments.binaries is None:
        parser.error("which sources, and which build?")

    virtuals = virtuals_of(*read_sources(arguments.root))
    sources = (arguments.root / "tests/conformance").glob("*_test.cpp")
    names = sorted({program_built_from(source.stem) for source in sources})
    folder = arguments.binaries / "tests/conformance"
    can_trace = platform.machine() == "x86_64"
    complaints, cases, overriders, who = [], {}, set(), {}
    reached = {arm: set() for arm in ARMS}
    for name in names:
        program = str(folder / name)
        if not os.path.exists(program):
            complaints.append(f"{name} is not built")
            continue
        suites = cases_of(program)
        addresses = addresses_of(program, virtuals)
        overriders |= {each for functions in addresses.values() for each in functions}
        for arm, types in ARMS.items():
            of_arm = [suite for suite, (kind, _) in suites.items() if types.search(kind)]
            for suite in of_arm:
                counts = cases.setdefault((name, suite.rsplit("/", 1)[0]), {})
                counts[arm] = counts.get(arm, 0) + suites[suite][1]
            if not of_arm or not can_trace:
                continue
            trace = Trace(program, addresses)
            status = trace.run(["--gtest_filter=" + ":".join(f"{suite}.*" for suite in of_arm)])
            if status != 0:
                complaints.append(f"{name} on {arm} failed: status {status:#x}")
            for function in {each for place in trace.reached for each in addresses[place]}:
                reached[arm].add(function)
                who.setdefault((function, arm), []).append(name)

    complaints += judge_cases(cases)
    for arm in ARMS:
        print(f"{arm}: {sum(counts.get(arm, 0) for counts in cases.values())} cases")
    if can_trace:
        page = (arguments.root / "docs/not_modelled.md").read_text(encoding="utf-8")
        wrong, absent = judge_reached(virtuals, overriders, reached, exceptions_in(page))
        complaints += wrong
        print(f"{len(virtuals)} virtual functions; no backend has {', '.join(absent) or 'less'}")
    else:
        print(f"what they reach is not looked at: no breakpoints on {platform.machine()}")
    for name in map(str, virtuals) if arguments.list else ():
        for arm in ARMS:
            print(f"{name}\t{arm}\t{' '.join(who.get((name, arm), []))}")
    for complaint in complaints:
        print(f"error: {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
