// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/descriptors.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/tty.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

/// What Linux gives up after: six repetitions, the first after a second.
constexpr Duration kDialTimeout = std::chrono::seconds(127);
constexpr Duration kFirstRetry = std::chrono::seconds(1);
/// What Linux gives up after when data of a connection is not acknowledged: 15 repetitions.
constexpr Duration kSendTimeout = std::chrono::milliseconds(924'600);

void require_descriptor(Machine& machine, std::string_view peer) {
  if (out_of_descriptors(machine, backend::RandomStream::Network, "connection")) {
    throw InputOutputError(fmt::format("connect to {}", peer), EMFILE);
  }
}

}  // namespace

Ref<backend::ListenerHandle> SimStreams::open_listener(const Address& address,
                                                       const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(
      *new SimListener(attachment_, machine_, network_, address, options));
}

Ref<backend::ListenerHandle> SimStreams::open_listener(const backend::PipePath& path,
                                                       const ListenOptions& options) {
  return Ref<backend::ListenerHandle>::adopt(
      *new SimListener(attachment_, machine_, network_, path, options));
}

Ref<backend::StreamHandle> SimStreams::open_connection(const backend::PipePath& peer) {
  require_descriptor(machine_, peer.text());
  auto* stream =
      new SimStream(attachment_, network_, network_.make_local_connection(machine_, peer.text()),
                    Connection::Client);
  auto handle = Ref<backend::StreamHandle>::adopt(*stream);
  stream->dial_locally();
  return handle;
}

backend::PipeHandles SimStreams::open_pipe() {
  if (out_of_descriptors(machine_, backend::RandomStream::Network, "pipe")) {
    throw InputOutputError("open a pipe", EMFILE);
  }
  const auto connection = network_.make_local_connection(machine_, "pipe");
  const auto end = [&](Connection::Side side, backend::Direction direction) {
    return Ref<backend::StreamHandle>::adopt(
        *new SimStream(attachment_, network_, connection, side, direction));
  };
  return {end(Connection::Server, backend::Direction::In),
          end(Connection::Client, backend::Direction::Out)};
}

Ref<backend::StreamHandle> SimStreams::open_standard(StandardStream which) {
  return Ref<backend::StreamHandle>::adopt(*new SimTty(attachment_, machine_, terminal_, which));
}

Ref<backend::StreamHandle> SimStreams::open_connection(const Address& peer) {
  require_descriptor(machine_, peer.text());
  Machine* server = machine_at(machine_, peer);
  if (server != nullptr && server->is_down()) server = nullptr;
  auto connection =
      network_.make_connection(machine_, server != nullptr ? *server : machine_, peer);
  auto* stream = new SimStream(attachment_, network_, std::move(connection), Connection::Client);
  auto handle = Ref<backend::StreamHandle>::adopt(*stream);
  if (server != nullptr) {
    stream->dial();
  } else {
    stream->dial_nobody();
  }
  return handle;
}

// --- a stream ---

SimStream::SimStream(fermata::detail::Attachment& attachment, Network& network,
                     std::shared_ptr<Connection> connection, Connection::Side side,
                     backend::Direction direction)
    : backend::StreamHandle(attachment, connection->local() ? IoType::Pipe : IoType::Tcp,
                            direction),
      network_(network),
      connection_(std::move(connection)),
      side_(side),
      version_(connection_->end(side_).address.version()),
      key_(key_of(connection_->key(), side)),
      arrival_(*this, &SimStream::arrived),
      room_(*this, &SimStream::drain),
      syn_(*this, &SimStream::syn_arrived),
      repetition_(*this, &SimStream::send_syn),
      answer_(*this, &SimStream::answered),
      give_up_(*this, &SimStream::give_up),
      acknowledgement_(*this, &SimStream::close_acknowledged) {
  FERMATA_ASSERT(connection_->end(side_).endpoint == nullptr);
  connection_->end(side_).endpoint = this;
}

Address SimStream::local_address() const {
  return seen_by(version_, connection_->end(side_).address);
}

