// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/switch_handlers.hpp"

#include <algorithm>
#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

std::size_t SwitchHandlers::add(std::shared_ptr<backend::SwitchHandler> handler) {
  FERMATA_REQUIRE(!running_, "switch handlers cannot be added while they run");
  const auto found = std::find(handlers_.begin(), handlers_.end(), handler);
  const auto index = static_cast<std::size_t>(found - handlers_.begin());
  if (found == handlers_.end()) handlers_.push_back(std::move(handler));
  return index;
}

bool SwitchHandlers::remove(const backend::SwitchHandler& handler) {
  FERMATA_REQUIRE(!running_, "switch handlers cannot be removed while they run");
  return std::erase_if(handlers_, [&](const auto& held) { return held.get() == &handler; }) > 0;
}

void SwitchHandlers::call(CoroutineBase& coroutine, backend::SwitchMoment moment) {
  FERMATA_ASSERT(!running_);
  running_ = true;
  std::exception_ptr error;
  std::erase_if(handlers_, [&](const std::shared_ptr<backend::SwitchHandler>& handler) {
    try {
      return !handler->on_switch(coroutine, moment);
    } catch (...) {
      error = link_previous(error, std::current_exception());
      return false;
    }
  });
  FERMATA_ASSERT(running_);
  running_ = false;
  if (error) std::rethrow_exception(error);
}

}  // namespace fermata::detail
