// SPDX-License-Identifier: Apache-2.0
#pragma once

// Something that is done once, by whoever comes first.
//
// Order  Who comes while it is being done waits. When the one who does it fails, throws or
//        is cancelled, the oldest waiter does it instead; nobody else can come before
//        that.
// Cost   call() of what is done already neither suspends nor allocates.

#include <string>
#include <utility>

#include "fermata/sync/primitive.hpp"

namespace fermata {

class Once final : private detail::Primitive {
 public:
  explicit Once(backend::GivenName name = {}, const SourcePlace& place = SourcePlace::current())
      : Primitive("Once", std::move(name), place) {}
  ~Once() override { retire(&runner_); }

  /// Returns when it is done: by an earlier call, by the one that is waited for, or by this one,
  /// with `function`, which may suspend; throws what that throws. Throws Timeout,
  /// OperationCancelled, Cancellation while it waits; `options` say nothing about `function`.
  /// UsageError when `function` itself calls.
  template <class F>
  void call(F&& function, const WaitOptions& options = {},
            const SourcePlace& place = SourcePlace::current()) {
    if (is_done()) [[likely]] {
      return;
    }
    if (!begin(options, place)) return;
    try {
      std::forward<F>(function)();
    } catch (...) {
      end(false);
      throw;
    }
    end(true);
  }

  [[nodiscard]] bool is_done() const noexcept {
    touched();
    return done_;
  }

  /// The state as text: "Once 'schema' created at db.cpp:5, being done by 'a' since db.cpp:40,
  /// waiting: 'b'".
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  /// Whether the caller has to do it now; false when it is done.
  bool begin(const WaitOptions& options, const SourcePlace& place);
  void end(bool success);

  detail::Holder runner_;
  bool done_ = false;
};

}  // namespace fermata
