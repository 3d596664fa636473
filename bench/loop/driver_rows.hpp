// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows about each driver that is ever taken by itself, in the main coroutine of a runtime on it.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/drivers/factory.hpp"
#include "fermata/loop/loop.hpp"

namespace bench {

/// Calls between two questions whether that is enough; more than those of one turn.
inline constexpr std::int64_t kBatch = 20'000;

using LoopBody = void (*)(benchmark::State& state, fermata::loop::Loop& loop);

/// Registers <what>_<driver>/fermata/<argument>. True, for the initialiser of a variable.
inline bool register_driver_rows(const char* what, const std::vector<std::int64_t>& arguments,
                                 LoopBody body) {
  for (const fermata::loop::Driver& driver : fermata::loop::drivers()) {
    if (driver.on_request_only) continue;
    const std::string name = std::string(what) + "_" + std::string(driver.name) + "/fermata";
    auto* const rows = benchmark::RegisterBenchmark(
        name.c_str(), [body, make = driver.make](benchmark::State& state) {
          fermata::Runtime runtime(make());
          runtime.run([&] {
            fermata::loop::Loop loop;
            body(state, loop);
          });
        });
    for (const std::int64_t argument : arguments) rows->Arg(argument);
  }
  return true;
}

/// Counts the callbacks of a run, from the first one until the benchmark has enough.
class CallCount final {
 public:
  explicit CallCount(benchmark::State& state) : state_(state) {}
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;
  ~CallCount() { state_.SetItemsProcessed(state_.iterations()); }

  /// For each callback: whether it is the one that ends the run.
  [[nodiscard]] bool last() {
    if (left_-- > 0) return false;
    left_ = kBatch;
    return !state_.KeepRunningBatch(kBatch);
  }

 private:
  benchmark::State& state_;
  std::int64_t left_ = 0;
};

}  // namespace bench
