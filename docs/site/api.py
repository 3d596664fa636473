# SPDX-License-Identifier: Apache-2.0
"""The API reference: one page for each header that users include.

Doxygen parses the headers; what it writes as XML becomes a page with the comment at the top of the
header and each public declaration with its doc comment. Names in declarations are links. A header
that users do not include gets a page when one that they include uses a name from it.
"""

import html
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import headers

HIDDEN = re.compile(r"(^|::)(detail|backend|internal)(::|$)|^std(::|$)|@")
KINDS = {"class": "class", "struct": "struct", "union": "union"}
DOXYGEN = """
INPUT={root}/runtime/fermata {root}/sim/fermata
STRIP_FROM_PATH={root}/runtime {root}/sim
OUTPUT_DIRECTORY={out}
FILE_PATTERNS=*.hpp
RECURSIVE=YES
EXCLUDE_PATTERNS=*/node_modules/*
GENERATE_HTML=NO
GENERATE_LATEX=NO
GENERATE_XML=YES
XML_PROGRAMLISTING=NO
QUIET=YES
WARNINGS=NO
HAVE_DOT=NO
EXTRACT_ALL=YES
AUTOLINK_SUPPORT=NO
SORT_MEMBER_DOCS=NO
"""


def slug(header):
    return header.removeprefix("fermata/").removesuffix(".hpp").replace("/", "_")


def short(name):
    return re.sub(r"^fermata::", "", re.sub(r"<.*", "", name))


class Entity:
    """A class or a member of a namespace, as Doxygen has found it."""

    def __init__(self, element, name):
        self.element, self.name = element, name
        self.id = element.get("id")
        self.header = element.find("location").get("file")
        self.line = int(element.find("location").get("line"))
        self.hidden = bool(HIDDEN.search(name))

    def public_members(self):
        for section in self.element.findall("sectiondef"):
            for member in section.findall("memberdef"):
                if member.get("prot") == "public" and member.get("kind") != "friend":
                    yield member

    def public_bases(self):
        return [base for base in self.element.findall("basecompoundref")
                if base.get("prot") == "public"]


class Model:
    """All that Doxygen has found, and which of it is on which page."""

    def __init__(self, root, folder):
        self.root = root
        self.entities, self.members = {}, {}
        for file in sorted(folder.glob("*.xml")):
            compound = ElementTree.parse(file).getroot().find("compounddef")
            if compound is not None:
                self.add(compound)
        self.listed = headers.user_headers(root)
        self.pages = self.reachable()

    def add(self, compound):
        kind, name = compound.get("kind"), compound.findtext("compoundname")
        if kind in KINDS and compound.get("prot", "public") == "public":
            self.entities[compound.get("id")] = Entity(compound, name)
        elif kind in ("namespace", "file"):
            for member in compound.iter("memberdef"):
                if (kind == "file") == (member.get("kind") == "define"):
                    full = member.findtext("name")
                    full = full if kind == "file" else f"{name}::{full}"
                    self.entities[member.get("id")] = Entity(member, full)

    def preamble(self, header):
        """What the comment at the top of `header` says."""
        return headers.blocks(headers.preamble(headers.path_of(self.root, header).read_text()))

    def shown_in(self, header):
        """What is public in `header`, in its order; classes within classes come after these."""
        return sorted((each for each in self.entities.values()
                       if each.header == header and self.is_shown(each)),
                      key=lambda each: each.line)

    @staticmethod
    def is_shown(entity):
        if entity.hidden:
            return False
        if entity.element.get("kind") == "define":
            return re.match(r"(FERMATA|SIM)_(?!DETAIL_|REGISTER_)", entity.name) is not None
        if "->" in (entity.element.findtext("argsstring") or "") and \
                not entity.element.findtext("type"):
            return False  # A deduction guide.
        if entity.name.startswith("fermata::backend::"):
            return False  # For those who write reactors, drivers and checkers.
        return entity.name.startswith("fermata::") and "operator" not in entity.name

    def reachable(self):
        """Pages: the headers that users include, and those that declare a name used in these."""
        pages = list(self.listed)
        for header in self.listed:
            for entity in self.shown_in(header):
                for identity in referenced(entity):
                    target = self.entities.get(identity)
                    if target and self.is_shown(target) and target.header not in pages:
                        pages.append(target.header)
        return pages


