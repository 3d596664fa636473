// SPDX-License-Identifier: Apache-2.0
#pragma once

// What others of this folder hear of a connection, at once and inside its methods; no user code.

#include <string_view>

namespace fermata::loop {

class TcpConnection;

namespace detail {

class TcpLink {
 public:
  /// A message of the connection that this is the sink of; the peer's end.
  virtual void message(std::string_view message) = 0;
  virtual void ended() = 0;
  /// The send queue of a watched connection has reached its high mark, or has drained.
  virtual void filled() = 0;
  virtual void drained() = 0;
  /// A connection that this watches, or is the sink of, no longer sends or delivers anything.
  virtual void closed(TcpConnection& connection) = 0;

 protected:
  ~TcpLink() = default;
};

class TcpOwner {
 public:
  virtual void connection_closed(TcpConnection& connection) noexcept = 0;

 protected:
  ~TcpOwner() = default;
};

}  // namespace detail
}  // namespace fermata::loop
