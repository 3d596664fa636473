// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/datagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/closed_error.hpp"

namespace fermata::backend {

namespace {

InputOutputError send_error(const Address& peer, int code) {
  return InputOutputError("send to " + peer.text(), code);
}

void check_sendable(std::span<const std::byte> data, const Address& peer) {
  if (data.size() > kDatagramMax) {
    throw UsageError(fmt::format("send to {}: a datagram of {} bytes, expected at most {}",
                                 peer.text(), data.size(), kDatagramMax));
  }
  if (peer.port() == 0) {
    throw UsageError(fmt::format("send to {}: expected a port other than 0", peer.text()));
  }
}

}  // namespace

// --- requests ---

ReceiveRequest::ReceiveRequest(DatagramHandle& socket, std::span<std::byte> buffer)
    : Request(socket.runtime(), "receive"),
      socket_(Ref<DatagramHandle>::share(socket)),
      buffer_(buffer) {
  FERMATA_REQUIRE(!buffer.empty(), "receive: expected a buffer of at least one byte");
  socket.receive(*this);
}

void ReceiveRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("socket", socket_->local_address().text(), socket_->made_at());
  facts.wanted("receive");
  facts.outside("whoever sends to it");
}

ReceiveRequest::~ReceiveRequest() {
  if (!is_completed()) {
    socket_->readers_.remove(*this);
  } else if (untaken_) {
    if (!got_.truncated) {
      const auto bytes = buffer_.first(got_.size);
      whole_.assign(bytes.begin(), bytes.end());
    }
    socket_->give_back({std::move(whole_), got_.peer});
  }
}

Datagram ReceiveRequest::take() noexcept {
  untaken_ = false;
  whole_ = {};
  return got_;
}

SendRequest::SendRequest(DatagramHandle& socket, std::span<const std::byte> data,
                         const Address& peer)
    : Request(socket.runtime(), "send"), socket_(Ref<DatagramHandle>::share(socket)) {
  socket.send(*this, data, peer);
}

SendRequest::~SendRequest() {
  if (!is_completed()) socket_->abandon_send(*this);
}

// --- receiving ---

void DatagramHandle::receive(ReceiveRequest& request) {
  FERMATA_ASSERT(readers_.empty() || held_.empty());
  if (is_closed()) return request.fail(detail::closed_error("Cannot read from closed IO handle"));
  if (held_.empty() && pending_code_ != 0) return request.fail(std::exchange(pending_code_, 0));
  readers_.push_back(request);
  if (!held_.empty()) {
    const Held next = std::move(held_.front());
    held_.pop_front();
    give_to_reader(next.bytes, next.peer);
  } else if (!receiving_) {
    FERMATA_ASSERT(!receiving_);
    const int code = start_receiving();
    receiving_ = code == 0;
    if (code != 0) receive_failed(code);
  }
}

/// Returns false when nobody waits.
bool DatagramHandle::give_to_reader(std::span<const std::byte> data, const Address& peer) {
  ReceiveRequest* const reader = readers_.first();
  if (reader == nullptr) return false;
  FERMATA_ASSERT(!reader->untaken_);
  FERMATA_ASSERT(!reader->is_completed());
  readers_.remove(*reader);
  const std::size_t size = std::min(reader->buffer_.size(), data.size());
  std::copy_n(data.begin(), size, reader->buffer_.begin());
  reader->got_ = {size, peer, size < data.size()};
  if (reader->got_.truncated) reader->whole_.assign(data.begin(), data.end());
  reader->untaken_ = true;
  reader->complete(size);
  return true;
}

void DatagramHandle::received(std::span<const std::byte> data, const Address& peer) {
  if (is_closed() || give_to_reader(data, peer)) return;
  FERMATA_ASSERT(readers_.empty());
  held_.push_back({{data.begin(), data.end()}, peer});
  if (held_.size() >= kHeldMax) stop_armed_receiving();
}

