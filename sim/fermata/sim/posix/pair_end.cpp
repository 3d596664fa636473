// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/pair_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

PairEnd::PairEnd(Machine& machine, std::uint64_t serial)
    : Description(machine, "descriptor", serial) {}

PairEnd::~PairEnd() {
  if (peer_ == nullptr) return;
  FERMATA_ASSERT(peer_->peer_ == this);
  peer_->peer_ = nullptr;
  if (input_.unread() > 0) peer_->error_ = ECONNRESET;
  peer_->changed();
}

void PairEnd::join(PairEnd& peer, int own, int there) noexcept {
  FERMATA_ASSERT(&peer != this);
  peer_ = &peer;
  descriptor_ = own;
  peer_descriptor_ = there;
}

std::string PairEnd::state() {
  if (peer_ == nullptr) return "its other end is closed";
  return fmt::format("{} bytes to read, room for {} in its other end, descriptor {}",
                     input_.unread(), peer_->input_.room(), peer_descriptor_);
}

std::string PairEnd::maker() {
  return fmt::format("whoever has descriptor {}, its other end", peer_descriptor_);
}

Readiness PairEnd::readiness() {
  const bool input_ended = peer_ == nullptr || peer_->shut_ || broken_;
  const bool hung_up = peer_ == nullptr || broken_ || (shut_ && input_ended);
  Readiness ready = 0;
  if (input_.unread() > 0 || input_ended || error_ != 0) ready |= EPOLLIN;
  if (hung_up || shut_ || peer_->input_.room() > 0) ready |= EPOLLOUT;
  if (input_ended) ready |= EPOLLRDHUP;
  if (hung_up) ready |= EPOLLHUP;
  if (error_ != 0) ready |= EPOLLERR;
  return ready;
}

void PairEnd::use_peer() {
  if (peer_ == nullptr) return;
  const std::uint64_t table = key_of(machine().key(), key_of("descriptors"));
  machine().announced(key_of(table, peer_->key()), true);
}

// --- faults ---

bool PairEnd::strikes(Fault fault, const char* draw, const char* does) {
  const auto tell = [&](const Decision&) { return text(does); };
  return machine().faults().strikes(fault, backend::RandomStream::Network, key_of(key(), draw),
                                    tell);
}

std::string PairEnd::text(const char* does) const {
  return fmt::format(fmt::runtime(does),
                     fmt::format("descriptor {} of '{}'", descriptor_, machine().name()));
}

std::size_t PairEnd::drawn_read(std::size_t whole) {
  if (whole < 2) return whole;
  const auto tell = [&](const Decision& decision) {
    return text("a read of {} gives ") + part_of_bytes(decision.value, whole);
  };
  const std::uint64_t drawn = machine().faults().strength(
      Fault::ShortRead, backend::RandomStream::Network, key_of(key(), "short read"), whole, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn);
}

std::size_t PairEnd::drawn_write(std::size_t whole) {
  if (whole == 0) return 0;
  const auto tell = [&](const Decision& decision) {
    const std::size_t part = decision.value - 1;
    if (part == 0) return text("a write to {} has to wait");
    return text("a write to {} takes ") + part_of_bytes(part, whole);
  };
  const std::uint64_t drawn =
      machine().faults().strength(Fault::ShortWrite, backend::RandomStream::Network,
                                  key_of(key(), "short write"), whole + 1, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn - 1);
}

void PairEnd::break_down() {
  FERMATA_ASSERT(peer_ != nullptr);
  FERMATA_ASSERT(!broken_);
  for (PairEnd* const end : {this, peer_}) {
    end->broken_ = true;
    end->error_ = ECONNRESET;
    end->input_.consume(end->input_.unread());
    end->changed();
  }
}

// --- reading and writing ---

ssize_t PairEnd::read(std::span<const iovec> target) {
  use_peer();
  if (strikes(Fault::Interrupted, "interrupted read", "a read of {} is interrupted")) {
    return -EINTR;
  }
  const std::span<const std::byte> unread = input_.peek();
  if (unread.empty()) {
    if (const int code = take_error()) return -code;
    const bool open = peer_ != nullptr && !peer_->shut_ && !broken_;
    return open ? -EAGAIN : 0;
  }
  const std::size_t part = drawn_read(std::min(size_of(target), unread.size()));
  scatter(unread.first(part), target);
  input_.consume(part);
  if (peer_ != nullptr) peer_->changed();
  return static_cast<ssize_t>(part);
}

ssize_t PairEnd::write(std::span<const iovec> source) {
  use_peer();
  if (strikes(Fault::Interrupted, "interrupted write", "a write to {} is interrupted")) {
    return -EINTR;
  }
  if (!shut_ && peer_ != nullptr) {
    if (!broken_ && strikes(Fault::Reset, "reset", "{} is reset")) break_down();
    if (!broken_) return write_stream(gather(source));
  }
  const int code = broken_ ? take_error() : 0;
  return -(code != 0 ? code : EPIPE);
}

ssize_t PairEnd::write_stream(std::span<const std::byte> data) {
  FERMATA_ASSERT(peer_ != nullptr);
  FERMATA_ASSERT(!shut_);
  Pipe& there = peer_->input_;
  const std::size_t whole = std::min(data.size(), there.room());
  const std::size_t part = drawn_write(whole);
  FERMATA_ASSERT(part <= whole);
  if (part == 0) return data.empty() ? 0 : -EAGAIN;
  there.send(data.first(part), machine().now());
  there.arrive(machine().now());
  FERMATA_ASSERT(there.under_way() == 0);
  peer_->changed();
  return static_cast<ssize_t>(part);
}

void PairEnd::shut() {
  use_peer();
  shut_ = true;
  changed();
  if (peer_ != nullptr) peer_->changed();
}

// --- a refused socket ---

RefusedFile::RefusedFile(Machine& machine, std::uint64_t serial)
    : Description(machine, "descriptor", serial) {}

ssize_t RefusedFile::read(std::span<const iovec>) { return -take_error(); }

ssize_t RefusedFile::write(std::span<const iovec>) {
  const int code = take_error();
  return -(code != 0 ? code : EPIPE);
}

}  // namespace fermata::sim::detail
