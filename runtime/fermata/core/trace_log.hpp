// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an observer wants to know of every trace, written down without a call: one number for all
// that happened, and which events the present step has touched.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/observer.hpp"

namespace fermata::detail {

/// A hash of everything that happened in a run, in order. Made from kinds, serial numbers and
/// times, and from no address, hash or text, so that it is equal on every machine.
class TraceHash {
 public:
  void add(std::uint64_t kind, std::uint64_t subject, std::uint64_t detail) noexcept {
    const std::uint64_t item = ((subject << 8) ^ kind) + detail * 0x9e3779b97f4a7c15;
    state_ = (((state_ << 29) | (state_ >> 35)) ^ item) * 0xbf58476d1ce4e5b9;
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return state_ ^ (state_ >> 31); }
  void reset() noexcept { *this = TraceHash(); }

  /// Nothing that still happens is traced.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }

 private:
  std::uint64_t state_ = 0x6665726d61746121;
  bool stopped_ = false;
};

class TraceLog {
 public:
  /// `hash`, which several trace logs may share, must outlive this.
  explicit TraceLog(TraceHash& hash) noexcept : hash_(&hash) {}
  TraceLog(const TraceLog&) = delete;
  TraceLog& operator=(const TraceLog&) = delete;

  /// Whether the next write may come: there is room, and the hash has not been stopped.
  [[nodiscard]] bool is_ready() const noexcept { return end_ != limit_ && !hash_->is_stopped(); }
  /// Makes room. False, and nothing may be written, once the hash has been stopped.
  [[nodiscard]] bool get_ready();

  /// REQUIRES: is_ready().
  void write(backend::Trace kind, const Event& subject, std::uint64_t detail) noexcept {
    FERMATA_ASSERT(is_ready());
    hash_->add(static_cast<std::uint64_t>(kind), subject.serial(), detail);
    if (kind != backend::Trace::EventDestroyed) touch(subject);
  }
  /// Writes a trace of a kind that has no subject. REQUIRES: is_ready().
  void write(backend::Trace kind, std::uint64_t detail) noexcept {
    FERMATA_ASSERT(is_ready());
    hash_->add(static_cast<std::uint64_t>(kind), 0, detail);
  }

  /// Marks `subject` as touched without writing to the trace hash.
  void note_use(const Event& subject) {
    if (is_ready() || get_ready()) touch(subject);
  }

  /// Events that were touched since the last forget_all(), each once; null when destroyed since.
  [[nodiscard]] std::span<const Event* const> touched() const noexcept { return {begin_, end_}; }
  /// Forgets all of them; the caller resets the marks of those that are left.
  void forget_all() noexcept { begin_ = end_ = touched_.get(); }
  /// REQUIRES: the event's mark says that it is touched.
  void forget(const Event& event) noexcept;

 private:
  void touch(const Event& event) noexcept {
    Event::AuditMark& mark = event.audit_mark();
    if (mark.has(Event::AuditMark::kTouched)) return;
    mark.set(Event::AuditMark::kTouched);
    *end_++ = &event;
  }

  TraceHash* hash_;
  const Event** begin_ = nullptr;
  const Event** end_ = nullptr;
  const Event** limit_ = nullptr;
  std::unique_ptr<const Event*[]> touched_;
};

}  // namespace fermata::detail
