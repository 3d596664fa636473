#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page of a fleet shows, in headless Chromium: served, and as a file.

usage: page_test.py CHROMIUM CHROMEDRIVER BUILD_DIR
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from plan_check import Plan, clean

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
from browser import browser, complaints, requests  # noqa: E402

CHROMIUM, DRIVER, BUILD = sys.argv[1:]
SPECIMEN = pathlib.Path(BUILD) / "tests/fleet/fleet_specimen"
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def check_shown(opened, *texts):
    body = opened.execute_script("return document.body.textContent")
    for text in texts:
        expect(text in body, f"the page does not say '{text}': {body[:600]}")
    said = complaints(opened)
    own = ("chrome:", opened.current_url)
    asked = [url for url in requests(opened) if not url.startswith(own)]
    expect(not said, f"the page complains on its console: {said}")
    expect(not asked, f"the page asks for something else: {asked}")


def check_begun(opened, address):
    opened.get(address)
    check_shown(opened, "0 of ", "not run yet", "none so far", "0 alive of 0")
    expect(opened.find_elements("css selector", "meta[http-equiv=refresh]"),
           "the page of a plan that goes on does not reload itself")


def wait_until_complete(opened, address):
    """What the server shows is some seconds old."""
    for _ in range(100):
        opened.get(address)
        if "complete" in opened.execute_script("return document.body.textContent"):
            break
        time.sleep(0.1)
    complaints(opened)
    requests(opened)


def check_complete(opened, address):
    opened.get(address)
    check_shown(opened, "complete", "found", "FleetSpecimen.FailsOften", "0 alive of 1",
                "core-hours", "in another hour at most", "./program")
    bar = opened.find_element("css selector", "progress")
    expect(bar.get_attribute("value") == bar.get_attribute("max"), "the bar is not full")
    points = opened.find_element("css selector", "polyline").get_attribute("points").split()
    expect(len(points) > 3, "the curve has no points")
    expect(not opened.find_elements("css selector", "script, meta[http-equiv=refresh]"),
           "the page of a complete plan has scripts, or reloads itself")


def check_page_of_a_finding(opened):
    opened.find_element("link text", "page").click()
    shown = opened.execute_script("return document.documentElement.dataset.opened ?? ''")
    expect(shown or "Fermata" in opened.title, "the link to a finding's page leads nowhere")


def check_refused(address):
    for path in ("plan.json", "program", "findings/../plan.json", "findings/%2e%2e/plan.json", "x"):
        try:
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                failures.append(f"/{path} is served: {answer.status}")
        except urllib.error.HTTPError as error:
            expect(error.code == 404, f"/{path}: {error.code} instead of 404")


def main():
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(pathlib.Path(BUILD) / "fermata", os.environ, pathlib.Path(folder) / "plan")
        plan.make(SPECIMEN, 500)
        watch = [plan.tool, "fleet", "watch", str(plan.root)]
        with subprocess.Popen(watch, text=True, stdout=subprocess.PIPE,
                              env=clean(os.environ)) as server, \
                browser(CHROMIUM, DRIVER) as opened:
            try:
                address = server.stdout.readline().strip()
                expect(address.startswith("http://127.0.0.1:"), f"served at {address}")
                check_begun(opened, address)
                plan.work("--jobs", "1")
                wait_until_complete(opened, address)
                check_complete(opened, address)
                check_page_of_a_finding(opened)
                check_refused(address)
            finally:
                server.send_signal(signal.SIGINT)
            expect(server.wait(20) == 0, "an interrupt does not end it in order")
            page = pathlib.Path(folder) / "page.html"
            plan.fleet("watch", plan.root, "-o", page)
            opened.get("about:blank")
            requests(opened)
            check_complete(opened, page.as_uri())
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
