# SPDX-License-Identifier: Apache-2.0
"""The small changes that a C++ source allows: what `./dev mutate` draws from.

Five kinds: a condition is turned or its bound moved, a constant is another one, a statement is
gone, a function returns early, two arguments stand in the wrong order. Each stays within its lines,
so that what the compiler makes of the rest is the same. Assertions, probes, texts that are
formatted, and what only reserves memory are left as they are: to change them is not a mistake of
the program. Found by patterns, not by a parser: what makes no sense does not compile.
"""

import hashlib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tidy"))

import cpp_functions as cpp  # noqa: E402

KINDS = ("condition", "constant", "removed", "returned", "swapped")
# What is left as it is, with all its arguments.
LEFT_OUT = re.compile(
    r"\b(?:FERMATA_\w+|static_assert|alignas|if constexpr|fmt::format(?:_to)?|fmt::print"
    r"|__builtin_\w+|reserve)\s*(\()")
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
          "||": "&&"}
OPERATOR = re.compile(r" (<=?|>=?|==|!=|&&|\|\|)(?=[ \n])")
LOOP = re.compile(r"\bfor\s*(\()")
CONDITION = re.compile(r"\b(?:if|while)\s*(\()")
NEGATION = re.compile(r"(?<![\w)])!(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)((?:[a-wyz]\w*)?)(?![\w.'])")
TRUTH = re.compile(r"\b(?:true|false)\b")
NAMED_CONSTANT = re.compile(
    r"^[^\S\n]*(?:inline |static )*constexpr [^=;{}()]*\b(k[A-Z]\w*) = ", re.M)
# What precedes a statement that is the only one of its branch or the first of its case.
BEFORE_STATEMENT = re.compile(
    r"\s*(?:else\b|do\b|case\b[^;{}?]*?(?<!:):(?!:)|default\s*:|\[\[\w+\]\]"
    r"|(?:public|private|protected)\s*:(?!:))")
HEADED = re.compile(r"\s*(?:if|for|while|switch)\b(?:\s*constexpr\b)?\s*(\()")
NO_ACTION = re.compile(
    r"(?:return|using|goto|struct|class|enum|union|const|constexpr|auto|static|typedef|friend"
    r"|FERMATA_\w+|static_assert|static_cast<void>|template|namespace|if|for|while|switch|case)\b")
DECLARATION = re.compile(r"[\w:]+(?:<[^;]*?>)?(?:::\w+)*[&*]*\s+[&*]*\w+|[\w:]+<[^;=()]*>[&*]* \w+")
ACTION = re.compile(r"(?:throw|delete)\b|(?:break|continue|return);")
EFFECT = re.compile(r"[=(]|\+\+|--")
RESERVES = re.compile(r"\b(?:reserve|shrink_to_fit|prefetch)\(")
CALL = re.compile(r"(?<!\[)\b([A-Za-z_]\w*)(\()")
NO_CALL = {"if", "while", "for", "switch", "return", "sizeof", "catch", "decltype", "noexcept",
           "min", "max", "swap", "static_assert"}
SIMPLE = re.compile(r"[\w.:*&<>()\-]+")
# Arguments whose types nothing else has: to swap one does not compile.
OF_ITS_OWN_TYPE = re.compile(
    r"place|options|\*this|this|nullptr|true|false|std::move\(.*|.*::[A-Z]\w*")


class Mutant:
    """A change of one place of a file."""

    def __init__(self, source, function, kind, place, replacement):
        self.path, self.function, self.kind = source.path, function, kind
        start, end = place
        text = source.text
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        self.line = text.count("\n", 0, start) + 1
        self.start, self.end, self.replacement = start, end, replacement
        self.before = " ".join(text[first:last].split())
        self.after = " ".join((text[first:start] + replacement + text[end:last]).split())
        self.nth = 1  # Among those that read the same.

    def key(self):
        return (f"{self.path} {self.function} {self.kind}: {self.before} -> {self.after} "
                f"{self.nth}")

    def id(self):
        return hashlib.sha256(self.key().encode()).hexdigest()[:12]

    def applied_to(self, text):
        return text[: self.start] + self.replacement + text[self.end :]

    def shown(self):
        return (f"{self.path}:{self.line}: {self.kind} in {self.function}\n"
                f"    - {self.before}\n    + {self.after}")


def arguments_at(code, opening):
    """(start, end) of each argument of the call whose parenthesis is at `opening`."""
    place, depth, start = opening + 1, 0, opening + 1
    end = cpp.closing(code, opening, "()")
    while place < end:
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if code[place] == "," and depth == 0:
            yield start, place
            start = place + 1
        place += 1
    yield start, end


