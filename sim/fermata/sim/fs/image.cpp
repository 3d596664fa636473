// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim {

std::size_t FileImage::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  if (offset >= seen_.size()) return 0;
  const std::size_t size = std::min<std::size_t>(to.size(), seen_.size() - offset);
  if (size > 0) std::memcpy(to.data(), seen_.data() + offset, size);
  return size;
}

void FileImage::write(std::uint64_t offset, std::span<const std::byte> bytes, bool is_cut) {
  if (bytes.empty()) return;
  apply(seen_, offset, bytes);
  FERMATA_ASSERT(seen_.size() >= offset + bytes.size());
  changes_.push_back({.offset = offset, .bytes = {bytes.begin(), bytes.end()}, .is_cut = is_cut});
}

void FileImage::resize(std::uint64_t size) {
  if (size == seen_.size()) return;
  seen_.resize(size);
  changes_.push_back({.offset = size, .bytes = {}, .resizes = true});
}

void FileImage::apply(Bytes& to, std::uint64_t offset, std::span<const std::byte> bytes) {
  FERMATA_ASSERT(offset + bytes.size() >= offset);
  if (offset + bytes.size() > to.size()) to.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(offset));
}

void FileImage::sync() {
  for (const Change& change : std::exchange(changes_, {})) {
    if (change.resizes) {
      durable_.resize(change.offset);
    } else {
      apply(durable_, change.offset, change.bytes);
    }
  }
}

void FileImage::forget_seen() noexcept {
  seen_ = {};
  changes_.clear();
}

std::string FileImage::Change::text(const std::string& name) const {
  FERMATA_ASSERT(resizes == bytes.empty());
  if (resizes)
    return fmt::format("the change of the size of '{}' to {}", name, counted(offset, "byte"));
  return fmt::format("the write of {} to '{}'", counted(bytes.size(), "byte"), name);
}

std::size_t FileImage::shared_bytes(const Change& before, const Change& change) noexcept {
  constexpr std::uint64_t kSector = 512;
  const std::uint64_t end = before.offset + before.bytes.size();
  if (!before.is_cut || change.resizes || change.offset != end) return 0;
  const std::uint64_t rest = (kSector - end % kSector) % kSector;
  return std::min<std::size_t>(change.bytes.size(), rest);
}

bool FileImage::drop_first(Change& change, std::size_t count) {
  if (count == 0) return true;
  FERMATA_ASSERT(!change.resizes);
  const std::size_t dropped = std::min(count, change.bytes.size());
  change.offset += dropped;
  change.bytes.erase(change.bytes.begin(),
                     change.bytes.begin() + static_cast<std::ptrdiff_t>(dropped));
  return !change.bytes.empty();
}

void FileImage::crash(const CrashDraw& draw, std::uint64_t key, CrashListener* listener,
                      const std::string& name) {
  enum Fate : std::uint64_t { Kept, Lost, Torn };
  std::vector<Change> survivors;
  std::size_t gone = 0;  // How many first bytes of a change go with the write that it continues.
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    Change& change = changes_[i];
    const std::size_t size = change.bytes.size();
    const std::size_t shared = i + 1 < changes_.size() ? shared_bytes(change, changes_[i + 1]) : 0;
    const std::uint64_t fate = draw(key_of(key, "fate"), size > 1 ? 3 : 2);
    const std::uint64_t told = listener != nullptr ? listener->last_told() : 0;
    const bool is_whole = fate == Kept && (size == 0 || gone < size);
    const std::size_t gone_before = std::exchange(gone, is_whole ? 0 : shared);
    if (told != 0 && fate == Lost)
      listener->tell(told, change.text(name) + listener->place() + " is lost");
    if (fate == Lost) continue;
    if (fate == Torn && size > 1) {
      const std::string text = told != 0 ? change.text(name) + listener->place() : std::string();
      change.bytes.resize(size > 2 ? 1 + draw(key_of(key, "torn"), size - 1) : 1);
      FERMATA_ASSERT(change.bytes.size() < size);
      if (told != 0) {
        if (size > 2 && listener->last_told() != 0) listener->tell(listener->last_told(), {});
        listener->tell(told, fmt::format("{} is torn and keeps {}", text,
                                         part_of_bytes(change.bytes.size(), size)));
      }
    }
    if (drop_first(change, gone_before)) survivors.push_back(std::move(change));
  }
  changes_ = std::move(survivors);
  sync();
  seen_ = durable_;
}

}  // namespace fermata::sim
