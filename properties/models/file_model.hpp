// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may be in a file of which some writes are known to have happened, some not to have, and of
// some nobody knows: those that failed or were given up may have been done in part. Each write has
// bytes of its own, so that whoever reads them can tell whose they are. To set the size of a file
// is to write nothing from there on: what lies there is gone, and zeros when the file grows again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class FileModel {
 public:
  using Write = std::size_t;  // In the order of submission; it may set the size, too.

  /// When a read was submitted.
  struct Moment {
    std::size_t writes = 0;  // Submitted before.
    std::uint64_t time = 0;
  };

  // --- writing ---

  /// REQUIRES: `size` > 0.
  [[nodiscard]] Write begin(std::size_t offset, std::size_t size) {
    writes_.push_back({offset, size});
    return writes_.size() - 1;
  }
  [[nodiscard]] Write begin_to_set_size(std::size_t size) {
    writes_.push_back({.offset = size, .sets_size = true});
    return writes_.size() - 1;
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(Write write) const {
    const Known& known = writes_[write];
    std::vector<std::byte> bytes(known.size);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(write, known.offset + i);
    return bytes;
  }
  /// All of it has happened.
  void done(Write write) { writes_[write].done_at = ++time_; }

  // --- what lasts ---

  /// A sync that was submitted at `moment` has succeeded: what was done before lasts.
  void synced(const Moment& moment) {
    for (std::size_t i = 0; i < moment.writes; ++i) {
      Known& write = writes_[i];
      if (write.done_at <= moment.time && !write.given_up) write.lasts = true;
    }
  }
  /// A sync has failed: what does not last by now may be seen, and never does.
  void sync_failed() {
    for (Known& write : writes_) write.given_up = write.given_up || !write.lasts;
  }
  /// The machine went down. Of what did not last, nobody knows anything.
  void crashed() {
    for (Known& write : writes_) {
      if (!write.lasts) write.done_at = kNever;
    }
  }

  // --- reading ---

  [[nodiscard]] Moment now() const { return {writes_.size(), time_}; }

  /// A read at `offset` that stood in line behind what was submitted before `moment`.
  [[nodiscard]] Complaint read_in_line(const Moment& moment, std::size_t offset,
                                       std::span<const std::byte> bytes) const {
    return check(moment.writes, time_, offset, bytes);
  }
  /// One that passes the line by.
  [[nodiscard]] Complaint read_aside(const Moment& moment, std::size_t offset,
                                     std::span<const std::byte> bytes) const {
    return check(writes_.size(), moment.time, offset, bytes);
  }
  /// The size that was told to somebody in line.
  [[nodiscard]] Complaint size_told(const Moment& moment, std::size_t size) const {
    const std::size_t least = least_size(moment.writes, time_);
    const std::size_t most = most_size(moment.writes, time_);
    if (size >= least && size <= most) return {};
    return "IO-10 (VAL): the file has " + std::to_string(size) + " bytes, expected " +
           std::to_string(least) + " to " + std::to_string(most);
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Known {
    std::size_t offset = 0;
    std::size_t size = 0;
    std::uint64_t done_at = kNever;
    bool sets_size = false;  // To `offset`.
    bool lasts = false;
    bool given_up = false;

    [[nodiscard]] std::size_t end() const { return offset + size; }
    [[nodiscard]] bool covers(std::size_t place) const {
      return sets_size ? place >= offset : place - offset < size;
    }
  };

  [[nodiscard]] static std::byte value(Write write, std::size_t place) {
    const std::uint64_t hash = (write + 1) * 0x9e3779b97f4a7c15 + place * 0xbf58476d1ce4e5b9;
    return static_cast<std::byte>((hash ^ hash >> 31) * 0x94d049bb133111eb >> 56);
  }

  /// After the first `writes`, when no other happened than those that were done by `time`.
  [[nodiscard]] std::size_t least_size(std::size_t writes, std::uint64_t time) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < writes; ++i) {
      const Known& write = writes_[i];
      const bool is_done = write.done_at <= time;
      if (write.sets_size) {
        size = is_done ? write.offset : std::min(size, write.offset);
      } else if (is_done) {
        size = std::max(size, write.end());
      }
    }
    return size;
  }
  /// After the first `writes`, when all of them may have happened.
  [[nodiscard]] std::size_t most_size(std::size_t writes, std::uint64_t time) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < writes; ++i) {
      const Known& write = writes_[i];
      const bool cuts = write.sets_size && write.done_at <= time;
      size = cuts ? write.offset : std::max(size, write.end());
    }
    return size;
  }

  /// Whether `byte` may be at `place`: the last of the first `writes` that was done by `time`
  /// covers all before it.
  [[nodiscard]] bool may_be(std::size_t writes, std::uint64_t time, std::size_t place,
                            std::byte byte) const {
    for (std::size_t i = writes; i-- > 0;) {
      if (!writes_[i].covers(place)) continue;
      if (byte == (writes_[i].sets_size ? std::byte{0} : value(i, place))) return true;
      if (writes_[i].done_at <= time) return false;
    }
    return byte == std::byte{0};
  }

  [[nodiscard]] Complaint check(std::size_t writes, std::uint64_t time, std::size_t offset,
                                std::span<const std::byte> bytes) const {
    if (bytes.empty()) {
      const std::size_t least = least_size(writes, time);
      if (least <= offset) return {};
      return "IO-05 (VAL): a read at " + std::to_string(offset) + " found the end of a file of " +
             std::to_string(least) + " bytes";
    }
    if (offset + bytes.size() > most_size(writes, time)) {
      return "IO-10 (VAL): a read found bytes behind all that may be there";
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (!may_be(writes, time, offset + i, bytes[i])) {
        return "IO-10 (VAL): at " + std::to_string(offset + i) +
               " of a file there is none of the bytes that may be there";
      }
    }
    return {};
  }

  std::vector<Known> writes_;
  std::uint64_t time_ = 0;
};

}  // namespace fermata::models
