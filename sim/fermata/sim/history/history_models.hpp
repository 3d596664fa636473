// SPDX-License-Identifier: Apache-2.0
#pragma once

// Models for History, in a namespace of their own: Register, Map, Queue, Lock, and the operations
// that they know. Values and keys are integers, enumerations, strings, or types with ==, < (keys),
// to_string(value) and hash_value(value) in their own namespace.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "fermata/base/text_of.hpp"
#include "fermata/sim/history/history_model.hpp"

namespace fermata::sim {

namespace detail {

/// Text in quotes, all else as in other messages.
template <class T>
std::string value_text(const T& value) {
  const std::string text = fermata::detail::text_of(value);
  return std::convertible_to<const T&, std::string_view> ? '"' + text + '"' : text;
}

template <class T>
std::string value_text(const std::optional<T>& value) {
  return value ? value_text(*value) : "nothing";
}

inline std::string value_text(Done) { return "done"; }

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) noexcept {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29U);
}

template <class T>
std::uint64_t hash_of(const T& value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return mixed(1, static_cast<std::uint64_t>(value));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    std::uint64_t hash = 2;
    for (const char letter : std::string_view(value)) {
      hash = mixed(hash, static_cast<unsigned char>(letter));
    }
    return hash;
  } else {
    return hash_value(value);
  }
}

template <class T>
std::uint64_t hash_of(const std::optional<T>& value) {
  return value ? hash_of(*value) : 0;
}

/// The texts of what is one of several things.
template <class Variant>
std::string any_value_text(const Variant& variant) {
  return std::visit([](const auto& each) { return value_text(each); }, variant);
}

}  // namespace detail

namespace models {

// --- operations ---

struct Read {};

template <class Value>
struct Write {
  Value value;
};
template <class Value>
Write(Value) -> Write<Value>;

/// Sets the value to `desired` if it is `expected`; answers whether it was.
template <class Value>
struct CompareAndSet {
  Value expected;
  Value desired;
};
template <class Value>
CompareAndSet(Value, Value) -> CompareAndSet<Value>;

/// Answers the value of `key`, if it has one.
template <class Key>
struct Get {
  Key key;
};
template <class Key>
Get(Key) -> Get<Key>;

template <class Key, class Value>
struct Put {
  Key key;
  Value value;
};
template <class Key, class Value>
Put(Key, Value) -> Put<Key, Value>;

/// Answers whether there was a value.
template <class Key>
struct Remove {
  Key key;
};
template <class Key>
Remove(Key) -> Remove<Key>;

template <class Value>
struct Enqueue {
  Value value;
};
template <class Value>
Enqueue(Value) -> Enqueue<Value>;

/// Answers the value at the head, or nothing when the queue is empty.
struct Dequeue {};

/// Answers Done; in the model it answers false while somebody holds the lock, which nobody records.
struct Acquire {
  std::string owner;
};
/// Answers whether the lock is the owner's now.
struct TryAcquire {
  std::string owner;
};
/// Answers Done, or false when the lock was not the owner's.
struct Release {
  std::string owner;
};

// --- models ---

/// A model of one value: Read returns a Value, Write Done, CompareAndSet a bool.
template <class Value = int>
struct Register {
  static_assert(!std::same_as<Value, bool>, "a bool could be the answer of CompareAndSet");
  using State = Value;
  using Operation = std::variant<Read, Write<Value>, CompareAndSet<Value>>;
  using Result = std::variant<Done, Value, bool>;

  Value first{};

  [[nodiscard]] State initial() const { return first; }
  Result step(State& state, const Operation& operation) const {
    if (const auto* write = std::get_if<Write<Value>>(&operation)) {
      state = write->value;
      return Done{};
    }
    if (const auto* change = std::get_if<CompareAndSet<Value>>(&operation)) {
      const bool same = state == change->expected;
      if (same) state = change->desired;
      return same;
    }
    return state;
  }
  [[nodiscard]] bool only_reads(const Operation& operation, const Result& result) const {
    return std::holds_alternative<Read>(operation) || result == Result(false);
  }
  [[nodiscard]] std::uint64_t hash(const State& state) const { return detail::hash_of(state); }
  [[nodiscard]] std::string text(const Operation& operation) const {
    if (const auto* write = std::get_if<Write<Value>>(&operation)) {
      return "write(" + detail::value_text(write->value) + ")";
    }
    if (const auto* change = std::get_if<CompareAndSet<Value>>(&operation)) {
      return "compare_and_set(" + detail::value_text(change->expected) + ", " +
             detail::value_text(change->desired) + ")";
    }
    return "read()";
  }
  [[nodiscard]] std::string text(const Result& result) const {
    return detail::any_value_text(result);
  }
};

/// Values under keys, empty at first; each key is a partition. Get answers an optional<Value>, Put
/// Done, Remove a bool.
template <class Key = std::string, class Value = int>
struct Map {
  using State = std::optional<Value>;  // Of one key.
  using Operation = std::variant<Get<Key>, Put<Key, Value>, Remove<Key>>;
  using Result = std::variant<Done, std::optional<Value>, bool>;

