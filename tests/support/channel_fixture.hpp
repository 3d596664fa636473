// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that send or receive once and note how it ended.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {

/// What `action` throws, without the previous chain.
template <class Action>
std::string error_of(Action&& action) {
  const std::string text = thrown_by(std::forward<Action>(action));
  return text.substr(0, text.find('\n'));
}

inline std::size_t receivers_of(const Channel<int>& channel) {
  const std::string info = channel.info();
  return std::stoul(info.substr(info.find("receivers=") + 10));
}

inline constexpr const char* kClosed = "fermata::ChannelError: Channel is closed";

class ChannelTest : public RuntimeFixture {
 protected:
  /// Receives once and notes "name:value", or "name!error".
  Coroutine<> spawn_receiver(const Channel<int>& channel, const std::string& name) {
    return spawn(name, [this, channel, name] {
      note(name, [&] { return ":" + std::to_string(channel.recv()); });
    });
  }
  /// Sends once and notes "name:sent", or "name!error".
  Coroutine<> spawn_sender(const Channel<int>& channel, const std::string& name, int value) {
    return spawn(name, [this, channel, name, value] {
      note(name, [&] {
        channel.send(value);
        return std::string(":sent");
      });
    });
  }
  /// What the channel looks like when the coroutine has just ended, before anybody else runs.
  [[nodiscard]] Subscription watch_end(const Coroutine<>& coroutine, const Channel<int>& channel) {
    return subscribe(*coroutine,
                     [this, &channel](Event&, const Outcome&) { at_end = channel.info(); });
  }
  template <class Action>
  void note(const std::string& name, Action action) {
    try {
      notes.push_back(name + action());
    } catch (const Error& error) {
      notes.push_back(name + "!" + error.what());
    } catch (const Cancellation& cancellation) {
      notes.push_back(name + "!" + cancellation.what());
      throw;
    }
  }

  using Notes = std::vector<std::string>;
  Notes notes;
  std::string at_end;
};

}  // namespace fermata::test
