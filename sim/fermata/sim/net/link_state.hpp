// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way from one machine to another, or to itself: how long what is sent is under way, and
// whether it gets through. Within one machine nothing goes wrong.
//
// Closed  By somebody, until he opens it again; or by a fault, for a
//         known time. A link that is cut loses datagrams, and what must
//         arrive is sent again afterwards; one that is held keeps
//         everything.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/net/link.hpp"

namespace fermata::sim::detail {

class LinkState;
class Machine;

/// What is sent on a link, for people: "the 2nd message", "the connect".
struct Parcel {
  const char* what = "message";
  std::uint64_t number = 0;  // 0: has none.
};

/// All links of a network, as one of them sees them.
class Links {
 public:
  [[nodiscard]] virtual LinkState& between(Machine& from, Machine& to) = 0;
  /// For this long nothing gets through that `machine` sends, or that is sent to it.
  virtual void isolate(const Machine& machine, Duration time) = 0;
  /// What waits for `link` leaves at `when`.
  virtual void reopened(LinkState& link, Instant when) = 0;
  /// What is sent on `link` may not get through from now on.
  virtual void worsened(LinkState& link) = 0;

 protected:
  ~Links() = default;
};

class LinkState {
 public:
  LinkState(Links& links, Machine& from, Machine& to);
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;

  [[nodiscard]] Machine& from() const noexcept { return from_; }
  [[nodiscard]] Machine& to() const noexcept { return to_; }
  /// Names this link in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  /// Counts the connections made on it.
  [[nodiscard]] std::uint64_t next_connection() noexcept { return ++connections_; }
  /// "client -> server", for people.
  [[nodiscard]] std::string text() const;
  /// "the 2nd message client -> server", for people.
  [[nodiscard]] std::string text(const Parcel& parcel) const;
  /// Counts the messages of connections.
  [[nodiscard]] std::uint64_t next_message() noexcept { return ++messages_; }

  // --- what is sent now ---

  /// When `bytes` that are part of a connection arrive; never() while nobody knows.
  [[nodiscard]] Instant arrival(std::size_t bytes, const Parcel& parcel);
  /// Whether a datagram is lost, and when it arrives otherwise.
  struct Passage {
    bool lost;
    Instant arrival;
  };
  [[nodiscard]] Passage passage(std::size_t bytes, const Parcel& parcel);
  /// When `bytes` that leave at `when` arrive.
  [[nodiscard]] Instant carried(Instant when, std::size_t bytes, const Parcel& parcel);
  [[nodiscard]] Duration least_latency() const noexcept { return latency_.least(); }
  /// Whether somebody has closed it.
  [[nodiscard]] bool is_closed() const noexcept { return cut_ || held_; }
  /// Whether what is sent now, and never again, arrives.
  [[nodiscard]] bool gets_through() const noexcept;

  // --- what is done to it ---

  void set_latency(const Latency& latency) noexcept { latency_ = latency; }
  void set_bandwidth(std::uint64_t bytes_per_second) noexcept {
    bytes_per_second_ = bytes_per_second;
  }
  void cut();
  /// Repairs the link; held data is sent again after a while.
  void mend();
  void hold();
  void release();
  void clog(Duration time);
  /// Nothing gets through for this long.
  void lose(Duration time);
  /// Ends what lose() began, by whomever it was called.
  void regain();
  /// Repairs the link: it is like a new one, except for latency and bandwidth.
  void heal();

 private:
  /// Whether it has to be asked if a fault strikes what is sent.
  [[nodiscard]] bool may_meet_faults() const noexcept;
  void meet_faults();
  /// Something is sent.
  void came_to_send() const;
  void tell(const char* kind, const char* what, std::optional<Instant> until = {});
  void partition(std::uint64_t drawn);
  [[nodiscard]] std::string partition_text(std::uint64_t drawn) const;
  /// REQUIRES: the latency is not fixed.
  [[nodiscard]] Duration drawn_latency(const Parcel& parcel);

  Links& links_;
  Machine& from_;
  Machine& to_;
  std::uint64_t key_;
  std::uint64_t clog_key_;
  std::uint64_t partition_key_;
  std::uint64_t latency_key_;
  std::uint64_t connections_ = 0;
  std::uint64_t messages_ = 0;

  Latency latency_;
  std::uint64_t bytes_per_second_ = 0;  // 0: any number.
  Instant line_free_;
  bool cut_ = false;
  bool held_ = false;
  Instant clogged_until_;
  Instant losing_until_;
};

}  // namespace fermata::sim::detail
