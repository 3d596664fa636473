// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of when_all_settled and its relatives wait for.

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {

/// Gives `value` after `span`.
inline Coroutine<int> value_after(Duration span, int value) {
  return spawn([=] {
    delay(span);
    return value;
  });
}

inline Coroutine<int> failure_after(Duration span, std::string what) {
  return spawn([=]() -> int {
    delay(span);
    throw Error(what);
  });
}

/// "0=10 2=30"
template <class K, class V>
std::string text_of(const Keyed<K, V>& keyed) {
  std::string text;
  const auto word = [](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      return std::to_string(part);
    } else if constexpr (std::is_same_v<std::decay_t<decltype(part)>, std::exception_ptr>) {
      return message_of(part);
    } else {
      return part;
    }
  };
  for (const auto& [key, value] : keyed) {
    if (!text.empty()) text += " ";
    text += word(key) + "=" + word(value);
  }
  return text;
}

class WhenAllTest : public RuntimeFixture {
 protected:
  /// How many ticks `action` takes.
  template <class Action>
  std::uint64_t ticks_of(Action action) {
    const auto before = runtime.metrics().ticks;
    action();
    return runtime.metrics().ticks - before;
  }
};

}  // namespace fermata::test