const backend::StreamHandle* SimStream::far_end() const noexcept {
  return dynamic_cast<const SimStream*>(connection_->end(Connection::other(side_)).endpoint);
}

Address SimStream::peer_address() const {
  return seen_by(version_, connection_->end(Connection::other(side_)).address);
}

bool SimStream::strikes(Fault fault, const char* draw, const char* does) {
  FERMATA_ASSERT(!connection_->local());
  const auto tell = [&](const Decision&) {
    return fmt::format(fmt::runtime(does), connection_->text());
  };
  return machine().faults().strikes(fault, backend::RandomStream::Network, key_of(key_, draw),
                                    tell);
}

// --- establishing ---

void SimStream::dial() {
  FERMATA_ASSERT(side_ == Connection::Client);
  FERMATA_ASSERT(!connection_->local());
  dialled_ = machine().now();
  retry_ = kFirstRetry;
  if (strikes(Fault::Hung, "hung", "{} is asked for and gets no answer")) {
    connection_->note(side_, Message::Kind::Connect, Message::Fate::Lost, Instant::never());
    answer_code_ = ETIMEDOUT;
    machine().agenda().schedule(answer_, dialled_ + kDialTimeout, key_);
    return;
  }
  send_syn();
}

// Nobody hears it on a closed link, or when the machine is down, and nobody answers.
void SimStream::send_syn() {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!answer_.is_scheduled());
  FERMATA_ASSERT(retry_ > Duration::zero());
  Machine& server = *connection_->end(Connection::Server).machine;
  const Instant arrival = connection_->arrival_from(side_, "connect");
  const bool lost = arrival == Instant::never() || server.is_down();
  syn_noted_ = connection_->note(side_, Message::Kind::Connect,
                                 lost ? Message::Fate::Lost : Message::Fate::UnderWay,
                                 lost ? Instant::never() : arrival);
  if (lost) return retransmit_syn();
  server.agenda().schedule(syn_, arrival, key_);
}

void SimStream::retransmit_syn() {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!repetition_.is_scheduled());
  const Instant again = machine().now() + std::exchange(retry_, retry_ * 2);
  if (again - dialled_ < kDialTimeout) return machine().agenda().schedule(repetition_, again, key_);
  answer_code_ = ETIMEDOUT;
  machine().agenda().schedule(answer_, dialled_ + kDialTimeout, key_);
}

void SimStream::dial_nobody() {
  FERMATA_ASSERT(side_ == Connection::Client);
  connection_->note(side_, Message::Kind::Connect, Message::Fate::Lost, Instant::never());
  answer_code_ = EHOSTUNREACH;
  machine().agenda().schedule(answer_, machine().now() + connection_->least_latency(), key_);
}

void SimStream::dial_locally() {
  FERMATA_ASSERT(connection_->local());
  Listening* listening = network_.listening_at(machine(), connection_->place());
  if (listening == nullptr) {
    answer_code_ = ENOENT;
  } else if (!listening->arrived(connection_)) {
    answer_code_ = EAGAIN;
  }
  machine().agenda().schedule(answer_, machine().now(), key_);
}

void SimStream::syn_arrived() {
  FERMATA_ASSERT(!answer_.is_scheduled());
  const Connection::End& server = connection_->end(Connection::Server);
  if (strikes(Fault::Refused, "refused", "{} is refused")) {
    record_syn(Message::Fate::Refused);
    return answer(ECONNREFUSED);
  }
  Listening* listening = network_.listening_at(*server.machine, server.address, machine());
  const bool unanswered = connection_->link_closed(Connection::Server);
  if (listening == nullptr && !unanswered) {
    record_syn(Message::Fate::Refused);
    return answer(ECONNREFUSED);
  }
  if (!unanswered && listening->arrived(connection_)) {
    record_syn(Message::Fate::Delivered);
    return answer(0);
  }
  record_syn(Message::Fate::Lost);
  const Instant again = server.machine->now() + std::exchange(retry_, retry_ * 2);
  if (again - dialled_ >= kDialTimeout) return answer(ETIMEDOUT);
  server.machine->agenda().schedule(syn_, again, key_);
}

