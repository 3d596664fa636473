// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/files.md, so that what the page shows is compiled and run.

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fermata/io/file_watcher.hpp>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <string_view>

namespace guide::files {

inline const std::string kFolder = "guide-files";

inline void write_and_read() {
  fermata::File log = fermata::File::open(kFolder + "/log", fermata::OpenMode::appending());
  log.write("tie\n");
  log.write("slur\n");
  std::printf("%s", fermata::fs::read_file(log.path()).c_str());
}

/// What was added since the last call.
inline std::string news(fermata::File& file) {
  std::string text(4096, '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text))));
  return text;
}

inline void follow() {
  fermata::File log = fermata::File::open(kFolder + "/log", fermata::OpenMode::appending());
  fermata::File reader = fermata::File::open(kFolder + "/log");
  while (!news(reader).empty()) continue;
  log.write("fermata\n");
  std::printf("then: %s", news(reader).c_str());
}

inline void anywhere() {
  fermata::File table = fermata::File::open(kFolder + "/table", fermata::OpenMode::updating());
  table.write_at(20, "third");
  table.write_at(10, "second");
  std::printf("%llu bytes\n", static_cast<unsigned long long>(table.size()));
}

/// Replaces a file atomically: readers find the old contents or the new, also after a crash of the
/// machine.
inline void replace(const std::string& folder, const std::string& name, std::string_view text) {
  const std::string path = folder + "/" + name;
  fermata::File file = fermata::File::open(path + ".new", fermata::OpenMode::writing());
  file.write(text);
  file.sync();
  fermata::fs::rename(path + ".new", path);
  fermata::fs::sync_directory(folder);
}

/// Adds a line where other processes add theirs.
inline void add_entry(const std::string& entry) {
  fermata::File journal = fermata::File::open(kFolder + "/journal", fermata::OpenMode::updating());
  const fermata::FileLock lock = journal.lock({.timeout = std::chrono::seconds(5)});
  journal.write_at(journal.size(), entry + "\n");
}

inline void compete() {
  fermata::File journal = fermata::File::open(kFolder + "/journal", fermata::OpenMode::updating());
  fermata::File other = fermata::File::open(kFolder + "/journal");
  if (const auto lock = journal.try_lock()) {
    if (!other.try_lock_shared()) std::printf("somebody is writing\n");
  }
  if (other.try_lock_shared()) std::printf("nobody is writing\n");
}

inline void errors() {
  try {
    static_cast<void>(fermata::fs::read_file("none"));
  } catch (const fermata::InputOutputError& error) {
    if (error.code() == ENOENT) std::printf("%s\n", error.what());
  }
}

inline void watch() {
  fermata::FileWatcher watcher(kFolder, {.extensions = {"conf"}});
  fermata::fs::write_file(kFolder + "/draft", "60?\n");
  fermata::fs::write_file(kFolder + "/tempo.conf", "60\n");
  for (const fermata::FileEvent& event : watcher) {
    std::printf("load %s\n", event.name.empty() ? "everything" : event.name.c_str());
    watcher.close();  // One is enough for today.
  }
}

inline void watch_calmly() {
  using namespace std::chrono_literals;
  fermata::FileWatcher watcher(kFolder, {.recursive = true, .debounce = 20ms, .max_hold = 500ms});
  fermata::fs::write_file(kFolder + "/tempo.conf", "72\n");
  fermata::fs::write_file(kFolder + "/key.conf", "d\n");
  if (watcher.next()) std::printf("load everything, once\n");
}

inline void clean_up() {
  for (const fermata::DirectoryEntry& entry : fermata::fs::list_directory(kFolder)) {
    fermata::fs::remove(kFolder + "/" + entry.name);
  }
  fermata::fs::remove_directory(kFolder);
}

inline void tour() {
  errors();
  try {
    fermata::fs::make_directory(kFolder);
    write_and_read();
    follow();
    anywhere();
    add_entry("tie");
    compete();
    replace(kFolder, "settings", "tempo = 60\n");
    watch();
    watch_calmly();
    clean_up();
  } catch (const fermata::InputOutputError& error) {
    std::printf("%s\n", error.what());  // In simulation disks fill up and fail.
  }
}

}  // namespace guide::files
