// SPDX-License-Identifier: Apache-2.0

// Futures: up to three promises, and whatever tree of handlers the actors grow on them.

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "properties/models/future_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace futures {

using models::FutureModel;
using End = FutureModel::End;
using Kind = FutureModel::Kind;
using What = End::What;

End end_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PlannedError& planned) {
    return {What::Error, planned.number};
  } catch (const BrokenPromise&) {
    return {What::Broken};
  } catch (const Cancellation&) {
    return {What::Cancelled};
  }
}

End end_of(const Outcome& outcome) {
  if (outcome.error) return end_of(outcome.error);
  return {What::Value, *static_cast<const std::uint32_t*>(outcome.result)};
}

/// A callback whose memory is its maker's: nobody else may end it.
class Listener final : public backend::Callback {
 public:
  explicit Listener(std::function<void(const Outcome&)> action) : action_(std::move(action)) {
    add_ref();
  }
  Listener(Listener&&) = delete;
  ~Listener() {
    if (event() != nullptr) event()->remove_callback(*this);
  }
  [[nodiscard]] bool destroyed_early() const noexcept { return destroyed_early_; }

 private:
  void run(Event& /*event*/, const Outcome& outcome) override { action_(outcome); }
  void destroy() noexcept override { destroyed_early_ = true; }

  std::function<void(const Outcome&)> action_;
  bool destroyed_early_ = false;
};

