#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents show is what the sources hold and what programs print.

usage: docs_check.py SOURCE_DIR [--binaries BUILD_DIR]

A fenced block after `<!-- from PATH -->` must occur in PATH, line by line, however indented.
A block after `<!-- output of COMMAND -->` must be what COMMAND prints (standard output and error
together), where BUILD in COMMAND is the build folder; only with --binaries. Numbers that vary from
machine to machine are written as N in the document. Every block of the README and of the guide has
a mark: one of these, one that walk_check.py knows, or `<!-- not run: WHY -->`. Relative links must
lead to files.
"""

import argparse
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"<!-- (from|output of) (.+?) -->\n+```[a-z]*\n(.*?)```", re.DOTALL)
FENCE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def stripped(text):
    return [line.strip() for line in text.strip().splitlines()]


def contains(lines, wanted):
    return any(lines[i : i + len(wanted)] == wanted for i in range(len(lines) - len(wanted) + 1))


def pattern(line):
    return re.compile(re.sub(r"\bN\b", r"[0-9.]+", re.escape(line)))


def check_block(kind, subject, block, source, binaries):
    if kind == "from":
        path = source / subject
        if not path.exists():
            return f"{subject} does not exist"
        if not contains(stripped(path.read_text()), stripped(block)):
            return f"the block is not in {subject}:\n{block}"
        return None
    if binaries is None:
        return None
    command = subject.replace("BUILD", str(binaries))
    run = subprocess.run(command, shell=True, cwd=source, text=True, timeout=120,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = stripped(run.stdout.replace(str(binaries), "BUILD"))
    wanted = stripped(block)
    matches = len(printed) == len(wanted) and all(
        pattern(want).fullmatch(got) for want, got in zip(wanted, printed))
    if matches:
        return None
    return f"`{command}` does not print the block, but:\n" + "\n".join(printed)


def unmarked_blocks(text):
    """Whatever looks like code without saying who checks it."""
    marked = re.compile(r"<!-- .+? -->\n+```[a-z]*\n.*?```", re.DOTALL)
    rest = marked.sub("", text)
    return [*FENCE.findall(rest), *re.findall(r"(?<=\n\n)    \S.*", rest)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--binaries", type=pathlib.Path)
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    blocks, complaints = 0, []
    for document in sorted([*source.glob("*.md"), *source.glob("docs/**/*.md")]):
        text = document.read_text()
        name = document.relative_to(source)
        for kind, subject, block in BLOCK.findall(text):
            blocks += 1
            complaint = check_block(kind, subject, block, source, arguments.binaries)
            if complaint:
                complaints.append(f"{name}: {complaint}")
        if name.name == "README.md" or name.is_relative_to("docs/guide"):
            complaints += [f"{name}: nothing checks this block:\n{block}"
                           for block in unmarked_blocks(text)]
        for target in LINK.findall(FENCE.sub("", text)):
            if not (document.parent / target).exists():
                complaints.append(f"{name}: broken link to {target}")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"docs: {blocks} blocks checked, {len(complaints)} complaints")
    return 1 if complaints or blocks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
