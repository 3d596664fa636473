// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/signal.hpp"

#include <fmt/format.h>

#include <csignal>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/signal_name.hpp"

namespace fermata::backend {

namespace {

int valid_signal(int signum) {
  const bool reserved = signum >= __SIGRTMIN && signum < SIGRTMIN;  // For the threads of the libc.
  if (signum < 1 || signum >= NSIG || signum == SIGKILL || signum == SIGSTOP || reserved) {
    throw UsageError(fmt::format("signal {}: expected one that a program can handle", signum));
  }
  return signum;
}

}  // namespace

SignalEvent::SignalEvent(Signals& signals, int signum)
    : Event(signals.attachment_.runtime(), EventKind::Signal),
      signals_(signals),
      signum_(valid_signal(signum)) {}

SignalEvent::~SignalEvent() { shut(); }

void SignalEvent::arm() { signals_.add(*this); }

void SignalEvent::disarm() noexcept { signals_.remove(*this); }

std::string SignalEvent::info() const {
  return fmt::format("Signal #{} (signal={})", serial(), signum_);
}

void SignalEvent::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("signal", signal_name(signum_), nullptr);
  facts.outside("whoever sends it");
}

/// The runtime's own interest in a signal.
class Signals::Control {
 public:
  Control(Signals& signals, int signum) : event_(signals, signum) {
    event_.set_hidden(true);
    subscription_ = subscribe(event_, [signum](Event& event, const Outcome&) {
      event.runtime().on_control_signal(signum);
    });
    event_.start();
  }

 private:
  SignalEvent event_;
  Subscription subscription_;
};

Signals::Signals(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

Signals::~Signals() = default;

void Signals::watch_control(std::span<const int> signums) {
  controls_.clear();
  for (const int signum : signums) controls_.push_back(std::make_unique<Control>(*this, signum));
}

void Signals::add(SignalEvent& event) {
  SignalEvent::List& list = started_[event.signum_];
  if (list.empty()) install(event.signum_);
  list.push_back(event);
}

void Signals::remove(SignalEvent& event) noexcept {
  SignalEvent::List& list = started_[event.signum_];
  FERMATA_ASSERT(!list.empty());
  list.remove(event);
  if (list.empty()) uninstall(event.signum_);
}

void Signals::deliver(int signum) {
  started_[signum].dispatch([&](SignalEvent& event) {
    try {
      event.notify({&event, nullptr});
    } catch (...) {
      attachment_.runtime().report_unhandled(std::current_exception());
    }
  });
}

}  // namespace fermata::backend
