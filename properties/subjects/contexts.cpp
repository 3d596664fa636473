// SPDX-License-Identifier: Apache-2.0

// Values of scopes in a tree and of coroutines, by text and by typed keys of which two have one
// name. They are set, replaced and unset by everybody, and looked for from outside and by members.

#include <fmt/format.h>

#include <any>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/context_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace contexts {

using Owner = models::ContextModel::Owner;

constexpr std::array<std::string_view, 2> kTexts = {"user", "size"};
constexpr std::size_t kKeys = 4;

class Contexts final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "set", does<&Contexts::set, false>, true},
        {4, "replace", does<&Contexts::set, true>, true},
        {4, "unset", does<&Contexts::unset>, true},
        {4, "look", does<&Contexts::look>, true},
        {4, "spawn a member", does<&Contexts::spawn_member>, true},
    });
  }

  explicit Contexts(Stage& on) : Subject(on) {
    constexpr std::array<Owner, 4> kParents = {models::ContextModel::kNone, 0, 1, 0};
    for (std::size_t i = 0; i < kParents.size(); ++i) {
      const std::string name = fmt::format("scope {}", i);
      scopes_.push_back(i == 0 ? Scope::detached(name)
                               : Scope::inherit(name, scopes_[kParents[i]]));
      static_cast<void>(model_.add_owner(kParents[i]));
    }
  }

  void at_rest() override {
    for (Owner scope = 0; scope < scopes_.size(); ++scope) look_from(scope);
  }
  void let_go() override {
    for (const Scope& scope : scopes_) scope.cancel();
  }

 private:
  [[nodiscard]] Owner scope_of(const Cue& cue) const { return cue.number % scopes_.size(); }
  [[nodiscard]] static std::size_t key_of(const Cue& cue) {
    return (cue.number / 4u + cue.actor) % kKeys;
  }

  /// Calls `use` with the key of this number.
  template <class Use>
  auto with_key(std::size_t key, Use use) const {
    return key < kTexts.size() ? use(kTexts[key]) : use(typed_[key - kTexts.size()]);
  }

  template <class Values>
  void set_in(Values&& values, Owner owner, std::size_t key, bool replace) {
    const int value = next_++;
    const bool expected = model_.set(owner, key, value, replace);
    bool done = true;
    try {
      with_key(key, [&](const auto& name) { static_cast<void>(values.set(name, value, replace)); });
    } catch (const Error&) {
      done = false;
    }
    if (done != expected) {
      stage.complain(done ? "CORE-CX-03 (VAL): a value is replaced that nobody asked to replace"
                          : "CORE-CX-03 (ERR): a value is refused that may be set");
    }
  }

  void set(const Cue& cue, bool replace) {
    set_in(scopes_[scope_of(cue)].context(), scope_of(cue), key_of(cue), replace);
  }
  void unset(const Cue& cue) {
    model_.unset(scope_of(cue), key_of(cue));
    with_key(key_of(cue), [&](const auto& name) {
      static_cast<void>(scopes_[scope_of(cue)].context().unset(name));
    });
  }

  // --- looking ---

  static std::optional<int> value_of(const std::any* value) {
    return value != nullptr ? std::optional(std::any_cast<int>(*value)) : std::nullopt;
  }
  static std::optional<int> value_of(const int* value) {
    return value != nullptr ? std::optional(*value) : std::nullopt;
  }

  template <class Get>
  static std::optional<int> value_from(Get get) {
    try {
      return get();
    } catch (const ContextError&) {
      return std::nullopt;
    }
  }

  void expect(bool right, const char* what, std::size_t key) {
    if (right) return;
    stage.complain(fmt::format("CORE-CX-01 (VAL): {} of key {} is not what was set", what, key));
  }

  /// What can be found through `values`, of a scope or of a coroutine.
  template <class Values>
  void expect_nearest(const Values& values, Owner owner, std::size_t key) {
    const std::optional<int> nearest = model_.nearest(owner, key);
    with_key(key, [&](const auto& name) {
      expect(value_of(values.find(name)) == nearest, "find", key);
      expect(values.has(name) == nearest.has_value(), "has", key);
      expect(value_from([&] { return get(values, name); }) == nearest, "get", key);
    });
  }
  void expect_all(const Context& context, Owner owner) {
    for (std::size_t key = 0; key < kKeys; ++key) {
      expect_nearest(context, owner, key);
      const std::optional<int> local = model_.local(owner, key);
      with_key(key, [&](const auto& name) {
        expect(value_of(context.find_local(name)) == local, "find_local", key);
        expect(context.has_local(name) == local.has_value(), "has_local", key);
      });
    }
  }
  template <class Values>
  static int get(const Values& values, std::string_view key) {
    return values.template get<int>(key);
  }
  template <class Values>
  static int get(const Values& values, const ContextKey<int>& key) {
    return values.get(key);
  }

  void look_from(Owner scope) { expect_all(scopes_[scope].context(), scope); }
  void look(const Cue& cue) { look_from(scope_of(cue)); }

  /// It sees what its scope sees, and nothing of what its spawner has for itself.
  void spawn_member(const Cue& cue) {
    scopes_[scope_of(cue)].spawn("member", [this, cue] {
      const Owner own = model_.add_owner(models::ContextModel::kNone);
      for (int turn = 0; turn < 3; ++turn) {
        expect_all(current_context(), scope_of(cue));
        for (std::size_t key = 0; key < kKeys; ++key) {
          expect_nearest(coroutine_context(), own, key);
        }
        set_in(coroutine_context(), own, key_of(cue), turn == 2);
        delay(std::chrono::milliseconds(cue.number % 3));
      }
    });
  }

  models::ContextModel model_;
  std::vector<Scope> scopes_;
  const std::array<ContextKey<int>, 2> typed_ = {ContextKey<int>("size"), ContextKey<int>("size")};
  int next_ = 0;
};

}  // namespace contexts
}  // namespace

constinit const Law kContexts = {
    "contexts",
    "a value is found from below where it was set, the nearest first, and by nobody else",
    {"CORE-CX-01", "CORE-CX-02", "CORE-CX-03", "CORE-CX-04", "CORE-CX-05", "CORE-CX-07"},
    &scripts_over<contexts::Contexts>};

}  // namespace fermata::properties