def referenced(entity):
    """What the declarations of `entity` name."""
    parts = list(entity.public_bases())
    members = ([entity.element] if entity.element.tag == "memberdef"
               else list(entity.public_members()))
    for member in members:
        parts += [each for tag in ("type", "param") for each in member.findall(tag)]
    for part in parts:
        if part.get("refid"):
            yield part.get("refid")
        for reference in part.iter("ref"):
            yield reference.get("refid")


def plain_code(element):
    return "" if element is None else "".join(element.itertext())


def plain(element):
    return "".join("".join(part.itertext()) for tag in ("briefdescription", "detaileddescription")
                   for part in element.findall(tag)).strip()


class Writer:
    """Makes the text of pages."""

    def __init__(self, model):
        self.model = model
        self.targets = {}  # Identity of Doxygen -> page#anchor.
        for header in model.pages:
            used = {}
            for entity in model.shown_in(header):
                anchor = re.sub(r"[^A-Za-z0-9_.]+", ".", short(entity.name)).strip(".")
                used[anchor] = used.get(anchor, 0) + 1
                if used[anchor] > 1:
                    anchor += f"-{used[anchor]}"
                self.targets[entity.id] = (header, anchor)

    def link(self, identity, text, page):
        target = self.targets.get(identity)
        if target is None:  # A member of a class is on the class's page.
            target = self.targets.get(re.sub(r"_1[a-z0-9]{33,}$", "", identity))
        if target is None:
            return html.escape(text)
        file = "" if target[0] == page else slug(target[0]) + ".html"
        return f'<a href="{file}#{target[1]}">{html.escape(text)}</a>'

    def code(self, element, page):
        """A type or an expression, with links."""
        if element is None:
            return ""
        text = html.escape(element.text or "")
        for child in element:
            text += self.link(child.get("refid", ""), "".join(child.itertext()), page)
            text += html.escape(child.tail or "")
        return text.replace("&lt; ", "&lt;").replace(" &gt;", "&gt;").replace(" &amp;", "&amp;")

    def prose(self, element, page):
        """A description: paragraphs, code, lists."""
        tags = {"para": "p", "computeroutput": "code", "itemizedlist": "ul", "orderedlist": "ol",
                "listitem": "li", "emphasis": "em", "bold": "strong", "verbatim": "pre",
                "programlisting": "pre", "codeline": None, "highlight": None}
        text = html.escape(element.text or "")
        for child in element:
            if child.tag == "sp":
                text += " "
            elif child.tag == "ref":
                text += self.link(child.get("refid"), "".join(child.itertext()), page)
            else:
                tag = tags.get(child.tag)
                inner = self.prose(child, page)
                if child.tag == "codeline":
                    inner += "\n"
                text += f"<{tag}>{inner}</{tag}>" if tag else inner
            text += html.escape(child.tail or "")
        return text

    def doc(self, element, page):
        text = "".join(self.prose(element.find(tag), page)
                       for tag in ("briefdescription", "detaileddescription")
                       if element.find(tag) is not None)
        return re.sub(r"\s*\n\s*", " ", text).strip() if "<pre>" not in text else text

    def template(self, element, page):
        parameters = element.find("templateparamlist")
        if parameters is None:
            return ""
        each = [" ".join(filter(None, [self.code(p.find("type"), page), p.findtext("declname")]))
                for p in parameters.findall("param")]
        text = f"template &lt;{', '.join(each)}&gt;\n"
        clause = element.find("requiresclause")
        if clause is not None:
            text += f"  requires {self.code(clause, page).strip()}\n"
        return text

    def parameters(self, member, page):
        found = []
        for each in member.findall("param"):
            if plain_code(each.find("defval")).endswith("SourcePlace::current()"):
                continue  # The caller's place, which the compiler fills in.
            text = self.code(each.find("type"), page)
            name = each.findtext("declname") or ""
            array = each.findtext("array") or ""
            if text.endswith(array) and "(" in array:  # A function or an array, around its name.
                text, name, array = text + array, name, ""
            value = each.find("defval")
            text = f"{text} {name}".strip() + html.escape(array)
            found.append(text + (f" = {self.code(value, page)}" if value is not None else ""))
        return ", ".join(found)

    def signature(self, member, page):
        kind, name = member.get("kind"), member.findtext("name")
        kind_of_value = self.code(member.find("type"), page)
        if kind == "define":
            names = [each.findtext("defname") or "..." for each in member.findall("param")]
            return html.escape(name + (f"({', '.join(names)})" if names else ""))
        if kind == "typedef":
            return f"using {name} = {kind_of_value};"
        if kind == "enum":
            values = "".join(
                f"  {value.findtext('name')},{self.remark(value, page)}\n"
                for value in member.findall("enumvalue"))
            strong = "class " if member.get("strong") == "yes" else ""
            return f"enum {strong}{name} {{\n{values}}};"
        if kind == "concept":
            return f"concept {name}"
        before = "static " if member.get("static") == "yes" else ""
        before += "virtual " if member.get("virt", "").endswith("virtual") and \
            member.get("virt") != "non-virtual" else ""
        before += "explicit " if member.get("explicit") == "yes" else ""
        declared = f"{before}{kind_of_value} {name}".strip() if kind_of_value else before + name
        if kind == "variable":
            value = member.findtext("initializer") or ""
            value = html.escape(value) if len(value) < 60 and "\n" not in value else ""
            if value and not value.startswith("="):
                value = value if value.startswith("{") else f" {value}"
            return declared + (f" {value}" if value.startswith("=") else value) + ";"
        rest = re.sub(r"^.*\)", "", member.findtext("argsstring") or "", flags=re.S)
        rest = re.sub(r"\s*=\s*(default|0)$", r" = \1", rest)
        text = f"{declared}({self.parameters(member, page)}){html.escape(rest)};"
        return self.template(member, page) + text

    def remark(self, value, page):
        text = plain(value)
        return f"  // {html.escape(' '.join(text.split()))}" if text else ""

    def member(self, member, page):
        declared = wrapped(self.signature(member, page))
        return (f'<div class="api-member"><pre class="api"><code>{declared}</code></pre>'
                f"{self.doc(member, page)}</div>\n")

    def members_of(self, entity, page, inherited=False):
        """Those of the class, and those that it has from bases without a page of their own."""
        text, own = "", entity.name.rpartition("::")[2]
        for member in entity.public_members():
            name = member.findtext("name")
            rest = member.findtext("argsstring") or ""
            if rest.endswith("=delete") or (name.startswith("~") and not plain(member)):
                continue
            if inherited and name.removeprefix("~") == own:
                continue
            if HIDDEN.search(name) or name.startswith("operator=") and not plain(member):
                continue
            text += self.member(member, page)
        for base in entity.public_bases():
            hidden = self.model.entities.get(base.get("refid") or "")
            if hidden and hidden.id not in self.targets:
                text += self.members_of(hidden, page, inherited=True)
        return text

    def entity(self, entity, page):
        anchor = self.targets[entity.id][1]
        title = short(entity.name)
        nested = entity.element.tag == "memberdef"
        kind = entity.element.get("kind")
        text = f"\n## {title} {{ #{anchor} }}\n\n"
        if nested:
            return text + self.member(entity.element, page)
        bases = [self.code_of_base(base, page) for base in entity.public_bases()
                 if not HIDDEN.search("".join(base.itertext()))]
        head = self.template(entity.element, page) + f"{KINDS[kind]} {html.escape(title)}"
        if entity.element.get("final") == "yes":
            head += " final"
        if bases:
            head += " : " + ", ".join(bases)
        text += f'<pre class="api"><code>{head};</code></pre>\n{self.doc(entity.element, page)}\n\n'
        return text + self.members_of(entity, page)

    def code_of_base(self, base, page):
        return "public " + self.link(base.get("refid") or "", "".join(base.itertext()), page)

    def page(self, header):
        model = self.model
        library, include = model.listed.get(header, (None, None))
        parts = model.preamble(header)
        text = f"# {header}\n\n"
        text += "".join(markdown(part) for part in parts if part[0] != "key")
        keys = [part for part in parts if part[0] == "key"]
        if keys:
            text += '<table class="api-keys"><tbody>\n' + "".join(
                f"<tr><th>{html.escape(key)}</th><td>{keyed(key, value)}</td></tr>\n"
                for _, key, value in keys) + "</tbody></table>\n\n"
        if include:
            text += f"Include `<{include}>`; link `fermata::{library}`.\n"
        else:
            text += "Comes with the headers that use it; no program has to include it.\n"
        for entity in model.shown_in(header):
            text += self.entity(entity, header)
        return text

    def index(self):
        text = ("# API reference\n\nWhat each public header declares. The comment at the top of a "
                "header says how its parts behave; then come its declarations. Not shown is a last "
                "parameter `SourcePlace place`: the place of the call, which fills itself.\n")
        sections = {}
        for header in self.model.pages:
            library, include = self.model.listed.get(header, ("", ""))
            umbrella = include in headers.UMBRELLAS and include
            sections.setdefault((library, umbrella), []).append(header)
        for (library, include), listed in sections.items():
            title = f"fermata::{library}" if library else "What these use"
            text += f"\n## {title}" + (f", with `<{include}>`" if include else "")
            text += "\n\n| header | what is in it |\n|---|---|\n"
            for header in sorted(listed):
                name = header.removeprefix("fermata/")
                text += f"| [{name}]({slug(header)}.md) | {self.summary(header)} |\n"
        return text

    def summary(self, header):
        """The first sentence of a header."""
        first = next((part[1] for part in self.model.preamble(header) if part[0] == "text"), "")
        if not first:
            names = [short(each.name) for each in self.model.shown_in(header)
                     if each.element.tag != "memberdef"]
            return ", ".join(f"`{name}`" for name in names[:4])
        first = re.sub(r" \([A-Z]+-[^)]*\)", "", re.split(r"(?<=\.)\s", first)[0]).rstrip(":")
        return escaped(first.replace("|", "\\|"))


