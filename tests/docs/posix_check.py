#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/posix.md are those of the code.

usage: posix_check.py SOURCE_DIR [--write] | --self-test

Which functions are served stands in functions.hpp and thread_functions.hpp of
runtime/fermata/posix/served and, for those that the guard watches, in
sim/fermata/sim/guard/guarded_functions.cpp: one that does not ask who serves it is refused. Which
options sockets know stands in sim/fermata/sim/posix. How they differ from Linux is written in
posix_differences.tsv beside this script: names, a tab, what differs. In the page a table follows
each `<!-- served: KIND -->`; --write makes them anew.
"""

import pathlib
import re
import sys

SERVED = ("runtime/fermata/posix/served/functions.hpp",
          "runtime/fermata/posix/served/thread_functions.hpp")
NOT_SERVED = "runtime/fermata/posix/served/unserved_functions.hpp"
GUARDED_NAMES = "sim/fermata/sim/guard/guarded_functions.hpp"
GUARDED = "sim/fermata/sim/guard/guarded_functions.cpp"
SOCKETS = "sim/fermata/sim/posix"
NAMES = "sim/fermata/sim/net/name_table.cpp"
PAGE = "docs/posix.md"
DIFFERENCES = pathlib.Path(__file__).with_name("posix_differences.tsv")

# Where the functions of the guard belong.
KIND_OF_GUARDED = {
    "time": "clock clock_gettime clock_nanosleep gettimeofday nanosleep sched_yield sleep time "
            "timespec_get usleep",
    "rand": "arc4random getentropy getrandom std::random_device",
    "thread": "pthread_create thrd_create",
    "refused": "fork",
}
RANDOM_DEVICE = "_ZNSt13random_device9_M_getvalEv"
TABLE = re.compile(r"(<!-- served: ([\w-]+) -->\n)\n?((?:\|.*\n)*)\n?")


def rows(text):
    """kind -> the functions of a list."""
    kinds = {}
    for kind, name in re.findall(r"^ *ROW\((\w+), (\w+)\)", text, re.M):
        kinds.setdefault(kind, []).append(name)
    return kinds


def unserved_functions(text):
    """All functions of a list, sorted."""
    names = [name for some in rows(text).values() for name in some]
    return sorted(names, key=by_name)


def by_name(name):
    return name.strip("_"), name


def guarded_functions(names, code):
    """(function, whether it is served) of each that the guard watches."""
    bodies = {}
    for body in re.split(r"\n(?=\S[^\n]*\()", code.partition('extern "C" {')[2]):
        found = re.match(r"(?:\[\[[\w:]+\]\] )?[\w:]+ \*?(\w+)\(", body)
        if found:
            bodies[found[1]] = body
    for name in re.findall(r'"([\w:]+)"', names):
        spelled = RANDOM_DEVICE if name == "std::random_device" else name
        if spelled not in bodies:
            raise SystemExit(f"{GUARDED} does not define '{name}', which the guard watches")
        yield name, "serving" in bodies[spelled]


def functions(source):
    """kind -> its functions, sorted."""
    kinds = rows("".join((source / path).read_text() for path in SERVED))
    place = {name: kind for kind, names in KIND_OF_GUARDED.items() for name in names.split()}
    texts = ((source / path).read_text() for path in (GUARDED_NAMES, GUARDED))
    for name, is_served in guarded_functions(*texts):
        kind = place.get(name)
        if kind is None or (kind != "refused") != is_served:
            raise SystemExit(f"'{name}' is {'served' if is_served else 'refused'}: "
                             f"expected a kind like that for it in KIND_OF_GUARDED, got {kind}")
        kinds.setdefault(kind, []).append(name)
    return {kind: sorted(names, key=by_name) for kind, names in kinds.items()}


def socket_options(source):
    """(those with an effect, those that are only kept)."""
    files = {path.name: path.read_text() for path in sorted((source / SOCKETS).glob("*.cpp"))}
    options = files["socket_options.cpp"]
    kept = re.findall(r"Known\{\w+, (\w+),", options)
    special = re.findall(r"name == (SO_\w+)", "".join(files.values()))
    used = re.findall(r"number\(\w+, (\w+)\)", "".join(
        text for name, text in files.items() if name != "socket_options.cpp"))
    effective = sorted({*special, *used})
    return effective, [name for name in kept if name not in effective]


def listed(names, form="`{}`"):
    return ", ".join(form.format(name) for name in names)


def read_differences(text, values):
    """name -> what differs, in the order of the file."""
    found = {}
    for line in text.splitlines():
        names, _, what = line.partition("\t")
        if not what:
            raise SystemExit(f"{DIFFERENCES.name}: '{line}': expected names, a tab and a text")
        for name in names.split(", "):
            found.setdefault(name, []).append(what.format(**values))
    return found


def table(title, names, differences, otherwise):
    """Names with the same differences share a row; those without any have the last one."""
    rows = {}
    for name in names:
        rows.setdefault("; ".join(differences.get(name, [])), []).append(name)
    nothing = rows.pop("", [])
    lines = [f"| {listed(some)} | {what} |" for what, some in rows.items()]
    lines += [f"| {listed(nothing)} | {otherwise} |"] if nothing else []
    return "".join(line + "\n" for line in [f"| {title} |", "|---|---|", *lines])


def tables(source):
    """What the page must hold: the name of a table -> the table."""
    kernel = (source / SOCKETS / "kernel.cpp").read_text()
    services = re.findall(r'\{"(\w+)", \d+\}', (source / NAMES).read_text())
    differences = read_differences(DIFFERENCES.read_text(), {
        "commands": listed(re.findall(r"case (F_\w+):", kernel)),
        "requests": listed(re.findall(r"case (FIO\w+):", kernel)),
        "services": listed(services)})
    made = {}
    for kind, names in functions(source).items():
        otherwise = "the run fails" if kind == "refused" else "nothing that is known"
        made[kind] = table("function | what differs from Linux", names, differences, otherwise)
    made["unserved"] = table("function | what happens",
                             unserved_functions((source / NOT_SERVED).read_text()), differences,
                             "the run fails, and the call with `ENOSYS`")
    effective, kept = socket_options(source)
    for name in effective:
        if name not in differences:
            raise SystemExit(f"{DIFFERENCES.name}: what does the option '{name}' do?")
    made["options"] = table("option | what it does", [*effective, *kept], differences,
                            "kept and given back, without an effect")
    known = {*effective, *unserved_functions((source / NOT_SERVED).read_text()),
             *(name for names in functions(source).values() for name in names)}
    for name in differences.keys() - known:
        raise SystemExit(f"{DIFFERENCES.name}: '{name}' is not served")
    return made


def complaints_about(page, wanted):
    found = {kind: text for _, kind, text in TABLE.findall(page)}
    for kind in sorted(wanted.keys() - found.keys()):
        yield f"no table of '{kind}': expected a line <!-- served: {kind} -->"
    for kind, text in found.items():
        if kind not in wanted:
            yield f"a table of '{kind}', which is not a kind of served functions"
        elif text != wanted[kind]:
            yield f"the table of '{kind}' does not fit the code; posix_check.py --write makes it"


def written(page, wanted):
    made = TABLE.sub(lambda found: f"{found[1]}\n{wanted.get(found[2], found[3])}\n", page)
    return made.rstrip("\n") + "\n"


def self_test():
    wanted = {"fdio": table("a | b", ["read", "dup", "fcntl"], {"fcntl": ["less"]}, "none")}
    page = "<!-- served: fdio -->\n\n| old |\n\nText.\n"
    assert len(list(complaints_about(page, wanted))) == 1
    page = written(page, wanted)
    assert "| `fcntl` | less |\n| `read`, `dup` | none |\n\nText." in page, page
    assert not list(complaints_about(page, wanted))
    assert list(complaints_about(page, {**wanted, "file": ""})), "a kind without a table"
    assert list(complaints_about(page, {})), "a table without a kind"
    assert rows("  ROW(fdio, read) \\\n  ROW(fdio, dup)") == {"fdio": ["read", "dup"]}
    assert unserved_functions("  ROW(fdio, stat)\n  ROW(file, open)\n") == ["open", "stat"]
    code = 'extern "C" {\n\nint f(int a) {\n  if (serving) return 1;\n}\n\nint g() {\n  x();\n}\n'
    assert list(guarded_functions('"f", "g"', code)) == [("f", True), ("g", False)]
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 1
    source = pathlib.Path(sys.argv[1])
    wanted = tables(source)
    page = (source / PAGE).read_text()
    if len(sys.argv) == 3:
        page = written(page, wanted)
        (source / PAGE).write_text(page)
    complaints = list(complaints_about(page, wanted))
    for complaint in complaints:
        print(f"{PAGE}: {complaint}", file=sys.stderr)
    print(f"posix: {len(wanted)} tables, {len(complaints)} complaints")
    return 1 if complaints or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
