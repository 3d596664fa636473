#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every package has the version of the tree.

usage: versions_test.py ROOT
"""

import json
import pathlib
import re
import sys

import consumer


def main(root):
    conan = (root / "packaging/conan/conanfile.py").read_text()
    debian = (root / "debian/changelog").read_text()
    versions = {
        "packaging/vcpkg/vcpkg.json":
            json.loads((root / "packaging/vcpkg/vcpkg.json").read_text())["version"],
        "packaging/conan/conanfile.py": re.search(r'^    version = "(.*)"$', conan, re.M)[1],
        "debian/changelog": re.match(r"fermata \((.*)\)", debian)[1],
    }
    expected = consumer.version_of(root)
    wrong = [f"{file} has version {version}, CMakeLists.txt {expected}"
             for file, version in versions.items() if version != expected]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"version {expected} in {len(versions)} packages")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
