// SPDX-License-Identifier: Apache-2.0

// Threads that end in every way, with coroutines and threads of their own, awaited early, late, by
// several or by nobody, and cancelled at any time.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fermata/io/thread.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/thread_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace threads {

using std::chrono::microseconds;
using Life = models::ThreadModel;

constexpr std::array<Life::Plan, 8> kPlans = {
    Life::Plan::Return, Life::Plan::Return, Life::Plan::Return,   Life::Plan::Throw,
    Life::Plan::Refuse, Life::Plan::Exit,   Life::Plan::ShutDown, Life::Plan::Sleep};

constexpr Duration kLong = std::chrono::hours(1);

/// What a thread returns; there is one of it, and it goes with the last handle.
class Result {
 public:
  explicit Result(std::shared_ptr<Life> life) : life_(std::move(life)) { ++life_->results; }
  Result(Result&&) noexcept = default;
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (life_) --life_->results;
  }
  [[nodiscard]] bool is_of(const Life& life) const { return life_.get() == &life; }

 private:
  std::shared_ptr<Life> life_;
};

/// Something that must have gone when its thread has ended.
class Belonging {
 public:
  explicit Belonging(std::shared_ptr<Life> life) : life_(std::move(life)) { ++life_->belongings; }
  Belonging(Belonging&&) noexcept = default;
  Belonging& operator=(Belonging&&) = delete;
  ~Belonging() {
    if (life_) --life_->belongings;
  }

 private:
  std::shared_ptr<Life> life_;
};

/// Every thread there has been; shared with them all.
class Census {
 public:
  explicit Census(sim::World& world) : world_(world) {}

  struct Handle {
    Thread<Result> thread;
    std::shared_ptr<Life> life;
  };

  static Handle start(const std::shared_ptr<Census>& census, Life::Plan plan, unsigned number,
                      unsigned depth = 0) {
    auto life = std::make_shared<Life>(plan, census->lives_.size());
    census->lives_.push_back(life);
    SpawnThreadOptions options{.name = "thread"};
    if (plan == Life::Plan::Refuse) options.on_thread_start = [life] { fail(*life); };
    auto thread = spawn_thread(
        [census, life, number, depth, captured = Belonging(life)] {
          census->live(census, life, number, depth);
          return Result(life);
        },
        std::move(options));
    return {std::move(thread), std::move(life)};
  }

  void complain(const models::Complaint& complaint) {
    if (!complaint.empty()) world_.fail(sim::Verdict::Safety, complaint);
  }

  [[nodiscard]] const std::vector<std::shared_ptr<Life>>& lives() const { return lives_; }

 private:
  [[noreturn]] static void fail(Life& life) {
    life.end = Life::End::Threw;
    throw PlannedError(static_cast<std::uint32_t>(life.number));
  }

  /// In the thread.
  void live(const std::shared_ptr<Census>& self, const std::shared_ptr<Life>& life, unsigned number,
            unsigned depth) {
    complain(life->begin());
    try {
      if (number % 3 == 1) leave_coroutine(life, number);
      if (number % 3 == 2 && depth < 2) {
        life->children.push_back(start(self, Life::Plan::Doze, number / 2, depth + 1).life);
      }
      if (number % 2 == 1) delay(microseconds(number));
      switch (life->plan) {
        case Life::Plan::Throw:
          fail(*life);
        case Life::Plan::Exit:
          life->shut_down = true;
          exit_with(static_cast<int>(number));
        case Life::Plan::ShutDown:
          life->shut_down = true;
          current_runtime().shutdown();
          break;
        case Life::Plan::Sleep:
          delay(kLong);
          break;
        case Life::Plan::Doze:
          delay(std::chrono::seconds(1));
          break;
        default:
          break;
      }
      if (number % 4 >= 2 || life->shut_down) delay(microseconds(number));
      life->end = Life::End::Returned;
    } catch (const Cancellation&) {
      life->end = Life::End::Cancelled;
      throw;
    }
  }

  static void leave_coroutine(const std::shared_ptr<Life>& life, unsigned number) {
    spawn("left behind",
          [number, belonging = Belonging(life)] { delay(microseconds(3 * number)); });
  }

  sim::World& world_;
  std::vector<std::shared_ptr<Life>> lives_;
};

