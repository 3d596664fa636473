// SPDX-License-Identifier: Apache-2.0
#include "fermata/host/side_stack.hpp"

#include <cstdio>

#include "fermata/base/assert.hpp"
#include "fermata/context/switch.hpp"

namespace fermata::host::detail {

namespace {

/// Writes whose stack overflowed; runs in a signal handler.
void describe_owner(void*, char* out, std::size_t size) noexcept {
  std::snprintf(out, size, "the main coroutine of a guest");
}

}  // namespace

SideStack::SideStack(const StackOptions& stacks, Body body, void* argument)
    : body_(body),
      argument_(argument),
      pool_(stacks),
      own_(pool_.acquire(&SideStack::start)),
      suspended_(&own_),
      guard_(&running_, &describe_owner) {
  own_.owner = this;
}

void SideStack::enter() {
  FERMATA_ASSERT(!inside() && !ended_);
  adopt_thread_stack(outside_);
  own_.thread = outside_.thread;
  running_ = &own_;
  switch_context(outside_, *suspended_);
  running_ = nullptr;
  drop_thread_stack(outside_);
}

void SideStack::leave(fermata::detail::StackContext& from) noexcept {
  FERMATA_ASSERT(inside());
  suspended_ = &from;
  switch_context(from, outside_);
}

void SideStack::start(fermata::detail::StackContext& self) noexcept {
  auto& stack = *static_cast<SideStack*>(self.owner);
  stack.body_(stack.argument_);
  stack.ended_ = true;
  for (;;) stack.leave(self);
}

}  // namespace fermata::host::detail
