# SPDX-License-Identifier: Apache-2.0
"""Programs of a build with some sources changed: only what these touch is compiled again.

The changed sources are in a folder of their own, the overlay, at the paths that they have in the
repository. What is compiled with them is linked in place of, or ahead of, what the build has.
"""

import functools
import json
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNITY = ".cxx"  # Of a file that includes the sources which are compiled as one.
INCLUDE_ROOTS = ("runtime", "sim", ".")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def sources_of(file):
    """The sources of the repository that compiling `file` compiles."""
    if file.suffix != UNITY:
        return {str(file.relative_to(ROOT))} if file.is_relative_to(ROOT) else set()
    included = re.findall(r'^#include "(/[^"]+)"', file.read_text(encoding="utf-8"), re.M)
    return {str(pathlib.Path(each).relative_to(ROOT)) for each in included}


class Compilation:
    """An object of the build: what it is compiled from, and how."""

    def __init__(self, entry, output):
        self.file, self.command, self.output = pathlib.Path(entry["file"]), entry["command"], output
        self.target = re.search(r"CMakeFiles/(\w+)\.dir/", output)[1]

    @functools.cached_property
    def sources(self):
        return sources_of(self.file)

    def is_linked_by(self, command):
        return f"lib{self.target}.a" in command or f" {self.output} " in command

    def overlaid(self, overlay):
        """What is compiled in place of its file."""
        if self.file.suffix != UNITY:
            changed = overlay / self.file.relative_to(ROOT)
            return changed if changed.exists() else self.file
        copy = overlay / self.file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = self.file.read_text(encoding="utf-8")
        for source in self.sources:
            if (overlay / source).exists():
                text = text.replace(f'"{ROOT / source}"', f'"{overlay / source}"')
        copy.write_text(text, encoding="utf-8")
        return copy

    def compile(self, overlay, build, options=""):
        """Its object with what `overlay` has; raises RuntimeError with what went wrong."""
        output = overlay / "objects" / self.output
        output.parent.mkdir(parents=True, exist_ok=True)
        command = self.command.replace(f"-o {self.output}", f"-o {output}")
        command = command.replace(f"-c {self.file}", f"-c {self.overlaid(overlay)}")
        command = re.sub(r"-M[FT] \S+|-MD|-Werror(?= )", "", command)
        # A place in a source is called as it is in the repository.
        places = "".join(f" -I{overlay / each}" for each in INCLUDE_ROOTS)
        command = re.sub(r"( -I| -O)", rf"{places}\1", command, count=1)
        command += f" -ffile-prefix-map={overlay}/= {options}"
        done = run(command, shell=True, cwd=build)
        if done.returncode != 0:
            raise RuntimeError(f"does not compile:\n{done.stderr}")
        return output


class PatchedBuild:
    """A build, and its programs with changed sources."""

    def __init__(self, build):
        self.build = build
        text = (build / "compile_commands.json").read_text(encoding="utf-8")
        self.compilations = []
        for entry in json.loads(text):
            found = re.search(r"-o ((?:\S+/)?CMakeFiles/\w+\.dir/\S+\.o) ", entry["command"])
            if found:
                self.compilations.append(Compilation(entry, found[1]))

    def touched_by(self, files):
        """What is compiled again when these files, paths in the repository, change."""
        headers = {file for file in files if file.endswith(".hpp")}
        dependents = set().union(*(self.dependents.get(header, ()) for header in headers))
        return [each for each in self.compilations
                if each.sources & set(files) or each.output in dependents]

    @functools.cached_property
    def dependents(self):
        """{header of the repository: objects that were compiled with it}"""
        found, current = {}, None
        for line in run(["ninja", "-t", "deps"], cwd=self.build).stdout.splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif line.startswith(f"    {ROOT}/"):
                found.setdefault(line.strip()[len(str(ROOT)) + 1 :], set()).add(current)
        return found

    @functools.lru_cache(maxsize=None)
    def link_of(self, program):
        """The command that links it, and where it puts it."""
        commands = run(["ninja", "-t", "commands", program], cwd=self.build).stdout.splitlines()
        for command in reversed(commands):
            if found := re.search(rf" -o (\S*\b{program}) ", command):
                return command, found[1]
        raise RuntimeError(f"there is no program {program}")

    def program(self, name):
        return self.build / self.link_of(name)[1]

    def make(self, program, compilations, overlay, pool=None):
        """The program with all of `compilations` that it is linked from compiled again."""
        command, _ = self.link_of(program)
        wanted = [each for each in compilations if each.is_linked_by(command)]
        if not wanted:
            raise RuntimeError(f"nothing that {program} is linked from is touched")
        mapped = (pool.map if pool else map)(lambda each: each.compile(overlay, self.build), wanted)
        return self.link(program, dict(zip((each.output for each in wanted), mapped)), overlay)

    def link(self, program, objects, overlay):
        """The program with `objects`, {output: file}, in place of what it is linked from."""
        command, output = self.link_of(program)
        ahead = []
        for name, file in objects.items():
            if f" {name} " in command:
                command = command.replace(f" {name} ", f" {file} ")
            else:
                ahead.append(str(file))  # It comes before the library that has the original.
        made = overlay / program
        command = command.replace(f" -o {output} ", f" {shlex.join(ahead)} -o {made} ")
        done = run(command, shell=True, cwd=self.build)
        if done.returncode != 0:
            raise RuntimeError(f"does not link:\n{done.stderr}")
        return made
