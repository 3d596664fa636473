// SPDX-License-Identifier: Apache-2.0

// Real files that a machine is told to show. They come to its disk when they are looked for.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sim/posix/kernel_files.hpp"

namespace fermata::sim::detail {

namespace {

namespace fs = std::filesystem;

/// `path` below the directory `directory`, which may be empty for the root; without "..".
fs::path whole(const std::string& directory, const std::string& path) {
  return (fs::path("/") / directory / path).lexically_normal();
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const auto [end, rest] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end();
}

/// What is there, links followed; none for anything but a file or directory.
std::optional<FileType> type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return FileType::Directory;
  return fs::is_regular_file(status) ? std::optional(FileType::Regular) : std::nullopt;
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool SimKernelFiles::is_shown(const fs::path& path) const {
  const std::vector<std::string>& shown = machine_.real_files();
  return std::any_of(shown.begin(), shown.end(),
                     [&](const std::string& each) { return is_below(path, each); });
}

fs::path SimKernelFiles::path_of(const Place& place) const {
  const bool starts_at_root = place.file != nullptr || place.path.starts_with('/');
  return starts_at_root ? whole("", place.shown) : whole(disk_.path_of(place.from), place.path);
}

void SimKernelFiles::show_all() {
  const posix::Serving unserved(nullptr, nullptr);
  for (const std::string& each : machine_.real_files()) {
    if (!disk_.exists(each)) show_real(each);
  }
}

bool SimKernelFiles::is_real(const Place& place) {
  if (machine_.real_files().empty()) return false;
  show_all();
  const posix::Serving unserved(nullptr, nullptr);
  if (!is_shown(follow(path_of(place)))) return false;
  if (!std::exchange(tells_real_files_, true)) {
    const std::string list = fmt::format("{}", fmt::join(machine_.real_files(), ", "));
    std::printf("'%s' reads real files: %s\n", machine_.name().c_str(), list.c_str());
  }
  return true;
}

// In what is shown there are no links.
fs::path SimKernelFiles::follow(const fs::path& path) {
  constexpr int kMostLinks = 40;
  FERMATA_ASSERT(path.is_absolute());
  fs::path left = path.relative_path();
  fs::path done = "/";
  Disk::Inode at = Disk::kRoot;
  for (int links = 0; !left.empty();) {
    if (is_shown(done)) break;
    const std::string part = left.begin()->string();
    left = left.lexically_relative(part);
    if (left == ".") left.clear();
    const auto rest = [&] { return (done / part / left).lexically_normal(); };
    if (disk_.attributes(at).type != FileType::Directory) return rest();
    const auto found = disk_.names(at).find(part);
    if (found == disk_.names(at).end()) return rest();
    const Disk::Inode next = found->second;
    if (disk_.attributes(next).type != FileType::SymbolicLink) {
      done /= part;
      at = next;
      continue;
    }
    if (++links > kMostLinks) return path;
    left = (done / disk_.target(next) / left).lexically_normal().relative_path();
    done = "/";
    at = Disk::kRoot;
  }
  done = (done / left).lexically_normal();
  if (is_shown(done)) show_real(done.string());
  return done;
}

void SimKernelFiles::show_real(const std::string& path) {
  Disk::Inode at = Disk::kRoot;
  fs::path real = "/";
  for (const fs::path& part : fs::path(path).relative_path()) {
    if (part.empty()) continue;
    real /= part;
    if (disk_.attributes(at).type != FileType::Directory) return;
    const auto found = disk_.names(at).find(part.string());
    const std::optional<FileType> type = type_of(real);
    if (found != disk_.names(at).end()) {
      at = found->second;
    } else if (type) {
      at = disk_.add_given(at, part.string(), *type);
    } else {
      return;
    }
  }
  if (is_shown(real)) disk_.fix(at);
  if (disk_.attributes(at).type == FileType::Directory) return show_names(at, real);
  if (disk_.is_given(at) && disk_.attributes(at).size == 0) {
    const std::string contents = contents_of(real);
    disk_.fill_given(at, std::as_bytes(std::span(contents)));
  }
}

void SimKernelFiles::show_names(Disk::Inode directory, const std::string& path) {
  FERMATA_ASSERT(disk_.attributes(directory).type == FileType::Directory);
  std::error_code error;
  std::set<std::string> names;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  for (const std::string& each : names) {
    if (disk_.names(directory).contains(each)) continue;
    const auto type = type_of(fs::path(path) / each);
    if (type) disk_.fix(disk_.add_given(directory, each, *type));
  }
}

}  // namespace fermata::sim::detail
