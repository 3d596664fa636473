// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches a runtime on behalf of the models: tells them what the runtime says it did, and after
// each step compares them with the objects. Everything goes on to the simulator's audit.

#include <cstdint>

#include "fermata/core/observer.hpp"
#include "properties/interpreter/state.hpp"

namespace fermata::properties {

class Witness final : public backend::Observer {
 public:
  explicit Witness(ProgramState& state) noexcept
      : backend::Observer(backend::TraceKinds::all()), state_(state) {}

  void end_step(Runtime& runtime) override;

 private:
  void note(backend::Trace kind, const Event* subject, std::uint64_t detail) override;
  void started(const Event& event);
  void stopped(const Event& event);
  void closed(const Event& event);
  void fired(const Event& event);
  void left_by_callback(const Event& event);
  void enqueued(const Event& event, std::uint64_t cause);
  void cancelled(const Event& event, std::uint64_t cause);
  void polled(bool may_block);
  void deadlock(std::uint64_t waiting);

  void compare_event(SharedEvent& shared);
  void compare_task(Task& task);

  ProgramState& state_;
};

}  // namespace fermata::properties
