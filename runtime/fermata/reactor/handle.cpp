// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/handle.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

Handle::Handle(detail::Attachment& attachment, EventKind kind)
    : Event(attachment.runtime(), kind), attachment_(attachment) {
  attachment_.handles_.push_back(*this);
}

Handle::~Handle() {
  FERMATA_ASSERT(phase_ != Phase::Closing);
  if (phase_ != Phase::Closed) attachment_.handles_.remove(*this);  // It never opened.
}

void Handle::close() noexcept {
  if (phase_ != Phase::Open) return;
  phase_ = Phase::Closing;
  add_ref();  // The backend's.
  Event::close();
  FERMATA_ASSERT(loop_ref_count() == 0);
  fail_parked();
  FERMATA_ASSERT(phase_ == Phase::Closing);  // It closes once.
  close_backend();
}

void Handle::close_acknowledged() noexcept {
  FERMATA_ASSERT(phase_ == Phase::Closing);
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(ref_count() > 0);
  phase_ = Phase::Closed;
  attachment_.handles_.remove(*this);
  release();
}

void Handle::dispose() noexcept {
  FERMATA_ASSERT(phase_ != Phase::Closing);
  if (phase_ == Phase::Open) {
    close();
  } else {
    delete this;
  }
}

std::string Handle::info() const {
  std::string text = Event::info();
  if (!name_.empty()) text += fmt::format(" \"{}\"", name_.view());
  return text;
}

void Handle::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  std::string kind = to_string(this->kind());
  kind.front() = static_cast<char>(kind.front() - 'A' + 'a');
  facts.is(kind.c_str(), name_.view(), made_at());
}

}  // namespace fermata::backend

namespace fermata {

namespace detail {

std::vector<std::string> Attachment::close_all() {
  std::vector<std::string> left_open;
  backend::Handle* next = nullptr;
  for (backend::Handle* handle = handles_.first(); handle != nullptr; handle = next) {
    const auto keep = Ref<backend::Handle>::share(*handle);
    if (!handle->is_closed() && handle->made_at() != nullptr) {
      left_open.push_back("left open at the end of the run: " + handle->info_with_place());
    }
    handle->close();
    next = backend::Handle::OpenList::after(*handle);
  }
  return left_open;
}

void Attachment::describe_unclosed(std::vector<std::string>& lines) const {
  for (const backend::Handle* handle = handles_.first(); handle != nullptr;
       handle = backend::Handle::OpenList::after(*handle)) {
    lines.push_back("did not close at the end of the run: " + handle->info_with_place());
  }
}

}  // namespace detail

}  // namespace fermata
