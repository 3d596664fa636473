# SPDX-License-Identifier: Apache-2.0
"""The parts of docs/bench/finding.md that come from tables which are kept by hand."""

import pathlib
import statistics

ZOO = pathlib.Path(__file__).resolve().parent
STRATEGIES = ("fifo", "random", "pct:3")
LIMIT = 10_000  # Schedules of a hunt; one that finds nothing counts as so many.


def rows_of(name):
    lines = (ZOO / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def table(titles, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in (titles, ["---"] * len(titles), *rows))


def bought():
    """The part about laws.tsv."""
    return """
## What the laws were made to find

What a change of the laws, or of the simulated world, has bought: a mutant of the zoo, the law that
finds it first since then, with its defaults, strategy `random` and base seed 1, and how it was
before. From [laws.tsv](../../properties/zoo/laws.tsv), which is kept by hand.

""" + table(["change", "mutant", "law", "schedules", "before"], rows_of("laws.tsv"))


def median_of(text):
    return statistics.median(map(int, text.split()))


def before_and_after():
    """The part about medians.tsv."""
    found = {(mutant, strategy): (median_of(before), median_of(after))
             for mutant, strategy, before, after in rows_of("medians.tsv")}
    means = [statistics.geometric_mean(each) for each in zip(*found.values())]
    rows = []
    for mutant in dict.fromkeys(mutant for mutant, _ in found):
        pairs = [found[mutant, strategy] for strategy in STRATEGIES]
        rows.append([mutant, *("not found" if each >= LIMIT else f"{each:g}"
                               for pair in pairs for each in pair)])
    titles = ["mutant", *(f"{strategy} {when}" for strategy in STRATEGIES
                          for when in ("before", "after"))]
    return f"""
## What the changes have cost

The mutants that were there before these changes, each hunted by its own workload: the median of the
schedules that it takes over the base seeds 1 to 10, at most {LIMIT:,}. The geometric mean of all
{len(found)} medians is {means[1]:.2f}; it was {means[0]:.2f}. What each seed took is in
[medians.tsv](../../properties/zoo/medians.tsv), which is kept by hand.

""" + table(titles, rows)
