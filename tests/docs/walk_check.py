#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader who does what a page of the guide says gets what it says.

usage: walk_check.py BUILD_DIR|--installed PAGE... | --self-test

Each page is followed in a home folder of its own, /home/you in the page, in which `build/release`
is the build; `fermata` is on the PATH. In the page stand before a block

  <!-- file PATH -->     the reader writes it to PATH
  <!-- change PATH -->   a diff that the reader makes in PATH by hand
  <!-- run -->           commands to type; they end well, or with N after <!-- run, exit N -->;
                         what they export and where they go holds for the blocks that follow
  <!-- prints -->        what the block above prints: N is any number, a line `...` any lines
  <!-- not run: WHY -->  commands for a reader in another place

What takes a machine of its own is replaced: `./dev install` installs what has been built already;
with --installed, on a machine with Fermata's packages, it does nothing. Then each block of commands
is told with the seconds since the beginning.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

BLOCK = re.compile(r"<!-- (file|change|run|prints)(?:,? ([^>]+?))? -->\n+```[a-z]*\n(.*?)```",
                   re.DOTALL)


def wanted_pattern(block):
    """Of whole lines; a line `...` is any number of them."""
    pattern = ""
    for line in block.strip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r" *" + re.sub(r"\bN\b", r"[0-9a-f.]+", re.escape(line.strip())) + r" *\n"
    return re.compile(pattern)


def change(path, diff):
    lines = diff.splitlines()
    old = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
    new = "".join(line[1:] + "\n" for line in lines if not line.startswith("-"))
    text = path.read_text()
    if text.count(old) != 1:
        return f"{path.name} does not have once what is to be changed:\n{old}"
    path.write_text(text.replace(old, new))
    return None


class Reader:
    def __init__(self, home, build):
        self.home, self.build = home, build
        self.before = []  # Commands whose effect the next blocks see.
        self.folder = home
        self.printed = ""
        self.begun = time.monotonic()
        (home / "fermata").mkdir()
        if build is not None:
            (home / "build").mkdir()
            (home / "build/release").symlink_to(build)

    def type(self, block, exit_code):
        install = rf"cmake --install '{self.build}' --prefix \1 >/dev/null"
        block = re.sub(r"\./dev install (\S+)", "true" if self.build is None else install, block)
        keep = "\n".join(self.before)
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("FERMATA_", "GTEST_"))}
        environment["HOME"] = str(self.home)
        if self.build is not None:
            environment["PATH"] = f"{self.build}:{environment['PATH']}"
        script = f"{keep}\nset -e\n{block}\npwd >'{self.home}/.where'"
        run = subprocess.run(["bash", "-c", script], cwd=self.folder, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=280)
        self.printed = run.stdout.replace(str(self.home), "/home/you")
        if run.returncode != exit_code:
            return f"exit code {run.returncode} instead of {exit_code} of\n{block}{run.stdout}"
        if exit_code == 0:
            self.folder = pathlib.Path((self.home / ".where").read_text().strip())
        self.before += re.findall(r"^export .*$", block, re.M)
        if self.build is None:
            print(f"{time.monotonic() - self.begun:.1f} s: {block.splitlines()[-1]}")
        return None

    def follow(self, verb, argument, block):
        if verb == "file":
            path = self.folder / argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
            return None
        if verb == "change":
            return change(self.folder / argument, block)
        if verb == "run":
            return self.type(block, int((argument or "exit 0").removeprefix("exit ")))
        printed = self.printed.rstrip("\n") + "\n"
        if wanted_pattern(block).fullmatch(printed) is None:
            return f"what was to be printed:\n{block}\nwhat was:\n{self.printed}"
        return None


def complaint_about(text, build):
    with tempfile.TemporaryDirectory() as name:
        reader = Reader(pathlib.Path(name).resolve(), build)
        for verb, argument, block in BLOCK.findall(text):
            complaint = reader.follow(verb, argument, block)
            if complaint:
                return complaint
    return None


def check(page, build):
    text = page.read_text()
    complaint = complaint_about(text, build)
    if complaint:
        sys.exit(f"{page.name}: {complaint}")
    print(f"{page.name}: {len(BLOCK.findall(text))} blocks followed")


def self_test():
    def page(*blocks):
        return "".join(f"<!-- {mark} -->\n```\n{block}\n```\n\n" for mark, block in blocks)

    nowhere = pathlib.Path("/nonexistent")
    write = ("file a.txt", "one\ntwo")
    show = ("run", "cat a.txt")
    good = [
        page(write, show, ("prints", "one\ntwo")),
        page(write, show, ("prints", "...\ntwo")),
        page(write, ("change a.txt", "-one\n+1\n two"), show, ("prints", "N\ntwo")),
        page(("run", "export A=7\nmkdir b\ncd b"), ("run", "echo $A in ${PWD##*/}"),
             ("prints", "7 in b")),
        page(("run, exit 3", "exit 3")),
    ]
    bad = [
        page(write, show, ("prints", "one")),
        page(write, show, ("prints", "...\none")),
        page(write, ("change a.txt", "-three\n+3")),
        page(("run", "exit 3")),
        page(("run, exit 3", "true")),
    ]
    for text in good:
        assert complaint_about(text, nowhere) is None, complaint_about(text, nowhere)
    for text in bad:
        assert complaint_about(text, nowhere), text
    print(f"{len(good) + len(bad)} pages judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    build = None if sys.argv[1] == "--installed" else pathlib.Path(sys.argv[1]).resolve()
    for page in sys.argv[2:]:
        check(pathlib.Path(page), build)


if __name__ == "__main__":
    main()
