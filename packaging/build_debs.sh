#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages of this tree into FOLDER, from a copy, so that the tree stays clean.
#
# usage: build_debs.sh FOLDER

set -euo pipefail
(($# == 1)) || { echo "usage: build_debs.sh FOLDER" >&2 && exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder"/fermata "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo
mkdir "$folder/fermata"
# With what is not committed, without what was removed and is still listed.
git ls-files --cached --others --exclude-standard -z |
  tar --create --null --ignore-failed-read --files-from - 2>/dev/null |
  tar --extract --directory "$folder/fermata"
cd "$folder/fermata"
dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary >"$folder/build.log" 2>&1 ||
  { tail -n 60 "$folder/build.log" && exit 1; }
ls "$folder"/*.deb
