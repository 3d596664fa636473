#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An editor finds every header of Fermata with what compile_commands.json says, before a build.

usage: includes_test.py SOURCE_DIR BUILD_DIR

Each `#include "fermata/..."` of a source that is compiled, and of the headers that it includes, is
below one of the include folders of its command that lie in SOURCE_DIR. So is that of every other
file of the tree, below runtime/ or sim/.
"""

import json
import pathlib
import re
import shlex
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
FOLDERS = ("runtime", "sim", "properties", "tests", "examples", "fuzz", "bench")


def includes_of(path, known={}):
    if path not in known:
        text = path.read_text(errors="replace")
        known[path] = [include[1] for include in INCLUDE.findall(text)]
    return known[path]


def include_folders(command, source, build):
    """Those of the tree; what a build makes is not there yet."""
    words = shlex.split(command["command"])
    flags = ("-I", "-isystem", "-iquote")
    folders = [word[2:] for word in words if word.startswith("-I") and word != "-I"]
    folders += [words[i + 1] for i, word in enumerate(words[:-1]) if word in flags]
    paths = [pathlib.Path(command["directory"], folder).resolve() for folder in folders]
    return [path for path in paths
            if path.is_relative_to(source) and not path.is_relative_to(build)]


def unresolved(file, folders, seen):
    """The includes of Fermata's headers, from `file` on, that lead nowhere."""
    complaints = []
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in includes_of(path):
            found = next((place / name for place in (path.parent, *folders)
                          if (place / name).exists()), None)
            if found is not None:
                waiting.append(found.resolve())
            elif name.startswith("fermata/"):
                complaints.append(f"{path}: {name}")
    return complaints


def main(source, build):
    complaints, seen, count = [], {}, 0
    for command in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(command["directory"], command["file"]).resolve()
        if not file.exists():  # The build makes it.
            continue
        folders = tuple(include_folders(command, source, build))
        complaints += unresolved(file, folders, seen.setdefault(folders, set()))
        count += 1
    roots = (source / "runtime", source / "sim")
    files = [path for folder in FOLDERS for path in (source / folder).rglob("*")
             if path.suffix in (".cpp", ".hpp")]
    for path in files:
        complaints += [f"{path}: {name}" for name in includes_of(path)
                       if name.startswith("fermata/")
                       and not any((root / name).exists() for root in roots)]
    for complaint in sorted(set(complaints)):
        print(f"{complaint}: not found", file=sys.stderr)
    print(f"includes: {count} commands, {len(files)} files, {len(complaints)} not found")
    return 1 if complaints or count == 0 or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
