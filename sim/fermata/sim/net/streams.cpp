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
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/tty.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

/// `peer` is an address or a path.
template <class Place>
void require_descriptor(Machine& machine, const Place& peer) {
  if (out_of_descriptors(machine, backend::RandomStream::Network, "connection")) {
    throw InputOutputError(fmt::format("connect to {}", peer.text()), EMFILE);
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
  require_descriptor(machine_, peer);
  auto* stream =
      new SimStream(attachment_, network_, network_.make_local_connection(machine_, peer.text()),
                    Connection::Client);
  auto handle = Ref<backend::StreamHandle>::adopt(*stream);
  stream->end().dial_locally();
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

Ref<backend::StreamHandle> SimStreams::open_standard(backend::StandardStream which) {
  return Ref<backend::StreamHandle>::adopt(*new SimTty(attachment_, machine_, terminal_, which));
}

Ref<backend::StreamHandle> SimStreams::open_connection(const Address& peer) {
  require_descriptor(machine_, peer);
  auto* stream = new SimStream(attachment_, network_, connection_to(machine_, network_, peer),
                               Connection::Client);
  auto handle = Ref<backend::StreamHandle>::adopt(*stream);
  stream->end().dial();
  return handle;
}

// --- a stream ---

SimStream::SimStream(fermata::detail::Attachment& attachment, Network& network,
                     std::shared_ptr<Connection> connection, Connection::Side side,
                     backend::Direction direction)
    : backend::StreamHandle(attachment,
                            connection->local() ? backend::IoType::Pipe : backend::IoType::Tcp,
                            direction),
      end_(*this, network, std::move(connection), side),
      version_(end_.address().version()),
      acknowledgement_(*this) {}

Address SimStream::local_address() const { return seen_by(version_, end_.address()); }

Address SimStream::peer_address() const { return seen_by(version_, end_.peer_address()); }

const backend::StreamHandle* SimStream::far_end() const noexcept { return end_.far_handle(); }

// --- reading ---

int SimStream::start_reading() {
  reading_ = true;
  end_.want_input(true);
  return 0;
}

void SimStream::stop_reading() noexcept {
  reading_ = false;
  end_.want_input(false);
}

void SimStream::input_came() {
  end_.take_in();
  if (end_.broken() && !submitted_.empty()) {
    end_submitted(end_.connection().local() ? EPIPE : end_.broken_code());
  }
  while (reading_) {
    const std::span<const std::byte> unread = end_.unread();
    if (unread.empty()) break;
    if (!deliver(unread)) return end_.expect_arrival();
  }
  if (!reading_ || !(end_.broken() || end_.input_ended())) return end_.expect_arrival();
  const Arrival arrival = end_.connection().ended(end_.side());
  if (end_.broken()) return receive_failed(end_.broken_code());
  received_end();
  end_.expect_arrival();  // A writer may still have to learn of a reset.
}

bool SimStream::deliver(std::span<const std::byte> unread) {
  const std::span<std::byte> target = read_target(end_.spare());
  FERMATA_ASSERT(!unread.empty());
  FERMATA_ASSERT(!target.empty());
  const std::size_t whole = std::min(target.size(), unread.size());
  const std::size_t part = end_.drawn_read(whole);
  FERMATA_ASSERT(part <= whole);
  std::memcpy(target.data(), unread.data(), part);
  end_.consume(part);
  const Arrival arrival = end_.connection().taken(end_.side(), part);
  received(target.first(part));
  return part == whole;
}

// --- writing ---

backend::StreamHandle::Written SimStream::try_write(backend::Buffers buffers) {
  end_.take_in();  // A reset may have come while nobody read.
  if (const int code = end_.obstacle()) return {0, code};
  std::size_t accepted = 0;
  for (const std::span<const std::byte> each : buffers) {
    const std::size_t part = end_.accept(each);
    accepted += part;
    if (part < each.size()) break;
  }
  return {accepted, 0};
}

int SimStream::submit_write(std::span<const std::byte> data) {
  FERMATA_ASSERT(submitted_.empty());
  submitted_ = data;
  end_.want_room(true);
  return 0;
}

void SimStream::end_submitted(int code) {
  FERMATA_ASSERT(code >= 0);
  submitted_ = {};
  end_.want_room(false);
  write_done(code);
}

void SimStream::room_came() {
  if (const int code = end_.obstacle()) return end_submitted(code);
  submitted_ = submitted_.subspan(end_.accept(submitted_));
  if (submitted_.empty()) return end_submitted(0);
  if (end_.room() == 0) return;
  end_.expect_room(end_.machine().now() + end_.connection().least_latency());
}

// --- closing ---

void SimStream::close_backend() noexcept {
  reading_ = false;
  submitted_ = {};
  end_.close();
  Machine& machine = end_.machine();
  const Duration delay = close_delay(machine, end_.key(), [&] { return end_.connection().text(); });
  machine.agenda().schedule(acknowledgement_, machine.now() + delay, end_.key());
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
      arrival_(*this),
      acknowledgement_(*this),
      key_(key_of(machine.key(), "listener")) {
  if (auto* address = std::get_if<Address>(&place_)) {
    *address = network.bind(machine, *address, this);
    FERMATA_ASSERT(address->port() != 0);
    key_ = key_of(key_, address->port());
  } else {
    const std::string& path = std::get<backend::PipePath>(place_).text();
    network.bind(machine, path, this);
    key_ = key_of(key_, path);
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
    network_.unbind(machine_, std::get<backend::PipePath>(place_).text());
  }
  for (const auto& connection : std::exchange(queue_, {})) {
    connection->send_reset(Connection::Server);
    connection->close(Connection::Server);
  }
  const Duration delay = close_delay(machine_, key_, [&] { return "a listener"; });
  machine_.agenda().schedule(acknowledgement_, machine_.now() + delay, key_);
}

}  // namespace fermata::sim::detail
