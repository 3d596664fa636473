#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The front page is short, and has what a stranger looks for, in this order.

usage: readme_check.py SOURCE_DIR | --self-test

It has at most 500 words. Counted is what a reader sees outside of code: headings, text, the cells
of tables, the words of links and not their addresses. A word is what stands between spaces and has
a letter or a digit. Not counted: fenced blocks, comments, HTML tags with their attributes.
"""

import pathlib
import re
import sys

WORDS_MAX = 500
ORDER = ("<picture>", "SIM_TEST(", "find_package(", "FetchContent_", "## What is simulated",
         "## Compared", "## Links")
COMMANDS = ("./dev run", "./dev test", "./dev install")


def words(text):
    for markup in (r"^```.*?^```", r"<!--.*?-->", r"<[a-z/][^>]*>"):
        text = re.sub(markup, " ", text, flags=re.M | re.S)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    return [word for word in text.split() if re.search(r"[^\W_]", word)]


def complaints(text, dev, exists):
    found = []
    if len(words(text)) > WORDS_MAX:
        found.append(f"{len(words(text))} words; the limit is {WORDS_MAX}")
    places = [text.find(each) for each in ORDER]
    found += [f"has no {each}" for each, place in zip(ORDER, places) if place < 0]
    if not found and places != sorted(places):
        found.append(f"the order is not {', '.join(ORDER)}")
    for command in COMMANDS:
        verb = command.split()[1]
        if command not in text or f"\nverb_{verb}()" not in dev:
            found.append(f"{command} is not there, or is not a command")
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    found += [f"{path} does not exist" for path in pictures if not exists(path)]
    if len(pictures) < 2 or 'media="(prefers-color-scheme: dark)"' not in text:
        found.append("has no picture for light and for dark screens")
    return found


def self_test():
    assert words("# One\n\n| two | [three](four/five) |\n|---|---|\n<!-- six --> · **seven**, 8%\n"
                 "```\nnine\n```\n<img alt=\"ten\">\n") == \
        ["One", "two", "[three]", "**seven**,", "8%"]
    dev = "\nverb_run()\nverb_test()\nverb_install()"
    good = ('<picture><source media="(prefers-color-scheme: dark)" srcset="a"><img src="b">'
            + "\n\n".join(ORDER[1:]) + " ".join(COMMANDS))
    assert not complaints(good, dev, lambda path: True), complaints(good, dev, lambda path: True)
    bad = {
        "words": (good + " word" * WORDS_MAX, dev, True),
        "picture": (good, dev, False),
        "order": (good.replace("SIM_TEST(", "") + "SIM_TEST(", dev, True),
        "part": (good.replace("## Links", ""), dev, True),
        "command": (good, dev.replace("verb_run", "verb_walk"), True),
        "dark": (good.replace("dark", "light"), dev, True),
    }
    for name, (text, commands, there) in bad.items():
        assert complaints(text, commands, lambda path, there=there: there), name


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return
    source = pathlib.Path(arguments[0])
    text = (source / "README.md").read_text()
    found = complaints(text, (source / "dev").read_text(), lambda path: (source / path).exists())
    if found:
        sys.exit("\n".join(f"README.md: {each}" for each in found))
    print(f"README.md: {len(words(text))} words")


if __name__ == "__main__":
    main(sys.argv[1:])
