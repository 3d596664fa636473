// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/errors.hpp"

#include <fmt/format.h>

#include <utility>

namespace fermata::loop {

InvalidCallback::InvalidCallback(std::string_view operation, CallbackId id,
                                 const std::string& history)
    : Linkable(fmt::format("{}: the loop has no callback {}{}{}", operation, id,
                           history.empty() ? "" : ": ", history)),
      id_(id) {}

LoopDeadlock::LoopDeadlock(bool stopped, std::vector<std::string> suspended)
    : Linkable(
          fmt::format("the event loop {} without resuming the code that runs it{}{}",
                      stopped ? "was stopped" : "ran out of callbacks",
                      suspended.empty() ? "" : "; also suspended: ", fmt::join(suspended, "; "))),
      suspended_(std::move(suspended)) {}

UncaughtError::UncaughtError(std::string_view where, std::exception_ptr original)
    : Linkable(fmt::format("uncaught {} in {}: {}", type_name_of(original), where,
                           message_of(original))),
      original_(std::move(original)) {}

}  // namespace fermata::loop
