// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/descriptor_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/descriptors.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/console.hpp"

namespace fermata::sim::detail {

namespace {
constexpr std::uint64_t kTableKey = key_of("descriptors");
constexpr int kFirstFree = 3;  // Behind the standard streams.
}  // namespace

DescriptorTable::DescriptorTable(Machine& machine) : machine_(machine) { open_standard_streams(); }

Description* DescriptorTable::find(int descriptor) const noexcept {
  is_used_ = true;
  const auto index = static_cast<std::size_t>(descriptor);
  return descriptor >= 0 && index < entries_.size() ? entries_[index].description.get() : nullptr;
}

void DescriptorTable::looks_at(const Description& description) const {
  machine_.announced(key_of(key_of(machine_.key(), kTableKey), description.key()), false);
}

Description* DescriptorTable::use(int descriptor) const {
  Description* const found = find(descriptor);
  if (found == nullptr) return nullptr;
  machine_.announced(key_of(key_of(machine_.key(), kTableKey), found->key()), true);
  return found;
}

const DescriptorTable::Entry& DescriptorTable::entry(int descriptor) const noexcept {
  FERMATA_ASSERT(find(descriptor) != nullptr);
  return entries_[static_cast<std::size_t>(descriptor)];
}

DescriptorTable::Entry& DescriptorTable::entry(int descriptor) noexcept {
  return const_cast<Entry&>(std::as_const(*this).entry(descriptor));
}

bool DescriptorTable::is_full(const char* what) {
  machine_.announced(key_of(machine_.key(), kTableKey), true);
  return exhausted_ || out_of_descriptors(machine_, backend::RandomStream::Network, what);
}

void DescriptorTable::open_standard_streams() {
  FERMATA_ASSERT(entries_.empty());
  for (int descriptor = 0; descriptor < kFirstFree; ++descriptor) {
    entries_.push_back({.description = std::make_shared<Console>(machine_, descriptor)});
  }
}

std::size_t DescriptorTable::limit() const noexcept {
  return most_ == nullptr ? kLimit : std::min<std::size_t>(*most_, kLimit);
}

int DescriptorTable::open(Entry entry, int least) {
  FERMATA_ASSERT(entry.description != nullptr);
  is_used_ = true;
  machine_.announced(key_of(machine_.key(), kTableKey), true);
  auto index = static_cast<std::size_t>(least);
  while (index < entries_.size() && entries_[index].description != nullptr) ++index;
  if (index >= limit()) return -EMFILE;
  if (index >= entries_.size()) entries_.resize(index + 1);
  entries_[index] = std::move(entry);
  return static_cast<int>(index);
}

int DescriptorTable::open_as(int descriptor, Entry entry) {
  is_used_ = true;
  const auto index = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || index >= limit()) return EBADF;
  if (index >= entries_.size()) entries_.resize(index + 1);
  const Entry closed = std::exchange(entries_[index], std::move(entry));
  return 0;
}

int DescriptorTable::close(int descriptor) {
  machine_.announced(key_of(machine_.key(), kTableKey), true);
  if (use(descriptor) == nullptr) return EBADF;
  const Entry closed = std::exchange(entries_[static_cast<std::size_t>(descriptor)], {});
  return 0;
}

void DescriptorTable::end_run(std::vector<std::string>& leaks) {
  if (!std::exchange(is_used_, false)) return;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].owner != Owner::Program) continue;
    leaks.push_back(fmt::format("left open at the end of the run: descriptor {}, made at {}:{}", i,
                                entries_[i].made_at.file, entries_[i].made_at.line));
  }
  entries_.clear();
  descriptions_made_ = 0;
  exhausted_ = false;
  open_standard_streams();
}

}  // namespace fermata::sim::detail
