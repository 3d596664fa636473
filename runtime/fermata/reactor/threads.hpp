// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts threads, and knows those that have not ended.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fermata/reactor/handle.hpp"
#include "fermata/reactor/thread.hpp"

namespace fermata::backend {

/// Something that several threads share and that ends with the run it was made in.
class EndsWithRun {
 public:
  /// Called on the thread of that run, whose coroutines have all ended.
  virtual void run_ends() noexcept = 0;

 protected:
  ~EndsWithRun() = default;
};

class Threads {
 public:
  virtual ~Threads() = default;

  /// Runs `work` on a new thread, on a runtime on a reactor of this kind. Throws InputOutputError
  /// when there can be no further thread.
  [[nodiscard]] Ref<ThreadEvent> start(std::string name, std::unique_ptr<detail::ThreadWork> work);

  /// How many threads the machine can run at once.
  [[nodiscard]] virtual std::size_t processors() const noexcept = 0;

  /// Threads that have not ended, as far as this runtime knows.
  [[nodiscard]] std::size_t live() const noexcept { return live_.size(); }

  /// `shared` is told when this run ends, unless it has gone.
  void end_with_run(std::weak_ptr<EndsWithRun> shared);

 protected:
  explicit Threads(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks ---

  /// On a thread of its own, with a runtime: link->run(), and link->end() when that is gone. Throws
  /// when it cannot.
  virtual void launch(const std::shared_ptr<detail::ThreadLink>& link) = 0;
  /// Returns when the thread is gone; it has ended or soon will.
  virtual void join(const detail::ThreadLink& link) noexcept = 0;

  // --- for the backend's reactor ---

  /// The parts of Reactor::linger and Reactor::shutdown_began that concern threads.
  bool linger();
  void shut_down() noexcept;
  /// The run is over: returns when every thread has gone (THR-07).
  void quiesce() noexcept;

  detail::Attachment& attachment_;

 private:
  friend class ThreadEvent;

  void ended(ThreadEvent& thread);
  void remove(const ThreadEvent& thread) noexcept;
  void tell_run_ends() noexcept;

  std::vector<Ref<ThreadEvent>> live_;
  std::vector<std::weak_ptr<EndsWithRun>> end_with_run_;
  std::size_t look_for_dead_at_ = 0;  // How many of these, until the dead are dropped.
};

}  // namespace fermata::backend
