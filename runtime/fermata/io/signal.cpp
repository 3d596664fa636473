// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/signal.hpp"

#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata {

namespace {

/// A signal event on the heap. The pass that notifies it holds a reference, too: it may be dropped
/// by its own subscriber.
class SharedSignal final : public backend::EventOwner {
 public:
  static Ref<SharedSignal> make(int signum) {
    return Ref<SharedSignal>::adopt(*new SharedSignal(signum));
  }

  [[nodiscard]] backend::SignalEvent& event() noexcept { return event_; }

  void add_ref() noexcept { ++references_; }
  void release() noexcept {
    FERMATA_ASSERT(references_ > 0);
    if (--references_ == 0) delete this;
  }
  void add_owner_ref() noexcept override { add_ref(); }
  void release_owner_ref() noexcept override { release(); }

 private:
  explicit SharedSignal(int signum) : event_(current_runtime().reactor().signals(), signum) {
    event_.set_owner(*this);
  }
  ~SharedSignal() = default;

  backend::SignalEvent event_;
  std::size_t references_ = 1;
};

/// A token while it is listened to, and so active.
class StartedToken {
 public:
  template <class F>
  StartedToken(Event& token, F on_fire)
      : token_(Ref<Event>::share(token)), subscription_(subscribe(token, std::move(on_fire))) {
    token_->start();
    round_ = token_->round();
  }
  StartedToken(const StartedToken&) = delete;
  StartedToken& operator=(const StartedToken&) = delete;
  ~StartedToken() {
    subscription_.cancel();
    if (token_->round() == round_) token_->stop();
  }

 private:
  Ref<Event> token_;
  Subscription subscription_;
  std::uint32_t round_ = 0;
};

/// What completes a future when a signal arrives, or the token fires.
class SignalWriter final : public detail::WriterElsewhere {
 public:
  using Core = detail::FutureCore<int>;

  SignalWriter(Core& core, int signum, Event* token)
      : core_(core), signal_(SharedSignal::make(signum)) {
    backend::SignalEvent& event = signal_->event();
    subscription_ = subscribe(event, [this, signum](Event&, const Outcome&) {
      core_.settle({core_.store(signum), nullptr}, SourcePlace{});
    });
    if (token != nullptr) {
      token_.emplace(*token, [this](Event&, const Outcome& outcome) { refuse(outcome.error); });
    }
    event.start();
  }
  ~SignalWriter() override {
    subscription_.cancel();
    signal_->event().stop();
  }

 private:
  void dismiss(bool) noexcept override {}
  void explain(backend::WaitFacts& facts) const override { facts.needs(signal_->event()); }

  void refuse(const std::exception_ptr& reason) {
    OperationCancelled cancelled;
    cancelled.set_previous(reason);
    core_.settle({nullptr, std::make_exception_ptr(std::move(cancelled))}, SourcePlace{});
  }

  Core& core_;
  Ref<SharedSignal> signal_;
  Subscription subscription_;
  std::optional<StartedToken> token_;
};

}  // namespace

Future<int> signal(int signum, Event* token, SourcePlace place) {
  detail::check_token({.token = token});
  auto core = SignalWriter::Core::make(current_runtime(), {.name = "signal"}, place);
  core->give_away(std::make_unique<SignalWriter>(*core, signum, token));
  return Future<int>(std::move(core));
}

void wait_signal(int signum, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::SignalEvent event(current_runtime().reactor().signals(), signum);
  wait(event, options, place);
}

SignalWatch::SignalWatch(int signum) : catcher_(current_runtime().reactor().signals(), signum) {
  catcher_.set_hidden(true);
  subscription_ = subscribe(catcher_, [this](Event&, const Outcome&) { pending_ = true; });
  catcher_.start();
}

void SignalWatch::wait(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  if (!pending_) wait_signal(catcher_.signum(), options, place);
  pending_ = false;
}

}  // namespace fermata
