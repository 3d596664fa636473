#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site from docs/, the README and the headers, and checks it.

usage: build.py SOURCE_DIR SITE_DIR

Needs mkdocs with its theme material, and Doxygen. The pages are copied to SITE_DIR-pages. A link to
a file outside of docs leads to a page that shows the file. Everything that the finished site links
must be in it, anchors too, and nothing is fetched from elsewhere: it can be read from its folder.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import api
import links

LINK = re.compile(r"(\]\(|(?:src|srcset|href)=\")([^)#\"\s]+)")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->\n*", re.S)
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "cpp", ".c": "c", ".py": "python", ".sh": "bash",
             ".yml": "yaml", ".ts": "ts", ".cmake": "cmake"}
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


class Pages:
    """The pages of the site, which are written to a folder."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.waiting, self.written = [], set()

    def place_of(self, path):
        """Where what is at `path` in the repository is in the site, from its top."""
        if path == pathlib.PurePosixPath("README.md"):
            return pathlib.PurePosixPath("index.md")
        if path.parts[:1] == ("docs",):
            return path.relative_to("docs")
        if path.suffix == ".md" and len(path.parts) == 1:
            return path
        if path not in self.waiting:
            self.waiting.append(path)
        return pathlib.PurePosixPath("source", f"{path}.md")

    def with_links(self, text, path, place):
        """`text`, the page of `path`, with links as they are from `place`."""
        def changed(match):
            target = match[2]
            if re.match(r"[a-z]+:", target):
                return match[0]
            at = pathlib.PurePosixPath(os.path.normpath(path.parent / target))
            return match[1] + os.path.relpath(self.place_of(at), place.parent)

        parts, end = [], 0
        for fence in FENCE.finditer(text):
            parts += [COMMENT.sub("", LINK.sub(changed, text[end : fence.start()])), fence[0]]
            end = fence.end()
        return "".join([*parts, COMMENT.sub("", LINK.sub(changed, text[end:]))])

    def write(self, place, text):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_markdown(self, path):
        place = self.place_of(path)
        self.write(place, self.with_links((self.source / path).read_text(), path, place))

    def add_docs(self):
        for file in sorted((self.source / "docs").rglob("*")):
            path = pathlib.PurePosixPath(file.relative_to(self.source))
            if file.is_dir() or path.parts[1] == "site":
                continue
            if path.suffix == ".md":
                self.add_markdown(path)
            elif path.suffix != ".py":
                place = self.folder / self.place_of(path)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
        for name in ("README.md", *PROJECT):
            self.add_markdown(pathlib.PurePosixPath(name))

    def add_sources(self):
        """A page for each file and folder that a page links to, and for what these link to."""
        while self.waiting:
            path = self.waiting.pop(0)
            if path in self.written:
                continue
            self.written.add(path)
            place = self.place_of(path)
            file = self.source / path
            if path.suffix == ".md":
                text = self.with_links(file.read_text(), path, place)
            elif file.is_dir():
                tracked = sorted(p.relative_to(file) for p in file.rglob("*")
                                 if p.is_file() and "node_modules" not in p.parts)
                text = f"# {path}\n\n" + "".join(f"- `{each}`\n" for each in tracked[:200])
            else:
                language = LANGUAGES.get(path.suffix, "text")
                text = f"# {path}\n\n`````{language}\n{file.read_text()}`````\n"
            self.write(place, text)


def write_config(source, folder, site, reference):
    """mkdocs.yml with the pages of the reference that users include, a section for each library."""
    api_pages, listed = reference
    config = (source / "docs/site/mkdocs.yml").read_text()
    config += "  - API:\n      - api/index.md\n"
    sections = {}
    for header, page in api_pages:
        if header in listed:
            sections.setdefault(listed[header][0], []).append((header, page))
    for library, pages in sections.items():
        config += f"      - {library}:\n"
        for header, page in sorted(pages):
            config += f"          - {header.removeprefix('fermata/')}: api/{page}\n"
    config = config.replace("custom_dir: theme", f"custom_dir: {source}/docs/site/theme")
    config += f"docs_dir: {folder}\nsite_dir: {site}\n"
    path = folder.with_suffix(".yml")
    path.write_text(config)
    return path


def write_offline_search(site):
    """Browsers do not let a page from a file fetch the index or start a worker: here are both."""
    index = (site / "search/search_index.json").read_text()
    worker = next(site.glob("assets/javascripts/workers/search.*.min.js")).read_text()
    (site / "search/offline.js").write_text(
        "// The index of the search, and its worker, for pages that are read from a folder.\n"
        'if (location.protocol === "file:") {\n'
        f"  window.__search = {{index: Promise.resolve({index.strip()})}};\n"
        f"  const source = {json.dumps(worker)};\n"
        "  const Original = window.Worker;\n"
        "  window.Worker = class extends Original {\n"
        "    constructor() { super(URL.createObjectURL(new Blob([source]))); }\n"
        "  };\n"
        "}\n")


def main(source, site):
    folder = site.with_name(site.name + "-pages")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = Pages(source, folder)
    pages.add_docs()
    pages.add_sources()
    shutil.copyfile(source / "docs/site/site.css", folder / "site.css")
    pages.write("search/offline.js", "")
    reference = api.write(source, folder / "api")
    config = write_config(source, folder, site, reference)
    built = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--clean", "-f", str(config)],
                           text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        sys.exit(f"docs: mkdocs refuses the pages:\n{built.stdout}")
    write_offline_search(site)
    complaints = links.check(site)
    if complaints:
        sys.exit("\n".join(["docs: the site has links that lead nowhere:", *complaints]))
    count = len(list(site.rglob("*.html")))
    print(f"docs: {count} pages, {len(reference[0])} of the API, in {site}/index.html")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
