// SPDX-License-Identifier: Apache-2.0
#pragma once

// Carries out the steps of a program, in the coroutines and callbacks where they belong, and checks
// what each step itself can see: what a wait gives, when, and what it leaves behind.

#include <cstddef>
#include <exception>
#include <vector>

#include "properties/interpreter/state.hpp"

namespace fermata::properties {

class Player {
 public:
  explicit Player(ProgramState& state) noexcept : state_(state) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  /// The main coroutine.
  void play_main();

  /// The steps of a subscriber of `event`, of a microtask or of a finally handler. Only the first
  /// may throw, when a notifier of ours can catch it; only the last may suspend.
  void play_callback(std::size_t number, SharedEvent* event, bool may_suspend = false);

 private:
  /// What a wait came to.
  enum class End : std::uint8_t { Answered, TimedOut, TokenFired, Refused, Failed };
  /// What is known about a wait before it begins.
  struct Expectation {
    std::vector<std::uint64_t> events;
    bool only_close = false;
    bool already_closed = false;  // No suspension, and no other end than this event's.
    bool suspends = false;        // A cancellation that is due must be thrown.
    bool has_token = false;
    const CoroutineBase* awaited = nullptr;
  };

  void create_events();
  void play_body(Task& me);
  void play(Task& me, const Steps& steps, std::size_t from, std::size_t to);
  void protect_steps(Task& me, const Steps& steps, std::size_t from, std::size_t to);
  void catch_steps(Task& me, const Steps& steps, std::size_t from, std::size_t to, bool suspends);
  void play_step(Task& me, const Step& step);
  void play_anywhere(const Step& step);

  template <class Wait>
  End attempt(Task& me, const Expectation& expected, Wait wait);
  void told(Task& me);
  void told_of_another(Task& me, const Expectation& expected, const AwaitedCancelled& awaited);
  void check_clean(Task& me);
  void delivered(const std::exception_ptr& error);

  void delay_step(Task& me, Duration span);
  void await_step(Task& me, const Step& step);
  void wait_step(Task& me, const Step& step);
  void wait_closed_step(Task& me, const Step& step);
  void wait_for(Task& me, Event& event, const Step& step, Expectation expected);
  void spawn_step(const Step& step);
  void expect_refused_spawn();
  void cancel_step(const Step& step);
  void subscribe_step(const Step& step);
  void unsubscribe_step(const Step& step);
  void fire_step(SharedEvent& shared, bool close);
  void start_step(SharedEvent& shared);
  void stop_step(SharedEvent& shared);
  void rearm_step(SharedEvent& shared, Duration timeout);
  void drop_step(SharedEvent& shared);
  void finally_step(Task& me, const Step& step);
  void microtask_step(const Step& step);
  [[noreturn]] void throw_step();

  Listener& subscribe(Event& event, Listener::Role role, std::size_t number, SharedEvent* shared);
  SharedEvent* usable(std::uint8_t subject);

  ProgramState& state_;
};

}  // namespace fermata::properties