class Threads final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "start a thread", does<&Threads::start>},
        {10, "await", does<&Threads::await_end>},
        {4, "cancel a thread", does<&Threads::cancel_one>},
        {3, "add a handler", does<&Threads::add_handler>},
        {2, "look", does<&Threads::look_at_one>},
        {2, "forget", does<&Threads::forget>},
    });
  }

  explicit Threads(Stage& on) : Subject(on), census_(std::make_shared<Census>(on.world())) {}

  /// A handle, and its place, if there is any.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (handles_.empty()) return;
    const std::size_t index = (cue.actor + cue.number) % handles_.size();
    const Census::Handle handle = handles_[index];
    use(handle, index);
  }

  void at_rest() override {
    std::size_t staying = 0;  // That nobody has cancelled yet.
    for (const Census::Handle& handle : handles_) {
      look(handle);
      if (handle.life->may_stay()) {
        ++staying;
      } else if (!handle.thread.is_completed()) {
        stage.complain("THR-05 (WAKE): a thread has ended, and its handle does not know");
      }
    }
    for (std::size_t actor = 0; actor < stage.actor_count() && staying == 0; ++actor) {
      if (stage.parked(actor)) stage.complain("THR-05 (WAKE): somebody waits for a thread still");
    }
    if (current_runtime().reactor().threads().live() != staying) {
      stage.complain("THR-07 (SHUT): a thread is known that must have ended long ago");
    }
    for (const auto& life : census_->lives()) stage.complain(life->at_rest());
  }

  void let_go() override {
    ending_ = true;
    for (const Census::Handle& handle : handles_) cancel(handle);
  }

  void at_end() override {
    at_rest();
    handles_.clear();
    for (const auto& life : census_->lives()) stage.complain(life->at_end());
  }

 private:
  void start(const Cue& cue) {
    if (ending_) return;
    const Life::Plan plan = kPlans[cue.number % kPlans.size()];
    const std::size_t number = (cue.actor + cue.number) * cue.number % 64;
    handles_.push_back(Census::start(census_, plan, static_cast<unsigned>(number)));
  }

  void cancel_one(const Cue&, const Census::Handle& handle, std::size_t) { cancel(handle); }
  void look_at_one(const Cue&, const Census::Handle& handle, std::size_t) { look(handle); }
  void add_handler(const Cue&, const Census::Handle& handle, std::size_t) {
    ++handle.life->handlers;
    handle.thread.finally([census = census_, handle] {
      ++handle.life->handlers_run;
      if (!handle.thread.is_completed()) {
        census->complain("THR-05 (TIME): a handler runs before its thread has ended");
      }
    });
  }
  void forget(const Cue&, const Census::Handle& handle, std::size_t index) {
    if (handle.life->may_stay()) return;
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  static void cancel(const Census::Handle& handle) {
    handle.thread.cancel();
    handle.life->cancelled();
  }

  void await_end(const Cue& cue, const Census::Handle& handle, std::size_t) {
    try {
      await(handle.thread, cue.patience);
    } catch (const AwaitedCancelled& awaited) {
      if (awaited.previous() != handle.thread.error()) throw;
    } catch (...) {
      if (!handle.thread.is_completed() || handle.thread.error() == nullptr) throw;
      if (std::current_exception() != handle.thread.error()) throw;
    }
    look(handle);
  }

  /// Whether what the handle says fits to what has become of the thread.
  void look(const Census::Handle& handle) {
    const Thread<Result>& thread = handle.thread;
    Life& life = *handle.life;
    if (thread.is_running() == thread.is_completed() ||
        thread.is_completed() != (thread.stage() == backend::ThreadStage::Done)) {
      stage.complain("THR-05 (ERR): a thread is two things at once");
    }
    if (!thread.is_completed()) return;
    stage.complain(life.is_over());
    stage.complain(life.has_ended_children());
    if (!thread.error()) {
      stage.complain(life.succeeded());
      const Result& result = thread.result();
      if (life.result == nullptr) life.result = &result;
      if (!result.is_of(life) || life.result != &result) {
        stage.complain("THR-05 (VAL): the result is another one");
      }
      return;
    }
    try {
      std::rethrow_exception(thread.error());
    } catch (const RemoteError& remote) {
      check_original(remote, life);
    } catch (const ThreadTransferError&) {
      stage.complain(life.exited());
    } catch (const Cancellation&) {
      stage.complain(life.was_cancelled());
    }
  }

  void check_original(const RemoteError& remote, const Life& life) {
    try {
      std::rethrow_exception(remote.original());
    } catch (const PlannedError& error) {
      stage.complain(life.failed_with(error.number));
    }
  }

  std::shared_ptr<Census> census_;
  std::vector<Census::Handle> handles_;
  bool ending_ = false;
};

}  // namespace threads
}  // namespace

constinit const Law kThreads = {
    "threads",
    "a thread ends once, with all that belongs to it, and everybody is told how",
    {"THR-05", "THR-06", "THR-07"},
    &scripts_over<threads::Threads>};

}  // namespace fermata::properties
