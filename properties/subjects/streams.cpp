// SPDX-License-Identifier: Apache-2.0

// Connections between the actors, by TCP or by a Unix socket, or with another machine that sends
// everything back; and a listener.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/byte_way_model.hpp"
#include "properties/models/line_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace streams {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Way : std::uint8_t { Tcp, Unix, Machine };
constexpr std::array<Way, 8> kWays = {Way::Tcp,  Way::Tcp,  Way::Tcp,     Way::Unix,
                                      Way::Unix, Way::Unix, Way::Machine, Way::Machine};

const Address kHere{"127.0.0.1", 7777};
constexpr std::string_view kPath = "/run/streams";
constexpr std::uint16_t kMirrorPort = 7;

/// Bytes that are accepted though nobody reads.
constexpr std::size_t kWindow = 64 * 1024;
constexpr std::array<std::size_t, 8> kSizes = {1, 2, 3, 17, 100, 1'000, 9'000, 80'000};

/// One end of a connection, and what the law knows about it.
struct End {
  /// `dialled`: what had struck when it was; absent for one that was accepted.
  End(ByteStream&& s, std::uint8_t number, const std::optional<Causes::Beginning>& dialled)
      : stream(std::move(s)), sent(number) {
    if (dialled) connection = std::make_shared<Breakable>(*dialled);
  }

  ByteStream stream;
  models::ByteWayModel sent;
  std::shared_ptr<Breakable> connection;  // One for both ends; null as long as nobody knows it.
  End* peer = nullptr;  // Null as long as nobody knows; itself when everything comes back.
  Address local, remote;
  models::LineModel readers;
  std::map<std::size_t, std::size_t> exactly;  // By reader: how many bytes it insists on.
  std::vector<std::size_t> writers;
  std::size_t given_back = 0;  // By an exact read that failed: they are there for later ones.
  bool at_end = false;
  bool read_failed = false;

  [[nodiscard]] bool is_broken() const { return read_failed || sent.failed(); }
  /// How many bytes end the wait of whoever is the first in line.
  [[nodiscard]] std::size_t enough() const {
    if (readers.line().empty()) return 1;
    const auto found = exactly.find(readers.line().front());
    return found == exactly.end() ? 1 : found->second;
  }
};

/// What a read leaves behind that nobody waits for any more.
struct Abandoned {
  std::vector<std::byte> buffer, as_it_was;
};

/// Sends everything back to whoever connects.
void mirror() {
  auto listener = TcpListener::bind(Address("0.0.0.0", kMirrorPort));
  while (auto accepted = listener.accept()) {
    spawn("mirror", [peer = std::move(*accepted)]() mutable {
      try {
        std::array<std::byte, 4096> buffer;
        while (const std::size_t size = peer.read(buffer)) {
          peer.write(std::span(buffer).first(size));
        }
      } catch (const InputOutputError&) {
      }
    });
  }
}

class Streams final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "read", does<&Streams::read>},
        {3, "read exactly", does<&Streams::read_exactly>},
        {10, "write", does<&Streams::write_all>},
        {2, "write some", does<&Streams::write_some>},
        {2, "write many", does<&Streams::write_many>},
        {1, "shut down", does<&Streams::shut_down>},
        {1, "close", does<&Streams::close_one>},
        {4, "accept", does<&Streams::accept>},
        {4, "connect", does<&Streams::connect>},
        {1, "close the listener", does<&Streams::close_listener_early>},
    });
  }

  explicit Streams(Stage& on)
      : Subject(on),
        way_(kWays[on.script().shape[0] % kWays.size()]),
        backlog_(1u + on.script().shape[1]) {
    const ListenOptions options{.backlog = static_cast<int>(backlog_)};
    if (way_ == Way::Machine) {
      mirror_ = on.world().service("mirror", &mirror).address(kMirrorPort);
      listener_open_ = false;
      delay(milliseconds(1));
    } else if (way_ == Way::Tcp) {
      tcp_listener_.emplace(TcpListener::bind(kHere, options));
    } else {
      unix_listener_.emplace(PipeListener::bind(kPath, options));
    }
    idle_activity_ = current_runtime().active_event_count();
  }

  /// One end of a connection, and how many bytes; when there is none, one is made.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (ends_.empty()) return cue.actor % 2 == 0 ? connect(cue) : accept(cue);
    const std::shared_ptr<End> end = ends_[(cue.actor + cue.number / 4u) % ends_.size()];
    const std::size_t size = kSizes[(cue.actor + cue.number + operations_++) % kSizes.size()];
    use(*end, size);
  }

  void at_rest() override {
    bool busy = false;
    for (const auto& end : ends_) {
      busy = busy || !end->readers.line().empty() || !end->writers.empty();
      if (network_pauses()) continue;
      for (const std::size_t reader : end->readers.line()) {
        if (stage.parked(reader)) stage.complain(why_read_should_end(*end));
      }
      for (const std::size_t writer : end->writers) {
        if (stage.parked(writer)) stage.complain(why_write_should_end(*end));
      }
    }
    for (const std::size_t acceptor : acceptors_.line()) {
      if (!stage.parked(acceptor)) continue;
      if (!listener_open_) stage.complain("LIS-04 (WAKE): an acceptor sleeps at a closed listener");
      if (accepted_ < established_) {
        stage.complain("LIS-03 (WAKE): an acceptor sleeps, and a connection waits for it");
      }
    }
    busy = busy || !acceptors_.line().empty() || connecting_ > 0;
    if (!busy && current_runtime().active_event_count() != idle_activity_) {
      stage.complain("IO-15 (STOP): handles that nobody waits for count as activity");
    }
  }

  void let_go() override {
    is_ending = true;
    for (const auto& end : ends_) drain(*end);
    for (const auto& end : ends_) close(*end);
    if (listener_open_) close_listener();
    delay(seconds(120));  // A connect that nobody answers takes as long.
  }

  void at_end() override {
    for (const Abandoned& abandoned : abandoned_) {
      if (abandoned.buffer != abandoned.as_it_was) {
        stage.complain("IO-08 (UAF): a read wrote into the buffer of somebody who had left");
      }
    }
    if (accepted_ > established_ + given_up_) {
      stage.complain(fmt::format("LIS-01 (VAL): {} connections were accepted, {} were made",
                                 accepted_, established_ + given_up_));
    }
  }

 private:
  // --- connections ---

  void add_end(ByteStream&& stream, const Address& local, const Address& remote,
               const std::optional<Causes::Beginning>& dialled) {
    const auto number = static_cast<std::uint8_t>(ends_.size() + 1);
    ends_.push_back(std::make_shared<End>(std::move(stream), number, dialled));
    End& end = *ends_.back();
    end.local = local;
    end.remote = remote;
    if (way_ == Way::Machine) end.peer = &end;
    if (way_ != Way::Tcp) return;
    for (const auto& other : ends_) {
      if (other->local == remote && other->remote == local) introduce(end, *other);
    }
  }
  void introduce(End& one, End& other) {
    if (one.peer != nullptr || other.peer != nullptr) {
      return stage.complain("LIS-01 (VAL): a connection has three ends");
    }
    if (one.connection == nullptr && other.connection == nullptr) {
      return stage.complain("LIS-01 (VAL): a connection was accepted at both ends");
    }
    one.peer = &other;
    other.peer = &one;
    if (one.connection == nullptr) one.connection = other.connection;
    other.connection = one.connection;
  }

  void connect(const Cue& cue) {
    const Counted counted(connecting_);
    ++dialled_;
    const Causes::Beginning dialled = stage.causes().begin();
    try {
      if (way_ == Way::Unix) {
        PipeStream made = PipeStream::connect(kPath, cue.patience);
        ++established_;
        return add_end(std::move(made), {}, {}, dialled);
      }
      TcpStream made = TcpStream::connect(way_ == Way::Machine ? mirror_ : kHere, cue.patience);
      const Address local = made.local_address();
      const Address remote = made.peer_address();
      ++established_;
      add_end(std::move(made), local, remote, dialled);
    } catch (const InputOutputError& error) {
      if (is_explained(error.code(), dialled)) return;
      stage.complain(fmt::format("ERR: somebody listens, but: {}", error.what()));
    } catch (...) {
      ++given_up_;
      throw;
    }
  }

  /// Whether a connect may end so.
  [[nodiscard]] bool is_explained(int code, const Causes::Beginning& dialled) {
    Causes& causes = stage.causes();
    const bool nobody_listens = !listener_open_ && way_ != Way::Machine;
    const bool may_be_full = way_ != Way::Machine && dialled_ > backlog_;
    switch (code) {
      case ENOENT:
        return nobody_listens && way_ == Way::Unix;
      case ECONNREFUSED:
        return nobody_listens || causes.explain(sim::Fault::Refused, dialled);
      case EAGAIN:
        return may_be_full && way_ == Way::Unix;
      case EMFILE:
        return causes.explain(sim::Fault::OutOfDescriptors, dialled);
      case ETIMEDOUT:
        return may_be_full || network_pauses() || causes.explain(sim::Fault::Hung, dialled);
      default:
        return false;
    }
  }

  void accept(const Cue& cue) {
    if (way_ == Way::Machine) return connect(cue);
    const bool was_open = listener_open_;
    acceptors_.arrived(cue.actor);
    std::optional<ByteStream> accepted;
    Address local, remote;
    try {
      if (tcp_listener_) {
        if (auto made = tcp_listener_->accept(cue.patience)) {
          local = made->local_address();
          remote = made->peer_address();
          accepted.emplace(std::move(*made));
        }
      } else if (auto made = unix_listener_->accept(cue.patience)) {
        accepted.emplace(std::move(*made));
      }
    } catch (...) {
      acceptors_.left(cue.actor);
      throw;
    }
    if (!accepted) {
      acceptors_.left(cue.actor);
      if (listener_open_) stage.complain("LIS-04 (ERR): an open listener says that it is closed");
      return;
    }
    if (!was_open) stage.complain("LIS-04 (VAL): a closed listener has accepted a connection");
    stage.complain(served("LIS-02", acceptors_, cue.actor));
    ++accepted_;
    add_end(std::move(*accepted), local, remote, {});
  }

  void close_listener_early(const Cue& cue) {
    if (cue.number % 4 == 0) close_listener();
  }
  void close_listener() {
    listener_open_ = false;
    if (tcp_listener_) tcp_listener_->close();
    if (unix_listener_) unix_listener_->close();
    for (const std::size_t acceptor : acceptors_.line()) {
      if (stage.parked(acceptor)) stage.complain("LIS-04 (WAKE): closing left an acceptor asleep");
    }
  }

  // --- reading ---

  void read(const Cue& cue, End& end, std::size_t size) {
    const bool was_at_end = end.at_end;
    const bool had_failed = end.read_failed;
    std::vector<std::byte> buffer(size);
    end.readers.arrived(cue.actor);
    std::size_t count = 0;
    try {
      count = end.stream.read(buffer, cue.patience);
    } catch (const InputOutputError& error) {
      end.readers.left(cue.actor);
      return read_failed(end, error);
    } catch (...) {
      end.readers.left(cue.actor);
      abandon(std::move(buffer));
      throw;
    }
    stage.complain(served("IO-09", end.readers, cue.actor));
    check_order(end, was_at_end, had_failed, count);
    took(end, std::span(buffer).first(count));
  }

  /// All or nothing: what it has when it fails, or is given up, is there for the next read.
  void read_exactly(const Cue& cue, End& end, std::size_t size) {
    if (end.peer == nullptr) return read(cue, end, std::min<std::size_t>(size, 100));
    const bool was_at_end = end.at_end;
    const bool had_failed = end.read_failed;
    std::vector<std::byte> buffer(size);
    end.exactly[cue.actor] = size;
    end.readers.arrived(cue.actor);
    const auto leave = [&] {
      end.exactly.erase(cue.actor);
      end.readers.left(cue.actor);
    };
    try {
      end.stream.read_exact(buffer, cue.patience);
    } catch (const InputOutputError& error) {
      leave();
      return exact_read_failed(end, size, error);
    } catch (...) {
      leave();
      abandon(std::move(buffer));
      throw;
    }
    end.exactly.erase(cue.actor);
    stage.complain(served("IO-09", end.readers, cue.actor));
    check_order(end, was_at_end, had_failed, size);
    took(end, buffer);
  }

  void exact_read_failed(End& end, std::size_t size, const InputOutputError& error) {
    const models::ByteWayModel& way = end.peer->sent;
    for (std::size_t count = 0; count < size; ++count) {
      if (error.what() != fmt::format("Stream ended after {} of {} bytes", count, size)) continue;
      if (count == 0) return took(end, {});
      return stage.complain(way.end_reached(count));
    }
    end.given_back = std::min(way.outstanding(), size);
    read_failed(end, error);
  }

  /// What an exact read gave back comes before the error that it was told of.
  void check_order(End& end, bool was_at_end, bool had_failed, std::size_t count) {
    if (had_failed && count > end.given_back) {
      stage.complain("IO-06 (VAL): a read succeeded after another one had failed");
    }
    if (was_at_end && count > 0) stage.complain("IO-04 (VAL): bytes came behind the end");
    end.given_back -= std::min(end.given_back, count);
  }

  void took(End& end, std::span<const std::byte> bytes) {
    if (end.peer == nullptr && way_ == Way::Unix && !bytes.empty()) {
      const auto number = std::to_integer<std::size_t>(bytes.front());
      if (number == 0 || number > ends_.size() || ends_[number - 1].get() == &end) {
        return stage.complain("IO-02 (VAL): the first byte of a connection is nobody's");
      }
      introduce(end, *ends_[number - 1]);
    }
    if (bytes.empty()) end.at_end = true;
    if (end.peer == nullptr) return;
    stage.complain(bytes.empty() ? end.peer->sent.end_reached() : end.peer->sent.received(bytes));
  }

  void read_failed(End& end, const InputOutputError& error) {
    if (end.sent.is_closed()) return;
    end.read_failed = true;
    if (!may_break(end)) {
      stage.complain(fmt::format("ERR: a read of a sound connection says {}", error.what()));
    }
  }

  void abandon(std::vector<std::byte> buffer) {
    std::vector<std::byte> as_it_was = buffer;
    abandoned_.push_back({std::move(buffer), std::move(as_it_was)});
  }

  // --- writing ---

  using Bytes = std::span<const std::byte>;

  void write_all(const Cue& cue, End& end, std::size_t size) {
    write(cue, end, size, [&](Bytes all) {
      end.stream.write(all, cue.patience);
      return size;
    });
  }
  void write_some(const Cue& cue, End& end, std::size_t size) {
    write(cue, end, size, [&](Bytes all) { return end.stream.write_some(all, cue.patience); });
  }
  void write_many(const Cue& cue, End& end, std::size_t size) {
    write(cue, end, size, [&](Bytes all) {
      const std::array<Bytes, 3> parts = {all.first(size / 3), all.subspan(size / 3, size / 2),
                                          all.subspan(size / 3 + size / 2)};
      end.stream.writev(parts, cue.patience);
      return size;
    });
  }

  /// `send` says how many bytes it has sent.
  template <class Send>
  void write(const Cue& cue, End& end, std::size_t size, Send send) {
    const models::ByteWayModel::Write write = end.sent.begin(size, has_fired(cue.patience.token));
    const std::vector<std::byte> bytes = end.sent.bytes_of(write);
    std::optional<Listed> listed(std::in_place, end.writers, cue.actor);
    try {
      const std::size_t accepted = send(bytes);
      listed.reset();
      stage.complain(end.sent.accepted(write, accepted));
    } catch (const InputOutputError& error) {
      listed.reset();
      write_failed(end, write, error);
    }
  }

  void write_failed(End& end, const models::ByteWayModel::Write& write,
                    const InputOutputError& error) {
    const bool has_reason = write.doomed || end.sent.is_closed() || may_break(end);
    if (!write.doomed) end.sent.refused();
    if (!has_reason) {
      stage.complain(fmt::format("ERR: a write to a sound connection says {}", error.what()));
    }
  }

  void shut_down(const Cue&, End& end, std::size_t) {
    if (end.sent.is_closed()) return;
    end.stream.shutdown_write();
    end.sent.shut();
  }

  void close_one(const Cue&, End& end, std::size_t) { close(end); }
  void close(End& end) {
    end.sent.closed();
    end.stream.close();
    const auto sleeps = [&](std::size_t actor) { return stage.parked(actor); };
    const auto& readers = end.readers.line();
    if (std::any_of(readers.begin(), readers.end(), sleeps) ||
        std::any_of(end.writers.begin(), end.writers.end(), sleeps)) {
      stage.complain("IO-06 (WAKE): closing left somebody asleep");
    }
  }

  // --- what must be ---

  /// Whether what is under way may take longer than anybody waits.
  [[nodiscard]] bool network_pauses() const {
    return stage.struck(sim::Fault::Clog) || stage.struck(sim::Fault::Partition) ||
           stage.struck(sim::Fault::Pause);
  }
  /// Whether there is a reason for the connection to break.
  [[nodiscard]] bool may_break(const End& end) {
    if (end.peer != nullptr) {
      return end.peer->sent.is_closed() ||
             end.connection->is_broken_by(sim::Fault::Reset, stage.causes());
    }
    const bool a_stranger_has_closed = std::any_of(ends_.begin(), ends_.end(), [&](const auto& at) {
      return at.get() != &end && at->peer == nullptr && at->sent.is_closed();
    });
    return a_stranger_has_closed || !listener_open_ || given_up_ > 0 ||
           stage.struck(sim::Fault::Reset);
  }

  [[nodiscard]] models::Complaint why_read_should_end(const End& end) const {
    if (end.sent.is_closed()) return "IO-06 (WAKE): a reader sleeps at a closed stream";
    if (end.is_broken()) return "IO-06 (WAKE): a reader sleeps at a broken stream";
    if (end.at_end) return "IO-04 (WAKE): a reader sleeps at the end of the stream";
    if (end.peer == nullptr) return {};
    if (end.peer->is_broken()) return "IO-06 (WAKE): a reader has not been told of a reset";
    if (end.peer->sent.is_ended()) return "IO-04 (WAKE): a reader has not been told of the end";
    if (end.peer->sent.outstanding() < end.enough()) return {};
    return "IO-02 (WAKE): a reader sleeps, and bytes that were written to it never arrive";
  }

  [[nodiscard]] models::Complaint why_write_should_end(const End& end) const {
    if (end.sent.is_closed()) return "IO-06 (WAKE): a writer sleeps at a closed stream";
    if (end.is_broken()) return "IO-06 (WAKE): a writer sleeps at a broken stream";
    if (end.sent.outstanding() <= kWindow) return "IO-03 (WAKE): a writer sleeps beside room";
    if (end.peer == nullptr) return {};
    if (end.peer->is_broken()) return "IO-06 (WAKE): a writer has not been told of a reset";
    if (end.peer->sent.is_closed()) return "IO-06 (WAKE): a writer sleeps, and its peer is gone";
    return {};
  }

  /// What was written arrives, now that somebody reads it to the end.
  void drain(End& end) {
    if (end.peer == nullptr || end.sent.is_closed() || !end.exactly.empty()) return;
    std::vector<std::byte> buffer(kWindow);
    const models::ByteWayModel& way = end.peer->sent;
    try {
      while (way.outstanding() > 0 && !end.at_end) {
        const std::size_t count = end.stream.read(buffer, {.timeout = seconds(60)});
        took(end, std::span(buffer).first(count));
      }
    } catch (const InputOutputError& error) {
      read_failed(end, error);
    } catch (const Timeout&) {
      if (!way.failed() && !network_pauses()) {
        stage.complain(fmt::format("IO-02 (VAL): {} bytes never arrive", way.outstanding()));
      }
    }
  }

  [[nodiscard]] models::Complaint served(const char* rule, models::LineModel& line,
                                         std::size_t actor) {
    const models::Complaint complaint =
        line.served(actor, [this](std::size_t other) { return stage.parked(other); });
    return complaint.empty() ? complaint : fmt::format("{}, {}", rule, complaint);
  }

  Way way_;
  std::size_t backlog_;
  Address mirror_;
  std::optional<TcpListener> tcp_listener_;
  std::optional<PipeListener> unix_listener_;
  bool listener_open_ = true;
  models::LineModel acceptors_;
  std::size_t connecting_ = 0;
  std::size_t dialled_ = 0;
  std::size_t established_ = 0;
  std::size_t given_up_ = 0;  // Connects that may have come about.
  std::size_t accepted_ = 0;
  std::vector<std::shared_ptr<End>> ends_;
  std::vector<Abandoned> abandoned_;
  std::size_t operations_ = 0;
  std::size_t idle_activity_ = 0;
};

}  // namespace streams
}  // namespace

constinit const Law kStreams = {
    "streams",
    "bytes that were accepted arrive once and in order, or both ends learn that they do not",
    {"G-05", "IO-01", "IO-02", "IO-03", "IO-04", "IO-06", "IO-08", "IO-09", "IO-15", "G-03",
     "LIS-01", "LIS-02", "LIS-03", "LIS-04"},
    &scripts_over<streams::Streams>};

}  // namespace fermata::properties