class Futures final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {8, "await", does<&Futures::wait_for_any>},
        {3, "complete", does<&Futures::complete, What::Value>, true},
        {2, "fail", does<&Futures::complete, What::Error>, true},
        {3, "map", does<&Futures::map>},
        {2, "catch", does<&Futures::catch_error>},
        {3, "finally", does<&Futures::add_finally>},
        {1, "cancel", does<&Futures::cancel>, true},
        {1, "drop", does<&Futures::drop_one>, true},
        {2, "listen", does<&Futures::listen>, true},
        {1, "let go", does<&Futures::let_go_inside>, true},
    });
  }

  explicit Futures(Stage& on) : Subject(on) {
    const std::size_t sources = 1 + stage.script().shape[0] % 3;
    for (std::size_t i = 0; i < sources; ++i) {
      promises_.emplace_back(std::in_place);
      watch(model_.add_source(), promises_.back()->future());
    }
  }

  void perform(const Operation& operation, const Cue& cue) override {
    ++performed_;
    Subject::perform(operation, cue);
  }

  void at_rest() override {
    for (std::size_t i = 0; i < futures_.size(); ++i) {
      if (futures_[i].is_completed() && futures_[i].event().has_listeners()) {
        stage.complain("FUT-12 (REF): future " + std::to_string(i) +
                       " has ended and still has subscribers");
      }
    }
  }

  void let_go() override {
    for (std::size_t i = 0; i < promises_.size(); ++i) drop(i);
  }

  void at_end() override {
    stage.complain(model_.at_end());
    for (const auto& future : futures_) future.ignore();
    for (const Listener& listener : listeners_) {
      if (listener.destroyed_early()) {
        stage.complain("CORE-CB-06 (REF): a callback that is held was destroyed");
      }
    }
  }

 private:
  [[nodiscard]] std::size_t any(const Cue& cue) const {
    return (cue.number + performed_) % futures_.size();
  }
  [[nodiscard]] std::size_t source_of(const Cue& cue) const {
    return cue.number % promises_.size();
  }

  void watch(std::size_t cell, Future<std::uint32_t> future) {
    future.event().add_callback(listeners_.emplace_back([this, cell](const Outcome& outcome) {
      stage.complain(model_.settled(cell, end_of(outcome)));
    }));
    futures_.push_back(std::move(future));
  }

  void wait_for_any(const Cue& cue) {
    const std::size_t cell = any(cue);
    const Future<std::uint32_t> future = futures_[cell];
    std::optional<End> got;
    try {
      const auto value = call(
          cue, model_.completed(cell) ? Due::Kept : Due::Later,
          [&] { return await(future, cue.patience); }, [](const Ending&) {});
      got = End{What::Value, value};
    } catch (const AwaitedCancelled& awaited) {
      got = End{What::Cancelled};
      expect_same(future, awaited.previous());
    } catch (const Cancellation&) {
      throw;
    } catch (const Timeout&) {
      throw;
    } catch (...) {
      got = end_of(std::current_exception());
      expect_same(future, std::current_exception());
    }
    stage.complain(model_.delivered(cell, *got));
  }
  void expect_same(const Future<std::uint32_t>& future, const std::exception_ptr& got) {
    if (future.error() != got) stage.complain("FUT-03 (ERR): an awaiter got an error of its own");
  }

  void complete(const Cue& cue, What what) {
    const std::size_t source = source_of(cue);
    const End end{what, ++numbers_};
    const bool tries = cue.number % 4 < 2;
    std::optional<Promise<std::uint32_t>>& promise = promises_[source];
    if (!promise) return;
    const bool completed = model_.completed(source);
    if (!completed) model_.call_begins(source, end);
    bool refused = false;
    try {
      refused = !set(*promise, end, tries);
    } catch (const UsageError&) {
      refused = true;
    }
    if (!completed) stage.complain(model_.call_returned(source));
    if (refused != completed) {
      stage.complain("FUT-09 (ONCE): future " + std::to_string(source) + " took a second outcome");
    }
  }
  static bool set(Promise<std::uint32_t>& promise, End end, bool tries) {
    if (tries && end.is_error()) return promise.try_fail(PlannedError(end.number));
    if (tries) return promise.try_complete(end.number);
    end.is_error() ? promise.fail(PlannedError(end.number)) : promise.complete(end.number);
    return true;
  }

  void cancel(const Cue& cue) {
    const std::size_t cell = any(cue);
    const bool completed = model_.completed(cell);
    if (!completed) model_.call_begins(cell, {What::Cancelled});
    futures_[cell].cancel();
    if (!completed) stage.complain(model_.call_returned(cell));
    if (futures_[cell].is_cancelled() != (model_.end_of(cell).what == What::Cancelled)) {
      stage.complain("FUT-10 (CANC): a cancel changed how a completed future had ended");
    }
  }

  void drop_one(const Cue& cue) { drop(source_of(cue)); }
  // It is waited for by this subject's own subscription, if by nobody else.
  void drop(std::size_t source) {
    if (!promises_[source]) return;
    const bool completed = model_.completed(source);
    if (!completed) model_.call_begins(source, {What::Broken});
    promises_[source].reset();
    if (!completed) stage.complain(model_.call_returned(source));
  }

  // Who has stopped listening hears no more.
  void listen(const Cue& cue) {
    const auto listens = std::make_shared<bool>(true);
    {
      const Subscription subscription =
          subscribe(futures_[any(cue)].event(), [this, listens](Event&, const Outcome&) {
            if (!*listens) stage.complain("EVT-04 (UAF): who has stopped listening is told");
          });
    }
    *listens = false;
  }

  // Whoever is told first lets go of the future; the others are told all the same.
  void let_go_inside() {
    std::optional<Promise<std::uint32_t>> own(std::in_place);
    const auto error = std::make_exception_ptr(PlannedError(++numbers_));
    std::exception_ptr heard;
    Listener first([&](const Outcome&) { own.reset(); });
    Listener second([&](const Outcome& outcome) { heard = outcome.error; });
    Event& event = own->future().ignore().event();
    event.add_callback(first);
    event.add_callback(second);
    own->fail(error);
    if (heard != error) stage.complain("CORE-CB-07 (ERR): an error was lost with its owner");
  }

  void map(const Cue& cue) {
    const std::size_t source = any(cue);
    const std::size_t child = model_.attach(Kind::Map, source);
    watch(child, futures_[source].map(
                     [=, this, plan = cue.number, parting = parting(cue)](std::uint32_t value) {
                       return handle(child, {What::Value, value}, plan, true);
                     }));
  }
  void catch_error(const Cue& cue) {
    const std::size_t source = any(cue);
    const std::size_t child = model_.attach(Kind::Catch, source);
    watch(child, futures_[source].catch_error([=, this, plan = cue.number, parting = parting(cue)](
                                                  const std::exception_ptr& error) {
      return handle(child, end_of(error), plan, true);
    }));
  }
  void add_finally(const Cue& cue) {
    const std::size_t source = any(cue);
    const std::size_t child = model_.attach(Kind::Finally, source);
    watch(child, futures_[source].finally(
                     [=, this, plan = cue.number, parting = parting(cue)](const Outcome& outcome) {
                       handle(child, end_of(outcome), plan, false);
                     }));
  }

  /// The end of some handlers uses the futures itself.
  [[nodiscard]] SharedParting parting(const Cue& cue) {
    return cue.number % 8 == 7 ? stage.parting(cue) : nullptr;
  }

  // A quarter of the handlers suspend, a quarter throw. The value counts for map and catch only.
  std::uint32_t handle(std::size_t child, End with, std::uint8_t plan, bool gives_value) {
    stage.complain(model_.handler_begins(child, with));
    if (plan % 4 == 1) delay(std::chrono::milliseconds(plan));
    const std::uint32_t number = ++numbers_;
    const bool throws = plan % 4 == 2;
    std::optional<End> made;
    if (throws || gives_value) made = End{throws ? What::Error : What::Value, number};
    stage.complain(model_.handler_ended(child, made));
    if (throws) throw PlannedError(number);
    return number;
  }

  FutureModel model_;
  std::vector<std::optional<Promise<std::uint32_t>>> promises_;
  std::vector<Future<std::uint32_t>> futures_;  // As the model numbers them.
  std::deque<Listener> listeners_;
  std::uint32_t numbers_ = 0;
  std::size_t performed_ = 0;
};

}  // namespace futures
}  // namespace

constinit const Law kFutures = {
    "futures",
    "a future ends once, tells everybody the same, and each handler runs once and in its turn",
    {"FUT-01", "FUT-02", "FUT-03", "FUT-04", "FUT-05", "FUT-06", "FUT-09", "FUT-10", "FUT-12",
     "FUT-13", "FUT-15"},
    &scripts_over<futures::Futures>};

}  // namespace fermata::properties
