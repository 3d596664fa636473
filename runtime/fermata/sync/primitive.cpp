// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/primitive.hpp"

#include <fmt/format.h>

#include <cctype>
#include <exception>
#include <utility>

namespace fermata::detail {

bool unwinding(const CoroutineBase* coroutine) noexcept {
  return coroutine != nullptr && Scheduler::unwinding(*coroutine);
}

Primitive::Primitive(const char* kind, Name&& name, const SourcePlace& place)
    : Event(current_runtime(), backend::EventKind::Plain),
      kind_(kind),
      name_(std::move(name)),
      place_(place) {
  promise_to_tell();
}

std::string Primitive::title() const {
  std::string text = kind_;
  if (!name_.empty()) text += fmt::format(" '{}'", name_.view());
  return text + fmt::format(" created at {}:{}", place_.file, place_.line);
}

void Primitive::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  std::string kind = kind_;
  kind.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(kind.front())));
  facts.is(kind.c_str(), name_.view(), &place_);
}

UsageError Primitive::misuse(const std::string& what) const {
  return UsageError(title() + ": " + what);
}

// A holder that goes on would give back what is gone: no exception says more than that.
void Primitive::retire(const Holder* holder) noexcept {
  const bool in_use = holder != nullptr && !holder->nobody();
  if (!in_use && line_.empty()) return;
  const auto error = std::make_exception_ptr(UsageError(info() + ": destroyed while it is in use"));
  line_.fail_all(error, true);
  const CoroutineBase* const current = runtime().current();
  const bool by_another = in_use && (current == nullptr || !holder->is(*current));
  if (unwinding(current) || (std::uncaught_exceptions() > 0 && !by_another)) {
    runtime().log(message_of(error));
  } else {
    runtime().report_unhandled(error);
  }
}

std::string Holder::info(const Runtime& runtime) const {
  if (nobody()) return "nobody";
  std::string who = fmt::format("coroutine {}, which has ended,", id_);
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    if (each->id() == id_) who = fmt::format("'{}'", each->label());
  }
  return fmt::format("{} since {}:{}", who, place_.file, place_.line);
}

}  // namespace fermata::detail
