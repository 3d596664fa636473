#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the page anew, from the sources and the lock file alone, and compares it with the one that
# is committed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r package.json package-lock.json tsconfig.json build.mjs src "$folder"
make_page() {
  cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund && npm run build
}
(make_page) >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
if ! cmp "$folder/dist/report.html" dist/report.html; then
  echo "dist/report.html is not what its sources make: run 'npm ci && npm run build' in $PWD"
  exit 1
fi
echo "dist/report.html is what its sources make"
