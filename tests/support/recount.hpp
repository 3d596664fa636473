// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observer that believes no counter: after each step it recounts everything from the objects, by
// the plainest of loops, and keeps a hash of all it was told. At its end it notes the invariants
// that it has checked (tests/support/checks.hpp), unless it complains.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fermata/core/observer.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::test {

class Recount final : public backend::Observer {
 public:
  Recount() noexcept : backend::Observer(backend::TraceKinds::all()) {}
  ~Recount() override;

  void end_step(Runtime& runtime) override;

  /// What did not agree, each with the invariants it breaks.
  [[nodiscard]] const std::vector<std::string>& complaints() const noexcept { return complaints_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  void note(backend::Trace kind, const Event* subject, std::uint64_t detail) override;
  /// `what` is ids of invariants, a colon and what does not hold. It outlives this.
  void check(bool holds, const char* what, const Event* subject);
  void check_coroutine(const Runtime& runtime, const CoroutineBase& coroutine);
  void check_waiting(const CoroutineBase& coroutine);
  void check_events(const Runtime& runtime);
  void check_scopes(const Runtime& runtime);
  /// Members of the subtree, and those of them that are not zombies.
  struct Population {
    std::size_t all = 0;
    std::size_t active = 0;
  };
  Population check_scope(const ScopeBase& scope);
  void note_switch(backend::Trace kind, const Event& subject);

  std::vector<std::string> complaints_;
  std::set<const char*> checked_;  // `what` of each check.
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t steps_ = 0;
  const Event* running_ = nullptr;
  std::set<const Event*> queued_;                       // By Enqueued and what took it out again.
  std::map<const Event*, std::uint32_t> started_here_;  // Registrations that started each event.
};

}  // namespace fermata::test
