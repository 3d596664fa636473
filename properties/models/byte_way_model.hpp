// SPDX-License-Identifier: Apache-2.0
#pragma once

// One direction of a byte stream as its two ends see it: the kernel's queue of bytes. What is
// written at each place follows from the way's number, so that a reader can tell bytes that are
// lost, repeated, out of order or of another way.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ByteWayModel {
 public:
  /// The way's first byte is its number.
  explicit ByteWayModel(std::uint8_t number) : number_(number) {}

  [[nodiscard]] std::byte at(std::size_t place) const {
    if (place == 0) return std::byte{number_};
    std::uint64_t hash = (place + 1) * 0x9e3779b97f4a7c15 + number_;
    hash ^= hash >> 29;
    return static_cast<std::byte>(hash * 0xbf58476d1ce4e5b9 >> 56);
  }

  // --- the writer's end ---

  /// A write that was begun; `doomed` when what the writer knows already lets it fail, and nothing
  /// of it is ever sent.
  struct Write {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool doomed = false;

    [[nodiscard]] std::size_t end() const { return begin + size; }
  };

  /// From here on the way has the bytes, unless the writer has ended or failed before, or the write
  /// is `given_up` from the start.
  [[nodiscard]] Write begin(std::size_t size, bool given_up) {
    const Write write{submitted_, size, is_ended() || refused_ || given_up};
    if (!write.doomed) submitted_ += size;
    return write;
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(const Write& write) const {
    std::vector<std::byte> bytes(write.size);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = at(write.begin + i);
    return bytes;
  }

  /// The writer was told that the first `size` bytes of it were accepted; the rest never were.
  [[nodiscard]] Complaint accepted(const Write& write, std::size_t size) {
    if (write.doomed && size > 0) {
      return "IO-06 (VAL): a write was accepted behind the end of the stream, after another one "
             "had "
             "failed, or with a token that had fired";
    }
    if (size < write.size) {
      if (write.end() != submitted_) {
        return "IO-03 (VAL): a write of " + std::to_string(write.size) + " bytes took only " +
               std::to_string(size) + ", and others were begun behind it";
      }
      submitted_ = write.begin + size;
    }
    acknowledged_ = std::max(acknowledged_, write.begin + size);
    return {};
  }
  /// The writer was told that it has failed.
  void refused() { refused_ = true; }
  /// Behind everything written so far.
  void shut() { shut_ = true; }
  /// What is not accepted yet goes with the handle.
  void closed() { closed_ = true; }

  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] bool is_ended() const { return shut_ || closed_; }
  [[nodiscard]] bool failed() const { return refused_; }

  // --- the reader's end ---

  [[nodiscard]] Complaint received(std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != at(received_ + i)) {
        return "IO-02, IO-03 (VAL): byte " + std::to_string(received_ + i) + " of way " +
               std::to_string(number_) + " came out as another one";
      }
    }
    received_ += bytes.size();
    if (received_ <= submitted_) return {};
    return "IO-02 (VAL): " + std::to_string(received_) + " bytes were received, and " +
           std::to_string(submitted_) + " were ever written";
  }

  /// The reader was told that nothing follows but `left` bytes, which it did not take.
  [[nodiscard]] Complaint end_reached(std::size_t left = 0) const {
    if (!is_ended()) return "IO-04 (VAL): the stream has ended, and its writer has not ended it";
    const std::size_t least = closed_ || refused_ ? acknowledged_ : submitted_;
    const std::size_t reached = received_ + left;
    if (reached >= least && reached <= submitted_) return {};
    return "IO-02 (VAL): the stream ended after " + std::to_string(reached) + " of " +
           std::to_string(least) + " bytes that had been accepted";
  }

  [[nodiscard]] std::size_t place() const { return received_; }
  [[nodiscard]] std::size_t outstanding() const { return submitted_ - received_; }

 private:
  std::uint8_t number_;
  std::size_t submitted_ = 0;
  std::size_t acknowledged_ = 0;
  std::size_t received_ = 0;
  bool shut_ = false;
  bool closed_ = false;
  bool refused_ = false;
};

}  // namespace fermata::models
