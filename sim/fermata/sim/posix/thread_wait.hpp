// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who waits for objects of pthread.h: for each address a line, in the order of arrival.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/core/event.hpp"

namespace fermata::sim::detail {

class WaitLines;

/// What a thread waits for, for people.
struct ThreadWaitFacts {
  const char* call;                      // "pthread_mutex_lock"
  const char* kind;                      // "mutex"
  const void* object;                    // Its address, which is told to nobody.
  std::string name = {};                 // What it is called; empty: it is numbered.
  std::uint64_t holder = 0;              // Id of the coroutine that holds it; 0: nobody.
  SourcePlace held_since = {"", "", 0};  // Without a file when it is not known.
  std::string state = {};
};

/// Fires when its line is told to let it go on. Lives in the frame of the coroutine that waits.
class ThreadWait final : public Event {
 public:
  /// Joins the line of `facts.object`. `bits` are those of a futex; others wait for any.
  ThreadWait(Runtime& runtime, WaitLines& lines, ThreadWaitFacts facts, std::uint32_t bits = ~0u);
  /// Leaves the line.
  ~ThreadWait() override;

  [[nodiscard]] bool is_woken() const noexcept { return woken_; }
  [[nodiscard]] std::uint32_t bits() const noexcept { return bits_; }
  [[nodiscard]] std::uint64_t coroutine() const noexcept { return coroutine_; }

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class WaitLines;
  /// "#3", or its name in quotes.
  [[nodiscard]] std::string object_name() const;
  void dispose() noexcept override {}

  WaitLines& lines_;
  ThreadWaitFacts facts_;
  std::uint64_t coroutine_;
  std::uint32_t bits_;
  bool woken_ = false;
};

class WaitLines {
 public:
  WaitLines() = default;
  WaitLines(const WaitLines&) = delete;
  WaitLines& operator=(const WaitLines&) = delete;

  using Line = std::vector<ThreadWait*>;

  /// Who waits for `object` and has not been woken, the oldest first; null when nobody does.
  [[nodiscard]] const Line* find(const void* object) const {
    if (lines_.empty()) return nullptr;
    const auto found = lines_.find(object);
    return found == lines_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool has(const void* object) const { return find(object) != nullptr; }

  /// What an object is called, for people: "#3", the third one of its kind that has been named.
  [[nodiscard]] std::string name_of(const void* object, const char* kind);
  /// Objects are named from the beginning.
  void forget_names() {
    names_.clear();
    named_.clear();
  }

  /// It leaves the line and goes on, when its coroutine has control. REQUIRES: it waits.
  void wake(ThreadWait& wait);

 private:
  friend class ThreadWait;
  void join(ThreadWait& wait) { lines_[wait.facts_.object].push_back(&wait); }
  void leave(ThreadWait& wait) noexcept;

  // By address; nobody walks through them.
  std::map<const void*, Line> lines_;  // None is empty.
  std::map<const void*, std::string> names_;
  std::map<std::string, std::size_t> named_;  // How many, by kind.
};

}  // namespace fermata::sim::detail
