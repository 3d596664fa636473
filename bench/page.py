#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of a run of 100,000 steps takes to open in headless Chromium.

Ends when the first picture is drawn; the ratio is to a page with a run of two steps. The median of
some rounds is limited.

usage: page.py [--rounds N] [--json FILE]
"""

import argparse
import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))

STEPS = 100_000
LIMIT = 3.0  # Seconds.


def opening(opened, path):
    opened.get("about:blank")
    start = time.monotonic()
    opened.get(path.as_uri())
    # The picture is there with the frame after the next.
    opened.execute_async_script(
        "const done = arguments[0];"
        "requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )
    seconds = time.monotonic() - start
    if not opened.execute_script("return document.documentElement.dataset.opened"):
        sys.exit(f"bench: {path.name} does not open")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    try:
        import report_samples
        from browser import browser
    except ImportError as error:
        sys.exit(f"bench: {error}: install python3-selenium, and run this with Debian's python3")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        sys.exit("bench: install chromium and chromium-driver")

    bundle = (ROOT / "sim/fermata/sim/report/web/dist/report.html").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, browser(chromium, driver) as opened:
        small, large = pathlib.Path(folder) / "small.html", pathlib.Path(folder) / "large.html"
        small.write_text(report_samples.page(bundle, report_samples.passing()), encoding="utf-8")
        report = report_samples.long_run(STEPS)
        large.write_text(report_samples.page(bundle, report), encoding="utf-8")
        rounds = [(opening(opened, large), opening(opened, small)) for _ in range(arguments.rounds)]
    seconds = statistics.median(each for each, _ in rounds)
    ratio = statistics.median(each / floor for each, floor in rounds)
    row = {"name": f"page/{STEPS}", "value": round(seconds, 3), "unit": "s"}
    row |= {"ratio": round(ratio, 1), "limit": LIMIT, "ok": seconds <= LIMIT}
    compared = f"limit {LIMIT} s, {ratio:.1f} times a small page"
    print(f"{row['name']}: opens in {row['value']} s, {compared}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps([row]) + "\n", encoding="utf-8")
    return 0 if row["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
