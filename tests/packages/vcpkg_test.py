#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The port for vcpkg, run without vcpkg: its commands configure, build and install the tree.

usage: vcpkg_test.py ROOT
"""

import json
import pathlib
import sys
import tempfile

import consumer


def check_manifest(port, version):
    manifest = json.loads((port / "vcpkg.json").read_text())
    assert manifest["name"] == "fermata" and manifest["version"] == version, manifest
    features = manifest["features"].keys()
    assert set(manifest["default-features"]) <= features, features
    return manifest["default-features"]


def main(root):
    port = root / "packaging/vcpkg"
    version = consumer.version_of(root)
    features = check_manifest(port, version)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        consumer.run("cmake", f"-DPORT={port / 'portfile.cmake'}", f"-DPLACE={place}",
                     f"-DFEATURES={';'.join(features)}", "-P",
                     pathlib.Path(__file__).resolve().parent / "vcpkg_functions.cmake")
        packages = place / "packages"
        for wanted in ("share/Fermata/FermataConfig.cmake", "share/fermata/copyright",
                       "tools/fermata/fermata", "lib/libfermata_sim.a"):
            assert (packages / wanted).exists(), f"the port has not installed {wanted}"
        for unwanted in ("bin", "lib/libfermata_sim_property.a"):
            assert not (packages / unwanted).exists(), f"the port has installed {unwanted}"
        consumer.build_and_run(packages, place)
    print("vcpkg: the port builds, and a project on it")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
