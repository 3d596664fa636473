// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/hand.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "properties/subjects/disk.hpp"

namespace fermata::properties {
namespace {

using models::WatchModel;

constexpr std::array<std::string_view, 3> kFileNames = {"note.txt", "main.conf", "more.conf"};
constexpr std::array<std::string_view, 3> kFolders = {"a", "b", "new.conf"};
constexpr std::size_t kDeepest = 4;

bool is_root(const std::string& path) { return path.rfind('/') == 0; }

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

/// False when the disk does not do it.
template <class Action>
bool done(Action action) {
  try {
    action();
    return true;
  } catch (const InputOutputError&) {
    return false;
  }
}

}  // namespace

// --- what it is told ---

void Hand::begin(const Job& job) {
  begun_.push_back(spawn("hand", [this, job] {
    const Mutex::Guard mine(turn_);
    carry_out(job);
  }));
}

void Hand::finish() {
  for (const auto& each : std::exchange(begun_, {})) await(each);
}

void Hand::make_directory(const std::string& path) {
  while (!try_make_directory(path)) {
  }
}

void Hand::write(const std::string& path) {
  while (!try_write(path, false)) {
  }
}

void Hand::remove(const std::string& path) {
  while (!try_remove(path)) {
  }
}

void Hand::carry_out(const Job& job) {
  const std::string_view file = kFileNames[job.b % kFileNames.size()];
  const std::string_view folder = kFolders[job.b % kFolders.size()];
  const auto in = [](const std::string& directory, std::string_view name) {
    return directory + "/" + std::string(name);
  };
  switch (job.what) {
    case kWrite:
      try_write(in(directory(job.a), file), job.b % 2 == 0);
      return;
    case kMakeDirectory: {
      const std::string path = in(directory(job.a), folder);
      if (depth_of(path) <= kDeepest) try_make_directory(path);
      return;
    }
    case kRemove:
      try_remove(entry(job.a, job.b % 4 == 0));
      return;
    case kRename: {
      const std::string from = entry(job.a, job.b % 4 == 0);
      const std::string to = in(directory(job.b), tree_.is_directory(from) ? folder : file);
      if (depth_of(to) <= kDeepest) try_rename(from, to);
      return;
    }
  }
}

std::string Hand::entry(std::size_t index, bool may_be_root) const {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : tree_.entries()) {
    if (may_be_root || !is_root(path)) paths.push_back(path);
  }
  return paths.empty() ? "/none" : paths[index % paths.size()];
}

std::string Hand::directory(std::size_t index) const {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : tree_.entries()) {
    if (entry.is_directory) paths.push_back(path);
  }
  return paths.empty() ? "" : paths[index % paths.size()];
}

// --- what it does ---

bool Hand::try_write(const std::string& path, bool truncates) {
  const bool is_new = tree_.find(path) == nullptr;
  Moment since = now();
  return done([&] {
    File file = File::open(path, truncates ? OpenMode::writing() : OpenMode::updating());
    if (is_new) {
      tree_.add(path, false, now());
      witness_.changed(path, WatchModel::kRename, false, after(since));
    } else if (truncates) {
      witness_.changed(path, WatchModel::kChange, false, after(since));
    }
    since = now();
    try {
      file.write(std::string_view("do re mi"));
    } catch (const InputOutputError&) {
      witness_.may_have_changed(path, since);
      throw;
    }
    witness_.changed(path, WatchModel::kChange, false, after(since));
  });
}

bool Hand::try_make_directory(const std::string& path) {
  const Moment since = now();
  if (!done([&] { fs::make_directory(path); })) return false;
  tree_.add(path, true, now());
  witness_.changed(path, WatchModel::kRename, false, after(since));
  return true;
}

bool Hand::try_remove(const std::string& path) {
  const Moment since = now();
  const bool is_directory = tree_.is_directory(path);
  if (!done([&] { is_directory ? fs::remove_directory(path) : fs::remove(path); })) return false;
  witness_.changed(path, WatchModel::kRename, true, after(since));
  witness_.moves(path, {});
  tree_.remove(path);
  return true;
}

bool Hand::try_rename(const std::string& from, const std::string& to) {
  if (from == to) return false;
  const Moment since = now();
  if (!done([&] { fs::rename(from, to); })) return false;
  witness_.changed(from, WatchModel::kRename, true, after(since));
  witness_.changed(to, WatchModel::kRename, false, after(since));
  witness_.moves(from, to);
  tree_.rename(from, to, now());
  for (const std::string& path : tree_.below(to)) witness_.moved_in(path, after(since));
  return true;
}

}  // namespace fermata::properties
