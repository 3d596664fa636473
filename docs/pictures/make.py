#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the README: the page of the failure that it shows, light and dark.

usage: make.py BUILD_DIR [FOLDER]

Writes failure_light.png and failure_dark.png beside this file, or to FOLDER. Needs Chromium, its
driver and Selenium; `./dev docs --pictures` installs these, builds the test and runs this.
"""

import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/end_to_end"))

from browser import browser  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

TEST = "examples/lost_update/example_lost_update_sim_test"
WIDTH, SCALE = 1280, 1.5


def report_of(build, folder):
    """The page that the failing test writes, when it is called as a reader would call it."""
    place = build.parent.parent
    environment = {**os.environ, "FERMATA_OUT": str(folder)}
    if not (build / TEST).exists():
        sys.exit(f"pictures: there is no {build / TEST}: build it first")
    subprocess.run([f"./{(build / TEST).relative_to(place)}"], cwd=place, env=environment,
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    pages = sorted(folder.rglob("*.html"))
    if not pages:
        sys.exit(f"pictures: {TEST} has written no page")
    return pages[0]


def take(opened, page, scheme, file):
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": 800, "deviceScaleFactor": SCALE, "mobile": False})
    opened.get(page.as_uri())
    WebDriverWait(opened, 30, 0.05).until(
        lambda _: opened.execute_script("return document.documentElement.dataset.opened"))
    height = opened.execute_script("return Math.ceil(document.body.getBoundingClientRect().bottom)")
    taken = opened.execute_cdp_cmd("Page.captureScreenshot", {
        "format": "png", "captureBeyondViewport": True,
        "clip": {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}})
    file.write_bytes(base64.b64decode(taken["data"]))
    print(f"pictures: {file}")


def main(build, folder):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        sys.exit("pictures: needs chromium and chromedriver")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        page = report_of(build, pathlib.Path(name))
        with browser(chromium, driver) as opened:
            for scheme in ("light", "dark"):
                take(opened, page, scheme, folder / f"failure_{scheme}.png")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(),
         pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "docs/pictures").resolve())
