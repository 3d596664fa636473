# SPDX-License-Identifier: Apache-2.0
"""Subjects of commits: `area: imperative`, at most 60 columns, one topic.

Checked after the commit that `first_checked_commit` names. Without that history (a tarball, a
shallow clone) nothing can be checked.
"""

import pathlib
import re
import subprocess

SUBJECT_MAX = 60
FIRST = "tests/tidy/first_checked_commit"
AREA = re.compile(r"^([a-z0-9_.]+(?:/[a-z0-9_.]+)*(?:, [a-z0-9_.]+(?:/[a-z0-9_.]+)*)*): (\S.*)$")
# What begins a statement about things, and not an order.
NO_ORDER = frozenset(
    """a an the this that these those it its they there what who whose whom which where when why how
    each every all any some no none nobody nothing more most only one two both now and but so
    as of for with without in on""".split()
)
# Words in -s, -ed and -ing that are verbs in their plain form.
PLAIN = frozenset(
    """alias bias focus canvas
    bed embed exceed feed need proceed seed shed shred speed succeed wed weed
    bring cling fling ping ring sing sling spring sting string swing wing""".split()
)
JOINED = re.compile(r";|\band (add|delete|drop|fix|make|move|remove|rename|rewrite|say|test|use)\b")


def complaint_about(subject):
    """What is wrong with `subject`; None when nothing is."""
    if len(subject) > SUBJECT_MAX:
        return f"{len(subject)} columns; the limit is {SUBJECT_MAX}"
    parts = AREA.match(subject)
    if not parts:
        return "expected 'area: imperative', the area a folder or subsystem in lower case"
    if subject.endswith("."):
        return "a subject ends without a full stop"
    if joined := JOINED.search(parts[2]):
        return f"one topic to a commit, without '{joined[0]}'"
    verb = parts[2].split()[0].rstrip(",:")
    inflected = re.search(r"([^s]s|ed|ing)$", verb) and verb not in PLAIN
    if verb.lower() in NO_ORDER or inflected or verb[0].isupper():
        return f"'{verb}' is not an imperative"
    return None


def git(root, *arguments):
    return subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, *arguments], capture_output=True, text=True
    )


def check_subjects(root):
    """Complaints about subjects, and whether there is the history to look at."""
    first = pathlib.Path(root, FIRST).read_text(encoding="utf-8").strip()
    if git(root, "merge-base", "--is-ancestor", first, "HEAD").returncode != 0:
        return [], False
    log = git(root, "log", "--no-merges", "--format=%h %s", f"{first}..HEAD").stdout
    found = []
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if complaint := complaint_about(subject):
            found.append(f"{commit}: '{subject}': {complaint}")
    return found, True


def self_test():
    right = (
        "sim/net: resend a lost SYN",
        "runtime, sim: say 'cancelled' everywhere",
        "docs: say when to use mutex and channel",
        "sim/strategy: seed from the name",
        "core: pass errors by reference",
        "io: bring back the old limit",
        "tests: " + "x" * (SUBJECT_MAX - 7),
    )
    for subject in right:
        assert complaint_about(subject) is None, (subject, complaint_about(subject))
    wrong = {
        "tests: " + "x" * (SUBJECT_MAX - 6): "columns",
        "fix the build": "expected",
        "Core: fix the build": "expected",
        "core:fix the build": "expected",
        "core: fix the build.": "full stop",
        "core: fix timers; name draws": "one topic",
        "core: fix timers and rename draws": "one topic",
        "tests: names of nobody": "imperative",
        "tests: how strong faults are": "imperative",
        "core: fixed timers": "imperative",
        "core: fixes timers": "imperative",
        "core: renaming timers": "imperative",
        "core: Fix timers": "imperative",
        "core: the timer is late": "imperative",
    }
    for subject, part in wrong.items():
        assert part in (complaint_about(subject) or ""), (subject, complaint_about(subject))


def self_test_of_history(folder):
    """A repository of three commits, then one without history."""

    def commit(subject):
        author = ("-c", "user.name=a", "-c", "user.email=a@b")
        git(folder, *author, "commit", "--allow-empty", "-m", subject)
        return git(folder, "rev-parse", "HEAD").stdout

    git(folder, "init", "-q")
    commit("old style; nobody looks")
    named = pathlib.Path(folder, FIRST)
    named.parent.mkdir(parents=True)
    named.write_text(commit("last of the old style"), encoding="utf-8")
    assert check_subjects(folder) == ([], True)
    commit("core: rename timers")
    commit("core: the timers")
    complaints, known = check_subjects(folder)
    assert known and len(complaints) == 1 and "core: the timers" in complaints[0], complaints
    named.write_text("0" * 40 + "\n", encoding="utf-8")
    assert check_subjects(folder) == ([], False)
