#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page of a run shows and does, in headless Chromium.

usage: report_page_test.py CHROMIUM CHROMEDRIVER BUNDLE
"""

import pathlib
import sys
import tempfile

import report_samples
from browser import browser, complaints, requests
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, DRIVER, BUNDLE = sys.argv[1:]
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


class Shown:
    """One report in the browser."""

    def __init__(self, opened, folder, name, report, link=""):
        self.opened, self.name = opened, name
        path = pathlib.Path(folder) / f"{name}.html"
        bundle = pathlib.Path(BUNDLE).read_text(encoding="utf-8")
        path.write_text(report_samples.page(bundle, report), encoding="utf-8")
        opened.get("about:blank")
        requests(opened), complaints(opened)
        opened.get(path.as_uri() + link)
        self.wait(lambda: self.root("opened") or self.root("refused"), "opens")

    def root(self, name):
        return self.script(f"return document.documentElement.dataset.{name}")

    def script(self, code, *arguments):
        return self.opened.execute_script(code, *arguments)

    def wait(self, holds, what):
        try:
            WebDriverWait(self.opened, 20, 0.02).until(lambda _: holds())
        except Exception:  # Selenium's own, whose words say less.
            failures.append(f"{self.name}: {what}")

    def all(self, css):
        return self.opened.find_elements(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.script("return document.querySelector(arguments[0])?.textContent ?? ''", css)

    def details(self):
        return self.script("return document.querySelector('.details').dataset.step")

    def click_step(self, run, number):
        place = self.script("return fermataReport.whereIsStep(...arguments)", run, number)
        ActionChains(self.opened).move_by_offset(place["x"], place["y"]).click().perform()
        ActionChains(self.opened).move_by_offset(-place["x"], -place["y"]).perform()

    def press(self, keys):
        self.opened.switch_to.active_element.send_keys(keys)

    def quiet(self):
        expect(complaints(self.opened) == [], f"{self.name}: nothing on the console")
        asked = requests(self.opened)
        expect(asked == [], f"{self.name}: no request, but {asked}")


def check_every_sample(opened, folder):
    for sample in report_samples.SAMPLES:
        report = sample()
        shown = Shown(opened, folder, sample.__name__, report)
        expect(shown.root("opened"), f"{shown.name}: opens")
        if len(report["runs"][0]["lanes"]) > 60:
            labels = shown.all("[data-run='0'] [data-lane]")
            some = 0 < len(labels) < len(report["runs"][0]["lanes"])
            expect(some, f"{shown.name}: at first only lanes in sight")
            shown.all("input[name='in-sight']")[0].click()
            shown.wait(
                lambda: len(shown.all("[data-run='0'] [data-lane]"))
                == len(report["runs"][0]["lanes"]),
                "shows all lanes when asked",
            )
        expect(shown.text("h1") == report["test"], f"{shown.name}: the test is its title")
        for index, run in enumerate(report["runs"]):
            section = shown.all(f"[data-run='{index}']")
            expect(len(section) == 1, f"{shown.name}: run {index} is shown")
            if len(run["lanes"]) < 300:
                labels = shown.all(f"[data-run='{index}'] [data-lane]")
                expect(len(labels) == len(run["lanes"]), f"{shown.name}: run {index} has all lanes")
        expect(bool(shown.all(".wait-graph")) == ("waits" in report), f"{shown.name}: graph")
        expect(bool(shown.all(".why")) == ("shrink" in report), f"{shown.name}: no empty boxes")
        shown.quiet()


def check_steps(opened, folder):
    shown = Shown(opened, folder, "steps", report_samples.race())
    expect(shown.details() == "4", "opens with the step that decides")
    shown.click_step(0, 3)
    expect(shown.details() == "3", "a click shows the step")
    expect("Coroutine 2 'first'" in shown.text(".details"), "the details say why it ended")
    expect(shown.root("opened") and "step=3" in opened.current_url, "the address leads to the step")
    shown.press("\ue014")
    expect(shown.details() == "4", "the right arrow goes to the next step")
    shown.press("k")
    expect("first" in shown.text(".label.selected"), "k goes to the coroutine above")
    shown.press("n")
    expect(shown.details() == "4", "n goes to the turn")
    shown.click_step(1, 8)
    expect("ends" in shown.text(".details"), "steps of the passing run are shown too")
    shown.quiet()


def check_links_and_axes(opened, folder):
    shown = Shown(opened, folder, "links", report_samples.cluster(), "#run=2&step=12&axis=time")
    expect(shown.details() == "12", "a link selects a step")
    expect("passing" in shown.text(".details h2"), "a link selects a run")
    pressed = "[data-axis='time'][aria-pressed='true']"
    expect(len(shown.all(pressed)) == 1, "a link selects an axis")
    before = shown.script("return fermataReport.whereIsStep(0, 20).x")
    shown.all("[data-axis='order']")[0].click()
    expect(not shown.all(pressed), "the axis can be switched")
    expect(shown.script("return fermataReport.whereIsStep(0, 20).x") != before, "steps move then")
    shown.all("[data-run='0'] [data-machine='1']")[0].click()
    left = len(shown.all("[data-run='0'] [data-lane]"))
    expect(left == 6, f"a machine folds: {left} of 9 lanes are left")
    box = shown.all("input[name='filter']")[0]
    box.send_keys("gamma/server")
    left = len(shown.all("[data-run='0'] [data-lane]"))
    shown.wait(lambda: len(shown.all("[data-run='0'] [data-lane]")) == 1, f"filter left {left}")
    shown.quiet()


def check_graph(opened, folder):
    shown = Shown(opened, folder, "graph", report_samples.deadlock())
    expect(shown.all("[data-wait-graph='cycle']"), "the graph says its class")
    found = {node.get_attribute("data-node") for node in shown.all("[data-node][data-found]")}
    ring = {"there", "back", "Mutex 'bob'", "Mutex 'alice'"}
    expect(ring == found, f"the ring stands out, but {found}")
    edges = len(shown.all("[data-edge][data-found]"))
    expect(edges == 4, f"the ring has four edges, not {edges}")
    shown.quiet()


def check_log_and_state(opened, folder):
    shown = Shown(opened, folder, "state", report_samples.desk(), "#run=1&step=2")
    lines = [each.text for each in shown.all(".log li button")]
    wanted = ["stores v1", "stores v2", "tells the server", "the desk crashes"]
    expect(lines == wanted, f"the log has all lines: {lines}")
    current = [each.text for each in shown.all(".log [aria-current] button")]
    expect(current == wanted[1:3], f"those of the step are marked: {current}")
    printed = [each.text for each in shown.all(".details .prints li")]
    expect(printed == wanted[1:3], f"the details have them too: {printed}")
    network = shown.text(".state [data-flow='tcp desk:40001 -> server:80']")
    expect("1,204001,204" in network, f"all bytes are in flight: {network}")
    settings = "return document.querySelector(\"[data-file='settings']\").dataset.differs"
    expect(shown.script(settings) == "", "a file that is not durable is marked")
    shown.all(".log li button")[0].click()
    expect(shown.details() == "1", "a line leads to its step")
    expect(shown.script(settings) is None, "a file that is durable is not marked")
    shown.all("input[name='search']")[0].send_keys("tells the")
    shown.wait(lambda: shown.text("output.count") == "1 step", "the search finds what was printed")
    shown.quiet()


def check_hostile_text(opened, folder):
    report = report_samples.hostile()
    shown = Shown(opened, folder, "hostile", report)
    expect("owned" not in opened.title.replace(report["test"], ""), "text stays text")
    labels = [label.get_attribute("textContent") for label in shown.all("[data-lane]")]
    for name in (report_samples.HOSTILE, report_samples.FOREIGN, report_samples.LONG):
        expect(name in labels, f"shown as it is: {name[:40]}")
    wide = shown.script("return document.documentElement.scrollWidth - innerWidth")
    expect(wide <= 0, f"long names do not widen the page, but by {wide} pixels")
    shown.quiet()


def check_refusals(opened, folder):
    report = report_samples.passing() | {"format": 2}
    shown = Shown(opened, folder, "format", report)
    expect("has format 2" in shown.text("[role='alert']"), "another format is refused by name")


def main():
    with tempfile.TemporaryDirectory() as folder, browser(CHROMIUM, DRIVER) as opened:
        for check in (check_every_sample, check_steps, check_links_and_axes, check_graph,
                      check_log_and_state, check_hostile_text, check_refusals):
            check(opened, folder)
    print("\n".join(failures + [f"report page: {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
