// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/watches.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/epoll_set.hpp"
#include "fermata/os/wake_up.hpp"

namespace fermata::poll::detail {

namespace {

/// Few enough for the second-level cache, with all that the kernel touches for each.
constexpr unsigned kPortion = 64;

PollMask without(PollMask mask, PollMask others) {
  return static_cast<PollMask>(static_cast<unsigned>(mask) & ~static_cast<unsigned>(others));
}

/// Watches `descriptor` in `place` for `mask` instead of `watched`, and says so there.
template <class Place>
void watch_in(Place& place, PollMask& watched, PollMask mask, int descriptor) {
  if (mask == watched) return;
  watched = PollMask::None;
  if (any(mask)) {
    place.watch(descriptor, mask);
  } else {
    place.unwatch(descriptor);
  }
  watched = mask;
}

}  // namespace

class Watches::WakeUp final : public os::WakeUp, private Watcher {
 public:
  explicit WakeUp(Watches& watches) : watches_(watches) {
    watches_.watch(*this, descriptor(), PollMask::Readable);
  }
  ~WakeUp() { watches_.unwatch(*this, descriptor()); }

 private:
  void on_ready(PollMask) noexcept override { acknowledge(); }

  Watches& watches_;
};

/// Waits for what the backend knows nothing of, as one descriptor of it.
class Watches::Aside final : public Watcher {
 public:
  explicit Aside(Watches& watches) : watches_(watches) { watch_set(); }
  ~Aside() { watches_.unwatch(*this, set_.descriptor()); }

  [[nodiscard]] os::EpollSet& set() noexcept { return set_; }

 private:
  void watch_set() { watches_.watch(*this, set_.descriptor(), PollMask::Readable); }

  void on_ready(PollMask) noexcept override {
    for (const os::EpollSet::Found& found : set_.look(Instant{}).found) {
      if (set_.holds(found)) watches_.ready(found.descriptor, found.mask);
    }
    if (!set_.must_be_rebuilt()) return;
    watches_.unwatch(*this, set_.descriptor());
    set_.rebuild();
    watch_set();  // The number is one that the backend has watched before.
  }

  Watches& watches_;
  os::EpollSet set_;
};

Watches::Watches(std::unique_ptr<Backend> backend)
    : backend_(std::move(backend)), wake_up_(std::make_unique<WakeUp>(*this)) {}

Watches::~Watches() = default;

void Watches::require_within_limit(int descriptor) const {
  const int limit = backend_->capabilities().descriptor_limit;
  if (limit == 0 || descriptor < limit) return;
  throw PollError(fmt::format("watch descriptor {}: expected a number below {}, the limit of {}",
                              descriptor, limit, backend_->name()));
}

Watches::Aside& Watches::aside() {
  if (!aside_) aside_ = std::make_unique<Aside>(*this);
  return *aside_;
}

void Watches::watch(Watcher& watcher, int descriptor, PollMask mask) {
  FERMATA_ASSERT(descriptor >= 0 && any(mask));
  require_within_limit(descriptor);
  const auto index = static_cast<std::size_t>(descriptor);
  while (index >= slots_.size()) slots_.emplace_back();
  if (untold_.capacity() < slots_.size()) untold_.reserve(2 * slots_.size());
  Slot& slot = slots_[index];
  if (!any(watcher.watched_)) {
    // Whoever is there may watch a file that is gone, of which the backend must know no more.
    if (!slot.watchers.empty()) let_go(slot, descriptor);
    slot.watchers.push_back(watcher);
    ++slot.version;
  }
  watcher.watched_ = mask;
  try {
    apply(slot, descriptor);
  } catch (...) {
    unwatch(watcher, descriptor);
    throw;
  }
}

void Watches::unwatch(Watcher& watcher, int descriptor) noexcept {
  if (!any(watcher.watched_)) return;
  FERMATA_ASSERT(static_cast<std::size_t>(descriptor) < slots_.size());
  Slot& slot = slots_[static_cast<std::size_t>(descriptor)];
  watcher.watched_ = PollMask::None;
  slot.watchers.remove(watcher);
  ++slot.version;
  try {
    apply(slot, descriptor);
  } catch (const PollError&) {  // The descriptor is gone; those who are left find that themselves.
    let_go(slot, descriptor);
  }
}

/// Tells the backend the union of what is watched for.
void Watches::apply(Slot& slot, int descriptor) {
  PollMask native = PollMask::None;
  PollMask rest = PollMask::None;
  for (const Watcher* each = slot.watchers.first(); each != nullptr;
       each = Watcher::List::after(*each)) {
    const PollMask share = native_share(*each);
    native |= share;
    rest |= without(each->watched_, share);
  }
  watch_in(*backend_, slot.native, native, descriptor);
  if (rest != slot.aside) watch_in(aside().set(), slot.aside, rest, descriptor);
}

PollMask Watches::native_share(const Watcher& watcher) const noexcept {
  const Capabilities capabilities = backend_->capabilities();
  if (watcher.owner_ == Owner::User && !capabilities.foreign_descriptors) return PollMask::None;
  return watcher.watched_ & capabilities.kinds;
}

bool Watches::tells_hang_ups() const noexcept {
  const Capabilities capabilities = backend_->capabilities();
  return !capabilities.foreign_descriptors || any(capabilities.kinds & PollMask::Disconnect);
}

void Watches::let_go(Slot& slot, int descriptor) noexcept {
  FERMATA_ASSERT(!any(slot.aside) || aside_ != nullptr);
  if (any(std::exchange(slot.native, PollMask::None))) backend_->unwatch(descriptor);
  if (any(std::exchange(slot.aside, PollMask::None))) aside_->set().unwatch(descriptor);
}

void Watches::ready(int descriptor, PollMask mask) noexcept {
  const auto index = static_cast<std::size_t>(descriptor);
  if (index >= slots_.size()) return;
  Slot& slot = slots_[index];
  // Without room it is told now: nothing may be thrown here.
  const bool later = told_ >= kPortion && untold_.size() < untold_.capacity();
  if (later) return untold_.push_back({descriptor, mask, slot.version});
  ++told_;
  tell(slot, mask);
}

void Watches::tell(Slot& slot, PollMask mask) noexcept {
  slot.watchers.dispatch([&](Watcher& watcher) {
    fire_timers();
    const PollMask told = mask & (watcher.watched_ | PollMask::Disconnect);
    if (any(told)) watcher.on_ready(told);
  });
}

void Watches::tell_portion() noexcept {
  for (unsigned left = kPortion; left > 0 && next_untold_ < untold_.size(); --left) {
    const Untold next = untold_[next_untold_++];
    Slot& slot = slots_[static_cast<std::size_t>(next.descriptor)];
    if (slot.version == next.version) tell(slot, next.mask);
  }
  if (next_untold_ < untold_.size()) return;
  untold_.clear();
  next_untold_ = 0;
}

void Watches::wait(backend::TurnMode mode, Instant wake_by) {
  if (!untold_.empty()) return tell_portion();
  told_ = 0;
  backend_->wait(mode == backend::TurnMode::Block ? wake_by : Instant{}, *this);
}

void Watches::wake() noexcept { wake_up_->wake(); }

}  // namespace fermata::poll::detail
