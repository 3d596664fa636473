// SPDX-License-Identifier: Apache-2.0
#pragma once

// What connects a future with its promise on another thread.
//
// Sides      The producer's (a RemotePromise) may be on any thread; the reader's is part of the
//            future's core, on its runtime's thread. Each can go first; both hold the link.
// Lock       Everything in the link. The reader's trigger is fired under it, and taken away under
//            it before it closes; so is the producer's (FUT-16).
// Cancel     Once asked for it stays asked for: who binds later learns of it.

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "fermata/core/wait_facts.hpp"
#include "fermata/io/thread_line.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::detail {

class RemoteLink {
 public:
  RemoteLink() = default;
  RemoteLink(const RemoteLink&) = delete;
  RemoteLink& operator=(const RemoteLink&) = delete;

  // --- the producer's side; from any thread ---

  /// False when it has ended already. When the reader has gone, nothing is kept.
  bool fail(std::exception_ptr error);
  /// The producer goes without having completed it.
  void abandon() noexcept;
  [[nodiscard]] bool is_ended() const;
  /// From now on `trigger` is fired when the work is not wanted any more; null: no more. False, and
  /// nothing is bound, when it is not wanted already.
  bool bind_cancel(backend::TriggerHandle* trigger);
  [[nodiscard]] bool is_cancellation_requested() const;
  /// Reports say that the current coroutine works on it; before that, that it is up to `queue`.
  void taken_up();
  void queued_at(std::shared_ptr<const backend::WaitSubject> queue);

  // --- the reader's side ---

  void set_reader(backend::TriggerHandle& trigger) noexcept { reader_ = &trigger; }
  /// The reader goes; `cancel`: the work is not wanted any more.
  void dismiss(bool cancel) noexcept;
  /// Reports who works on it, as far as known.
  void explain(backend::WaitFacts& facts) const;

 protected:
  using Lock = ThreadsLock<os::Mutex>;
  [[nodiscard]] Lock lock() const { return lock_among_threads(mutex_); }
  /// To look at something: the caller acts on it at once.
  [[nodiscard]] Lock lock_to_look() const { return Lock(mutex_, ScopeEnd::JoinsWhatFollows); }
  /// With the lock held: whether somebody waits for the first end; if so it has come now, and
  /// `tell` is to follow.
  [[nodiscard]] bool ends_first() noexcept { return !std::exchange(ended_, true); }
  [[nodiscard]] bool read() const noexcept { return reader_ != nullptr; }
  void tell() noexcept {
    if (reader_ != nullptr) reader_->fire();
  }

  std::exception_ptr error_;

 private:
  mutable os::Mutex mutex_;
  backend::TriggerHandle* reader_ = nullptr;  // Null when the reader has gone.
  backend::TriggerHandle* on_cancel_ = nullptr;
  bool ended_ = false;
  bool cancel_requested_ = false;
  backend::WaitPerson worker_;  // Nobody where no log is kept.
  std::shared_ptr<const backend::WaitSubject> queue_;
};

/// What the producer has sent: a value, an error, or neither when it went away without either.
template <class T>
struct Delivery {
  std::optional<ValueOrNothing<T>> value;
  std::exception_ptr error;
};

template <class T>
class RemoteLinkOf final : public RemoteLink {
 public:
  /// Sends `value` to the reader. False when the link has ended already.
  bool complete(ValueOrNothing<T>&& value) {
    const Lock held = lock();
    if (!ends_first()) return false;
    if (read()) value_.emplace(std::move(value));
    tell();
    return true;
  }
  [[nodiscard]] Delivery<T> take() {
    const Lock held = lock_to_look();
    return {std::exchange(value_, std::nullopt), error_};
  }

 private:
  std::optional<ValueOrNothing<T>> value_;
};

/// The reader's side, but for the type: waits for the producer with a trigger that counts as
/// activity.
class RemoteReader : public WriterElsewhere, private backend::TriggerKeeper {
 protected:
  RemoteReader(FutureBase& core, std::shared_ptr<RemoteLink> link);
  ~RemoteReader() override;

  /// The producer has ended it. Nothing may follow: this may be gone.
  virtual void arrived() = 0;
  /// There will be no more from the trigger.
  void rest() noexcept;

  FutureBase& core_;

 private:
  void dismiss(bool cancel) noexcept final;
  void explain(backend::WaitFacts& facts) const final { link_->explain(facts); }
  void before_close() noexcept final;

  std::shared_ptr<RemoteLink> link_;
  Ref<backend::TriggerHandle> trigger_;
  Subscription subscription_;
};

template <class T>
class RemoteReaderOf final : public RemoteReader {
 public:
  RemoteReaderOf(FutureCore<T>& core, std::shared_ptr<RemoteLinkOf<T>> link)
      : RemoteReader(core, link), typed_(std::move(link)) {}

  /// The future that `promise` completes.
  [[nodiscard]] static FutureCore<T>& core_of(const Promise<T>& promise) { return promise.core(); }

 private:
  void arrived() override {
    auto& core = static_cast<FutureCore<T>&>(core_);
    Delivery<T> delivery = typed_->take();
    rest();
    if (!delivery.error && !delivery.value) return core.lose_writers();
    void* value = nullptr;
    try {
      if (delivery.value) value = core.store(std::move(*delivery.value));
    } catch (...) {
      delivery.error = std::current_exception();
    }
    core.settle({value, std::move(delivery.error)}, SourcePlace{});
  }

  std::shared_ptr<RemoteLinkOf<T>> typed_;
};

}  // namespace fermata::detail
