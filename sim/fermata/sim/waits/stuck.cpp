// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/stuck.hpp"

#include <algorithm>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/waits/references.hpp"

namespace fermata::sim::detail {

namespace {

bool has_handle(const CoroutineBase& coroutine) {
  return coroutine.ref_count() > 1 + registrations_at(coroutine) || coroutine.is_pointed_at();
}

/// Whether a wait for `event` may never end; other kinds of events are not looked at.
bool may_be_hopeless(const Event& event) noexcept {
  return event.kind() == backend::EventKind::Coroutine || event.kind() == backend::EventKind::Plain;
}

}  // namespace

/// Who alone can let go of an event.
class StuckSearch::Facts final : public backend::WaitFacts {
 public:
  [[nodiscard]] std::uint64_t holder() const noexcept { return holder_; }

  void is(const char*, std::string_view, const SourcePlace*) override { known_ = true; }
  void state(std::string) override {}
  void wanted(std::string_view) override {}
  void held_by(std::uint64_t coroutine, const SourcePlace*) override { holder_ = coroutine; }
  void needs(const Event&) override {}
  void accepts(const Event&) override {}
  void across(const Event&, const Event&) override {}
  void abandoned(const char*) override {}
  void stopped() override {}
  void stands_for(const void*) override {}
  void in_hands_of(const backend::WaitPerson&, const char*) override {}
  void ends_with(const Runtime*) override {}
  void through(const Event&, const char*) override {}
  void outside(std::string_view) override {}

  /// It has said what it is: not an event of the program's own.
  [[nodiscard]] bool is_known() const noexcept { return known_; }

 private:
  std::uint64_t holder_ = 0;
  bool known_ = false;
};

const std::vector<const CoroutineBase*>& StuckSearch::search(const Runtime& runtime) {
  stuck_.clear();
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = each->next_registered()) {
    if (is_candidate(*each)) stuck_.push_back(each);
  }
  for (std::size_t before = 0; before != stuck_.size() && !stuck_.empty();) {
    before = stuck_.size();
    std::erase_if(stuck_, [this](const CoroutineBase* each) { return !is_held_up(*each); });
  }
  return stuck_;
}

bool StuckSearch::is_candidate(const CoroutineBase& coroutine) const {
  if (coroutine.waker().status != backend::WakerStatus::Waiting) return false;
  const backend::Registration* wait = coroutine.waker().first();
  if (wait == nullptr || wait->next() != nullptr || wait->rule() != backend::WakeRule::Resolve)
    return false;
  if (!may_be_hopeless(wait->source())) return false;
  return coroutine.scope().is_root() && !has_handle(coroutine);
}

// erase_if moves those it keeps to the front while it asks: one that is looked for among them may
// be found twice or be gone already. Gone is right, and twice is once.
bool StuckSearch::has(const CoroutineBase& coroutine) const noexcept {
  return std::find(stuck_.begin(), stuck_.end(), &coroutine) != stuck_.end();
}

bool StuckSearch::is_held_up(const CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.waker().first() != nullptr);
  const Event& event = coroutine.waker().first()->source();
  FERMATA_ASSERT(may_be_hopeless(event));
  if (event.kind() == backend::EventKind::Coroutine) {
    return has(static_cast<const CoroutineBase&>(event));
  }
  Facts facts;
  event.explain_wait(facts, coroutine);
  if (facts.holder() != 0) {
    const CoroutineBase* holder = coroutine.runtime().registry().first();
    while (holder != nullptr && holder->id() != facts.holder()) holder = holder->next_registered();
    return holder == nullptr || has(*holder);
  }
  return !facts.is_known() && only_waiters_refer_to(event);
}

std::string labels_of(const std::vector<const CoroutineBase*>& coroutines) {
  std::string text;
  for (const CoroutineBase* each : coroutines) {
    text += (text.empty() ? "'" : ", '") + each->label() + "'";
  }
  return text;
}

}  // namespace fermata::sim::detail