void SimStream::answer(int code) {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!answer_.is_scheduled());
  answer_code_ = code;
  const Instant sent = connection_->end(Connection::Server).machine->now();
  const Instant arrival = connection_->arrival_from(Connection::Server, "answer to a connect");
  machine().agenda().schedule(answer_, std::min(arrival, sent + kDialTimeout), key_);
  RunLog* const told = syn_noted_ != 0 ? machine().run_log() : nullptr;
  if (told != nullptr && code != ETIMEDOUT) told->message_log().answered(syn_noted_, arrival);
}

void SimStream::record_syn(Message::Fate fate) {
  RunLog* const told = syn_noted_ != 0 ? machine().run_log() : nullptr;
  if (told == nullptr) return;
  const bool arrived = fate != Message::Fate::Lost;
  const Instant now = connection_->end(Connection::Server).machine->now();
  told->message_log().became(syn_noted_, fate, arrived ? now : Instant::never());
}

// Whoever has no answer yet sends its SYN again, or learns that nobody listens.
void SimStream::peer_crashed(bool silent) {
  if (!syn_.is_scheduled()) return;
  FERMATA_ASSERT(side_ == Connection::Client);
  syn_.cancel();
  record_syn(Message::Fate::Lost);
  if (silent) return retransmit_syn();
  answer_code_ = ECONNREFUSED;
  machine().agenda().schedule(answer_, machine().now() + connection_->least_latency(), key_);
}

void SimStream::answered() {
  const Arrival arrival(machine().run_log(), syn_noted_);
  connected(answer_code_);
}

// --- reading ---

int SimStream::start_reading() {
  reading_ = true;
  expect_arrival();
  return 0;
}

void SimStream::stop_reading() noexcept {
  reading_ = false;
  if (submitted_.empty()) arrival_.cancel();
}

void SimStream::expect_arrival() {
  if (!reading_ && submitted_.empty()) return;
  const Pipe& inbound = connection_->to(side_);
  const bool at_once =
      connection_->broken(side_) || (reading_ && (inbound.unread() > 0 || inbound.is_ended()));
  const Instant when = at_once ? machine().now() : inbound.next_arrival();
  if (arrival_.scheduled_by(when)) return;
  arrival_.cancel();
  if (when != Instant::never()) machine().agenda().schedule(arrival_, when, key_);
}

void SimStream::arrived() {
  Pipe& inbound = connection_->to(side_);
  inbound.arrive(machine().now());
  if (connection_->broken(side_) && !submitted_.empty()) {
    submitted_ = {};
    write_done(connection_->local() ? EPIPE : connection_->broken_code(side_));
  }
  while (reading_ && inbound.unread() > 0) {
    if (!deliver()) return expect_arrival();
  }
  if (!reading_) return expect_arrival();
  const Arrival arrival = connection_->ended(side_);
  if (connection_->broken(side_)) return receive_failed(connection_->broken_code(side_));
  if (inbound.is_ended()) received_end();
  expect_arrival();  // A writer may still have to learn of a reset.
}

bool SimStream::deliver() {
  const std::span<const std::byte> unread = connection_->to(side_).peek();
  const std::span<std::byte> target = read_target(network_.spare());
  FERMATA_ASSERT(!unread.empty());
  FERMATA_ASSERT(!target.empty());
  const std::size_t whole = std::min(target.size(), unread.size());
  const std::size_t part = drawn_read(whole);
  FERMATA_ASSERT(part <= whole);
  std::memcpy(target.data(), unread.data(), part);
  connection_->consumed(side_, part);
  const Arrival arrival = connection_->taken(side_, part);
  received(target.first(part));
  return part == whole;
}

// --- writing ---

backend::StreamHandle::Written SimStream::try_write(backend::Buffers buffers) {
  connection_->to(side_).arrive(machine().now());  // A reset may have come while nobody read.
  if (const int code = obstacle()) return {0, code};
  std::size_t accepted = 0;
  for (const std::span<const std::byte> each : buffers) {
    const std::size_t part = accept(each);
    accepted += part;
    if (part < each.size()) break;
  }
  return {accepted, 0};
}

