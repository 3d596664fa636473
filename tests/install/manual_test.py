#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page is well made and has what `--help` has; completions complete.

usage: manual_test.py TOOL

Formatters of manual pages and shells that are not on this machine are left out, aloud.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OPTION = re.compile(r"^  (-\S+)", re.M)
COMPLETED = {
    "bash": "source '{script}'; COMP_WORDS=(fermata run --ke); COMP_CWORD=2; _fermata; "
            "printf '%s\\n' ${{COMPREPLY[@]}}",
    "zsh": "compdef() {{ :; }}; source '{script}'; words=(fermata run --ke); CURRENT=3; "
           "PREFIX=--ke; compadd() {{ shift; print -l -- ${{(M)@:#--ke*}}; }}; _fermata",
    "fish": "source '{script}'; complete --do-complete 'fermata run --ke'",
}
failures = []


def said_by(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)
    return done.returncode, done.stdout


def options_of(tool, verb):
    """All names of options in the help of `verb`: of "-v,--verbose" both."""
    _, text = said_by(tool, verb, "--help")
    return {name for names in OPTION.findall(text) for name in names.split(",")} - {"-h", "--help"}


def verbs_of(tool):
    _, text = said_by(tool, "--help")
    listed = text[text.index("Subcommands:") : text.index("Exit codes:")]
    return re.findall(r"^  (\S+) ", listed, re.M)


def sections(text):
    """The rendered text of each verb, by its name."""
    commands = text[text.index("\nCOMMANDS\n") : text.index("\nEXIT STATUS\n")]
    parts = re.split(r"^   fermata (\S+)", commands, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def check_page(tool, page):
    lints = {"mandoc": ("mandoc", "-Tlint", "-Wwarning", page),
             "man": ("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page)}
    for program, command in lints.items():
        if not shutil.which(program):
            print(f"manual: no {program} here")
            continue
        _, text = said_by(*command)
        if program == "man":  # What it formats is not meant, only what it warns of.
            text = "".join(re.findall(r"^(?:man|troff|grotty|<standard input>):.*\n", text, re.M))
        # The page has no date: the same tool writes the same page.
        text = "".join(line for line in text.splitlines(True) if "missing date" not in line)
        if text:
            failures.append(f"{program}: {text}")
    if not shutil.which("mandoc"):
        return
    _, text = said_by("mandoc", "-Tascii", page)
    text = re.sub(".\x08", "", text)  # Bold is overstruck.
    shown = sections(text)
    count = 0
    for verb in verbs_of(tool):
        if verb not in shown:
            failures.append(f"the manual page has no section on '{verb}'")
            continue
        for option in options_of(tool, verb):
            count += 1
            if not re.search(rf"^ +(?:.*, )?{re.escape(option)}(?:[ ,].*)?$", shown[verb], re.M):
                failures.append(f"the manual page has no {option} of {verb}")
    print(f"manual: {len(shown)} verbs, {count} options")


def check_completion(tool, shell, folder):
    if not shutil.which(shell):
        print(f"completions: no {shell} here")
        return
    script = folder / f"completion.{shell}"
    script.write_text(said_by(tool, "completion", shell)[1])
    without_files = {"bash": ("bash", "--norc"), "zsh": ("zsh", "-f"), "fish": ("fish", "-N")}
    code, text = said_by(*without_files[shell], "-c", COMPLETED[shell].format(script=script),
                         env={"PATH": "/usr/bin:/bin", "HOME": str(folder)})
    words = [line.split()[0] for line in text.splitlines() if line.strip()]
    if code != 0 or words != ["--keep-going"]:
        failures.append(f"{shell}: exit code {code}; expected --keep-going alone:\n{text}")


def main(tool):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = folder / "fermata.1"
        code, text = said_by(tool, "completion", "man")
        if code != 0:
            sys.exit(f"completion man: exit code {code}\n{text}")
        page.write_text(text)
        check_page(tool, page)
        for shell in COMPLETED:
            check_completion(tool, shell, folder)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main(sys.argv[1])
