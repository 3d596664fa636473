#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The libraries of Debian's arm64 that Fermata is built with, unpacked into FOLDER/root. Packages
# are fetched and unpacked, never installed: the machine's own stay as they are, and nothing here
# needs root. A folder that is complete is left alone.
#
# usage: sysroot.sh FOLDER

set -euo pipefail
readonly PACKAGES=(
  libc6-dev libstdc++-12-dev libuv1-dev libboost-context-dev libboost-dev libfmt-dev libgtest-dev
  librapidcheck-dev nlohmann-json3-dev libcli11-dev libev-dev libevent-dev liburing-dev
)

(($# == 1)) || { echo "usage: sysroot.sh FOLDER" >&2 && exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [[ -f $folder/complete && $(<"$folder/complete") == "${PACKAGES[*]}" ]]; then
  exit 0
fi
rm -rf "${folder:?}"/*
mkdir -p "$folder"/apt/{lists,cache/archives}/partial "$folder"/root/usr/lib
ln -s usr/lib "$folder/root/lib"  # As Debian has it: what is in the one is in the other.

apt_options=(
  -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false
  -o "Dir::State=$folder/apt" -o "Dir::State::lists=$folder/apt/lists"
  -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache"
  -o Debug::NoLocking=true
)
: >"$folder/apt/status"  # Nothing is installed, so that everything is fetched.
apt-get "${apt_options[@]}" update
apt-get "${apt_options[@]}" --yes --download-only install "${PACKAGES[@]}"

for package in "$folder"/apt/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" |
    tar --extract --directory "$folder/root" --keep-directory-symlink --no-same-owner
done
# What points to a place from the root of a system points to it from here.
while read -r link; do
  target=$(readlink "$link")
  ln -sfnr "$folder/root$target" "$link"
done < <(find "$folder/root" -type l -lname '/*')
rm -rf "$folder/apt"
echo "${PACKAGES[*]}" >"$folder/complete"
