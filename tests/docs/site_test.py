#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts that make the site do what they say.

usage: site_test.py SOURCE_DIR
"""

import pathlib
import shutil
import sys
import tempfile


def check_links(links):
    """Each planted mistake is found, and what is right is not."""
    pages = {
        "a.html": '<h1 id="top"></h1><a href="b/c.html#part"></a><a href="#top"></a>'
                  '<a href="https://x.y"></a><img src="d.svg">',
        "b/c.html": '<p id="part"></p><a href="../a.html"></a>',
        "d.svg": "",
    }
    mistakes = {
        "page": ("a.html", '<a href="gone.html"></a>', "is not in the site"),
        "picture": ("a.html", '<img src="gone.png">', "is not in the site"),
        "anchor": ("a.html", '<a href="b/c.html#gone"></a>', "no such anchor"),
        "own anchor": ("b/c.html", '<a href="#gone"></a>', "no such anchor"),
        "font": ("a.html", '<link href="https://x.y/f.css">', "is fetched from elsewhere"),
        "script": ("a.html", '<script src="//x.y/s.js"></script>', "is fetched from elsewhere"),
    }
    for page, added, complaint in [("a.html", "", None), *mistakes.values()]:
        with tempfile.TemporaryDirectory() as name:
            site = pathlib.Path(name)
            for path, text in pages.items():
                (site / path).parent.mkdir(exist_ok=True)
                (site / path).write_text(text + (added if path == page else ""))
            found = links.check(site)
        wanted = [] if complaint is None else [complaint]
        assert len(found) == len(wanted), (added, found)
        assert all(text in line for text, line in zip(wanted, found)), (added, found)


def check_preamble(headers):
    text = """// SPDX
#pragma once

// A queue. With
// two lines.
//
//   queue.send(1);
//     queue.close();
//
// Order      First in,
//            first out.
// On errors  None.

#include <vector>
"""
    assert headers.blocks(headers.preamble(text)) == [
        ("text", "A queue. With two lines."),
        ("code", "queue.send(1);\n  queue.close();"),
        ("key", "Order", "First in, first out."),
        ("key", "On errors", "None."),
    ], headers.blocks(headers.preamble(text))


def check_public_headers(headers, source):
    """Those of CMake, and what the two umbrella headers bring."""
    listed = headers.user_headers(source)
    for header, library in {
        "fermata/sync/channel.hpp": ("runtime", "fermata/runtime.hpp"),
        "fermata/sim/world/world.hpp": ("sim", "fermata/sim.hpp"),
        "fermata/uv/reactor.hpp": ("uv", "fermata/uv/reactor.hpp"),
        "fermata/db/sqlite/driver.hpp": ("db_sqlite", "fermata/db/sqlite/driver.hpp"),
    }.items():
        assert listed.get(header) == library, (header, listed.get(header))
    assert not set(headers.UMBRELLAS) & listed.keys()


def check_declarations(api):
    line = "void f(<a href=\"x\">Alpha</a>&lt;int, int&gt; first_parameter_of_all, " \
           "std::map&lt;int, long&gt; second_parameter_of_all, int third_parameter)"
    assert api.wrapped(line).split("\n") == [
        "void f(<a href=\"x\">Alpha</a>&lt;int, int&gt; first_parameter_of_all,",
        "    std::map&lt;int, long&gt; second_parameter_of_all,",
        "    int third_parameter)",
    ], api.wrapped(line)
    assert api.wrapped("void f(int a, int b)") == "void f(int a, int b)"


TREE = {
    "runtime/fermata/CMakeLists.txt":
        "fermata_library(runtime runtime HEADERS fermata/runtime.hpp SOURCES a.cpp)\n",
    "runtime/fermata/runtime.hpp": '#pragma once\n\n#include "fermata/a.hpp"\n',
    "runtime/fermata/a.hpp": """#pragma once

// A queue.
//
// Order  First in, first out.

#include "fermata/b.hpp"
namespace fermata {
namespace detail { struct Core {}; }
/// Holds numbers.
class Queue final {
 public:
  Queue(const Queue&) = delete;
  /// Takes one. See `Options`.
  void push(int number, const Options& options = {}, SourcePlace place = SourcePlace::current());
 private:
  detail::Core core_;
};
}  // namespace fermata
""",
    "runtime/fermata/b.hpp": """#pragma once

namespace fermata {
struct SourcePlace { static SourcePlace current(); };
struct Options { int limit = 3; };
}  // namespace fermata
""",
}


def check_reference(api):
    """The pages for two headers, of which users include one."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in TREE.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / "sim/fermata").mkdir(parents=True)
        api.write(root, root / "api")
        pages = {path.name: path.read_text() for path in (root / "api").glob("*.md")}
    assert pages.keys() == {"index.md", "a.md", "b.md"}, pages.keys()
    page = pages["a.md"]
    for wanted in ("# fermata/a.hpp\n\nA queue.", "<th>Order</th><td>First in, first out.</td>",
                   "Include `<fermata/runtime.hpp>`; link `fermata::runtime`.",
                   "## Queue { #Queue }", "class Queue final;", "Holds numbers.",
                   'void push(int number, const <a href="b.html#Options">Options</a>&amp; options '
                   "= {});", "Takes one. See <code>Options</code>."):
        assert wanted in page, (wanted, page)
    for unwanted in ("Core", "core_", "delete", "SourcePlace"):
        assert unwanted not in page, (unwanted, page)
    assert "int limit = 3;" in pages["b.md"], pages["b.md"]
    assert "[a.hpp](a.md) | A queue. |" in pages["index.md"], pages["index.md"]


def check_links_of_pages(build):
    pages = build.Pages(pathlib.Path("/nonexistent"), pathlib.Path("/nonexistent"))
    path = pathlib.PurePosixPath("docs/guide/a.md")
    for text, wanted in {
        "[b](b.md#x)": "[b](b.md#x)",
        "[r](../../README.md)": "[r](../index.md)",
        "[s](../../sim/a.hpp)": "[s](../source/sim/a.hpp.md)",
        "[w](https://x.y/z)": "[w](https://x.y/z)",
        "<!-- run -->\n```\n[b](../../c)\n```\n": "```\n[b](../../c)\n```\n",
        '<img src="../pictures/a.svg">': '<img src="../pictures/a.svg">',
    }.items():
        got = pages.with_links(text, path, pages.place_of(path))
        assert got == wanted, (text, got)
    assert pages.waiting == [pathlib.PurePosixPath("sim/a.hpp")]


def main(source):
    sys.path.insert(0, str(source / "docs/site"))
    import api
    import build
    import headers
    import links

    check_links(links)
    check_preamble(headers)
    check_public_headers(headers, source)
    check_declarations(api)
    check_links_of_pages(build)
    if shutil.which("doxygen"):
        check_reference(api)
    print("site: links, preambles, headers and declarations are read as they should be")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
