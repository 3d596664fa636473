# SPDX-License-Identifier: Apache-2.0
"""What no text of the tree says: riddles, dangling sentences, a second spelling.

Each row is exact, and has a text that it hits and one close by that is right.
"""

import pathlib
import re
from dataclasses import dataclass

# Not written by hand, or bytes of any kind, or this list itself.
UNREAD = ("fuzz/corpus/", "sim/fermata/sim/report/web/dist/", "tests/tidy/banned.py")
UNREAD_SUFFIXES = (".patch", ".lock", ".svg")


@dataclass(frozen=True)
class Row:
    where: str  # "text": any line; "name": the same, but the changelog may say what is renamed;
    #             "doc": the first line of a `///` comment, without the slashes.
    pattern: str
    instead: str
    hit: str
    passes: str


NEGATED = (
    r"(?i)(?<!there )\b(is|are|was|were) no (?=\w)"
    r"(?!(longer|more|less|fewer|later|earlier|greater|smaller|better|worse|different)\b)"
)


def opening(words, instead, hit, passes):
    return Row("doc", rf"^{words}\b", instead, hit, passes)


ROWS = (
    Row("text", NEGATED, "'is not a ...', in messages 'is not a valid ...'",
        "'soon' is no span of time", "there is no span of time"),
    Row("text", NEGATED, "'is not a ...', in messages 'is not a valid ...'",
        "an address is no group,", "the answer is no, and it is no longer open"),
    Row("text", r"\b(that|this|it|which|what|who) (is|are|was) none\b",
        "name the thing: 'when it is not a number'",
        "a time that is none is an error", "empty when there is none"),
    Row("text", r"(?i)\b(none|nobody|nothing|not|no \w+) any more\b", "'no longer'",
        "it runs nothing any more", "it does not wait for any more values"),
    Row("text", r"(?i)\bwho(se|m)?soever\b|\bwhosever\b", "name who it is",
        "whosever it is", "whoever asked is told"),
    Row("name", r"(?i)long_way\b|\blong way\b", "'slow path'",
        "void yield_the_long_way();", "void yield_slow_path();  // The way is long."),
    Row("text", r"(?i)tidings|\bbefell\b|\bbefall|HasWhatBefell", "'happened', 'incident'",
        "what befell the machine", "what happened to the machine"),
    Row("name", r"(?i)(?<![a-z])knock(s|ed|_|\b)", "'SYN', 'connection request'",
        "void knock_again();", "void send_syn();  // Unknocked."),
    Row("name", r"into_the_void|sent_after_all|as_not_safely|watch_no_more|watch_closely",
        "a name that says what happens",
        "runner.watch_closely();", "runner.set_recording(true);"),
    Row("name", r"\bLastWords\b|\bAutopsy\b|\bAftermath\b", "CrashReporter, FailurePipeline",
        "class Autopsy;", "class CrashReproducer;"),
    Row("name", r"(?<![Oo]peration[_ ])[Cc]anceled", "'cancelled'",
        "the run was canceled", "ECANCELED, std::errc::operation_canceled, Operation canceled"),
    Row("text", r"\b[Bb]ehaviors?\b", "'behaviour'",
        "a new behavior", "UndefinedBehaviorSanitizer, a new behaviour"),
    Row("text", r"\bfor ever\b", "'forever'", "it waits for ever", "the best for everyone"),
    opening("The same", "a sentence that stands alone in a hover",
            "The same, for one of several.", "The sample to draw."),
    opening("As", "a sentence that stands alone in a hover",
            "As X(), of one that rests.", "Asks each waiter."),
    opening("Of", "a sentence that stands alone in a hover",
            "Of whom a grant would wake.", "Offers the value."),
    opening("(And|Or|But|So|Since|Also|Likewise)", "a sentence that stands alone in a hover",
            "And from now on they do not.", "Sorts and drops."),
    opening("(Whose|Whoever|Whosever)", "name the thing first",
            "Whose duty it is.", "Who must satisfy it: program or test."),
    opening("(Those|That)", "name the thing first",
            "Those of them that run.", "Coroutines that run."),
    opening("The other way", "say what it does",
            "The other way. Throws UsageError.", "Reads what json_of() wrote."),
)


def is_read(path):
    return not path.startswith(UNREAD) and not path.endswith(UNREAD_SUFFIXES)


def continued(line, following):
    """`line` and the words that go on in `following`, without the marks of a comment or a text."""
    body = line.rstrip().removesuffix('"').rstrip()
    return body + " " + re.sub(r'^\s*(///?|#|\*|")?\s*', "", following)


def hits_of(row, lines):
    """Numbers of the lines where `row` begins to hit."""
    pattern = re.compile(row.pattern)
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        if row.where != "doc":
            text, limit = continued(line, following), len(line)
        else:
            before = lines[number - 2].strip() if number > 1 else ""
            comment = re.match(r"\s*///(?!/) ?(.*)", line)
            if not comment or before.startswith("///"):
                continue
            text, limit = comment[1], len(line)
        if any(found.start() < limit for found in pattern.finditer(text)):
            yield number


def check_words(path, lines):
    if not is_read(path):
        return
    said = set()
    for row in ROWS:
        if row.where == "doc" and pathlib.PurePosixPath(path).suffix not in (".hpp", ".cpp", ".h"):
            continue
        if row.where == "name" and path == "CHANGELOG.md":
            continue
        for number in hits_of(row, lines):
            if (number, row.instead) not in said:
                said.add((number, row.instead))
                yield number, f"/{row.pattern}/ is banned; write {row.instead}"


def self_test():
    for row in ROWS:
        slashes = "/// " if row.where == "doc" else ""
        assert list(hits_of(row, [slashes + row.hit])) == [1], row
        assert not list(hits_of(row, [slashes + row.passes])), row
        if row.where == "doc":  # Only a comment's first line.
            assert not list(hits_of(row, ["/// First.", slashes + row.hit])), row
    negated = ROWS[0]
    assert list(hits_of(negated, ["// which is", "// no number"])) == [1]
    assert list(hits_of(negated, ['"{} is "', '"no number"'])) == [1]
    assert not list(hits_of(negated, ["// there is", "// no number"]))
    assert not list(check_words("fuzz/corpus/a", ["it is no number"]))
    assert len(list(check_words("a.md", ["it is no number"]))) == 1
    assert len(list(check_words("a.md", ["as_not_safely()"]))) == 1
    assert not list(check_words("CHANGELOG.md", ["as_not_safely()"]))
