// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event with something behind it that closes in two phases (CLOSE-01 to 10).
//
// Life cycle  open -> closing (whoever was parked has got an error, the backend was asked to let
//             go) -> closed (the backend has acknowledged) -> freed with the last reference.
// Ownership   Reference counted; the backend holds one reference from close() to its
//             acknowledgement, so that the handle outlives every callback of the backend. The end
//             of the last user's reference closes an open handle.
// Suspension  Nothing here suspends (CLOSE-04).
// Source      CLOSE-01 to 10, RX-04.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/intrusive_list.hpp"
#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/event.hpp"

namespace fermata::detail {
class Attachment;
}

namespace fermata::backend {

class Handle : public Event {
 public:
  /// Ends the handle: every operation parked on it fails at once, later ones are refused, and the
  /// backend lets go in its own time. Idempotent. Hides Event::close, which knows no backend.
  void close() noexcept;

  /// The name in reports.
  [[nodiscard]] const Name& name() const noexcept { return name_; }
  void set_name(Name name) noexcept { name_ = std::move(name); }

  void set_made_at(const SourcePlace& place) noexcept { made_at_ = place; }
  [[nodiscard]] const SourcePlace* made_at() const noexcept override {
    return made_at_.line == 0 ? nullptr : &made_at_;
  }

  /// 'Listener #12 "front"'.
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 protected:
  Handle(detail::Attachment& attachment, EventKind kind);
  ~Handle() override;

  // --- of each kind of handle ---

  /// The handle is closed: everything parked on it fails.
  virtual void fail_parked() {}

  // --- of each backend ---

  /// Ends with one call of close_acknowledged(), now or later; no other callback comes in between.
  virtual void close_backend() noexcept = 0;

  /// The backend has let go. The handle may be gone when this returns.
  void close_acknowledged() noexcept;

  [[nodiscard]] detail::Attachment& attachment() const noexcept { return attachment_; }

 private:
  friend class detail::Attachment;
  enum class Phase : std::uint8_t { Open, Closing, Closed };

  void dispose() noexcept final;

  detail::Attachment& attachment_;
  Phase phase_ = Phase::Open;
  Name name_;
  SourcePlace made_at_;
  detail::Link<Handle> open_;

 public:
  using OpenList = detail::IntrusiveList<Handle, &Handle::open_>;
};

}  // namespace fermata::backend

namespace fermata {

namespace detail {

/// State that the parts of one reactor share: the runtime they serve now, and every handle whose
/// close is not acknowledged yet.
class Attachment {
 public:
  void attach(Runtime& runtime) noexcept { runtime_ = &runtime; }
  void detach() noexcept { runtime_ = nullptr; }
  /// Throws UsageError while no runtime runs on this reactor.
  [[nodiscard]] Runtime& runtime() const {
    FERMATA_REQUIRE(runtime_ != nullptr, "no runtime is running on this reactor");
    return *runtime_;
  }
  [[nodiscard]] bool is_attached() const noexcept { return runtime_ != nullptr; }

  /// Asks every open handle to close. Returns a line for each that the program has made; others
  /// belong to the runtime, which keeps some until the end.
  [[nodiscard]] std::vector<std::string> close_all();
  /// Adds a line for each handle whose close is not acknowledged.
  void describe_unclosed(std::vector<std::string>& lines) const;
  [[nodiscard]] std::size_t unclosed() const noexcept { return handles_.size(); }

 private:
  friend class fermata::backend::Handle;

  Runtime* runtime_ = nullptr;
  backend::Handle::OpenList handles_;
};

}  // namespace detail

}  // namespace fermata
