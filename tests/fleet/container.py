# SPDX-License-Identifier: Apache-2.0
"""Reads a Dockerfile as far as ours goes."""

import json
import re


def instructions(text):
    """Name and argument of each, with the lines that a backslash continues joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, argument = line.strip().partition(" ")
            yield name, argument.strip()


def last(text, name):
    return [argument for found, argument in instructions(text) if found == name][-1]


def entry_point(text):
    """The words of the command, which no shell reads."""
    return json.loads(last(text, "ENTRYPOINT"))


def packages(command):
    """Those that a command line installs with apt-get."""
    for part in re.split(r"&&|;", command):
        words = part.split()
        if words[:2] == ["apt-get", "install"]:
            yield from (word for word in words[2:] if not word.startswith("-"))
