// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/event_interface.hpp"

#include <utility>

namespace fermata::loop {

EventInterface::~EventInterface() {
  for (Sources* const sources : {&readable_, &writable_, &signals_}) {
    while (!sources->empty()) drop(*sources, sources->begin()->first);
  }
}

void EventInterface::on_readable(int descriptor, SourceFunction function, SourcePlace place) {
  off_readable(descriptor);
  readable_[descriptor] = loop_.on_readable(descriptor, std::move(function), place);
}

void EventInterface::on_writable(int descriptor, SourceFunction function, SourcePlace place) {
  off_writable(descriptor);
  writable_[descriptor] = loop_.on_writable(descriptor, std::move(function), place);
}

void EventInterface::on_signal(int signum, SourceFunction function, SourcePlace place) {
  off_signal(signum);
  signals_[signum] = loop_.on_signal(signum, std::move(function), place);
}

bool EventInterface::off_readable(int descriptor) { return drop(readable_, descriptor); }

bool EventInterface::off_writable(int descriptor) { return drop(writable_, descriptor); }

bool EventInterface::off_signal(int signum) { return drop(signals_, signum); }

bool EventInterface::drop(Sources& sources, int key) {
  const auto found = sources.find(key);
  if (found == sources.end()) return false;
  const CallbackId id = found->second;
  sources.erase(found);
  return loop_.cancel(id);
}

}  // namespace fermata::loop
