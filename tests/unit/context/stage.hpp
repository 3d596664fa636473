// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least of a scheduler: runs functions on pooled contexts, one at a time, from the stack of the
// test, where they come back to with pause().

#include <cstdlib>
#include <deque>
#include <functional>
#include <utility>

#include "fermata/base/sanitizer.hpp"
#include "fermata/context/context.hpp"
#include "fermata/context/context_pool.hpp"
#include "fermata/context/switch.hpp"

namespace fermata::testing {

#if defined(FERMATA_ASAN) || defined(FERMATA_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// Ends the child of a death test: with its coverage counted, but without a sanitizer's leak check.
[[noreturn]] inline void leave(int code) {
  if (kSanitized) std::_Exit(code);
  std::exit(code);
}

class Stage final {
 public:
  explicit Stage(StackOptions options = {}) : pool(options) { detail::adopt_thread_stack(home); }
  ~Stage() { detail::drop_thread_stack(home); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Runs `body` on a context of its own until it pauses or ends; then the context is released.
  detail::StackContext& start(std::function<void()> body) {
    auto& act = acts_.emplace_back(Act{this, std::move(body)});
    detail::StackContext& context = pool.acquire(&enter);
    context.owner = &act;
    resume(context);
    return context;
  }

  void resume(detail::StackContext& context) {
    running = &context;
    detail::switch_context(home, context);
    running = &home;
  }

  /// Called by a body: goes back to the test until resumed.
  void pause() { detail::switch_context(*running, home); }

  detail::StackContext home;
  detail::ContextPool pool;
  detail::StackContext* running = &home;

 private:
  struct Act {
    Stage* stage;
    std::function<void()> body;
  };

  static void enter(detail::StackContext& self) noexcept {
    Stage& stage = *static_cast<Act*>(self.owner)->stage;
    static_cast<Act*>(self.owner)->body();
    stage.pool.release(self);
    detail::leave_context(self, stage.home);
  }

  std::deque<Act> acts_;
};

}  // namespace fermata::testing
