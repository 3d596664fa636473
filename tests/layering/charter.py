#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may not be mentioned where simulation must see everything, and what functions may not keep.

Usage: charter.py ROOT        check the sources below ROOT
       charter.py --self-test check that planted violations are found
"""

import pathlib
import re
import sys

from sources import line_of, read_sources, without_noise

# The charter: what would make a run depend on anything but its tape.
SIMULATED = re.compile(
    r"runtime/fermata/(?!system/|os/|uv/|poll/|uring/|host/|posix/suspending/)"
    r"|sim/fermata/sim/(?!cli/)|properties/models/"
)
CHARTER = {
    "a random generator of its own": r"\bs?rand\s*\(|\brandom_device\b|\bmt19937|\bminstd_rand"
    r"|\bdefault_random_engine\b",
    "a distribution that differs between libraries": r"\b\w+_distribution\b",
    "an unordered container": r"\bunordered_\w+",
    "a container ordered by address": r"\bstd::(multi)?(map|set)<[^,<>]*\*",
    "a clock": r"\b(system|steady|high_resolution)_clock\b|\bclock_gettime\b|\bgettimeofday\b"
    r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)",
    "sleeping": r"\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(",
    "a thread": r"\bstd::j?thread\b|\bstd::async\b|\bpthread_create\b",
    "the environment": r"\bgetenv\b",
    "volatile": r"(?<!asm )\bvolatile\b(?! std::sig_atomic_t)",
    "a thread-local": r"\bthread_local\b",
}
# Other processes, which make runs again, are not waited for without end.
WAITS_FOR_PROCESSES = {
    *("sim/fermata/sim/run/forked_trials.cpp", "sim/fermata/sim/run/forked_trials.hpp"),
    "sim/fermata/sim/run/fresh_process.cpp",
    "sim/fermata/sim/run/process/process_wait.cpp",
    "sim/fermata/sim/run/process/process_wait.hpp",
}
# What defines the functions of the C library anew, and what answers in their place.
SERVES = {
    "runtime/fermata/posix/kernel.hpp",
    "runtime/fermata/posix/served/clocks.cpp",
    "runtime/fermata/posix/served/hardware.cpp",
    "runtime/fermata/posix/served/random.cpp",
    "runtime/fermata/posix/served/sleeps.cpp",
    "runtime/fermata/posix/served/system_call.cpp",
    "sim/fermata/sim/guard/guarded_functions.cpp",
    *("sim/fermata/sim/posix/kernel.hpp", "sim/fermata/sim/posix/kernel_time.cpp"),
}
CHARTER_EXCEPTIONS = {
    "a random generator of its own": SERVES,
    "a clock": SERVES | WAITS_FOR_PROCESSES,
    "sleeping": SERVES,
    # Objects of foreign code, looked up one by one.
    "a container ordered by address": {
        "sim/fermata/sim/posix/foreign_threads.hpp",
        "sim/fermata/sim/posix/thread_wait.hpp",
    },
    "a thread": {"sim/fermata/sim/guard/guarded_functions.cpp"},
    # The one table of FERMATA_* variables; what malloc was asked to fill blocks with.
    # Which driver a program's loop has. What is served to foreign code.
    "the environment": {
        *("sim/fermata/sim/run/environment.cpp", "sim/fermata/sim/run/heap_perturbation.cpp"),
        "runtime/fermata/drivers/factory.cpp",
        *("runtime/fermata/posix/served/environment.cpp",
          "runtime/fermata/posix/served/functions.hpp"),
    },
    # Which runtime is current; the bounds of the thread's own stack; where an overflow is caught;
    # whose code is simulated; whose throws are noted; who serves foreign code, and the result of a
    # function that keeps it for each thread.
    "a thread-local": {
        "runtime/fermata/core/runtime.hpp",
        "runtime/fermata/context/context.cpp",
        "runtime/fermata/context/stack_fault.cpp",
        *("sim/fermata/sim/guard/guard.cpp", "sim/fermata/sim/guard/thrown_errors.cpp"),
        *("runtime/fermata/posix/kernel.cpp", "runtime/fermata/posix/kernel.hpp"),
        "runtime/fermata/posix/lock_watch.hpp",
        *("runtime/fermata/posix/heap.cpp", "runtime/fermata/posix/heap.hpp"),
        *("runtime/fermata/posix/served/names.cpp", "runtime/fermata/posix/served/services.cpp"),
    },
}

# An object that a function keeps is destroyed at the end of the process, perhaps before an older
# one whose destructor needs it. So functions keep only what has no destructor.
KEPT = re.compile(r"\b(?:static|thread_local)\b.*", re.S)
KEPT_WITHOUT_DESTRUCTOR = re.compile(
    r"\bconstexpr\b|[*&]\s*(?:const\s+)?\w+\s*(?:=|$)"
    r"|\b(?:bool|char|int|std::(?:u?int\d+_t|size_t|sig_atomic_t|once_flag|atomic<[\w:]+>))\s+\w+",
)
# Two addresses.
KEPT_EXCEPTIONS = {"runtime/fermata/context/context.cpp"}

# The kernel is called through fermata/system/system_calls.hpp, so that tests can replace it. Who
# makes a thread or is forked, and how a library was linked, is not a matter of that table.
CALLS_THE_KERNEL = re.compile(r"runtime/fermata/(os|poll|uring)/")
PAST_THE_TABLE = re.compile(r"(?<![\w>])::(?!pthread_\w+|getpid|dlsym|dladdr)[a-z]\w*\s*\(")

SIMULATION_SWITCH = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\w*[ \t].*(?<![A-Z])SIM(?!D)", re.M)


def opens_function(head):
    """Whether a brace behind `head`, all since the last brace or semicolon, is in a function."""
    head = re.sub(r"^[ \t]*#[^\n]*", "", head, flags=re.M)
    while head != (shorter := re.sub(r"<[^<>]*>", "", head)):
        head = shorter
    if re.search(r"\bextern\s*$", head):
        return False
    return not re.search(r"\b(?:namespace|class|struct|union|enum)\b", head.partition("(")[0])


def kept_by_functions(code):
    """(position, declaration) of each variable in `code` that a function keeps between calls."""
    in_function, begin = [False], 0
    for mark in re.finditer(r"[;{}]", code):
        head = code[begin : mark.start()]
        kept = KEPT.search(head)
        if kept and in_function[-1]:
            yield begin + kept.start(), kept[0]
        if mark[0] == "{":
            in_function.append(opens_function(head))
        elif mark[0] == "}" and len(in_function) > 1:
            in_function.pop()
        begin = mark.end()


def check_file(path, text):
    """The violations in one file, as `path:line: what`."""
    found = []
    code = without_noise(text)
    if path.startswith("runtime/"):
        for match in SIMULATION_SWITCH.finditer(code):
            found.append((line_of(code, match.start()), "runtime knows nothing of simulation"))
        for position, kept in kept_by_functions(code):
            if path not in KEPT_EXCEPTIONS and not KEPT_WITHOUT_DESTRUCTOR.search(kept):
                complaint = f"a function keeps an object that may be destroyed too early: {kept}"
                found.append((line_of(code, position), complaint))
    if CALLS_THE_KERNEL.match(path):
        for match in PAST_THE_TABLE.finditer(code):
            found.append((line_of(code, match.start()), f"not through os::kernel: {match[0]}"))
    if SIMULATED.match(path):
        for what, pattern in CHARTER.items():
            if path in CHARTER_EXCEPTIONS.get(what, ()):
                continue
            for match in re.finditer(pattern, code):
                found.append((line_of(code, match.start()), f"{what}: {match[0].strip()}"))
    return [f"{path}:{line}: {complaint}" for line, complaint in sorted(found)]


PLANTED = [
    ("runtime/fermata/core/a.cpp", "#ifdef FERMATA_SIM"),
    ("runtime/fermata/core/a.cpp", "#  if defined(FERMATA_SIMULATION)"),
    ("runtime/fermata/core/a.cpp", "int x = rand();"),
    ("runtime/fermata/core/a.cpp", "std::random_device seed;"),
    ("sim/fermata/sim/tape/a.cpp", "std::mt19937_64 engine;"),
    ("sim/fermata/sim/tape/a.cpp", "std::uniform_int_distribution<int> die(1, 6);"),
    ("runtime/fermata/sync/a.hpp", "std::unordered_map<int, int> table;"),
    ("runtime/fermata/sync/a.hpp", "std::map<Event*, int> table;"),
    ("runtime/fermata/io/a.cpp", "auto now = std::chrono::steady_clock::now();"),
    ("runtime/fermata/io/a.cpp", "auto now = time(nullptr);"),
    ("sim/fermata/sim/run/a.cpp", "std::this_thread::sleep_for(ms);"),
    ("sim/fermata/sim/run/a.cpp", 'auto x = getenv("X");'),
    ("sim/fermata/sim/run/a.cpp", "std::thread worker;"),
    ("runtime/fermata/core/a.cpp", "volatile int x;"),
    ("runtime/fermata/core/a.cpp", "thread_local int x;"),
    ("runtime/fermata/poll/a.cpp", "int n = ::read(descriptor, &byte, 1);"),
    ("runtime/fermata/os/a.hpp", "A() : epoll_(::epoll_create1(0)) {}"),
    (
        "runtime/fermata/os/a.hpp",
        "int f() { static std::vector<int> all = find(); return all[0]; }",
    ),
    ("runtime/fermata/os/a.cpp", 'void f() { g([] { static const Key<A<int>*> key("name"); }); }'),
    (
        "runtime/fermata/os/a.cpp",
        "struct A { A() : b{1} { static std::map<int, int> all{}; } int b; };",
    ),
]

LEGAL = [
    ("runtime/fermata/uv/a.cpp", "#include <uv.h>\nauto t = std::chrono::system_clock::now();"),
    (
        "runtime/fermata/os/a.cpp",
        "auto now = std::chrono::steady_clock::now(); std::thread worker;",
    ),
    ("runtime/fermata/core/a.cpp", "// never a steady_clock, nor rand()\nauto s = \"getenv(x)\";"),
    ("runtime/fermata/core/a.cpp", "/* std::mt19937\n */ int grand(int); int big = 1'000'000;"),
    ("runtime/fermata/core/a.cpp", "volatile std::sig_atomic_t caught; // '\nint similar;"),
    ("runtime/fermata/context/a.hpp", 'asm volatile("fldcw %0" : : "m"(word));'),
    ("runtime/fermata/base/a.hpp", "#if defined(__SIMD__) || defined(__SANITIZE_ADDRESS__)"),
    ("runtime/fermata/core/runtime.hpp", "thread_local int x;"),
    ("sim/fermata/sim/run/environment.cpp", 'auto x = std::getenv("FERMATA_SEED");'),
    ("runtime/fermata/poll/a.cpp", "os::kernel.close(std::exchange(a, ::getpid())); B::run();"),
    ("runtime/fermata/host/a.cpp", "::close(epoll);"),
    ("tests/unit/core/a_test.cpp", "std::mt19937 engine(1);"),
    (
        "runtime/fermata/os/a.cpp",
        "A& f() { static auto* const a = new A; static int n = 0; return *a; }",
    ),
    (
        "runtime/fermata/os/a.hpp",
        "struct A { static A f(); static inline B b; static B g() { h(); } };",
    ),
    (
        "runtime/fermata/os/a.cpp",
        "void f() { static std::atomic<int> n{1}; static constexpr A kA = {}; }",
    ),
]


def self_test():
    for path, text in PLANTED:
        complaints = check_file(path, f"int first;\n{text}\n")
        assert len(complaints) == 1, (path, text, complaints)
        assert complaints[0].startswith(f"{path}:2: "), complaints
    for path, text in LEGAL:
        assert not check_file(path, text), check_file(path, text)


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 1
    sources = read_sources(pathlib.Path(arguments[0]))
    complaints = [line for path, text in sources.items() for line in check_file(path, text)]
    print("\n".join(complaints + [f"charter: {len(sources)} files, {len(complaints)} violations"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
