// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP in a simulated network, and pipes within its machines: what fermata/reactor asks of a
// backend, over connections.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fermata/reactor/streams.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/connection.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/net/stream_end.hpp"

namespace fermata::sim {
class Terminal;
}

namespace fermata::sim::detail {

class Machine;

class SimStreams final : public backend::Streams {
 public:
  SimStreams(fermata::detail::Attachment& attachment, Machine& machine, Network& network,
             Terminal& terminal)
      : backend::Streams(attachment), machine_(machine), network_(network), terminal_(terminal) {}

  [[nodiscard]] backend::PipeHandles open_pipe() override;
  [[nodiscard]] Ref<backend::StreamHandle> open_standard(backend::StandardStream which) override;

 private:
  Ref<backend::ListenerHandle> open_listener(const Address& address,
                                             const ListenOptions& options) override;
  Ref<backend::ListenerHandle> open_listener(const backend::PipePath& path,
                                             const ListenOptions& options) override;
  Ref<backend::StreamHandle> open_connection(const Address& peer) override;
  Ref<backend::StreamHandle> open_connection(const backend::PipePath& peer) override;

  Machine& machine_;
  Network& network_;
  Terminal& terminal_;
};

/// A stream over an end of a connection.
class SimStream final : public backend::StreamHandle, public StreamUser {
 public:
  SimStream(fermata::detail::Attachment& attachment, Network& network,
            std::shared_ptr<Connection> connection, Connection::Side side,
            backend::Direction direction = backend::Direction::Both);

  [[nodiscard]] StreamEnd& end() noexcept { return end_; }
  /// Its socket is of this version, which addresses are told in.
  void sees(IpVersion version) noexcept { version_ = version; }

  [[nodiscard]] Address local_address() const override;
  [[nodiscard]] Address peer_address() const override;
  [[nodiscard]] const backend::StreamHandle* far_end() const noexcept override;

 private:
  void connected_end(int code) override { connected(code); }
  void input_came() override;
  void room_came() override;
  [[nodiscard]] const backend::StreamHandle* handle() const noexcept override { return this; }

  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(backend::Buffers buffers) override;
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override { end_.send_end(); }
  int apply_option(backend::SocketOption option, int value) override {
    return end_.set_option(option, value);
  }
  int read_option(backend::SocketOption option, int& value) const override {
    return end_.option(option, value);
  }
  void close_backend() noexcept override;

  /// Hands one piece to the reader; false when it was less than there is.
  bool deliver(std::span<const std::byte> unread);
  void end_submitted(int code);

  StreamEnd end_;
  IpVersion version_;
  MemberHappening<SimStream, &SimStream::close_acknowledged> acknowledgement_;
  std::span<const std::byte> submitted_;
  bool reading_ = false;
};

class SimListener final : public backend::ListenerHandle, public Listening {
 public:
  /// Binds it. Throws InputOutputError.
  SimListener(fermata::detail::Attachment& attachment, Machine& machine, Network& network,
              backend::StreamPlace place, const ListenOptions& options);

  [[nodiscard]] Address local_address() const override;
  bool arrived(const std::shared_ptr<Connection>& connection) override;

 private:
  void resume_accepting() override;
  void pause_accepting() noexcept override { accepting_ = false; }
  void close_backend() noexcept override;
  void hand_over();

  Machine& machine_;
  Network& network_;
  backend::StreamPlace place_;  // Where it is bound.
  std::size_t backlog_;
  int accepts_per_turn_;
  std::deque<std::shared_ptr<Connection>> queue_;
  MemberHappening<SimListener, &SimListener::hand_over> arrival_;
  MemberHappening<SimListener, &SimListener::close_acknowledged> acknowledgement_;
  std::uint64_t key_;
  bool accepting_ = false;
};

}  // namespace fermata::sim::detail
