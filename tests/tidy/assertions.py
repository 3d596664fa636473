#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of runtime/ and sim/ is asserted, by folder; and whether what a comment REQUIRES is.

An assertion is a FERMATA_ASSERT, FERMATA_REQUIRE or FERMATA_VERIFY in the body of a function, or a
complaint of the audit. Constants, repeats of one condition in a function, and null tests of
references do not count. No folder may fall below its row in assertions.tsv, which only goes up.

A function whose comment says "REQUIRES:" asserts something in its definition (or throws UsageError
there), or has a row with a reason in unasserted.tsv.

Usage: assertions.py ROOT                   check
       assertions.py ROOT --write           raise the rows of assertions.tsv to what is there
       assertions.py ROOT --draw N --seed S the N assertions that S draws: adding one to the source
                                            changes the draw by one at most
       assertions.py --self-test            check that planted violations are found
"""

import argparse
import hashlib
import pathlib
import re
import sys

import cpp_functions as cpp

HERE = pathlib.Path(__file__).resolve().parent
ROOTS = {"runtime": "runtime/fermata", "sim": "sim/fermata/sim"}
CHECK = re.compile(r"\b(FERMATA_(?:ASSERT|REQUIRE|VERIFY)|complain|broken)\s*(\()")
INVARIANT = re.compile(r'\s*"[A-Z0-9-]+"')
CONSTANT = re.compile(r"[\s\d()!=<>&|+*-]*(?:(?:true|false|nullptr)[\s\d()!=<>&|+*-]*)*")
NULL_TEST_OF_REFERENCE = re.compile(r"(?:&\s*\w+|this)\s*!=\s*nullptr")
DRIVERS = re.compile(r"runtime/fermata/db/\w+/")
REQUIRES = re.compile(r"\bREQUIRES?:")


class Assertion:
    def __init__(self, path, line, function, condition):
        self.path, self.line, self.function, self.condition = path, line, function, condition

    def key(self):
        return f"{self.path} {self.function} {self.condition}"


def first_of(arguments):
    """The first of some arguments: up to a comma that is in no parentheses."""
    depth = 0
    for place, character in enumerate(arguments):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return arguments[:place]
    return arguments


def condition_in(text, found):
    """The condition of the check at `found`; empty when there is none."""
    arguments = text[found.end() : cpp.closing(text, found.end() - 1, "()")]
    if not found[1].startswith("FERMATA"):
        return " ".join(arguments.split()) if INVARIANT.match(arguments) else ""
    if found[1] == "FERMATA_REQUIRE":
        arguments = first_of(arguments)
    condition = " ".join(arguments.split())
    trivial = CONSTANT.fullmatch(condition) or NULL_TEST_OF_REFERENCE.fullmatch(condition)
    return "" if trivial else condition


class Source:
    """A file: its functions, its assertions, and what its comments require."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = cpp.blanked(text)
        self.functions = cpp.functions_of(self.code)
        self.assertions = []
        literal = cpp.without_comments(text)
        for function in self.functions:
            function.asserted = "throw UsageError" in self.code[function.start : function.end]
            seen = set()
            # The initializers of a constructor are in its head.
            for found in CHECK.finditer(self.code, function.head, function.end):
                condition = condition_in(literal, CHECK.match(literal, found.start()))
                if not condition:
                    continue
                function.asserted = True
                if condition not in seen:
                    seen.add(condition)
                    line = text.count("\n", 0, found.start()) + 1
                    self.assertions.append(Assertion(path, line, function.name, condition))

    def requirements(self):
        """(line, function with its classes) for each comment that requires something."""
        for found in re.finditer(r"(?:^[ \t]*//[^\n]*\n)+", self.text, re.MULTILINE):
            required = REQUIRES.search(found[0])
            if not required:
                continue
            head = re.match(r"[^;{]*", self.code[found.end() :])[0]
            name = cpp.name_in(head)
            if name:
                scope = cpp.scope_at(self.code, found.end())
                line = self.text.count("\n", 0, found.start() + required.start()) + 1
                yield line, "::".join(each for each in (scope, name) if each)


def folder_of(path):
    for name, root in ROOTS.items():
        if path.startswith(root + "/"):
            return "/".join([name, *path[len(root) + 1 :].split("/")[:-1]])
    return path.split("/")[0]


def sources_of(root):
    paths = [path for each in ROOTS.values() for path in (root / each).rglob("*.[hc]pp")]
    return [Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
            for path in sorted(paths)]


def measure(sources):
    """{folder: (functions, assertions)}"""
    counts = {}
    for source in sources:
        functions, assertions = counts.get(folder_of(source.path), (0, 0))
        counts[folder_of(source.path)] = (
            functions + len(source.functions), assertions + len(source.assertions))
    return {folder: count for folder, count in sorted(counts.items()) if count[0] > 0}


def density(functions, assertions):
    """To two digits, and never more than there is."""
    return assertions * 100 // functions / 100


def compare(counts, rows):
    """The complaints about folders that fell, and the advice about those that rose."""
    complaints, advice = [], []
    for folder, count in counts.items():
        if folder not in rows:
            complaints.append(f"{folder} has no row in assertions.tsv: --write adds it")
        elif density(*count) < rows[folder]:
            complaints.append(
                f"{folder}: {density(*count):.2f} assertions per function, at least "
                f"{rows[folder]:.2f} before")
        elif density(*count) > rows[folder]:
            advice.append(f"{folder}: the row can be raised to {density(*count):.2f}")
    advice += [f"{folder} is gone, and its row can go" for folder in rows.keys() - counts.keys()]
    return complaints, advice