def escaped(text):
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def keyed(key, value):
    """The invariants that a header keeps are in a table of their own."""
    text = inline(value)
    return f'<a href="../invariants.html">{text}</a>' if key == "Source" else text


def inline(text):
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def markdown(part):
    if part[0] == "code":
        language = "cpp" if re.search(r"[;{]", part[1]) else "text"
        return f"```{language}\n{part[1]}\n```\n\n"
    return escaped(part[1]) + "\n\n"


def wrapped(signature):
    """Long declarations have one parameter in each line."""
    lines = []
    for line in signature.split("\n"):
        shown = html.unescape(re.sub(r"<[^>]*>", "", line))
        opening = line.find("(")
        if len(shown) <= 90 or opening < 0:
            lines.append(line)
            continue
        depth, cut, start, pieces = 0, html_positions(line), 0, []
        for position, character in cut:
            depth += (character in "([{<") - (character in ")]}>")
            if character == "," and depth == 1:
                pieces.append(line[start : position + 1])
                start = position + 1
        pieces.append(line[start:])
        lines += [pieces[0], *("    " + piece.strip() for piece in pieces[1:])]
    return "\n".join(lines)


def html_positions(text):
    """(position, character) of the characters that a reader sees."""
    found, i = [], 0
    while i < len(text):
        if text[i] == "<":
            i = text.index(">", i) + 1
        elif text[i] == "&":
            end = text.index(";", i) + 1
            found.append((end - 1, html.unescape(text[i:end])))
            i = end
        else:
            found.append((i, text[i]))
            i += 1
    return found


def write(root, folder):
    """Writes the pages for the headers below `root` into `folder`."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(["doxygen", "-"], input=DOXYGEN.format(root=root, out=out), text=True,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        model = Model(root, Path(out) / "xml")
    writer = Writer(model)
    folder.mkdir(parents=True, exist_ok=True)
    for header in model.pages:
        (folder / f"{slug(header)}.md").write_text(writer.page(header))
    (folder / "index.md").write_text(writer.index())
    return [(header, f"{slug(header)}.md") for header in model.pages], model.listed
