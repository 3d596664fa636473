// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/remote_link.hpp"

namespace fermata::detail {

bool RemoteLink::fail(std::exception_ptr error) {
  const Lock held = lock();
  if (!ends_first()) return false;
  if (read()) error_ = std::move(error);
  tell();
  return true;
}

void RemoteLink::abandon() noexcept {
  const Lock held = lock();
  on_cancel_ = nullptr;
  if (ends_first()) tell();
}

bool RemoteLink::is_ended() const {
  const Lock held = lock_to_look();
  return ended_;
}

bool RemoteLink::bind_cancel(backend::TriggerHandle* trigger) {
  const Lock held = lock();
  if (trigger != nullptr && cancel_requested_) return false;
  on_cancel_ = trigger;
  return true;
}

bool RemoteLink::is_cancellation_requested() const {
  const Lock held = lock_to_look();
  return cancel_requested_;
}

// Nothing here is a choice between threads: it must not matter whether a log is kept.
void RemoteLink::taken_up() {
  backend::WaitPerson worker = backend::WaitPerson::present();
  if (worker.runtime == nullptr) return;
  const std::lock_guard held(mutex_);
  worker_ = std::move(worker);
}

void RemoteLink::queued_at(std::shared_ptr<const backend::WaitSubject> queue) {
  const std::lock_guard held(mutex_);
  queue_ = std::move(queue);
}

void RemoteLink::explain(backend::WaitFacts& facts) const {
  const std::unique_lock held(mutex_, std::try_to_lock);
  if (!held.owns_lock()) return;
  if (worker_.runtime != nullptr) {
    facts.in_hands_of(worker_, "worked on by");
  } else if (queue_ != nullptr) {
    queue_->explain_wait(facts);
  }
  facts.outside("another thread");
}

void RemoteLink::dismiss(bool cancel) noexcept {
  const Lock held = lock();
  reader_ = nullptr;
  if (!cancel || ended_ || cancel_requested_) return;
  cancel_requested_ = true;
  if (on_cancel_ != nullptr) on_cancel_->fire();
}

RemoteReader::RemoteReader(FutureBase& core, std::shared_ptr<RemoteLink> link)
    : core_(core), link_(std::move(link)), trigger_(core.runtime().reactor().triggers().make()) {
  subscription_ = subscribe(*trigger_, [this](Event&, const Outcome&) { arrived(); });
  trigger_->set_keeper(this);
  link_->set_reader(*trigger_);
  trigger_->start();
}

RemoteReader::~RemoteReader() { rest(); }

void RemoteReader::rest() noexcept {
  subscription_.cancel();
  trigger_->set_keeper(nullptr);
  trigger_->close();
}

void RemoteReader::dismiss(bool cancel) noexcept { link_->dismiss(cancel); }

// The run is over: nobody will read what comes.
void RemoteReader::before_close() noexcept {
  const auto guard = Ref<FutureBase>::share(core_);
  link_->dismiss(false);
  core_.abandon_chain();
}

}  // namespace fermata::detail
