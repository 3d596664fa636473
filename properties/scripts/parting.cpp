// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/parting.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "fermata/runtime.hpp"

namespace fermata::properties {
namespace {

Name left_behind() { return Name("left behind"); }

void keep_in_a_body(SharedParting parting) {
  spawn(left_behind(), [parting = std::move(parting)] { suspend(); });
}

void keep_in_a_body_that_never_runs(SharedParting parting) {
  spawn(left_behind(), [parting = std::move(parting)] {}).cancel();
}

void keep_in_a_result(SharedParting parting) {
  spawn(left_behind(), [parting = std::move(parting)]() mutable { return std::move(parting); });
}

void keep_among_the_values_of_a_coroutine(SharedParting parting) {
  spawn(left_behind(), [parting = std::move(parting)]() mutable {
    coroutine_context().set("parting", std::move(parting));
  });
}

void keep_in_a_finally_handler(SharedParting parting) {
  spawn(left_behind(), [] {})->finally([parting = std::move(parting)](CoroutineBase&) {});
}

void keep_among_the_values_of_a_scope(SharedParting parting) {
  const Scope scope = Scope::detached(left_behind());
  scope.context().set("parting", std::move(parting));
}

void keep_in_a_scope_that_ends(SharedParting parting) {
  spawn(left_behind(), [parting = std::move(parting)]() mutable {
    const Scope scope = Scope::detached(left_behind());
    scope.spawn(left_behind(), [parting = std::move(parting)] { delay(std::chrono::seconds(1)); });
    suspend();
  });
}

}  // namespace

std::string_view host_text(std::uint8_t host) {
  constexpr std::array<std::string_view, kPartingHosts> kTexts = {"the actor",
                                                                  "a body",
                                                                  "a body that never runs",
                                                                  "a result",
                                                                  "a coroutine's values",
                                                                  "a finally handler",
                                                                  "a scope's values",
                                                                  "a scope that ends"};
  return kTexts[host % kPartingHosts];
}

void leave_to(std::uint8_t host, SharedParting parting) {
  constexpr std::array<void (*)(SharedParting), kPartingHosts> kHosts = {
      nullptr,
      &keep_in_a_body,
      &keep_in_a_body_that_never_runs,
      &keep_in_a_result,
      &keep_among_the_values_of_a_coroutine,
      &keep_in_a_finally_handler,
      &keep_among_the_values_of_a_scope,
      &keep_in_a_scope_that_ends};
  kHosts[host % kPartingHosts](std::move(parting));
}

}  // namespace fermata::properties
