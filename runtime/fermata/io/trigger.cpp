// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/trigger.hpp"

#include "fermata/sync/operation.hpp"

namespace fermata {

Trigger::Trigger(const SourcePlace& place)
    : handle_(current_runtime().reactor().triggers().make()) {
  handle_->set_made_at(place);
  subscription_ = subscribe(*handle_, [this](Event&, const Outcome&) { pending_ = true; });
}

void Trigger::wait(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  if (!pending_) fermata::wait(*handle_, options, place);
  pending_ = false;
}

}  // namespace fermata
