// SPDX-License-Identifier: Apache-2.0
#pragma once

// What connects a thread that has a runtime of its own with the runtime that started it.
//
// Sides      The thread's and its spawner's, a ThreadEvent. Both hold the link, and what the thread
//            runs; either can go first.
// Lock       Everything that both touch. Each side's trigger is fired under it, and taken away
//            under it before it closes (THR-06).
// Outcome    Written by the thread before it is marked as done, read by the spawner afterwards.

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::backend {

enum class ThreadStage : std::uint8_t {
  Starting,  // its main coroutine has not begun
  Running,
  Done,  // nothing of its runtime is left
};

}  // namespace fermata::backend

namespace fermata {

namespace detail {

/// The work of a thread.
class ThreadWork {
 public:
  virtual ~ThreadWork() = default;
  /// In the main coroutine of the thread's runtime. Keeps the result.
  virtual void call() = 0;
  /// Destroys the function, there too. Called once.
  virtual void drop() noexcept = 0;
  /// Where the result is, after call() returned.
  [[nodiscard]] virtual void* result_address() noexcept = 0;
};

/// Requests of a spawner to its thread; each asks for more than the one before.
enum class ThreadRequest : std::uint8_t {
  None,
  Cancel,    // its main coroutine is to be cancelled
  ShutDown,  // everything in it is
};

class ThreadLink final : private backend::TriggerKeeper {
 public:
  ThreadLink(std::string name, std::unique_ptr<ThreadWork> work)
      : name_(std::move(name)), work_(std::move(work)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] backend::ThreadStage stage() const noexcept { return stage_.load(); }

  // --- the thread's side ---

  /// Runs it all on `runtime`. Throws nothing but AbandonRun.
  void run(Runtime& runtime);
  /// There was no runtime to run it on.
  void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }
  /// Nothing of the thread's runtime is left.
  void end() noexcept;

  // --- the spawner's side ---

  /// From now on `trigger` is fired at the end; null: no more.
  void set_spawner(backend::TriggerHandle* trigger) noexcept;
  /// Never waits. Nothing happens when as much was asked for before, or the thread has ended.
  void request(ThreadRequest request) noexcept;
  /// REQUIRES: it is done.
  [[nodiscard]] Outcome outcome() const noexcept;
  /// Null before it begins and when it is done. Only to be compared.
  [[nodiscard]] const Runtime* run_of_thread() const noexcept { return runtime_.load(); }

 private:
  using Lock = std::unique_lock<os::Mutex>;

  void run_main(Runtime& runtime);
  void call_work(Runtime& runtime);
  void open_to_requests(Runtime& runtime);
  void serve() noexcept;
  void before_close() noexcept override;

  const std::string name_;
  const std::unique_ptr<ThreadWork> work_;

  os::Mutex mutex_;
  backend::TriggerHandle* spawner_ = nullptr;
  backend::TriggerHandle* thread_ = nullptr;
  ThreadRequest request_ = ThreadRequest::None;
  std::atomic<backend::ThreadStage> stage_ = backend::ThreadStage::Starting;
  std::atomic<const Runtime*> runtime_ = nullptr;

  // The thread's alone until it is done.
  std::exception_ptr error_;
  CoroutineBase* main_ = nullptr;  // While it runs.
  Ref<backend::TriggerHandle> requested_;
  Subscription on_request_;
};

}  // namespace detail

}  // namespace fermata
