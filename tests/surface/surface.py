#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many types the two headers that users include put in front of them.

Usage: surface.py ROOT        count them, and fail above the limits
       surface.py --self-test count those of a planted header

Counted are classes, structs, unions, templates of these and enumerations that are declared directly
in namespace fermata or fermata::sim, or brought there by a using-declaration, whichever header they
come from. Errors, which are caught and rarely named, and structs called ...Options, which are
written as braces, have limits of their own. Type aliases, concepts, functions, and whatever is in
an inner namespace such as fermata::backend are not counted.

The limits may only fall. clang does the counting: it prints the names that it finds in a namespace.
"""

import re
import subprocess
import sys
from pathlib import Path

NAMESPACES = ("fermata", "fermata::sim")
# Header, counted without what those before it have: {namespace: (types, options, errors)}
LIMITS = {
    "fermata/runtime.hpp": {"fermata": (70, 15, 27), "fermata::sim": (0, 0, 0)},
    "fermata/sim.hpp": {"fermata": (0, 0, 0), "fermata::sim": (22, 2, 0)},
}
KINDS = ("types", "options", "errors")
TYPES = {"CXXRecord", "ClassTemplate", "Enum"}
ERROR_ROOTS = ("std::exception", "fermata::Cancellation", "fermata::ForcedUnwind")
NAME = re.compile(r"-DeclarationName '(.+)'$")
DECLARED = re.compile(r"-(\w+) 0x\w+ ")
IS_ERROR = re.compile(r"static.assert\w* failed.*\"error: ([\w:]+)\"")


def clang(flags, code):
    command = ["clang++", "-std=c++20", "-fsyntax-only", *flags, "-x", "c++", "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=False)


def names_in(namespace, flags, code):
    """The names of types that are declared directly in `namespace`."""
    dump = clang([*flags, "-Xclang", "-ast-dump-lookups", "-Xclang",
                  f"-ast-dump-filter={namespace}"], code)
    if dump.returncode != 0:
        sys.exit(f"surface: expected headers that compile:\n{dump.stderr[:2000]}")
    names, name = set(), ""
    for block in re.split(r"^Dumping ", dump.stdout, flags=re.M):
        if not block.startswith(f"{namespace}:\n"):
            continue
        for line in block.splitlines():
            if found := NAME.search(line):
                name = found[1]
            elif (found := DECLARED.search(line)) and (
                    found[1] in TYPES or (found[1] == "UsingShadow" and name[0].isupper())):
                names.add(name)
    return names


def names_in_each(flags, code):
    return {namespace: names_in(namespace, flags, code) for namespace in NAMESPACES}


def errors_among(names, flags, code):
    """Those of `names` that are classes derived from a root of errors, qualified."""
    probe = [code, "#include <exception>", "#include <type_traits>",
             "namespace surface { template <class T, class Root> concept derives = requires {",
             "sizeof(T); requires std::is_base_of_v<Root, T>; }; }"]
    for name in sorted(f"{namespace}::{name}" for namespace in names for name in names[namespace]):
        derives = "".join(f" || surface::derives<{name}, {root}>" for root in ERROR_ROOTS)
        probe.append(f'static_assert(!(false{derives}), "error: {name}");')
    answer = clang([*flags, "-ferror-limit=0"], "\n".join(probe))
    return set(IS_ERROR.findall(answer.stderr))


def sorted_by_kind(names, flags, code):
    """Namespace -> kind -> names."""
    all_errors = errors_among(names, flags, code)
    kinds = {}
    for namespace, its in names.items():
        errors = {name for name in its if f"{namespace}::{name}" in all_errors}
        options = {name for name in its - errors if name.endswith("Options")}
        kinds[namespace] = {"types": its - errors - options, "options": options, "errors": errors}
    return kinds


def main(root):
    flags = [f"-I{root / 'runtime'}", f"-I{root / 'sim'}"]
    code = "namespace fermata { namespace sim {} }\n"
    before = {namespace: set() for namespace in NAMESPACES}
    too_many = False
    for header, limits in LIMITS.items():
        code += f"#include <{header}>\n"
        names = names_in_each(flags, code)
        added = {namespace: names[namespace] - before[namespace] for namespace in NAMESPACES}
        before = names
        for namespace, kinds in sorted_by_kind(added, flags, code).items():
            for kind, limit in zip(KINDS, limits[namespace]):
                found = sorted(kinds[kind])
                print(f"<{header}> in {namespace}: {len(found)} {kind}, at most {limit}")
                if found:
                    print(f"  {' '.join(found)}")
                too_many |= len(found) > limit
    if too_many:
        print("surface: too many: expected plumbing in fermata::backend or detail, and what few "
              "programs need in a header of its own", file=sys.stderr)
    return too_many


PLANTED = """
#include <exception>
namespace fermata {
struct Cancellation {};
class ForcedUnwind;
namespace backend { struct Hidden {}; struct Shown {}; void f(); }
using backend::Shown, backend::f;
class OnlyDeclared;
template <class T> struct Template {};
enum class Enumeration { A };
struct SomeOptions {};
struct Thrown : std::exception {};
struct Stopped : Cancellation {};
template <class T> concept Concept = true;
using Alias = int;
int function(OnlyDeclared*);
}
"""


def self_test():
    names = names_in_each([], PLANTED)
    found = sorted_by_kind(names, [], PLANTED)
    expected = {
        "types": {"ForcedUnwind", "Shown", "OnlyDeclared", "Template", "Enumeration"},
        "options": {"SomeOptions"},
        "errors": {"Cancellation", "Thrown", "Stopped"},
    }
    assert found["fermata"] == expected, found
    assert not names["fermata::sim"]


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    sys.exit(main(Path(sys.argv[1])))
