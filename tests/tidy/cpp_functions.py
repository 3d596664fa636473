# SPDX-License-Identifier: Apache-2.0
"""The functions that a C++ source defines, found by its braces: good to a few percent."""

import re

# Comments, literals and directives: none of their braces count.
NOISE = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*" | (?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'
      | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
SCOPE = re.compile(r"^\s*(?:inline\s+)?(?:extern\b|namespace\b|enum\b|class\b|struct\b|union\b)")
SCOPE_NAME = re.compile(
    r"\b(?:class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+(?:<[^{]*?>)?(?:::\w+)*)"
)
# What may stand between the parameters of a function and its body.
QUALIFIERS = re.compile(
    r"^(?:\s|const\b|volatile\b|noexcept\b(?:\s*\([^{}]*\))?|override\b|final\b|mutable\b|try\b"
    r"|&&?|->[^;={}]*|requires\b[^;={}]*)*$",
    re.DOTALL,
)
NO_FUNCTIONS = ("explicit", "decltype", "alignas", "requires", "noexcept", "__attribute__")


def blanked(text):
    """`text` with its comments, literals and directives blank; as long, and in as many lines."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_strings(found):
    return found[0] if found[0][0] in "\"'R" else re.sub(r"[^\n]", " ", found[0])


def without_comments(text):
    """As blanked(), but literals stay."""
    return NOISE.sub(without_strings, text)


def closing(text, start, pair="{}"):
    """Where what opens at `start` closes."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if depth == 0:
            return place
    return len(text)


def without_template(head):
    """`head` without the `template <...>` before it."""
    while found := re.match(r"\s*template\s*<", head):
        head = head[closing(head, found.end() - 1, "<>") + 1 :]
    return head


def parameters_of(head):
    """Where the parameters of the function that `head` declares begin; None without any."""
    place = 0
    while (place := head.find("(", place)) >= 0:
        before = head[:place].rstrip()
        if before.endswith("operator"):
            return head.find("(", place + 1)
        word = re.search(r"\w*$", before)[0]
        if word not in NO_FUNCTIONS and (word or re.search(r"operator\W+$|operator.*>$", before)):
            return place
        place = closing(head, place, "()") + 1
    return None


def name_in(head):
    """The name that `head` declares, with the classes before it: "Channel::close"."""
    head = without_template(ATTRIBUTE.sub(" ", ACCESS.sub(" ", head)))
    place = parameters_of(head)
    if place is None:
        return ""
    before = head[:place].rstrip()
    found = re.search(r"((?:\w+(?:<[^<>]*>)?\s*::\s*)*(?:operator\s*[^\s\w]+|operator\s.*|~?\w+))$",
                      before)
    return re.sub(r"<[^<>]*>|\s", "", found[1]) if found else ""


def kind_of(head):
    """What a brace after `head` opens: "scope", "function", "initializer", or "" for other data."""
    head = without_template(ATTRIBUTE.sub(" ", ACCESS.sub(" ", head)))
    place = parameters_of(head)
    if place is not None and not re.search(r"(?<![=!<>])=(?!=)", head[:place].split("operator")[0]):
        rest = head[closing(head, place, "()") + 1 :]
        if QUALIFIERS.match(rest):
            return "function"
        colon = re.search(r"(?<!:):(?!:)", rest)
        if colon and QUALIFIERS.match(rest[: colon.start()]) and not SCOPE.match(head):
            return "initializer" if re.search(r"[\w>]\s*$", rest) else "function"
    return "scope" if SCOPE.match(head) else ""


class Function:
    """A definition: its name with its classes, and where its head and its body are."""

    def __init__(self, name, head, start, end):
        self.name, self.head, self.start, self.end = name, head, start, end


def functions_of(text):
    """The definitions in `text`, which is blank where there is no code; no lambdas."""
    found, scopes, place, head = [], [], 0, 0
    while place < len(text):
        character = text[place]
        if character == "(":
            place = closing(text, place, "()")
        elif character == ";":
            head = place + 1
        elif character == "}":
            if scopes:
                scopes.pop()
            head = place + 1
        elif character == "{":
            kind = kind_of(text[head:place])
            if kind == "scope":
                name = SCOPE_NAME.search(without_template(text[head:place]))
                scopes.append(re.sub(r"<.*", "", name[1]) if name else "")
                head = place + 1
            else:
                end = closing(text, place)
                if kind == "function":
                    names = [*scopes, name_in(text[head:place])]
                    name = "::".join(each for each in names if each)
                    found.append(Function(name, head, place, end))
                    head = end + 1
                place = end
        place += 1
    return found


def scope_at(text, place):
    """The classes around `place`."""
    scopes, head = [], 0
    for index in re.finditer(r"[;{}]", text[:place]):
        if index[0] == "{":
            name = SCOPE_NAME.search(without_template(text[head : index.start()]))
            is_scope = kind_of(text[head : index.start()]) == "scope"
            scopes.append(re.sub(r"<.*", "", name[1]) if name and is_scope else "")
        elif index[0] == "}" and scopes:
            scopes.pop()
        head = index.end()
    return "::".join(each for each in scopes if each)
