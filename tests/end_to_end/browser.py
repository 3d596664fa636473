# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens pages from files."""

import contextlib
import json
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


@contextlib.contextmanager
def browser(chromium, driver, width=1280, height=900):
    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                         f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        opened = webdriver.Chrome(options=options, service=Service(driver))
        try:
            opened.set_page_load_timeout(60)
            yield opened
        finally:
            opened.quit()


def complaints(opened):
    """What the page wrote to its console."""
    return [entry["message"] for entry in opened.get_log("browser")]


def requests(opened):
    """The addresses that were asked for since the last call, but for the pages themselves."""
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [message["params"] for message in messages
             if message["method"] == "Network.requestWillBeSent"]
    return [each["request"]["url"] for each in asked
            if not each["request"]["url"].startswith(("file:", "data:", "about:"))
            or each.get("type") != "Document" and each["request"]["url"].startswith("file:")]
