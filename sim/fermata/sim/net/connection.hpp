// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection between two machines, which may be one: two pipes and what stands at their ends. It
// lives as long as one of its ends does.
//
// One that goes through no network (a Unix socket, an anonymous pipe) is within one machine: what
// is sent there has arrived, and whoever writes knows whether the other end is still there.

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/pipe.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {
class RunLog;
}

namespace fermata::sim::detail {

class LinkState;
class PeerCheck;
struct Parcel;

/// Somebody at an end of a connection.
class Endpoint {
 public:
  /// Something is under way to this end: look when it arrives.
  virtual void expect_arrival() = 0;
  /// There may be room to send.
  virtual void expect_room(Instant when) = 0;
  /// The machine at the other end has crashed; with `silent` nobody tells so.
  virtual void peer_crashed(bool silent) = 0;
  /// This end has given up, since the other one is silent.
  virtual void gave_up() {}
  /// What finds out whether anybody is at the other end; null where that is known.
  [[nodiscard]] virtual PeerCheck* peer_check() noexcept { return nullptr; }

 protected:
  ~Endpoint() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum Side : std::size_t { Client = 0, Server = 1 };
  static constexpr Side other(Side side) noexcept { return side == Client ? Server : Client; }

  struct End {
    Machine* machine = nullptr;
    Address address;
    Endpoint* endpoint = nullptr;  // Null before it is opened and after it was closed.
    bool closed = false;
    bool silent = false;  // Closed by a crash that nobody was told of.
    // Within one machine.
    std::string path;               // The name of a Unix socket.
    bool deaf = false;              // It is shut for reading: the other end cannot write.
    std::shared_ptr<void> luggage;  // What comes to it beside bytes; its sockets know what that is.
  };

  /// `there` leads from the client to the server, `back` the other way. It is the one with this
  /// number on `there`, counted from 1.
  Connection(std::uint64_t number, End client, End server, LinkState& there, LinkState& back);
  /// Within `machine`; `place` is what reports call it.
  Connection(std::uint64_t key, Machine& machine, std::string place);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { leave_list(); }

  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  /// Whether the connection stays within one machine, without the network.
  [[nodiscard]] bool local() const noexcept { return !place_.empty(); }
  [[nodiscard]] const std::string& place() const noexcept { return place_; }
  [[nodiscard]] End& end(Side side) noexcept { return ends_[side]; }
  [[nodiscard]] Pipe& to(Side side) noexcept { return pipes_[side]; }
  [[nodiscard]] const Pipe& to(Side side) const noexcept { return pipes_[side]; }

  /// "the connection client -> server, port 80", or "the pipe 'PLACE'"; for people.
  [[nodiscard]] std::string text() const;

  /// When something of this size that `from` sends now arrives; never() while nobody knows. `what`
  /// is what reports call it; a message is counted.
  [[nodiscard]] Instant arrival_from(Side from, const char* what, std::size_t bytes = 0);
  [[nodiscard]] Duration least_latency() const noexcept;
  /// Whether somebody has closed the link that leads away from this side.
  [[nodiscard]] bool link_closed(Side from) const noexcept;

  // --- what the end `from` does ---

