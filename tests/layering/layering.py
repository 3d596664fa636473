#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the folders of runtime/ and of sim/ as staircases, and no cycles.

Usage: layering.py ROOT
"""

import collections
import pathlib
import re
import sys

from graph import cycles, layers
from sources import line_of, read_sources
from staircase import KNOWN_CIRCLES, LIBRARIES, MAY_INCLUDE, ROOMS_IN_A_CIRCLE

# Whose folders have rows.
TREES = ("runtime/", "sim/", "properties/models/")

# Where tests/ may be included from; a simulation of an example is a test.
MAY_INCLUDE_TESTS = re.compile(r"tests/|properties/(?!models/)|examples/.*_test\.cpp$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def folder_of(path):
    """The row of the table that governs `path`: runtime/core, sim/net, models, laws, bench ..."""
    parts = path.split("/")
    if parts[0] == "properties":
        return "models" if parts[1] == "models" else "laws"
    roots = {"runtime": "runtime/fermata/", "sim": "sim/fermata/sim/"}
    root = roots.get(parts[0])
    if root and path.startswith(root):
        return "/".join([parts[0], *path[len(root) :].split("/")[:-1]])
    return parts[0]


def tree_of(folder):
    return folder.split("/")[0]


def target_of(include):
    """The repository's path that `include` names, or None for a foreign header."""
    if include.startswith("fermata/"):
        return f"{'sim' if re.match('fermata/sim[./_]', include) else 'runtime'}/{include}"
    if include.split("/")[0] in {"tests", "properties", "examples", "bench", "fuzz"}:
        return include
    return None


def includes_of(sources):
    """(path, line, quote, include) of each include in `sources`."""
    for path, text in sources.items():
        for match in INCLUDE.finditer(text):
            yield path, line_of(text, match.start()), match[1], match[2]


def check_include(path, quote, include):
    folder, target = folder_of(path), target_of(include)
    if target is None:
        for library, folders in LIBRARIES.items():
            if include.startswith(library) and not folder.startswith(folders):
                return f"<{include}> belongs to {', '.join(folders)}"
        if quote == '"' and folder in MAY_INCLUDE:
            return f'"{include}": own headers are written "fermata/..."'
        return None
    if target.startswith("tests/") and not MAY_INCLUDE_TESTS.match(path):
        return f"{include}: nothing includes tests"
    needed = folder_of(target)
    allowed = MAY_INCLUDE.get(folder)
    if allowed is None or needed in allowed | {folder}:
        return None
    return f"{include}: {folder} may not include {needed}"


def check_includes(sources):
    """Includes that the table does not allow, as `path:line: what`."""
    for path, line, quote, include in includes_of(sources):
        complaint = check_include(path, quote, include)
        if complaint:
            yield f"{path}:{line}: {complaint}"


def check_targets(sources):
    """Includes of own headers that do not exist."""
    for path, line, _, include in includes_of(sources):
        if include.startswith("fermata/") and target_of(include) not in sources:
            yield f"{path}:{line}: {include} exists neither below runtime/ nor below sim/"


def graph_of(sources, node_of):
    """Which nodes of the trees with rows include which others, where node_of(path) is a node."""
    graph = {node_of(path): set() for path in sources if path.startswith(TREES)}
    for path, _, _, include in includes_of(sources):
        node, target = node_of(path), target_of(include)
        if node in graph and target in sources and node_of(target) != node:
            graph[node].add(node_of(target))
    return graph


def room_of(path):
    return path.rpartition(".")[0]


def check_table(graph):
    """Rows that are missing, that stand for nothing, or that allow more than is included."""
    order = list(MAY_INCLUDE)
    for folder in sorted(set(graph) - set(order)):
        yield f"{folder}: has no row in the table"
    for folder in order:
        if folder not in graph:
            yield f"{folder}: has a row in the table and no sources"
            continue
        for needed in sorted(MAY_INCLUDE[folder]):
            if needed not in order[: order.index(folder)]:
                yield f"{folder}: its row names {needed}, which has no earlier row"
            if needed not in graph[folder]:
                yield f"{folder}: its row names {needed}, which it does not include"


def upward(graph):
    """The edges of `graph` from a folder to one whose row does not stand before its own."""
    order = {folder: place for place, folder in enumerate(MAY_INCLUDE)}
    return [
        (folder, needed)
        for folder in sorted(graph)
        for needed in sorted(graph[folder])
        if order.get(needed, len(order)) >= order.get(folder, len(order))
    ]


def check_folder_cycles(graph):
    for cycle in cycles(graph):
        yield f"folders include each other in a circle: {', '.join(cycle)}"


def check_room_cycles(rooms):
    sizes = collections.defaultdict(list)
    for cycle in cycles(rooms):
        folders = " ".join(sorted({folder_of(room) for room in cycle}))
        sizes[folders].append((len(cycle), cycle))
    for folders, found in sorted(sizes.items()):
        size, cycle = max(found)
        known = KNOWN_CIRCLES.get(folders, ROOMS_IN_A_CIRCLE)
        again = sum(1 for each, _ in found if each > ROOMS_IN_A_CIRCLE) > 1
        if size > known or again:
            yield f"{size} rooms of {folders} include each other in a circle: {', '.join(cycle)}"
    for folders, known in KNOWN_CIRCLES.items():
        size = max((size for size, _ in sizes.get(folders, ())), default=0)
        if size < known:
            yield f"{folders}: {size} rooms in a circle are left: say so in KNOWN_CIRCLES"


def report(graph):
    """The folders of both trees as layers, lowest first."""
    up, circles = upward(graph), cycles(graph)
    for tree in ("runtime", "sim"):
        order = [folder for folder in MAY_INCLUDE if folder in graph and tree_of(folder) == tree]
        inside = {folder: {each for each in graph[folder] if each in order} for folder in order}
        edges = [edge for edge in up if edge[0] in order]
        count = sum(1 for cycle in circles if set(cycle) & set(order))
        yield f"{tree}: {len(order)} folders, {len(edges)} edges up, {count} cycles"
        for number, layer in enumerate(layers(inside, order), start=1):
            names = [folder.removeprefix(f"{tree}/") for folder in layer]
            yield f"  {number:2}  {'  '.join(names)}"


def check(sources):
    """The violations in `sources`, a mapping of path to text."""
    folders = graph_of(sources, folder_of)
    return [
        *check_includes(sources),
        *check_targets(sources),
        *check_table(folders),
        *check_folder_cycles(folders),
        *check_room_cycles(graph_of(sources, room_of)),
    ]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 1
    sources = read_sources(pathlib.Path(arguments[0]))
    complaints = check(sources)
    print("\n".join(complaints + list(report(graph_of(sources, folder_of)))))
    print(f"layering: {len(sources)} files, {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
