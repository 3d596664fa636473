// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP in a simulated network, and pipes within its machines: what fermata/reactor asks of a
// backend, over connections.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fermata/reactor/streams.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/connection.hpp"
#include "fermata/sim/net/network.hpp"

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
  [[nodiscard]] Ref<backend::StreamHandle> open_standard(StandardStream which) override;

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

/// One end of a connection.
class SimStream final : public backend::StreamHandle, public Endpoint {
 public:
  SimStream(fermata::detail::Attachment& attachment, Network& network,
            std::shared_ptr<Connection> connection, Connection::Side side,
            backend::Direction direction = backend::Direction::Both);

  /// Its socket is of this version, which addresses are told in.
  void sees(IpVersion version) noexcept { version_ = version; }
  /// Begins to establish the connection.
  void dial();
  /// Begins to connect to an address that no machine has.
  void dial_nobody();
  /// Begins to connect to a Unix socket of this machine.
  void dial_locally();

  [[nodiscard]] Address local_address() const override;
  [[nodiscard]] Address peer_address() const override;
  [[nodiscard]] const backend::StreamHandle* far_end() const noexcept override;

  void expect_arrival() override;
  void expect_room(Instant when) override;
  void peer_crashed(bool silent) override;
  void on_path_blocked() override;
  void on_path_restored() override;

 private:
  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(backend::Buffers buffers) override;
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override;
  int apply_option(SocketOption option, int value) override;
  int read_option(SocketOption option, int& value) const override;
  void close_backend() noexcept override;

  void send_syn();
  void retransmit_syn();
  void syn_arrived();
  void answer(int code);
  /// For people: the SYN comes to this, on the side of the server.
  void record_syn(Message::Fate fate);
  void answered();
  void give_up();
  void arrived();
  /// Hands one piece to the reader; false when it was less than there is.
  bool deliver();
  void drain();
  std::size_t accept(std::span<const std::byte> data);
  /// How many of `whole` bytes a read gives, or a write takes, which may be none.
  [[nodiscard]] std::size_t drawn_read(std::size_t whole);
  [[nodiscard]] std::size_t drawn_write(std::size_t whole);
  [[nodiscard]] bool breaks_down();
  /// The error that a write meets now: an errno value, or 0.
  [[nodiscard]] int obstacle();
  [[nodiscard]] Machine& machine() const noexcept { return *connection_->end(side_).machine; }
  /// Whether `fault` strikes; `does` says in reports what it does, with {} for the connection.
  [[nodiscard]] bool strikes(Fault fault, const char* draw, const char* does);

  Network& network_;
  std::shared_ptr<Connection> connection_;
  Connection::Side side_;
  IpVersion version_;
  std::uint64_t key_;
  MemberHappening<SimStream> arrival_;
  MemberHappening<SimStream> room_;
  MemberHappening<SimStream> syn_;  // On the server's agenda.
  MemberHappening<SimStream> repetition_;
  MemberHappening<SimStream> answer_;
  MemberHappening<SimStream> give_up_;
  MemberHappening<SimStream> acknowledgement_;
  std::span<const std::byte> submitted_;
  Duration retry_ = Duration::zero();
  Instant dialled_;
  int answer_code_ = 0;
  MessageLog::Id syn_noted_ = 0;
  bool reading_ = false;
  std::array<int, kSocketOptionCount> options_ = {1, 0, Pipe::kBuffer, Pipe::kBuffer, 0};
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
  MemberHappening<SimListener> arrival_;
  MemberHappening<SimListener> acknowledgement_;
  std::uint64_t key_;
  bool accepting_ = false;
};

}  // namespace fermata::sim::detail
