// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options of sockets: which there are, of what they are, and what was set.

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fermata/base/time.hpp"

namespace fermata::sim::detail {

class SocketOptions {
 public:
  /// `domain`, `type` and `protocol` are those of the socket.
  SocketOptions(int domain, int type, int protocol) noexcept
      : domain_(domain), type_(type), protocol_(protocol) {}

  /// Both as the system's: 0 or a negative errno; -ENOPROTOOPT for an option that is not known.
  [[nodiscard]] int get(int level, int name, void* value, socklen_t* size) const;
  [[nodiscard]] int set(int level, int name, const void* value, socklen_t size);

  /// An option that is a number; 0 unless it was set, or has a value from the beginning.
  [[nodiscard]] int number(int level, int name) const noexcept;
  [[nodiscard]] const linger& lingers() const noexcept { return linger_; }
  /// SO_RCVTIMEO and SO_SNDTIMEO; without one, forever.
  [[nodiscard]] std::optional<Duration> receive_limit() const noexcept { return receive_limit_; }
  [[nodiscard]] std::optional<Duration> send_limit() const noexcept { return send_limit_; }

  [[nodiscard]] int domain() const noexcept { return domain_; }
  [[nodiscard]] int type() const noexcept { return type_; }
  [[nodiscard]] int protocol() const noexcept { return protocol_; }

 private:
  /// Whether the socket has options of this level.
  [[nodiscard]] bool has(int level) const noexcept;

  int domain_;
  int type_;
  int protocol_;
  std::map<std::pair<int, int>, int> numbers_;  // That were set, by level and name.
  linger linger_ = {};
  std::optional<Duration> receive_limit_;
  std::optional<Duration> send_limit_;
};

/// Gives a number as the value of an option, as far as there is room. Returns 0.
int give_number(int number, void* value, socklen_t* size) noexcept;

}  // namespace fermata::sim::detail
