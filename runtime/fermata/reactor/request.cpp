// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/request.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::backend {

FERMATA_HOT void Request::finish() noexcept {
  FERMATA_ASSERT((outcome_.error == nullptr) == (outcome_.result == this));
  FERMATA_ASSERT(loop_ref_count() > 0);
  try {
    notify_and_close(outcome_);
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
}

void Request::complete(std::size_t transferred) noexcept {
  FERMATA_ASSERT(!is_completed());
  transferred_ = transferred;
  outcome_.result = this;
  finish();
}

void Request::fail(std::exception_ptr error) noexcept {
  FERMATA_ASSERT(!is_completed());
  FERMATA_ASSERT(error != nullptr);
  outcome_.error = std::move(error);
  finish();
}

void Request::fail(int code) noexcept {
  FERMATA_ASSERT(code > 0);
  fail(std::make_exception_ptr(InputOutputError(operation_, code)));
}

void Request::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is(operation_, {}, nullptr);
  facts.outside("the system");
}

std::string Request::info() const { return fmt::format("Request #{} ({})", serial(), operation_); }

}  // namespace fermata::backend
