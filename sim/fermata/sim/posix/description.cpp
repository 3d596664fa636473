// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/description.hpp"

#include <algorithm>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

Description::Description(Machine& machine, const char* kind, std::uint64_t serial)
    : machine_(machine),
      kind_(kind),
      serial_(serial),
      key_(key_of(key_of(machine.key(), "descriptor file"), serial)) {}

Description::~Description() {
  while (!watchers_.empty()) {
    DescriptionWatcher& last = *watchers_.back();
    watchers_.pop_back();
    last.gone(*this);
  }
}

void Description::add(DescriptionWatcher& watcher) {
  watchers_.push_back(&watcher);
  if (watchers_.size() == 1) watched(true);
}

void Description::remove(const DescriptionWatcher& watcher) noexcept {
  const auto found = std::find(watchers_.begin(), watchers_.end(), &watcher);
  FERMATA_ASSERT(found != watchers_.end());
  watchers_.erase(found);
  if (watchers_.empty()) watched(false);
}

// Whoever looks may go, or come.
void Description::changed(Readiness news) {
  for (std::size_t i = 0; i < watchers_.size(); ++i) watchers_[i]->look(news);
}

std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t size = 0;
  for (const iovec& each : pieces) size += each.iov_len;
  return size;
}

void scatter(std::span<const std::byte> bytes, std::span<const iovec> pieces) noexcept {
  for (const iovec& each : pieces) {
    const std::size_t part = std::min(each.iov_len, bytes.size());
    if (part > 0) std::memcpy(each.iov_base, bytes.data(), part);
    bytes = bytes.subspan(part);
  }
  FERMATA_ASSERT(bytes.empty());
}

void drop_front(std::vector<iovec>& pieces, std::size_t bytes) noexcept {
  auto first = pieces.begin();
  while (first != pieces.end() && first->iov_len <= bytes) bytes -= (first++)->iov_len;
  if (bytes > 0) {
    FERMATA_ASSERT(first != pieces.end());
    first->iov_base = static_cast<std::byte*>(first->iov_base) + bytes;
    first->iov_len -= bytes;
  }
  pieces.erase(pieces.begin(), first);
}

std::vector<std::byte> gather(std::span<const iovec> pieces) {
  std::vector<std::byte> bytes;
  bytes.reserve(size_of(pieces));
  for (const iovec& each : pieces) {
    const auto* const begin = static_cast<const std::byte*>(each.iov_base);
    bytes.insert(bytes.end(), begin, begin + each.iov_len);
  }
  return bytes;
}

}  // namespace fermata::sim::detail