def opening(code, end):
    """Where what closes at `end` opens."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (code[place] in ")]}") - (code[place] in "([{")
        if depth == 0:
            return place
    return 0


def statement_start(code, end, least):
    """Where the statement that ends at the `;` at `end` starts."""
    place = end - 1
    while place > least:
        character = code[place]
        if character in ")]":
            place = opening(code, place)
        elif character == "}":
            following = code[place + 1 : end + 1].lstrip()
            if following[0] not in ";.)],":
                return place + 1
            place = opening(code, place)
        elif character in ";{":
            return place + 1
        place -= 1
    return place + 1


def without_heads(code, start, end):
    """Where the statement itself starts, behind what decides whether it runs."""
    while True:
        if found := BEFORE_STATEMENT.match(code, start, end):
            start = found.end()
        elif found := HEADED.match(code, start, end):
            start = cpp.closing(code, found.start(1), "()") + 1
        else:
            return start + len(code[start:end]) - len(code[start:end].lstrip())


class Source:
    """A file, and the mutants that it allows."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.code = re.sub(r"\[\[[^\]]*\]\]", lambda found: " " * len(found[0]),
                           cpp.blanked(text))
        self.literal = cpp.without_comments(text)
        self.left_out = [(found.start(), cpp.closing(self.code, found.start(1), "()"))
                         for found in LEFT_OUT.finditer(self.code)]
        self.functions = cpp.functions_of(self.code)

    def mutants(self):
        found = []
        for function in self.functions:
            for kind, start, end, replacement in self.changes_of(function):
                if not self.is_left_out(start):
                    found.append(Mutant(self, function.name, kind, (start, end), replacement))
        inside = [(each.head, each.end) for each in self.functions]
        for named in NAMED_CONSTANT.finditer(self.code):
            if any(start <= named.start() < end for start, end in inside):
                continue
            stop = self.code.find(";", named.end())
            for start, end, replacement in self.other_constants(named.end(), stop):
                found.append(Mutant(self, named[1], "constant", (start, end), replacement))
        found.sort(key=lambda each: (each.start, each.end))
        alike = {}
        for each in found:
            alike[each.key()] = each.nth = alike.get(each.key(), 0) + 1
        return found

    def is_left_out(self, place):
        return any(start <= place <= end for start, end in self.left_out)

    def changes_of(self, function):
        start, end = function.start, function.end
        for change in self.other_conditions(start, end):
            yield "condition", *change
        for change in self.other_constants(start, end):
            yield "constant", *change
        for change in self.removed_statements(start, end):
            yield "removed", *change
        for change in self.early_returns(function):
            yield "returned", *change
        for change in self.swapped_arguments(start, end):
            yield "swapped", *change

    def other_conditions(self, start, end):
        negated = set()
        for found in OPERATOR.finditer(self.code, start, end):
            yield found.start(1), found.end(1), TURNED[found[1]]
        for found in CONDITION.finditer(self.code, start, end):
            first, last = found.end(1), cpp.closing(self.code, found.start(1), "()")
            condition = self.code[first:last]
            if OPERATOR.search(condition) or re.search(r"[;\n]|(?<![=!<>])=(?!=)", condition):
                continue
            if condition.startswith("!"):
                continue
            negated.add(first)
            yield first, last, f"!({self.text[first:last]})"
        for found in NEGATION.finditer(self.code, start, end):
            yield found.start(), found.end(), ""

    def other_constants(self, start, end):
        for found in NUMBER.finditer(self.code, start, end):
            number = int(found[1].replace("'", "")) if found[1] == "0" or found[1][0] != "0" else -1
            if number >= 0:
                yield found.start(1), found.end(1), str(number + 1)
        for found in TRUTH.finditer(self.code, start, end):
            yield found.start(), found.end(), "false" if found[0] == "true" else "true"

    def removed_statements(self, start, end):
        in_heads = set(self.ends_in_heads(start, end))
        for found in re.finditer(";", self.code[start:end]):
            stop = start + found.start()
            if stop in in_heads:
                continue
            first = statement_start(self.code, stop, start)
            first = without_heads(self.code, first, stop)
            statement = self.code[first : stop + 1]
            if self.is_action(statement):
                yield first, stop, "\n" * statement.count("\n")

    def ends_in_heads(self, start, end):
        """Each `;` in the head of a `for`, but for those of lambdas."""
        for found in LOOP.finditer(self.code, start, end):
            depth = 0
            for place in range(found.end(), cpp.closing(self.code, found.start(1), "()")):
                depth += (self.code[place] == "{") - (self.code[place] == "}")
                if self.code[place] == ";" and depth == 0:
                    yield place

    @staticmethod
    def is_action(statement):
        """Whether it does something, and names nothing that others need."""
        if ACTION.match(statement):
            return True
        if NO_ACTION.match(statement) or DECLARATION.match(statement):
            return False
        return bool(EFFECT.search(statement)) and not RESERVES.search(statement)

    def early_returns(self, function):
        early = self.early_return_of(function)
        if not early:
            return
        starts, place = [], function.start + 1
        while place < function.end:
            character = self.code[place]
            if not character.isspace():
                starts.append(place)
                place = self.statement_end(place, function.end)
            place += 1
        for start in starts[1:-1]:
            if not re.match(r"return\b|\}|FERMATA_", self.code[start:]):
                yield start, start, early

    def statement_end(self, place, end):
        """The last character of the statement at `place`, with the branches that belong to it."""
        while place < end:
            character = self.code[place]
            if character in "([":
                place = cpp.closing(self.code, place, "()" if character == "(" else "[]")
            elif character == "{":
                place = cpp.closing(self.code, place)
                following = self.code[place + 1 : end].lstrip()
                if not re.match(r"[;.,)(]|else\b|catch\b|while\b", following):
                    return place
            elif character == ";" and not re.match(r"\s*else\b", self.code[place + 1 : end]):
                return place
            place += 1
        return place

    def early_return_of(self, function):
        """What returns from it at once; empty where nothing can be made up."""
        head = self.code[function.head : function.start]
        head = cpp.without_template(cpp.ACCESS.sub(" ", head))
        parameters = cpp.parameters_of(head)
        if parameters is None or "noreturn" in self.text[function.head : function.start]:
            return ""
        name = re.escape(function.name.split("::")[-1])
        result = re.sub(rf"(?:[\w<>]+::)*{name}\s*$", "", head[:parameters].rstrip())
        result = re.sub(r"\b(?:inline|static|virtual|explicit|constexpr|friend)\b", "", result)
        result = result.strip()
        if result in ("", "void"):
            return "return; "
        return "" if re.search(r"[&]$|\bauto\b|\boperator\b", result) else "return {}; "

    def swapped_arguments(self, start, end):
        for found in CALL.finditer(self.code, start, end):
            if found[1] in NO_CALL:
                continue
            places = list(arguments_at(self.literal, found.start(2)))
            for (a, b), (c, d) in zip(places, places[1:]):
                left, right = self.text[a:b], self.text[c:d]
                if left.strip() == right.strip() or "\n" in left.strip() + right:
                    continue
                pair = (left.strip(), right.strip())
                if any(map(OF_ITS_OWN_TYPE.fullmatch, pair)):
                    continue
                if all(map(SIMPLE.fullmatch, pair)):
                    a += len(left) - len(left.lstrip())
                    gap = self.text[b : d - len(right.lstrip())]
                    yield a, d, right.strip() + gap + left.strip()


