#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/guide/how_it_works.md.

usage: figures.py           writes them beside this file
       figures.py --check   fails when one of them is not what this would write

Each picture has a background of its own, and colours for light and for dark screens.
"""

import html
import pathlib
import sys

WIDTH = 760
STYLE = """
text { font: 14px system-ui, "Segoe UI", "Noto Sans", sans-serif; fill: #1f2330; }
.small { font-size: 12px; } .head { font-weight: 600; } .middle { text-anchor: middle; }
.code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: 12.5px; }
.card { fill: #f6f7fb; }
.box { fill: #ffffff; stroke: #8b93a7; }
.blue { fill: #dfe7fd; stroke: #3f5fc4; } .green { fill: #daf1e0; stroke: #2f855a; }
.red { fill: #fde2e1; stroke: #c0392b; } .grey { fill: #e9ebf1; stroke: #8b93a7; }
.line { stroke: #5a6275; stroke-width: 1.5; fill: none; } .tip { fill: #5a6275; }
.dash { stroke-dasharray: 5 4; } .faint { fill: #5a6275; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8ef; }
  .card { fill: #232733; } .box { fill: #2d3241; stroke: #7d869c; }
  .blue { fill: #2b3a6b; stroke: #8ea6f5; } .green { fill: #23463a; stroke: #6cc79a; }
  .red { fill: #5a2a2a; stroke: #f08a80; } .grey { fill: #383d4c; stroke: #7d869c; }
  .line { stroke: #a9b1c4; } .tip { fill: #a9b1c4; } .faint { fill: #b6bdcc; }
}
"""


class Picture:
    def __init__(self, height, title):
        self.height, self.title = height, title
        self.parts = [f'<rect class="card" width="{WIDTH}" height="{height}" rx="10"/>']

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text x="{x}" y="{y}" class="{kind}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, kind, head, *lines, code=False):
        """A box with a headline and smaller lines below it, all in its middle."""
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" '
                          f'rx="6"/>')
        middle = x + width / 2
        first = y + height / 2 + 5 - 8.5 * len(lines)
        if head:
            self.text(middle, first, head, "head middle" + (" code" if code else ""))
        else:
            first -= 9
        for i, line in enumerate(lines, 1):
            self.text(middle, first + 17 * i, line, "small middle")

    def decision(self, x, kind):
        self.parts.append(f'<rect class="{kind}" x="{x}" y="136" width="13" height="24" rx="2"/>')

    def line(self, *points, kind=""):
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polyline class="line {kind}" points="{path}"/>')

    def arrow(self, *points, kind=""):
        """Along `points`, the last part of which goes straight in one direction."""
        self.line(*points, kind=kind)
        (x, y), (from_x, from_y) = points[-1], points[-2]
        dx, dy = (x > from_x) - (x < from_x), (y > from_y) - (y < from_y)
        left, right = (x - 9 * dx - 4.5 * dy, y - 9 * dy - 4.5 * dx), \
            (x - 9 * dx + 4.5 * dy, y - 9 * dy + 4.5 * dx)
        corners = " ".join(f"{a:g},{b:g}" for a, b in ((x, y), left, right))
        self.parts.append(f'<polygon class="tip" points="{corners}"/>')

    def svg(self):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                f'width="{WIDTH}" height="{self.height}" role="img">\n'
                f"<title>{html.escape(self.title)}</title>\n<style>{STYLE}</style>\n"
                f"{body}\n</svg>\n")


def two_worlds():
    """One program, and what it runs on here and there."""
    picture = Picture(392, "One program runs on the real world and on a simulated one")
    picture.box(190, 20, 380, 56, "blue", "your program",
                "spawn, await, delay, TcpStream, File, Channel")
    picture.arrow((380, 76), (380, 104))
    picture.box(120, 104, 520, 56, "box", "fermata::runtime",
                "coroutines, scheduler, timers: the same code in both")
    picture.text(46, 197, "seams", "small faint")
    for x, name in ((205, "Chooser"), (380, "Observer"), (555, "Reactor")):
        picture.line((x, 160), (x, 178))
        picture.box(x - 60, 178, 120, 28, "box", name, code=True)
        picture.line((x, 206), (x, 222))
    picture.line((190, 222), (570, 222))
    picture.arrow((190, 222), (190, 248))
    picture.arrow((570, 222), (570, 248))
    picture.box(24, 248, 332, 122, "grey", "in production", "Chooser: none, first in first out",
                "Observer: none", "Reactor: libuv, libev, libevent, epoll",
                "the clock, sockets and files of the system")
    picture.box(404, 248, 332, 122, "green", "in simulation",
                "Chooser: a strategy; every draw goes on a tape",
                "Observer: audits each step, hashes the run", "Reactor: a world in memory",
                "virtual time, network, disks, processes, faults")
    return picture


def one_choice():
    """Two timers of one moment, and what follows from who is first."""
    picture = Picture(392, "Two coroutines are ready at one moment; the choice decides the test")
    picture.text(24, 34, "virtual time", "small faint")
    picture.line((120, 30), (380, 30), kind="dash")
    for x, when in ((150, "0 ms"), (330, "10 ms")):
        picture.line((x, 25), (x, 35))
        picture.text(x, 52, when, "small middle")
    picture.text(240, 22, "nobody is ready: time jumps", "small middle faint")
    picture.text(24, 92, "'site'", "code")
    picture.text(24, 142, "'saver'", "code")
    picture.box(130, 72, 110, 32, "blue", "delay(10ms)", code=True)
    picture.box(130, 122, 110, 32, "blue", "delay(10ms)", code=True)
    picture.line((240, 88), (300, 88), kind="dash")
    picture.line((240, 138), (300, 138), kind="dash")
    picture.parts.append('<polygon class="red" points="330,82 368,113 330,144 292,113"/>')
    picture.text(330, 118, "pick", "middle small head")
    picture.text(392, 100, "Both timers are due. Who runs first is a decision:", "small")
    picture.text(392, 118, "production takes the older one, a strategy may", "small")
    picture.text(392, 136, "take the other, and the tape says which it was.", "small")
    picture.arrow((318, 135), (190, 172), (190, 204))
    picture.arrow((342, 135), (560, 172), (560, 204))
    picture.text(24, 196, "'site' first", "head")
    picture.text(590, 196, "'saver' first", "head")
    for x, lines, kind, verdict in (
            (24, ("'site' counts a visit: 1", "'saver' stores 1 and sets the count to 0"),
             "green", "3 of 3 visits are stored"),
            (404, ("'saver' stores 0 and waits for the database", "'site' counts a visit: 1",
                   "'saver' sets the count to 0: the visit is lost"),
             "red", "2 of 3: the test fails")):
        picture.box(x, 204, 332, 100, "box", "", *lines)
        picture.arrow((x + 166, 304), (x + 166, 328))
        picture.box(x + 46, 328, 240, 40, kind, verdict)
    return picture


def from_seed_to_report():
    """What happens from the first run to a failure that a person reads."""
    picture = Picture(330, "From a seed to a report: explore, record, shrink, explain, replay")
    boxes = ((24, "explore", "one seed, one run;", "1,000 by default"),
             (212, "record", "each decision goes", "on the tape"),
             (400, "shrink", "leave decisions out", "while it still fails"),
             (588, "explain", "without this one", "it passes"))
    for x, head, *lines in boxes:
        picture.box(x, 24, 148, 76, "blue", head, *lines)
    for x in (172, 360, 548):
        picture.arrow((x, 62), (x + 40, 62))
    for i in range(10):
        kind = "red" if i in (1, 3, 4, 6, 9) else "grey"
        picture.decision(204 + 17 * i, kind)
    picture.text(286, 182, "decisions unlike production's: 5", "small middle")
    for i in range(10):
        kind = "red" if i == 4 else "grey"
        picture.decision(392 + 17 * i, kind)
    picture.text(474, 182, "1 is left", "small middle")
    picture.arrow((286, 100), (286, 128))
    picture.arrow((474, 100), (474, 128))
    picture.arrow((662, 100), (662, 128))
    picture.box(588, 128, 148, 66, "box", "the report", "text, page, trace,", "capture, JSON")
    picture.box(212, 226, 336, 76, "green", "replay",
                "the tape, or the seed, in any process and build:",
                "the same steps, times and failure")
    picture.arrow((380, 188), (380, 226))
    picture.arrow((212, 264), (98, 264), (98, 100), kind="dash")
    picture.text(108, 216, "tapes first,", "small faint")
    picture.text(108, 232, "the next time", "small faint")
    return picture


def main(arguments):
    folder = pathlib.Path(__file__).resolve().parent
    stale = []
    for name, draw in (("two_worlds", two_worlds), ("one_choice", one_choice),
                       ("from_seed_to_report", from_seed_to_report)):
        file = folder / f"{name}.svg"
        if arguments != ["--check"]:
            file.write_text(draw().svg())
        elif not file.exists() or file.read_text() != draw().svg():
            stale.append(f"{file.name} is not what docs/pictures/figures.py draws: run it")
    if stale:
        sys.exit("\n".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
