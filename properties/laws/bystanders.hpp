// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that have nothing to do with each other: each suspends, sleeps, computes, spawns and
// waits on its own, and has a result that plain arithmetic knows. Whatever the schedule, the
// results are the same (CORE-GL-12); and a workload hides among them what it is about.

#include <cstdint>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::properties {

class Bystanders {
 public:
  /// 3 to 10 of them, made by RapidCheck from `seed`. Not inside a coroutine.
  void prepare(std::uint64_t seed);

  /// Those of one run; they go with the run.
  using Running = std::vector<Coroutine<std::uint64_t>>;

  /// Called in a coroutine.
  [[nodiscard]] Running spawn_all() const;
  /// Waits for all. Returns what is wrong with a result, or nothing.
  [[nodiscard]] models::Complaint join(const Running& running) const;

  [[nodiscard]] std::size_t count() const noexcept { return works_.size(); }

 private:
  using Work = std::vector<std::uint8_t>;
  static std::uint64_t carry_out(const Work& work);
  static std::uint64_t expected(const Work& work);

  std::vector<Work> works_;
};

}  // namespace fermata::properties
