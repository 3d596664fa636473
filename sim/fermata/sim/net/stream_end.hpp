// SPDX-License-Identifier: Apache-2.0
#pragma once

// One end of a connection, whoever holds it: how it is established, what it sends and takes in, its
// options and the faults that strike it. A stream of fermata/reactor holds one, and so does a
// socket of foreign code.

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/socket_option.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/connection.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/net/peer_check.hpp"

namespace fermata::backend {
class StreamHandle;
}

namespace fermata::sim::detail {

/// Who holds an end of a connection.
class StreamUser {
 public:
  /// The connection is established, or `code` says why it is not.
  virtual void connected_end(int code) = 0;
  /// Bytes, the end or a reset may have come. Only while it wants them, or watches.
  virtual void input_came() = 0;
  /// There may be room to send. Only while it wants that, or watches.
  virtual void room_came() = 0;
  /// The handle that it is, if it is one.
  [[nodiscard]] virtual const backend::StreamHandle* handle() const noexcept { return nullptr; }

 protected:
  ~StreamUser() = default;
};

class StreamEnd final : public Endpoint {
 public:
  /// `user` must outlive it.
  StreamEnd(StreamUser& user, Network& network, std::shared_ptr<Connection> connection,
            Connection::Side side);
  ~StreamEnd() {
    Endpoint*& here = connection_->end(side_).endpoint;
    if (here == this) here = nullptr;
  }

  // --- establishing: the user is told, later ---

  /// Begins to establish the connection.
  void dial();
  /// Begins to connect to a Unix socket of this machine.
  void dial_locally();

  // --- reading ---

  /// While `value`, the user is told of what comes.
  void want_input(bool value) noexcept;
  /// Takes in what has arrived until now.
  void take_in() { inbound_.arrive(machine().now()); }
  [[nodiscard]] std::span<const std::byte> unread() const noexcept { return inbound_.peek(); }
  /// How many of `whole` bytes a read gives: all, or a part that is drawn.
  [[nodiscard]] std::size_t drawn_read(std::size_t whole) {
    return whole < 2 || is_spared(Fault::ShortRead) ? whole : part_read(whole);
  }
  /// Room to read into; good until it is asked for again.
  [[nodiscard]] std::span<std::byte> spare() const noexcept { return network_.spare(); }
  void consume(std::size_t bytes) {
    FERMATA_ASSERT(bytes <= unread().size());
    connection_->consumed(side_, bytes);
  }
  /// Drops the last bytes that have arrived, and breaks the connection: nobody will read them.
  void refuse_input(std::size_t bytes);
  /// Nothing more comes.
  [[nodiscard]] bool input_ended() const noexcept { return inbound_.is_ended(); }
  [[nodiscard]] bool broken() const noexcept { return connection_->broken(side_); }
  [[nodiscard]] int broken_code() const noexcept { return connection_->broken_code(side_); }
  /// Looks again when the next of what is under way arrives.
  void expect_arrival() override;

  /// While `value`, the user is told of each arrival, and of room where there was none. It wants
  /// nothing otherwise.
  void watch(bool value) noexcept;

  // --- writing ---

  /// While `value`, the user is told of room. Also of a connection that breaks.
  void want_room(bool value) noexcept;
  [[nodiscard]] std::size_t room() const noexcept { return outbound_.room(); }
  /// The error that a write meets now, which may break the connection: an errno value, or 0.
  [[nodiscard]] int obstacle();
  /// Sends what there is room for, or a part that is drawn, and returns how much.
  std::size_t accept(std::span<const std::byte> data);
  void send_end() {
    if (!broken()) connection_->send_end(side_);
  }
  void expect_room(Instant when) override;

  // --- as a whole ---

  [[nodiscard]] Connection& connection() const noexcept { return *connection_; }
  [[nodiscard]] Connection::Side side() const noexcept { return side_; }
  /// Names it in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  [[nodiscard]] Machine& machine() const noexcept { return machine_; }
  [[nodiscard]] const Address& address() const noexcept { return connection_->end(side_).address; }
  [[nodiscard]] const Address& peer_address() const noexcept {
    return connection_->end(Connection::other(side_)).address;
  }
  /// The stream at the other end; null when it is something else, or gone.
  [[nodiscard]] const backend::StreamHandle* far_handle() const noexcept;
  /// Both return an errno value.
  int set_option(backend::SocketOption option, int value);
  int option(backend::SocketOption option, int& value) const;
  void set_patience(const Patience& patience) { check_.set(patience); }
  /// Lets go of the connection. Nothing is told any more.
  void close() noexcept;

 private:
  void peer_crashed(bool silent) override;
  void gave_up() override;
  [[nodiscard]] PeerCheck* peer_check() noexcept override {
    return connection_->local() ? nullptr : &check_;
  }

  [[nodiscard]] Instant dial_end() const noexcept { return dialled_ + check_.dial_limit(); }
  void dial_nobody();
  void send_syn();
  void retransmit_syn();
  void syn_arrived();
  void answer(int code);
  /// For people: the SYN comes to this, on the side of the server.
  void record_syn(Message::Fate fate);
  void answered();
  void arrived() { user_.input_came(); }
  void drain() { user_.room_came(); }
  [[nodiscard]] std::size_t part_read(std::size_t whole);
  /// How many of `whole` bytes a write takes, which may be none.
  [[nodiscard]] std::size_t drawn_write(std::size_t whole) {
    return whole == 0 || is_spared(Fault::ShortWrite) ? whole : part_written(whole);
  }
  [[nodiscard]] std::size_t part_written(std::size_t whole);
  [[nodiscard]] bool breaks_down();
  /// Whether `fault` strikes, drawn under `draw`, a part of a key; `does` says in reports what it
  /// does, with {} for the connection.
  [[nodiscard]] bool strikes(Fault fault, std::uint64_t draw, const char* does) {
    return !is_spared(fault) && draw_strike(fault, draw, does);
  }
  [[nodiscard]] bool draw_strike(Fault fault, std::uint64_t draw, const char* does);
  /// Whether `fault` does not strike it any more.
  [[nodiscard]] bool is_spared(Fault fault) const noexcept {
    return machine().faults().is_absent(fault);
  }
  StreamUser& user_;
  Network& network_;
  std::shared_ptr<Connection> connection_;
  Connection::Side side_;
  // What the connection has on this side.
  Machine& machine_;
  Pipe& inbound_;
  Pipe& outbound_;
  std::uint64_t key_;
  MemberHappening<StreamEnd, &StreamEnd::arrived> arrival_;
  MemberHappening<StreamEnd, &StreamEnd::drain> room_;
  MemberHappening<StreamEnd, &StreamEnd::syn_arrived> syn_;  // On the server's agenda.
  MemberHappening<StreamEnd, &StreamEnd::send_syn> repetition_;
  MemberHappening<StreamEnd, &StreamEnd::answered> answer_;
  PeerCheck check_;
  Duration retry_ = Duration::zero();
  Instant dialled_;
  int answer_code_ = 0;
  MessageLog::Id syn_noted_ = 0;
  bool wants_input_ = false;
  bool wants_room_ = false;
  bool watches_ = false;
  std::array<int, backend::kSocketOptionCount> options_ = {1, 0, Pipe::kBuffer, Pipe::kBuffer, 0};
};

/// A connection from `machine` to `peer`, whoever has that address, to be dialled.
[[nodiscard]] std::shared_ptr<Connection> connection_to(Machine& machine, Network& network,
                                                        const Address& peer,
                                                        std::uint16_t own_port = 0);

}  // namespace fermata::sim::detail
