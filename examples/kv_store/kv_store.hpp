// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys and values that survive a crash of the machine: a log of records, each with a checksum.

#include <cstdint>
#include <fermata/runtime.hpp>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

class Store {
 public:
  /// Reads the log in `directory`, which exists, as far as it is whole.
  explicit Store(const std::string& directory)
      : log_(fermata::File::open(directory + "/log", fermata::OpenMode::updating())) {
    // The name of a new file is durable when its directory is. Without this the whole log may be
    // gone after a crash, with everything that was synced into it.
    fermata::fs::sync_directory(directory);
    const std::string text = read_log();
    std::size_t whole = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', whole)) {
      if (!read_record(std::string_view(text).substr(whole, end - whole))) break;
      whole = end + 1;
    }
    log_.truncate(whole);  // What follows was under way when the machine went down.
    log_.seek(whole);
  }

  /// Returns when it is durable. `key` and `value` have no '=', '#' or line feed. After an error
  /// nobody knows what the log ends with: the store takes nothing more.
  void put(const std::string& key, const std::string& value) {
    const fermata::Mutex::Guard guard(writing_);
    if (failed_) throw fermata::Error("the log has failed");
    failed_ = true;
    const std::string record = key + "=" + value;
    log_.write(record + "#" + checksum_of(record) + "\n");
    log_.sync();
    failed_ = false;
    values_[key] = value;
  }

  [[nodiscard]] std::optional<std::string> get(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  static std::string checksum_of(std::string_view text) {
    std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a.
    for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return std::to_string(sum);
  }

  std::string read_log() {
    std::string text(log_.size(), '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      const std::size_t part = log_.read(std::as_writable_bytes(std::span(text).subspan(size)));
      if (part == 0) break;
      size += part;
    }
    text.resize(size);
    return text;
  }

  bool read_record(std::string_view line) {
    const std::size_t hash = line.find('#');
    const std::size_t equals = line.find('=');
    if (hash == std::string_view::npos || equals > hash) return false;
    const std::string_view record = line.substr(0, hash);
    if (line.substr(hash + 1) != checksum_of(record)) return false;
    values_[std::string(record.substr(0, equals))] = record.substr(equals + 1);
    return true;
  }

  fermata::File log_;
  fermata::Mutex writing_{"log"};
  bool failed_ = false;
  std::map<std::string, std::string> values_;
};
