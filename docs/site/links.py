# SPDX-License-Identifier: Apache-2.0
"""What a site links is in it."""

import html.parser
import os
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors of a page, what it links, and what it needs to be shown."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.needed = {"", "__top"}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        needed = {"img": ("src",), "source": ("srcset",), "script": ("src",), "link": ("href",)}
        self.needed += [values[key] for key in needed.get(tag, ()) if values.get(key)]


def check(site):
    """One line for each link that leads nowhere, or out of the site where it must not."""
    pages = {os.path.normpath(path): Page(path.read_text()) for path in site.rglob("*.html")}
    found = []
    for name, page in sorted(pages.items()):
        if os.path.basename(name) == "404.html":
            continue  # Its links are for a server.
        where = os.path.relpath(name, site)
        found += [f"{where}: {url} is fetched from elsewhere" for url in page.needed
                  if urllib.parse.urlsplit(url).scheme in ("http", "https")
                  or url.startswith("//")]
        for url in page.links + page.needed:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or url.startswith("//"):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name),
                                                   urllib.parse.unquote(parts.path)))
            target = target if parts.path else name
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                found.append(f"{where}: {url} is not in the site")
            elif target in pages and \
                    urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{where}: {url}: no such anchor")
    return found