void DatagramHandle::receive_failed(int code) {
  FERMATA_ASSERT(code > 0);
  if (is_closed()) return;
  if (ReceiveRequest* const reader = readers_.first()) {
    readers_.remove(*reader);
    reader->fail(code);
  } else {
    pending_code_ = code;
    stop_armed_receiving();
  }
}

void DatagramHandle::stop_armed_receiving() noexcept {
  if (std::exchange(receiving_, false)) stop_receiving();
}

void DatagramHandle::give_back(Held datagram) {
  if (is_closed() || give_to_reader(datagram.bytes, datagram.peer)) return;
  FERMATA_ASSERT(readers_.empty());
  held_.push_front(std::move(datagram));
}

// --- sending ---

bool DatagramHandle::try_send(std::span<const std::byte> data, const Address& peer) {
  check_sendable(data, peer);
  if (is_closed()) throw InputOutputError("Cannot write to closed IO handle");
  if (!sends_.empty()) return false;
  FERMATA_ASSERT(sends_.empty());
  const int code = send_now(data, peer);
  if (code != 0 && code != EAGAIN) throw send_error(peer, code);
  return code == 0;
}

void DatagramHandle::send(SendRequest& request, std::span<const std::byte> data,
                          const Address& peer) {
  try {
    if (try_send(data, peer)) return request.complete(data.size());
  } catch (const InputOutputError&) {
    return request.fail(std::current_exception());
  }
  PendingSend pending{std::make_unique<std::byte[]>(data.size()), data.size(), peer, &request};
  std::copy(data.begin(), data.end(), pending.bytes.get());
  sends_.push_back(std::move(pending));
  if (sends_.size() == 1) submit_next_send();
}

void DatagramHandle::submit_next_send() {
  FERMATA_ASSERT(!sends_.empty());
  const int code = submit_send(sends_.front().data(), sends_.front().peer);
  if (code != 0) send_done(code);
}

void DatagramHandle::send_done(int code) {
  if (is_closed()) return;  // The bytes go with the handle.
  FERMATA_ASSERT(!sends_.empty());
  FERMATA_ASSERT(code >= 0);
  const PendingSend done = std::move(sends_.front());
  sends_.pop_front();
  if (!sends_.empty()) submit_next_send();
  if (done.request == nullptr) return;
  if (code == 0) {
    done.request->complete(done.size);
  } else {
    done.request->fail(std::make_exception_ptr(send_error(done.peer, code)));
  }
}

void DatagramHandle::abandon_send(const SendRequest& request) noexcept {
  for (PendingSend& send : sends_) {
    if (send.request == &request) send.request = nullptr;
  }
}

// --- groups, closing ---

void DatagramHandle::join(const Address& group) { change_membership("join", group, true); }

void DatagramHandle::leave(const Address& group) { change_membership("leave", group, false); }

void DatagramHandle::change_membership(const char* operation, const Address& group, bool member) {
  if (group.version() != IpVersion::V4 || !group.is_multicast()) {
    throw UsageError(
        fmt::format("{} '{}': expected a multicast group, 224.0.0.0 to 239.255.255.255", operation,
                    group.ip_text()));
  }
  if (is_closed()) {
    throw InputOutputError(fmt::format("Cannot {} a group with closed IO handle", operation));
  }
  if (const int code = set_membership(group, member); code != 0) {
    throw InputOutputError(fmt::format("{} {}", operation, group.ip_text()), code);
  }
}

void DatagramHandle::fail_parked() {
  FERMATA_ASSERT(is_closed());
  detail::ParkedError error;
  receiving_ = false;
  held_.clear();
  while (ReceiveRequest* const reader = readers_.first()) {
    readers_.remove(*reader);
    reader->fail(error.get());
  }
  for (PendingSend& send : sends_) {
    if (send.request != nullptr) std::exchange(send.request, nullptr)->fail(error.get());
  }
}

}  // namespace fermata::backend
