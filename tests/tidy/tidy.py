#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules that a machine can check. A rule exists when this fails without it.

Usage: tidy.py ROOT        check what git tracks below ROOT
       tidy.py --self-test check that planted violations are found
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import banned
import commits

LICENCE = "SPDX-License-Identifier: Apache-2.0"
COMMENT_OF = {
    ".hpp": "// ",
    ".cpp": "// ",
    ".h": "// ",
    ".c": "// ",
    ".py": "# ",
    ".cmake": "# ",
    ".sh": "# ",
    ".yml": "# ",
    ".ts": "// ",
    ".mjs": "// ",
}
WIDTH_MAX = 100
LINES_MAX = {"header": 400, "source": 700, "test": 800}
LEFTOVER = re.compile(r"\b(FIXME|XXX|HACK|TODO)\b")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def kind_of(path):
    if path.startswith(("tests/", "properties/")) or path.endswith("_test.cpp"):
        return "test"
    return "header" if path.endswith(".hpp") else "source"


def check_source(path, lines, prefix):
    shebang = 1 if lines and lines[0].startswith("#!") else 0
    if lines[shebang : shebang + 1] != [prefix + LICENCE]:
        yield 1, f"the first line is '{prefix}{LICENCE}'"
    if path.endswith(".hpp") and "#pragma once" not in lines:
        yield 1, "a header says #pragma once"
    limit = LINES_MAX[kind_of(path)]
    if len(lines) > limit:
        yield limit + 1, f"{len(lines)} lines; a {kind_of(path)} stays within {limit}"
    for number, line in enumerate(lines, start=1):
        if len(line) > WIDTH_MAX:
            yield number, f"{len(line)} columns; the limit is {WIDTH_MAX}"
        if LEFTOVER.search(line) and path != "tests/tidy/tidy.py":
            yield number, f"'{LEFTOVER.search(line)[0]}' is left over"


def check_markdown(path, lines, exists):
    fenced, titles = False, 0
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        titles += line.startswith("# ")
        for target in LINK.findall(line):
            place = (pathlib.PurePosixPath(path).parent / target).as_posix()
            if "://" not in target and not target.startswith("mailto:") and not exists(place):
                yield number, f"the link to {target} leads nowhere"
    if titles != 1:
        yield 1, f"{titles} '# ' titles; a document has one"


def check_file(path, text, exists):
    """The violations in one file, as `path:line: what`."""
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    found = []
    if text and not text.endswith("\n"):
        found.append((len(lines), "the last line has no end"))
    found += [(n, "trailing space") for n, line in enumerate(lines, 1) if line != line.rstrip()]
    suffix = pathlib.PurePosixPath(path).suffix
    if path.endswith("CMakeLists.txt"):
        suffix = ".cmake"
    if suffix in COMMENT_OF:
        found += check_source(path, lines, COMMENT_OF[suffix])
    if suffix == ".md":
        found += check_markdown(path, lines, exists)
    found += banned.check_words(path, lines)
    return [f"{path}:{line}: {complaint}" for line, complaint in sorted(found)]


def self_test():
    licence = f"// {LICENCE}\n"
    planted = {
        "a.cpp": "int x;\n",
        "b.cpp": licence + "int x; \n",
        "c.cpp": licence + "int x;",
        "d.cpp": licence + "// " + "x" * WIDTH_MAX + "\n",
        "e.cpp": licence + "// TODO: later\n",
        "f.hpp": licence + "int x;\n",
        "g.cpp": licence + "int x;\n" * LINES_MAX["source"],
        "h.py": f"#!/usr/bin/env python3\n\n# {LICENCE}\n",
        "i.md": "no title\n",
        "j.md": "# one\n\n# two\n",
        "k.md": "# one\n[gone](docs/gone.md)\n",
        "l.md": "# one\nIt is " + "no title.\n",
        "m.cpp": licence + "/// The same.\n",
    }
    for path, text in planted.items():
        complaints = check_file(path, text, lambda place: False)
        assert len(complaints) == 1, (path, complaints)
    legal = {
        "a.hpp": licence + "#pragma once\n",
        "b.py": f"#!/usr/bin/env python3\n# {LICENCE}\n",
        "docs/c.md": "# one\n[there](../there.md#part) [web](https://x.y)\n```\n# two\n```\n",
        "CMakeLists.txt": f"# {LICENCE}\n",
        "empty": "",
        "d.cpp": licence + "// The same.\n",
    }
    for path, text in legal.items():
        complaints = check_file(path, text, lambda place: place == "docs/../there.md")
        assert not complaints, complaints
    banned.self_test()
    commits.self_test()
    with tempfile.TemporaryDirectory() as folder:
        commits.self_test_of_history(folder)


def tracked_files(root):
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"],
        check=True,
        capture_output=True,
        text=True,
    )
    paths = [path for path in listing.stdout.split("\0") if path]
    return [path for path in paths if (root / path).is_file() and not path.endswith(".patch")]


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 1
    root = pathlib.Path(arguments[0])
    if not (root / ".git").exists():
        print("tidy: not a git checkout, so nothing is tracked")
        return 0
    complaints = []
    for path in tracked_files(root):
        if path.startswith("fuzz/corpus/") or path.endswith(".png"):
            continue  # Any bytes.
        text = (root / path).read_text(encoding="utf-8")
        complaints += check_file(path, text, lambda place: (root / place).exists())
    about_commits, known = commits.check_subjects(root)
    complaints += about_commits
    if not known:
        print("tidy: no history back to the first checked commit, so no subject is checked")
    print("\n".join(complaints + [f"tidy: {len(complaints)} violations"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
