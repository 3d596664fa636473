# SPDX-License-Identifier: Apache-2.0
"""The C++ sources of the tree as text, for the checks of this folder."""

import re

FOLDERS = ("runtime", "sim", "properties", "fuzz", "tests", "examples", "bench")
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S
)


def without_noise(text):
    """`text` without comments and literals; lines keep their numbers."""
    return NOISE.sub(lambda match: "\n" * match[0].count("\n"), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def read_sources(root):
    """The text of each source below `root`, by its path."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in SUFFIXES
    }
