// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/file_event_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

std::string_view extension_of(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
}

std::string checked_extension(std::string_view extension) {
  std::string_view bare = extension;
  if (bare.starts_with('.')) bare.remove_prefix(1);
  const bool fits = !bare.empty() && bare.size() <= FileEventBuffer::kExtensionMax &&
                    bare.find_first_of("./") == std::string_view::npos;
  if (!fits) {
    throw UsageError(fmt::format(
        "watch: extension '{}': expected 1 to {} bytes, such as 'txt', without another dot",
        extension, FileEventBuffer::kExtensionMax));
  }
  return lower(bare);
}

void check_span(const char* option, const std::optional<Duration>& span) {
  if (span && *span < Duration::zero()) {
    throw UsageError(fmt::format("watch: {} of {} ns: expected 0 or more", option, span->count()));
  }
}

}  // namespace

FileEventBuffer::FileEventBuffer(const FileWatcherOptions& options)
    : coalesce_(options.coalesce), debounce_(options.debounce), max_hold_(options.max_hold) {
  check_span("debounce", debounce_);
  check_span("max_hold", max_hold_);
  if (max_hold_ && !debounce_) {
    throw UsageError("watch: max_hold without debounce: expected both, or none");
  }
  if (max_hold_ && *max_hold_ < *debounce_) {
    throw UsageError(fmt::format("watch: max_hold of {} ns: expected at least the debounce, {} ns",
                                 max_hold_->count(), debounce_->count()));
  }
  for (const std::string& each : options.extensions) {
    extensions_.push_back(checked_extension(each));
  }
}

bool FileEventBuffer::passes(const std::string& name) const {
  if (extensions_.empty() || name.empty()) return true;
  const std::string extension = lower(extension_of(name));
  return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
}

void FileEventBuffer::add(const FileEvent& event, Instant now) {
  if (!passes(event.name)) return;
  if (debounce_) {
    if (!any(held_)) first_ = now;
    held_ |= event.change;
    last_ = now;
  } else if (!coalesce_) {
    events_.push_back(event);
  } else {
    const auto [entry, is_new] = by_name_.try_emplace(event.name, event.change);
    entry->second |= event.change;
    if (is_new) order_.push_back(event.name);
  }
}

Instant FileEventBuffer::due() const noexcept {
  if (empty()) return Instant::never();
  if (!debounce_) return {};
  const Instant quiet = last_ + *debounce_;
  return max_hold_ ? std::min(quiet, first_ + *max_hold_) : quiet;
}

FileEvent FileEventBuffer::take() {
  FERMATA_ASSERT(!empty());
  if (debounce_) return {std::exchange(held_, FileChange::None), {}};
  FileEvent taken;
  if (coalesce_) {
    taken.name = std::move(order_.front());
    order_.pop_front();
    FERMATA_ASSERT(by_name_.size() == order_.size() + 1);
    taken.change = by_name_.extract(taken.name).mapped();
  } else {
    taken = std::move(events_.front());
    events_.pop_front();
  }
  return taken;
}

}  // namespace fermata::detail