int SimStream::obstacle() {
  if (connection_->local()) {
    return connection_->end(Connection::other(side_)).closed ? EPIPE : 0;
  }
  return connection_->broken(side_) || breaks_down() ? connection_->broken_code(side_) : 0;
}

int SimStream::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(submitted_.empty());
  submitted_ = data;
  expect_arrival();
  expect_room(machine().now());
  return 0;
}

void SimStream::expect_room(Instant when) {
  if (submitted_.empty() || room_.is_scheduled()) return;
  machine().agenda().schedule(room_, when, key_of(key_, "room"));
}

void SimStream::drain() {
  if (const int code = obstacle()) {
    submitted_ = {};
    return write_done(code);
  }
  submitted_ = submitted_.subspan(accept(submitted_));
  if (submitted_.empty()) return write_done(0);
  const bool full = connection_->to(Connection::other(side_)).room() == 0;
  if (!full) expect_room(machine().now() + connection_->least_latency());
}

// A short write may take nothing at all, as when the system would block.
std::size_t SimStream::accept(std::span<const std::byte> data) {
  const std::size_t room = connection_->to(Connection::other(side_)).room();
  const std::size_t whole = std::min(data.size(), room);
  const std::size_t part = drawn_write(whole);
  FERMATA_ASSERT(part <= whole);
  if (part > 0) connection_->send(side_, data.first(part));
  return part;
}

std::size_t SimStream::drawn_read(std::size_t whole) {
  if (whole < 2) return whole;
  const auto tell = [&](const Decision& decision) {
    return fmt::format("a read of '{}' gives {}, on {}", machine().name(),
                       part_of_bytes(decision.value, whole), connection_->text());
  };
  const std::uint64_t drawn = machine().faults().strength(
      Fault::ShortRead, backend::RandomStream::Network, key_of(key_, "short read"), whole, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn);
}

std::size_t SimStream::drawn_write(std::size_t whole) {
  if (whole == 0) return 0;
  const auto tell = [&](const Decision& decision) {
    const std::size_t part = decision.value - 1;
    return fmt::format("a write of '{}' {}, on {}", machine().name(),
                       part == 0 ? "has to wait" : "takes " + part_of_bytes(part, whole),
                       connection_->text());
  };
  const std::uint64_t drawn =
      machine().faults().strength(Fault::ShortWrite, backend::RandomStream::Network,
                                  key_of(key_, "short write"), whole + 1, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn - 1);
}

bool SimStream::breaks_down() {
  if (!strikes(Fault::Reset, "reset", "{} is reset")) return false;
  connection_->break_down(side_);
  FERMATA_ASSERT(connection_->broken(side_));
  expect_arrival();
  return true;
}

void SimStream::on_path_blocked() {
  if (!give_up_.is_scheduled()) {
    machine().agenda().schedule(give_up_, machine().now() + kSendTimeout, key_of(key_, "give up"));
  }
}

void SimStream::on_path_restored() {
  give_up_.cancel();
  expect_room(machine().now());
}

void SimStream::give_up() {
  FERMATA_ASSERT(!connection_->local());
  connection_->give_up(side_);
  expect_arrival();
}

void SimStream::submit_shutdown() noexcept {
  if (!connection_->broken(side_)) connection_->send_end(side_);
}

// --- options, closing ---

int SimStream::apply_option(SocketOption option, int value) {
  if (connection_->local()) return ENOPROTOOPT;
  FERMATA_ASSERT(static_cast<std::size_t>(option) < options_.size());
  options_[static_cast<std::size_t>(option)] = value;
  const Connection::Side there = Connection::other(side_);
  if (option == SocketOption::SendBuffer) {
    connection_->to(there).set_sender_buffer(static_cast<std::size_t>(value));
    expect_room(machine().now());
  } else if (option == SocketOption::ReceiveBuffer) {
    connection_->to(side_).set_receiver_buffer(static_cast<std::size_t>(value));
    Endpoint* const sender = connection_->end(there).endpoint;
    if (sender != nullptr) sender->expect_room(machine().now() + connection_->least_latency());
  }
  return 0;
}

