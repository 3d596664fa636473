// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fermata::sim {

namespace wire {
struct Frame;
}

/// Hears what a server and its clients say to each other: for tests that keep a ledger of it. Each
/// client has a number; a server that begins again counts anew. Who speaks PostgreSQL's protocol is
/// told in frames that say the same. Its functions must neither suspend nor throw.
class DatabaseTap {
 public:
  virtual ~DatabaseTap() = default;
  /// The server has read a frame, and has not looked at it.
  virtual void asked(std::uint64_t client, const wire::Frame& frame) = 0;
  /// It is about to send one.
  virtual void answered(std::uint64_t client, const wire::Frame& frame) = 0;
};

}  // namespace fermata::sim