def belongs(definition, wanted):
    """Whether the qualified names can be of one function."""
    given, asked = definition.split("::"), wanted.split("::")
    shared = min(len(given), len(asked), 2)
    return given[-shared:] == asked[-shared:]


def unasserted(sources, reasons):
    """The complaints about what comments require and nothing asserts, and rows without a use."""
    by_name = {}
    for source in sources:
        for function in source.functions:
            by_name.setdefault(function.name.split("::")[-1], []).append(function)
    complaints, excused = [], set()
    for source in sources:
        for line, name in source.requirements():
            definitions = [each for each in by_name.get(name.split("::")[-1], [])
                           if belongs(each.name, name)]
            if any(each.asserted for each in definitions):
                continue
            if (source.path, name) in reasons:
                excused.add((source.path, name))
                continue
            what = "does not assert it" if definitions else "has no definition"
            complaints.append(f"{source.path}:{line}: REQUIRES of {name}, which {what}")
    complaints += [f"unasserted.tsv: {path} {name}: needs no row"
                   for path, name in sorted(reasons.keys() - excused)]
    return complaints


def rows_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def write(path, counts, rows):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    raised = [f"{folder}\t{max(density(*count), rows.get(folder, 0)):.2f}\n"
              for folder, count in counts.items()]
    path.write_text("".join(head + raised), encoding="utf-8")


def draw(sources, number, seed):
    """No complaints of the audit, which the zoo trips; no drivers, whose tests need servers."""
    def rank(assertion):
        return hashlib.sha256(f"{seed} {assertion.key()}".encode()).hexdigest()

    known = [each for source in sources for each in source.assertions
             if not each.condition.startswith('"') and not DRIVERS.match(each.path)]
    for each in sorted(known, key=rank)[:number]:
        print(f"{each.path}:{each.line}: {each.function}: {each.condition}")


def check(root, sources):
    rows = {folder: float(least) for folder, least in rows_of(HERE / "assertions.tsv")}
    reasons = {(path, name): reason for path, name, reason in rows_of(HERE / "unasserted.tsv")}
    counts = measure(sources)
    for part in ROOTS:
        own = {folder: count for folder, count in counts.items() if folder.split("/")[0] == part}
        own[f"{part} in all"] = tuple(map(sum, zip(*own.values())))
        for folder, (functions, assertions) in own.items():
            print(f"{folder:24} {assertions:5} assertions in {functions:5} functions: "
                  f"{density(functions, assertions):.2f}")
    complaints, advice = compare(counts, rows)
    complaints += unasserted(sources, reasons)
    print("\n".join(advice + complaints + [f"assertions: {len(complaints)} violations"]))
    return 1 if complaints else 0


SPECIMEN = """
namespace a {
struct Ring : Base<int()> {
  /// REQUIRES: not empty.
  int pop();
  /// REQUIRES: not full.
  void push(int value) noexcept(true) { FERMATA_ASSERT(size_ < 2); }
  int size_{0};
};
int Ring::pop() {
  FERMATA_ASSERT(true);
  FERMATA_ASSERT(this != nullptr);  // FERMATA_ASSERT(no_code);
  FERMATA_ASSERT(&other != nullptr);
  const auto twice = [&] { FERMATA_ASSERT(size_ > 1); };
  FERMATA_ASSERT(size_ > 1);
  FERMATA_REQUIRE(f(a, b), "{ no brace");
  return size_;
}
Other::Other(int x) : x_{x}, y_(x) { log('{'); }
template <class T> struct Empty {};
auto operator==(T a, T b) -> bool { return true; }
}
"""


def self_test():
    source = Source("runtime/fermata/a/ring.cpp", SPECIMEN)
    names = [each.name for each in source.functions]
    assert names == ["Ring::push", "Ring::pop", "Other::Other", "operator=="], names
    found = [each.condition for each in source.assertions]
    assert found == ["size_ < 2", "size_ > 1", "f(a, b)"], found
    counts = measure([source])
    assert counts == {"runtime/a": (4, 3)}, counts
    assert compare(counts, {"runtime/a": 0.75}) == ([], [])
    assert len(compare(counts, {"runtime/a": 0.76})[0]) == 1
    assert len(compare(counts, {"runtime/a": 0.74, "runtime/b": 0})[1]) == 2
    assert len(compare(counts, {})[0]) == 1
    assert not unasserted([source], {})
    bare = Source("sim/fermata/sim/a.cpp", re.sub(r"FERMATA_\w+\(.*\);", "", SPECIMEN))
    assert len(unasserted([bare], {})) == 2, unasserted([bare], {})
    reasons = {("sim/fermata/sim/a.cpp", "Ring::pop"): "why", ("sim/b.cpp", "Ring::pop"): "why"}
    complaints = unasserted([bare], reasons)
    assert len(complaints) == 2 and "needs no row" in complaints[1], complaints
    audit = Source("a.cpp", 'void f() { complain("CORE-1", x); complain(y); broken("A-1", z); }')
    assert len(audit.assertions) == 2, audit.assertions


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    parser = argparse.ArgumentParser(description="Are runtime/ and sim/ asserted?")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draw", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=24)
    options = parser.parse_args()
    sources = sources_of(options.root)
    if options.draw:
        draw(sources, options.draw, options.seed)
        return 0
    if options.write:
        path = HERE / "assertions.tsv"
        rows = {folder: float(least) for folder, least in rows_of(path)}
        write(path, measure(sources), rows)
    return check(options.root, sources)


if __name__ == "__main__":
    sys.exit(main())