int SimStream::read_option(SocketOption option, int& value) const {
  if (connection_->local()) return ENOPROTOOPT;
  FERMATA_ASSERT(static_cast<std::size_t>(option) < options_.size());
  value = options_[static_cast<std::size_t>(option)];
  return 0;
}

void SimStream::close_backend() noexcept {
  reading_ = false;
  submitted_ = {};
  arrival_.cancel();
  room_.cancel();
  syn_.cancel();
  repetition_.cancel();
  answer_.cancel();
  give_up_.cancel();
  if (options_[static_cast<std::size_t>(SocketOption::ResetOnClose)] != 0) {
    connection_->send_reset(side_);
  }
  connection_->close(side_);
  FERMATA_ASSERT(connection_->end(side_).closed);
  const Duration delay = close_delay(machine(), key_, [&] { return connection_->text(); });
  machine().agenda().schedule(acknowledgement_, machine().now() + delay, key_);
}

// --- a listener ---

SimListener::SimListener(fermata::detail::Attachment& attachment, Machine& machine,
                         Network& network, backend::StreamPlace place, const ListenOptions& options)
    : backend::ListenerHandle(attachment, options),
      machine_(machine),
      network_(network),
      place_(std::move(place)),
      backlog_(static_cast<std::size_t>(options.backlog)),
      accepts_per_turn_(options.accepts_per_turn),
      arrival_(*this, &SimListener::hand_over),
      acknowledgement_(*this, &SimListener::close_acknowledged),
      key_(key_of(machine.key(), "listener")) {
  if (auto* address = std::get_if<Address>(&place_)) {
    *address = network.bind(machine, *address, *this);
    FERMATA_ASSERT(address->port() != 0);
    key_ = key_of(key_, address->port());
  } else {
    const auto& path = std::get<backend::PipePath>(place_);
    network.bind(machine, path, *this);
    key_ = key_of(key_, path.text());
  }
}

Address SimListener::local_address() const {
  const auto* address = std::get_if<Address>(&place_);
  return address != nullptr ? *address : Address();
}

bool SimListener::arrived(const std::shared_ptr<Connection>& connection) {
  if (queue_.size() == backlog_) return false;
  FERMATA_ASSERT(queue_.size() < backlog_);
  FERMATA_ASSERT(connection->end(Connection::Server).endpoint == nullptr);
  queue_.push_back(connection);
  if (accepting_) resume_accepting();
  return true;
}

void SimListener::resume_accepting() {
  accepting_ = true;
  if (queue_.empty() || arrival_.is_scheduled()) return;
  machine_.agenda().schedule(arrival_, machine_.now(), key_);
}

void SimListener::hand_over() {
  for (int i = 0; accepting_ && !queue_.empty(); ++i) {
    if (i == accepts_per_turn_) return resume_accepting();
    if (out_of_descriptors(machine_, backend::RandomStream::Network, "accepted connection")) {
      return accept_failed(EMFILE);
    }
    auto connection = std::move(queue_.front());
    queue_.pop_front();
    const Arrival arrival = connection->accepted();
    auto* const stream =
        new SimStream(attachment(), network_, std::move(connection), Connection::Server);
    stream->sees(local_address().version());
    accepted(Ref<backend::StreamHandle>::adopt(*stream));
  }
}

void SimListener::close_backend() noexcept {
  accepting_ = false;
  arrival_.cancel();
  if (const auto* address = std::get_if<Address>(&place_)) {
    network_.unbind(machine_, *address);
  } else {
    network_.unbind(machine_, std::get<backend::PipePath>(place_));
  }
  for (const auto& connection : std::exchange(queue_, {})) {
    connection->send_reset(Connection::Server);
    connection->close(Connection::Server);
  }
  const Duration delay = close_delay(machine_, key_, [&] { return "a listener"; });
  machine_.agenda().schedule(acknowledgement_, machine_.now() + delay, key_);
}

}  // namespace fermata::sim::detail