def draw(mutants, seed):
    """All of them in the order that `seed` draws: the kinds by turns, as long as there are any."""
    def rank(mutant):
        return hashlib.sha256(f"{seed} {mutant.key()}".encode()).hexdigest()

    lines = {kind: sorted((each for each in mutants if each.kind == kind), key=rank, reverse=True)
             for kind in KINDS}
    order = []
    while any(lines.values()):
        order += [line.pop() for line in lines.values() if line]
    return order


SPECIMEN = """
constexpr int kLimit = 3;
int Ring::pop(int wanted, int least) {
  FERMATA_ASSERT(size_ > 1);
  std::vector<int> taken;
  taken.reserve(3);
  if (closed_) return 0;
  for (int i = 1; i < wanted; ++i) taken.push_back(i);
  queue_.each([&] { --size_; });
  take(wanted, least);
  throw misuse(fmt::format("{} of {}", wanted, 7));
}
void Ring::wake() {
  // if (a < b) none();
  if (idle_) {
    notify("a < b");
  } else {
    rest();
  }
  count_ += 1;
}
"""


def self_test():
    found = [f"{each.kind} {each.after}" for each in Source("a.cpp", SPECIMEN).mutants()]
    expected = [
        "constant constexpr int kLimit = 4;",
        "condition if (!(closed_)) return 0;",
        "constant if (closed_) return 1;",
        "condition for (int i = 1; i <= wanted; ++i) taken.push_back(i);",
        "constant for (int i = 2; i < wanted; ++i) taken.push_back(i);",
        "removed for (int i = 1; i < wanted; ++i) ;",
        "removed ;",
        "removed queue_.each([&] { ; });",
        "removed ;",
        "swapped take(least, wanted);",
        "removed ;",
        "condition if (!(idle_)) {",
        "removed ;",
        "removed ;",
        "constant count_ += 2;",
        "removed ;",
    ]
    missing = [each for each in expected if each not in found]
    assert not missing, (missing, found)
    returned = [each for each in found if each.startswith("returned")]
    assert all("return {}; " in each or "return; " in each for each in returned), returned
    assert len(found) == len(expected) + len(returned), (found, expected)
