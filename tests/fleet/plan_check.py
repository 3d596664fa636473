# SPDX-License-Identifier: Apache-2.0
"""Plans as the tests of real schedulers make and compare them."""

import json
import pathlib
import re
import subprocess

LEASE = "2s"


def clean(environment):
    """Without what would change an exploration."""
    return {name: value for name, value in environment.items()
            if not name.startswith(("FERMATA_", "GTEST_"))}


class Plan:
    def __init__(self, tool, environment, root):
        self.tool = str(tool)
        self.environment = clean(environment)
        self.root = pathlib.Path(root)

    def fleet(self, verb, *arguments, expect=0):
        command = [self.tool, "fleet", verb, *map(str, arguments)]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment, timeout=3600, check=False)
        if expect is not None and done.returncode != expect:
            raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def make(self, program, runs, *flags):
        self.fleet("plan", program, "--plan", self.root, "--runs", runs, "--lease", LEASE, *flags)

    def work(self, *flags):
        self.fleet("work", self.root, *flags)

    def status(self):
        said = self.root.parent / f"{self.root.name}.status.json"
        self.fleet("status", self.root, "--json", said)
        return json.loads(said.read_text())

    def is_complete(self):
        status = self.status()
        return status["done"] == status["chunks"]

    def result(self):
        """What `fleet result` says, writes and keeps, without what differs from place to place."""
        prefix = self.root.parent / f"{self.root.name}.result"
        said = self.fleet("result", self.root, "--json", f"{prefix}.json", "--junit",
                          f"{prefix}.xml", expect=None)
        result = {"output": said, "json": pathlib.Path(f"{prefix}.json").read_text(),
                  "junit": pathlib.Path(f"{prefix}.xml").read_text()}
        for kind, text in result.items():
            text = text.replace(str(self.root), "PLAN")
            text = re.sub(r'"elapsed_ms":\d+', '"elapsed_ms":0', text)
            result[kind] = re.sub(r'(time|timestamp)="[^"]*"', r'\1=""', text)
        for folder in ("results", "findings", "conflicts"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file():
                    result[str(path.relative_to(self.root))] = path.read_bytes()
        return result


def check_same(got, expected):
    """Two results, byte for byte."""
    differ = [name for name in sorted({*got, *expected}) if got.get(name) != expected.get(name)]
    if not differ:
        return
    name = differ[0]
    raise RuntimeError(f"{len(differ)} parts of the result differ: {differ}\n{name}:\n"
                       f"{around(got.get(name), expected.get(name))}")


def around(got, expected):
    """Two texts where they begin to differ."""
    if got is None or expected is None:
        return "is not there" if got is None else "should not be there"
    at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b),
              min(len(got), len(expected)))
    part = slice(max(0, at - 200), at + 200)
    return f"{got[part]!r}\ninstead of\n{expected[part]!r}"
