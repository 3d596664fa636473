// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/thread_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::sim::detail {

ThreadWait::ThreadWait(Runtime& runtime, WaitLines& lines, ThreadWaitFacts facts,
                       std::uint32_t bits)
    : Event(runtime, backend::EventKind::Plain),
      lines_(lines),
      facts_(std::move(facts)),
      coroutine_(runtime.current()->id()),
      bits_(bits) {
  lines_.join(*this);
}

ThreadWait::~ThreadWait() {
  close();
  if (!woken_) lines_.leave(*this);
}

std::string ThreadWait::object_name() const {
  return facts_.name.empty() ? lines_.name_of(facts_.object, facts_.kind) : facts_.name;
}

std::string ThreadWait::info() const {
  return fmt::format("{}(), {} '{}'", facts_.call, facts_.kind, object_name());
}

void ThreadWait::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.stands_for(facts_.object);
  facts.is(facts_.kind, object_name(), nullptr);
  if (!facts_.state.empty()) facts.state(facts_.state);
  if (facts_.holder != 0) {
    facts.held_by(facts_.holder, facts_.held_since.file[0] != '\0' ? &facts_.held_since : nullptr);
  }
}

std::string WaitLines::name_of(const void* object, const char* kind) {
  std::string& name = names_[object];
  if (name.empty()) name = fmt::format("#{}", ++named_[kind]);
  return name;
}

void WaitLines::wake(ThreadWait& wait) {
  FERMATA_ASSERT(!wait.woken_);
  leave(wait);
  wait.woken_ = true;
  wait.notify({});
}

void WaitLines::leave(ThreadWait& wait) noexcept {
  const auto found = lines_.find(wait.facts_.object);
  FERMATA_ASSERT(found != lines_.end());
  std::erase(found->second, &wait);
  if (found->second.empty()) lines_.erase(found);
}

}  // namespace fermata::sim::detail
