// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the cases of the callback loop's conformance list are made of. Each runs on every arm that
// has it, as Arms/Suite.name/arm; loop_cases.tsv has their names in the list.
//
// LOOP_CASE(Suite, Name) { ... }: a case whose body is the main coroutine of an arm's program.
// `arm`, a LoopArm&, and `loop`, the arm's Loop&, are parameters of the body.

#include <gtest/gtest.h>

#include <csignal>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/function_ref.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/loop/loop.hpp"
#include "tests/conformance/loop_arm.hpp"

namespace fermata::conformance {

using loop::CallbackId;
using loop::CallbackKind;
using loop::Loop;

inline void PrintTo(const ArmKind& kind, std::ostream* out) { *out << kind.name; }

class LoopCase : public ::testing::TestWithParam<ArmKind> {
 protected:
  static void on_arm(const std::function<void(LoopArm&)>& body) {
    const auto arm = GetParam().make();
    arm->run([&] { body(*arm); });
  }

  /// What was called, in the order that the contract leaves open but a canonical loop has; on
  /// another arm sorted, which loses that order.
  template <class Calls>
  static Calls in_open_order(Calls calls) {
    if (!GetParam().is_canonical) std::sort(calls.begin(), calls.end());
    return calls;
  }
};

inline std::string arm_name(const ::testing::TestParamInfo<ArmKind>& info) {
  return std::string(info.param.name);
}

inline auto arms_with(bool (*has)(const ArmKind&)) {
  std::vector<ArmKind> found = arm_kinds();
  std::erase_if(found, [&](const ArmKind& kind) { return !has(kind); });
  return ::testing::ValuesIn(found);
}
inline auto every_arm() { return ::testing::ValuesIn(arm_kinds()); }
/// The arms with cases marked R.
inline auto real_arms() {
  return arms_with([](const ArmKind& kind) { return kind.is_real; });
}

/// The arms with cases marked O and T.
inline auto canonical_arms() {
  return arms_with([](const ArmKind& kind) { return kind.is_canonical; });
}

inline constexpr std::array kEveryKind = {CallbackKind::Defer,    CallbackKind::Delay,
                                          CallbackKind::Repeat,   CallbackKind::Readable,
                                          CallbackKind::Writable, CallbackKind::Signal};

inline constexpr int kSignal = SIGUSR1;

/// Registers `callback`; when it is about a descriptor, on `stream`.
inline CallbackId add_on(Loop& loop, int stream, CallbackKind kind,
                         std::function<void(CallbackId)> callback) {
  switch (kind) {
    case CallbackKind::Defer:
      return loop.defer(std::move(callback));
    case CallbackKind::Delay:
      return loop.delay(0ms, std::move(callback));
    case CallbackKind::Repeat:
      return loop.repeat(0ms, std::move(callback));
    case CallbackKind::Readable:
      return loop.on_readable(stream, std::move(callback));
    case CallbackKind::Writable:
      return loop.on_writable(stream, std::move(callback));
    case CallbackKind::Signal:
      return loop.on_signal(kSignal, std::move(callback));
    case CallbackKind::Notice:
      return loop.on_notice(std::move(callback));
  }
  throw UsageError("there is no such kind of callback");
}

/// Registers `callback` so that nothing but provoke() is missing for it to run.
inline CallbackId add(LoopArm& arm, CallbackKind kind, std::function<void(CallbackId)> callback) {
  const StreamPair pair = arm.stream_pair();
  arm.write(pair.far, "x");
  return add_on(arm.loop(), pair.near, kind, std::move(callback));
}

/// Makes sure that callbacks of `kind` will be called.
inline void provoke(LoopArm& arm, CallbackKind kind) {
  if (kind == CallbackKind::Signal) arm.loop().delay(1ms, [&arm] { arm.raise(kSignal); });
}

/// What a case throws.
struct Planned : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The text of the E that `action` throws; fails the test when it throws nothing or something else.
template <class E>
std::string text_of(detail::FunctionRef<void()> action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "something else was thrown: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// The text of the E that came out of a callback, and then, wrapped, of `action`.
template <class E>
std::string uncaught_in(detail::FunctionRef<void()> action) {
  try {
    action();
  } catch (const loop::UncaughtError& error) {
    return text_of<E>([&] { std::rethrow_exception(error.original()); });
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not wrapped: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace fermata::conformance

#define LOOP_CASE(Suite, Name)                                                            \
  struct Suite##_##Name##_Case : Suite {                                                  \
    static void body(::fermata::conformance::LoopArm& arm, ::fermata::loop::Loop& loop);  \
  };                                                                                      \
  TEST_P(Suite, Name) {                                                                   \
    on_arm([](::fermata::conformance::LoopArm& arm) {                                     \
      Suite##_##Name##_Case::body(arm, arm.loop());                                       \
    });                                                                                   \
  }                                                                                       \
  void Suite##_##Name##_Case::body([[maybe_unused]] ::fermata::conformance::LoopArm& arm, \
                                   [[maybe_unused]] ::fermata::loop::Loop& loop)
