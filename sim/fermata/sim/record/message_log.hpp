// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the machines of one run have sent each other, for people: connections and what went over
// them, and datagrams. What stays within one machine without a network, such as a Unix socket, is
// not here.
//
// Memory   The last kMostMessages messages are kept, and of each kMostBytes bytes until kMostInAll
//          are kept in all; of what comes later only the size.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/reactor/address.hpp"

namespace fermata::sim {

struct Message {
  enum class Kind : std::uint8_t { Connect, Data, End, Reset, Datagram };
  /// Duplicate: another one with the same bytes was sent, and this is the fault's work.
  enum class Fate : std::uint8_t { UnderWay, Delivered, Lost, Refused, Duplicate };

  Kind kind = Kind::Datagram;
  Fate fate = Fate::UnderWay;
  std::string from;  // Machines.
  std::string to;    // The sender itself when no machine has the address.
  Address source;
  Address destination;
  Instant sent;
  /// When it arrives; never() when it does not, or nobody knows.
  Instant arrival = Instant::never();
  /// When the answer to a Connect arrives, if there is one.
  Instant answered = Instant::never();
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;  // The first of them, or none.
  /// Number of the connection; 0 for datagrams.
  std::uint64_t connection = 0;
  bool from_client = true;
  std::uint64_t offset = 0;  // How many bytes this side had sent before.
  /// In which step of the run log, counted from the run's first one; empty outside of all.
  std::optional<std::size_t> step;
  /// How many calls that step had made before.
  std::size_t calls = 0;
};

class MessageLog {
 public:
  /// Names a message; 0 names none.
  using Id = std::uint64_t;

  static constexpr std::size_t kMostMessages = 200'000;
  static constexpr std::size_t kMostBytes = 64 * 1024;
  static constexpr std::size_t kMostInAll = 32 * 1024 * 1024;

  // --- told by the run ---

  /// `bytes` is what it carries; `message` need have neither size nor offset.
  Id sent(Message message, const void* bytes = nullptr, std::size_t size = 0);
  /// It has come to this, at that time. An `id` of 0, or of one that was forgotten, is ignored.
  void became(Id id, Message::Fate fate, Instant arrival);
  /// It has arrived; a duplicate stays one.
  void arrived(Id id, Instant when);
  void answered(Id id, Instant when);
  /// It is not sent before this.
  void left(Id id, Instant when);
  /// What waited on a connection for somebody to open the link, the first of it, arrives then.
  void resumed(std::uint64_t connection, bool from_client, Instant arrival);
  /// What waits there is never sent.
  void given_up(std::uint64_t connection, bool from_client);
  /// What has not arrived there by `now` never does.
  void cut_off(std::uint64_t connection, bool from_client, Instant now);
  /// The program at the other end takes so many bytes; returns the message that the last of them
  /// came in.
  Id taken(std::uint64_t connection, bool from_client, std::size_t size);
  /// The one that asked for this connection; 0 when it was forgotten.
  [[nodiscard]] Id connect_of(std::uint64_t connection) const;
  /// The last message that was sent this way; 0 when there was none.
  [[nodiscard]] Id last(std::uint64_t connection, bool from_client) const;
  /// The run is over: what was to arrive by `end` has.
  void finish(Instant end);

  // --- the run ---

  /// In the order in which they were told.
  [[nodiscard]] const std::deque<Message>& messages() const noexcept { return messages_; }
  /// How many came before those.
  [[nodiscard]] std::size_t forgotten() const noexcept { return forgotten_; }
  /// Null when `id` is 0, or of one that was forgotten.
  [[nodiscard]] const Message* find(Id id) const noexcept;

 private:
  using Way = std::pair<std::uint64_t, bool>;  // Connection, and whether from the client.

  [[nodiscard]] Message* find(Id id) noexcept {
    return const_cast<Message*>(std::as_const(*this).find(id));
  }
  template <class Predicate>
  [[nodiscard]] Id find_last(std::uint64_t connection, bool from_client,
                             const Predicate& is_it) const;
  void lose(Id id) { became(id, Message::Fate::Lost, Instant::never()); }

  std::deque<Message> messages_;
  std::size_t forgotten_ = 0;
  std::size_t kept_bytes_ = 0;
  std::map<Way, std::uint64_t> sent_bytes_;
  std::map<Way, std::uint64_t> taken_bytes_;
  std::map<Way, std::deque<Id>> waiting_;  // For a link to be opened.
};

/// "connect", "data", "end", "reset", "datagram".
[[nodiscard]] std::string_view to_string(Message::Kind kind) noexcept;
/// "in flight", "delivered", "lost", "refused", "duplicate".
[[nodiscard]] std::string_view to_string(Message::Fate fate) noexcept;

}  // namespace fermata::sim