  void send(Side from, std::span<const std::byte> bytes);
  void send_end(Side from);
  void send_reset(Side from);
  /// The end takes bytes: there is room for the other one.
  void consumed(Side by, std::size_t bytes);
  /// The end is gone. What it did not read breaks the connection, else the other end sees the end.
  void close(Side side);
  /// The machine of this end has crashed: whatever it does from here on has no effect, and the
  /// other end learns of it by a reset, or, with `silent`, not before that machine is up again.
  void crash(Side side, bool silent);
  /// Both ends find the connection broken: this one at once, the other one when it learns of it.
  void break_down(Side here);
  /// This end gives up: nothing is heard from the other one.
  void give_up(Side here);
  /// What comes back of a segment that this end sends now, without an effect of its own.
  enum class Echo : std::uint8_t { None, Alive, Reset };
  Echo ask(Side from);
  /// Whether there would be an echo.
  [[nodiscard]] bool can_hear(Side from) const noexcept;
  /// Whether the machine of this end has crashed, and nobody was told.
  [[nodiscard]] bool vanished(Side side) const noexcept { return ends_[side].silent; }
  /// For people: `from` sends a message of this kind now, which arrives then. 0 when nobody is
  /// told.
  MessageLog::Id note(Side from, Message::Kind kind, Message::Fate fate, Instant arrival,
                      std::span<const std::byte> bytes = {}) const {
    RunLog* const told = run_log(from);
    return told == nullptr ? 0 : note_in(*told, from, kind, fate, arrival, bytes);
  }
  /// For people: the program at this end is handed so many bytes while the result lives.
  [[nodiscard]] Arrival taken(Side by, std::size_t bytes) const {
    RunLog* const told = run_log(by);
    const bool by_server = by == Server;
    return {told, told == nullptr ? 0 : told->message_log().taken(key_, by_server, bytes)};
  }
  /// For people: the server's program is handed the connection while the result lives.
  [[nodiscard]] Arrival accepted() const;
  /// For people: the program at this end learns that nothing more comes while the result lives.
  [[nodiscard]] Arrival ended(Side seen_by) const;
  /// The link that leads away from this side is open again: what waits leaves at `when`.
  void reopened(Side from, Instant when);
  /// What is sent one of the ways may not get through from now on.
  void path_worsened();
  /// Whether this end knows that the connection is broken.
  [[nodiscard]] bool broken(Side side) const noexcept {
    return broken_here_[side] || pipes_[side].is_broken();
  }
  /// The error of operations of this end when it is broken.
  [[nodiscard]] int broken_code(Side side) const noexcept { return broken_codes_[side]; }

 private:
  [[nodiscard]] bool crashed(Side side) const noexcept { return crashed_[side]; }
  [[nodiscard]] bool gave_up(Side side) const noexcept { return broken_codes_[side] == ETIMEDOUT; }
  [[nodiscard]] Message message_from(Side from, Message::Kind kind, Message::Fate fate,
                                     Instant arrival) const;
  [[nodiscard]] Duration drawn_delay(Side from, const Parcel& parcel);
  /// send() when the other end is closed.
  void send_to_nobody(Side from, std::span<const std::byte> bytes, Instant arrival);
  void tell(Side side);
  /// Null when there is none.
  [[nodiscard]] PeerCheck* peer_check(Side side) const noexcept;
  /// Nobody is at `there`: what arrives there then is answered with a reset.
  void refuse(Side there, Instant when);
  /// The log of what this side sends; null when there is none.
  [[nodiscard]] RunLog* run_log(Side from) const noexcept {
    return local() ? nullptr : ends_[from].machine->run_log();
  }
  MessageLog::Id note_in(RunLog& told, Side from, Message::Kind kind, Message::Fate fate,
                         Instant arrival, std::span<const std::byte> bytes) const;

  std::uint64_t key_;
  std::uint64_t number_ = 0;                 // 0 when it is local.
  std::array<std::uint64_t, 2> delay_keys_;  // By who sends.
  std::string place_;                        // Empty when it goes through the network.
  std::array<End, 2> ends_;
  std::array<Pipe, 2> pipes_;          // To the client, to the server.
  std::array<LinkState*, 2> links_{};  // Away from the client, from the server; null when local.
  std::array<bool, 2> broken_here_{};
  std::array<int, 2> broken_codes_{ECONNRESET, ECONNRESET};
  std::array<bool, 2> crashed_{};
  fermata::detail::Link<Connection> link_;

 public:
  using List = fermata::detail::IntrusiveList<Connection, &Connection::link_>;

  /// It is in `list` until its end, or until it leaves. REQUIRES: it is in none.
  void enter(List& list) noexcept {
    FERMATA_ASSERT(list_ == nullptr);
    list.push_back(*this);
    list_ = &list;
  }
  void leave_list() noexcept {
    if (list_ != nullptr) std::exchange(list_, nullptr)->remove(*this);
  }

 private:
  List* list_ = nullptr;
};

}  // namespace fermata::sim::detail
