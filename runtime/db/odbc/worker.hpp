// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

#include "fermata/runtime/io/offload.hpp"

namespace fermata::db::odbc {

/// Calls of one connection, on threads of the offload pool, one at a time.
class Worker {
 public:
  /// What `work` returns or throws. It has to own what it uses, and to let go of it before it
  /// returns. A wait that is interrupted leaves it busy().
  template <class F>
  auto run(F work, const WaitOptions& options = {}) {
    using TaskType = fermata::detail::TaskOf<Once<F>, std::invoke_result_t<F&>>;
    FERMATA_REQUIRE(!busy(), "a call on this connection was interrupted and is not stopped");
    const auto task = Ref<TaskType>::adopt(
        *new TaskType(current_runtime().reactor().offload(), Once<F>{std::move(work)}));
    running_ = Ref<Task>::share(*task);
    const ForgetEnded forget(*this);
    wait(*task, options);
    return task->take();
  }

  [[nodiscard]] bool busy() const noexcept { return running_ && !running_->closed(); }

  /// Waits for what runs, at most until `limit`, and calls `stop` again and again meanwhile: on a
  /// worker, or here when none is free. Returns whether it has ended, however.
  template <class F>
  bool stop_until(Instant limit, const F& stop) {
    Duration pause = kFirstPause;
    while (busy()) {
      const Duration left = limit - now();
      if (left <= Duration::zero()) return false;
      const Ref<Task> stopper = start(stop);
      if (!ended_within(std::min(pause, left)) && stopper->cancel()) stop();
      pause *= 2;
    }
    return true;
  }

 private:
  static constexpr Duration kFirstPause = std::chrono::milliseconds(50);

  /// Lets go of what `work` owns on the worker's thread.
  template <class F>
  struct Once {
    F work;
    auto operator()() {
      F once = std::move(work);
      return once();
    }
  };

  class ForgetEnded {
   public:
    explicit ForgetEnded(Worker& worker) noexcept : worker_(worker) {}
    ForgetEnded(const ForgetEnded&) = delete;
    ForgetEnded& operator=(const ForgetEnded&) = delete;
    ~ForgetEnded() {
      if (!worker_.busy() || worker_.running_->cancel()) worker_.running_.reset();
    }

   private:
    Worker& worker_;
  };

  template <class F>
  [[nodiscard]] static Ref<Task> start(const F& work) {
    using TaskType = fermata::detail::TaskOf<Once<F>, void>;
    const auto task =
        Ref<TaskType>::adopt(*new TaskType(current_runtime().reactor().offload(), Once<F>{work}));
    task->start();
    return Ref<Task>::share(*task);
  }

  /// Whatever the work has thrown is of no interest.
  bool ended_within(Duration span);

  Ref<Task> running_;
};

}  // namespace fermata::db::odbc