  [[nodiscard]] State initial() const { return std::nullopt; }
  Result step(State& state, const Operation& operation) const {
    if (const auto* put = std::get_if<Put<Key, Value>>(&operation)) {
      state = put->value;
      return Done{};
    }
    if (std::holds_alternative<Remove<Key>>(operation)) {
      const bool was_there = state.has_value();
      state.reset();
      return was_there;
    }
    return state;
  }
  [[nodiscard]] Key partition(const Operation& operation) const {
    return std::visit([](const auto& each) { return each.key; }, operation);
  }
  [[nodiscard]] bool only_reads(const Operation& operation, const Result& result) const {
    return std::holds_alternative<Get<Key>>(operation) || result == Result(false);
  }
  [[nodiscard]] std::uint64_t hash(const State& state) const { return detail::hash_of(state); }
  [[nodiscard]] std::string text(const Operation& operation) const {
    const std::string key = detail::value_text(partition(operation));
    if (const auto* put = std::get_if<Put<Key, Value>>(&operation)) {
      return "put(" + key + ", " + detail::value_text(put->value) + ")";
    }
    return (std::holds_alternative<Remove<Key>>(operation) ? "remove(" : "get(") + key + ")";
  }
  [[nodiscard]] std::string text(const Result& result) const {
    return detail::any_value_text(result);
  }
};

/// First in, first out, empty at first. Enqueue answers Done, Dequeue an optional<Value>.
template <class Value = int>
struct Queue {
  using State = std::deque<Value>;
  using Operation = std::variant<Enqueue<Value>, Dequeue>;
  using Result = std::variant<Done, std::optional<Value>>;

  [[nodiscard]] State initial() const { return {}; }
  Result step(State& state, const Operation& operation) const {
    if (const auto* enqueue = std::get_if<Enqueue<Value>>(&operation)) {
      state.push_back(enqueue->value);
      return Done{};
    }
    std::optional<Value> head;
    if (!state.empty()) {
      head = std::move(state.front());
      state.pop_front();
    }
    return head;
  }
  [[nodiscard]] bool only_reads(const Operation&, const Result& result) const {
    return result == Result(std::optional<Value>());
  }
  [[nodiscard]] std::uint64_t hash(const State& state) const {
    std::uint64_t hash = 3;
    for (const Value& value : state) hash = detail::mixed(hash, detail::hash_of(value));
    return hash;
  }
  [[nodiscard]] std::string text(const Operation& operation) const {
    const auto* enqueue = std::get_if<Enqueue<Value>>(&operation);
    return enqueue != nullptr ? "enqueue(" + detail::value_text(enqueue->value) + ")" : "dequeue()";
  }
  [[nodiscard]] std::string text(const Result& result) const {
    return detail::any_value_text(result);
  }
};

/// Held by one owner at most, at first by none.
struct Lock {
  using State = std::optional<std::string>;
  using Operation = std::variant<Acquire, TryAcquire, Release>;
  using Result = std::variant<Done, bool>;

  [[nodiscard]] State initial() const { return std::nullopt; }
  Result step(State& state, const Operation& operation) const {
    const std::string& owner = owner_of(operation);
    if (std::holds_alternative<Release>(operation)) {
      if (state != owner) return false;
      state.reset();
      return Done{};
    }
    if (state) return false;
    state = owner;
    if (std::holds_alternative<TryAcquire>(operation)) return true;
    return Done{};
  }
  [[nodiscard]] bool only_reads(const Operation&, const Result& result) const {
    return result == Result(false);
  }
  [[nodiscard]] std::uint64_t hash(const State& state) const { return detail::hash_of(state); }
  [[nodiscard]] std::string text(const Operation& operation) const {
    static constexpr const char* kNames[] = {"acquire(", "try_acquire(", "release("};
    return kNames[operation.index()] + owner_of(operation) + ")";
  }
  [[nodiscard]] std::string text(const Result& result) const {
    return detail::any_value_text(result);
  }

 private:
  static const std::string& owner_of(const Operation& operation) {
    return std::visit([](const auto& each) -> const std::string& { return each.owner; }, operation);
  }
};

}  // namespace models
}  // namespace fermata::sim
