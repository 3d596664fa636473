# SPDX-License-Identifier: Apache-2.0
"""Which headers users include, and what a header says at its top."""

import re

UMBRELLAS = ("fermata/runtime.hpp", "fermata/sim.hpp")
INCLUDE = re.compile(r'^#include ["<](fermata/[^">]+)[">]', re.M)
LIBRARY = re.compile(
    r"fermata_library\(([\w${}]+) [^)]*?HEADERS\s+([^)]*?)(?:SOURCES[^)]*)?\)", re.S)
KEYED = re.compile(r"(\S+(?: \S+)?) {2,}(\S.*)")
COMPONENTS = ("sqlite", "postgresql", "mariadb", "odbc")  # What ${database} stands for.


def path_of(root, header):
    """Where `header` is: below one of the two include roots."""
    for include_root in ("runtime", "sim"):
        if (root / include_root / header).is_file():
            return root / include_root / header
    raise SystemExit(f"docs: {header} is public and does not exist")


def libraries(root):
    """Library -> the headers that users of it include, as the CMakeLists.txt say."""
    found = {}
    for listing in sorted([*root.glob("runtime/fermata/**/CMakeLists.txt"),
                           *root.glob("sim/fermata/**/CMakeLists.txt")]):
        for name, headers in LIBRARY.findall(listing.read_text()):
            for database in COMPONENTS if "${database}" in name else ("",):
                library = name.replace("${database}", database)
                listed = re.findall(r"fermata/\S+\.hpp", headers.replace("${database}", database))
                found.setdefault(library, []).extend(listed)
    return found


def user_headers(root):
    """Header -> (library, the header to include for it), each header once, in reading order."""
    found = {}
    for library, listed in libraries(root).items():
        for header in listed:
            if header in UMBRELLAS:
                for part in INCLUDE.findall(path_of(root, header).read_text()):
                    found.setdefault(part, (library, header))
            else:
                found.setdefault(header, (library, header))
    return found


def preamble(text):
    """The lines of the comment above a header's includes, without the slashes."""
    lines = []
    for line in text.partition("#pragma once")[2].lstrip("\n").split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" ") if line != "//" else "")
    return lines


def blocks(lines):
    """The parts of a preamble: ("text" | "code", text), ("key", name, text)."""
    found = []
    for line in lines:
        keyed = KEYED.fullmatch(line)
        if not line.strip():
            found.append(("gap", ""))
        elif keyed and not line.startswith(" "):
            found.append(("key", keyed[1], keyed[2]))
        elif line.startswith(" ") and found and found[-1][0] == "key":
            found[-1] = (*found[-1][:2], found[-1][2] + " " + line.strip())
        elif line.startswith(" ") and (not found or found[-1][0] in ("gap", "code")):
            if found and found[-1][0] == "code":
                found[-1] = ("code", found[-1][1] + "\n" + line[2:])
            else:
                found.append(("code", line[2:]))
        elif found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + " " + line.strip())
        else:
            found.append(("text", line.strip()))
    return [block for block in found if block[0] != "gap"]
