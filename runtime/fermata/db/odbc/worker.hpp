// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "fermata/io/offload.hpp"

namespace fermata::db::odbc {

/// Calls of one connection, on threads of the offload pool, one at a time.
class Worker {
 public:
  /// Runs `work` on a worker thread and returns or throws what it does. `work` has to own what it
  /// uses. A wait that is interrupted leaves it is_busy().
  template <class F>
  auto run(F work, const WaitOptions& options = {}) {
    using TaskType = fermata::detail::TaskOf<Once<F>, std::invoke_result_t<F&>>;
    FERMATA_REQUIRE(!is_busy(), "a call on this connection was interrupted and is not stopped");
    progress_ = std::make_shared<Progress>();
    const auto task = Ref<TaskType>::adopt(
        *new TaskType(current_runtime().reactor().offload(), Once<F>{std::move(work), progress_}));
    running_ = Ref<backend::Task>::share(*task);
    const ForgetEnded forget(*this);
    wait(*task, options);
    return task->take();
  }

  [[nodiscard]] bool is_busy() const noexcept { return running_ && !running_->is_closed(); }

  /// Lets another worker call `stop` again and again, for some seconds at most, while what runs
  /// goes on, and never after it has ended. REQUIRES: is_busy().
  void stop(std::function<void()> stop) { static_cast<void>(start_stopping(std::move(stop))); }

  /// Stops the work that runs like stop(), and waits for it until `limit` at most; calls `stop` on
  /// this thread when no worker is free. Returns whether the work has ended, in whatever way.
  [[nodiscard]] bool stop_until(Instant limit, const std::function<void()>& stop);

 private:
  /// Told by the worker, for another worker.
  class Progress {
   public:
    /// Waits for a stop() on the way, so that it reaches nothing that comes later.
    void end() noexcept;
    /// Calls `stop`, unless it has ended; returns whether it had not.
    [[nodiscard]] bool stop(const std::function<void()>& stop);
    /// Waits for at most `span` and returns whether the work has ended.
    [[nodiscard]] bool ended_after(Duration span);

   private:
    std::mutex mutex_;
    std::condition_variable told_;
    bool ended_ = false;
  };

  /// Lets go of what `work` owns on the worker's thread.
  template <class F>
  struct Once {
    F work;
    std::shared_ptr<Progress> progress;

    auto operator()() {
      const End end{*progress};
      F once = std::move(work);
      return once();
    }
  };
  struct End {
    Progress& progress;
    ~End() { progress.end(); }
  };

  class ForgetEnded {
   public:
    explicit ForgetEnded(Worker& worker) noexcept : worker_(worker) {}
    ForgetEnded(const ForgetEnded&) = delete;
    ForgetEnded& operator=(const ForgetEnded&) = delete;
    ~ForgetEnded() {
      if (!worker_.is_busy() || worker_.running_->cancel()) worker_.running_.reset();
    }

   private:
    Worker& worker_;
  };

  [[nodiscard]] Ref<backend::Task> start_stopping(std::function<void()> stop);
  /// Whatever the work has thrown is of no interest.
  [[nodiscard]] bool ended_within(Duration span);

  Ref<backend::Task> running_;
  std::shared_ptr<Progress> progress_;  // Of the last work.
};

}  // namespace fermata::db::odbc
