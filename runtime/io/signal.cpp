// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/io/signal.hpp"

#include "fermata/runtime/sync/operation.hpp"

namespace fermata {

void wait_signal(int signum, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  SignalEvent event(current_runtime().reactor().signals(), signum);
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
