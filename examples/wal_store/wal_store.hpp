// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys and values that survive a crash of the machine: a write-ahead log, and a snapshot that
// replaces the log when that has become long.

#include <cerrno>
#include <cstdint>
#include <fermata/runtime.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wal_store {

using Values = std::map<std::string, std::string>;

/// "KEY=VALUE#CHECKSUM", a line each.
inline std::string record_of(const std::string& key, const std::string& value) {
  const std::string record = key + "=" + value;
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a.
  for (const char letter : record) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return record + "#" + std::to_string(sum) + "\n";
}

/// Applies the records of `text` up to the first that is not whole. Returns how many bytes they
/// have; `records` counts them.
inline std::size_t apply(std::string_view text, Values& values, int& records) {
  std::size_t whole = 0;
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n', whole)) {
    const std::string_view line = text.substr(whole, end + 1 - whole);
    const std::size_t equals = line.find('=');
    const std::size_t hash = line.find('#');
    if (equals == line.npos || hash == line.npos || hash < equals) break;
    const std::string key(line.substr(0, equals));
    const std::string value(line.substr(equals + 1, hash - equals - 1));
    if (line != record_of(key, value)) break;
    values[key] = value;
    ++records;
    whole = end + 1;
  }
  return whole;
}

/// What is in `path`; empty when there is no such file.
inline std::string contents_of(const std::string& path) {
  try {
    return fermata::fs::read_file(path);
  } catch (const fermata::InputOutputError& error) {
    if (error.code() != ENOENT) throw;
    return {};
  }
}

struct Options {
  int records_in_log = 4;  // Then it is compacted.

  /// Without it the new snapshot's name may be lost in a crash, when the log is empty already. That
  /// is the planted bug.
  bool sync_directory = true;
};

class Store {
 public:
  /// Reads what is in `folder`, which exists.
  explicit Store(std::string folder, Options options = {})
      : folder_(std::move(folder)),
        options_(options),
        log_(fermata::File::open(folder_ + "/log", fermata::OpenMode::updating())) {
    fermata::fs::sync_directory(folder_);  // For the name of a new log.
    const std::string snapshot = contents_of(folder_ + "/snapshot");
    int records = 0;
    const std::size_t whole = apply(snapshot, values_, records);
    FERMATA_ALWAYS_EQ(whole, snapshot.size(), "a snapshot is whole");
    // What follows the last whole record was under way when the machine went down.
    log_.truncate(apply(contents_of(folder_ + "/log"), values_, records_));
    log_.sync();
    log_.seek(log_.size());
  }

  /// Returns when it is durable. `key` and `value` have no '=', '#' or line feed. After an error
  /// nobody knows what is on the disk: the store takes nothing more.
  void put(const std::string& key, const std::string& value) {
    const fermata::Mutex::Guard guard(writing_);
    if (has_failed_) throw fermata::InputOutputError("put " + key, EIO);
    has_failed_ = true;
    if (records_ >= options_.records_in_log) compact();
    log_.write(record_of(key, value));
    log_.sync();
    ++records_;
    values_[key] = value;
    has_failed_ = false;
  }

  [[nodiscard]] std::optional<std::string> get(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  /// The snapshot has to be durable, with its name, before the log is emptied.
  void compact() {
    FERMATA_REACHABLE("the log is compacted");
    std::string snapshot;
    for (const auto& [key, value] : values_) snapshot += record_of(key, value);
    auto file = fermata::File::open(folder_ + "/snapshot.new", fermata::OpenMode::writing());
    file.write(snapshot);
    file.sync();
    fermata::fs::rename(folder_ + "/snapshot.new", folder_ + "/snapshot");
    if (options_.sync_directory) fermata::fs::sync_directory(folder_);
    log_.truncate(0);
    log_.sync();
    log_.seek(0);
    records_ = 0;
  }

  std::string folder_;
  Options options_;
  fermata::File log_;
  fermata::Mutex writing_{"log"};
  Values values_;
  int records_ = 0;  // In the log.
  bool has_failed_ = false;
};

}  // namespace wal_store
