// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/observer.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"

namespace fermata::detail {

namespace {
constexpr std::size_t kFirstRoom = 64;
}

void TraceLog::forget(const Event& event) noexcept {
  if (mark_ == 0) {
    end_ = std::remove(begin_, end_, &event);
  } else if (event.audit_mark().has(Event::AuditMark::kTouched)) {
    forget_marked(event);
  }
}

// Objects mostly go in the order of their creation, or against it: both ends are near.
void TraceLog::forget_marked(const Event& event) noexcept {
  FERMATA_ASSERT(begin_ < end_);
  const Event** front = begin_;
  const Event** back = end_ - 1;
  while (*front != &event && *back != &event) {
    FERMATA_ASSERT(front < end_);  // It is in here.
    ++front;
    --back;
  }
  *(*back == &event ? back : front) = nullptr;
  while (begin_ < end_ && end_[-1] == nullptr) --end_;
  while (begin_ < end_ && *begin_ == nullptr) ++begin_;
}

// Without marks each event that is destroyed is looked for among all: that is for few.
bool TraceLog::drop_repeated() noexcept {
  FERMATA_ASSERT(mark_ == 0);
  end_ = std::remove_if(begin_, end_, [](const Event* event) {
    Event::AuditMark& mark = event->audit_mark();
    const bool known = mark.has(Event::AuditMark::kTouched);
    mark.set(Event::AuditMark::kTouched);
    return known;
  });
  mark_ = Event::AuditMark::kTouched;
  if (limit_ - end_ <= end_ - begin_) return false;
  reset_marks();
  return true;
}

void TraceLog::reset_marks() noexcept {
  FERMATA_ASSERT(mark_ != 0);
  for (const Event* event : touched()) {
    if (event != nullptr) event->audit_mark().unset(Event::AuditMark::kTouched);
  }
  mark_ = 0;
}

bool TraceLog::get_ready() {
  if (hash_ == nullptr || hash_->is_stopped()) return false;
  FERMATA_ASSERT(end_ == limit_);
  if (mark_ == 0 && begin_ != end_ && drop_repeated()) return true;
  const auto used = static_cast<std::size_t>(end_ - touched_.get());
  const std::size_t room = std::max(kFirstRoom, 2 * used);
  auto larger = std::make_unique<const Event*[]>(room);
  std::copy(begin_, end_, larger.get());
  end_ = larger.get() + (end_ - begin_);
  begin_ = larger.get();
  limit_ = larger.get() + room;
  touched_ = std::move(larger);
  FERMATA_ASSERT(is_ready());
  return true;
}

}  // namespace fermata::detail

namespace fermata::backend {

void Observer::trace_of(Trace kind, const Event& subject, std::uint64_t detail) {
  if (!trace_log_.is_ready()) [[unlikely]] {
    return trace_unready(kind, &subject, detail);
  }
  trace_log_.write(kind, subject, detail);
  if (noted_.has(kind)) note(kind, &subject, detail);
}

void Observer::trace_alone(Trace kind, std::uint64_t detail) {
  if (!trace_log_.is_ready()) [[unlikely]] {
    return trace_unready(kind, nullptr, detail);
  }
  trace_log_.write(kind, detail);
  if (noted_.has(kind)) note(kind, nullptr, detail);
}

FERMATA_COLD void Observer::trace_unready(Trace kind, const Event* subject, std::uint64_t detail) {
  if (trace_log_.get_ready()) return trace(kind, subject, detail);
  if (!trace_log_.has_hash() && noted_.has(kind)) note(kind, subject, detail);
}

}  // namespace fermata::backend
