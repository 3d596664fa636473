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

# (header, what it is added to): {namespace: (types, options, errors)}
LIMITS = {
    ("fermata/runtime.hpp", ""): {"fermata": (70, 15, 27), "fermata::sim": (0, 0, 0)},
    ("fermata/sim.hpp", "fermata/runtime.hpp"): {
        "fermata": (0, 0, 0),
        "fermata::sim": (22, 2, 0),
    },
}
KINDS = ("types", "options", "errors")
TYPES = {"CXXRecord", "ClassTemplate", "Enum"}
ERROR_ROOTS = ("std::exception", "fermata::Cancellation", "fermata::ForcedUnwind")
NAME = re.compile(r"-DeclarationName '(.+)'$")
DECLARED = re.compile(r"-(\w+) 0x\w+ ")
IS_ERROR = re.compile(r"static.assert\w* failed.*\"error: (\w+)\"")


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


def errors_among(names, namespace, flags, code):
    """Those of `names` that are classes derived from a root of errors."""
    probe = [code, "#include <exception>", "#include <type_traits>",
             "namespace surface { template <class T, class Root> concept derives = requires {",
             "sizeof(T); requires std::is_base_of_v<Root, T>; }; }"]
    for name in sorted(names):
        derives = "".join(f" || surface::derives<{namespace}::{name}, {root}>"
                          for root in ERROR_ROOTS)
        probe.append(f'static_assert(!(false{derives}), "error: {name}");')
    answer = clang([*flags, "-ferror-limit=0"], "\n".join(probe))
    return set(IS_ERROR.findall(answer.stderr))


def sorted_by_kind(names, namespace, flags, code):
    errors = errors_among(names, namespace, flags, code)
    options = {name for name in names - errors if name.endswith("Options")}
    return {"types": names - errors - options, "options": options, "errors": errors}


def surface(header, added_to, namespace, flags):
    """Kind -> names that `header` adds to those of `added_to`."""
    before = f"#include <{added_to}>\n" if added_to else "namespace fermata { namespace sim {} }\n"
    code = f"{before}#include <{header}>\n"
    names = names_in(namespace, flags, code)
    if added_to:
        names -= names_in(namespace, flags, before)
    return sorted_by_kind(names, namespace, flags, code)


def main(root):
    flags = [f"-I{root / 'runtime'}", f"-I{root / 'sim'}"]
    too_many = False
    for (header, added_to), namespaces in LIMITS.items():
        for namespace, limits in namespaces.items():
            found = surface(header, added_to, namespace, flags)
            for kind, limit in zip(KINDS, limits):
                names = sorted(found[kind])
                print(f"<{header}> in {namespace}: {len(names)} {kind}, at most {limit}")
                if names:
                    print(f"  {' '.join(names)}")
                too_many |= len(names) > limit
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
    found = sorted_by_kind(names_in("fermata", [], PLANTED), "fermata", [], PLANTED)
    expected = {
        "types": {"ForcedUnwind", "Shown", "OnlyDeclared", "Template", "Enumeration"},
        "options": {"SomeOptions"},
        "errors": {"Cancellation", "Thrown", "Stopped"},
    }
    assert found == expected, found
    assert not names_in("fermata::sim", [], PLANTED)


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    sys.exit(main(Path(sys.argv[1])))
