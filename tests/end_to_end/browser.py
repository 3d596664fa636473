# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that opens pages from files, on machines too that do not know `localhost`."""

import contextlib
import json
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common import utils

LOOPBACK = "127.0.0.1"


class LoopbackService(Service):
    """A driver that is spoken to by its address; the browser it speaks to over a pipe."""

    @property
    def service_url(self):
        return f"http://{LOOPBACK}:{self.port}"

    def is_connectable(self):
        return utils.is_connectable(self.port, LOOPBACK)


@contextlib.contextmanager
def browser(chromium, driver, width=1280, height=900):
    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", "--remote-debugging-pipe",
                         f"--user-data-dir={profile}",
                         f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        opened = webdriver.Chrome(options=options, service=LoopbackService(driver))
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
