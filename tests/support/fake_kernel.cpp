// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_kernel.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "tests/support/fake_calls.hpp"

namespace fermata::test {

FakeKernel::FakeKernel(std::vector<std::uint8_t> answers, FakeKernelOptions options)
    : answers_(std::move(answers)), options_(options), replaced_(FakeCalls::table(*this)) {}

FakeKernel::~FakeKernel() { FakeCalls::leave(*this); }

// --- numbers ---

FakeKernel::File FakeKernel::make(FakeKind kind) {
  auto file = std::make_shared<FakeFile>();
  file->identity = ++identities_;
  file->kind = kind;
  return file;
}

int FakeKernel::give(File file) {
  int number = kFirstNumber;
  while (files_.contains(number)) ++number;
  files_.emplace(number, std::move(file));
  return number;
}

int FakeKernel::open() { return give(make(FakeKind::Socket)); }

int FakeKernel::duplicate(int number) {
  FERMATA_ASSERT(files_.contains(number));
  return give(file(number));
}

void FakeKernel::close(int number) {
  const auto found = files_.find(number);
  FERMATA_ASSERT(found != files_.end());
  const File file = found->second;
  files_.erase(found);
  forget(file);
}

/// Once no number means it any more.
void FakeKernel::forget(const File& file) {
  for (const auto& [number, other] : files_) {
    if (other == file) return;
  }
  for (const auto& [number, other] : files_) {
    std::erase_if(other->interests, [&](const auto& each) { return each.second.file == file; });
  }
}

FakeKernel::File FakeKernel::file(int number) const {
  const auto found = files_.find(number);
  return found != files_.end() ? found->second : nullptr;
}

FakeKernel::File FakeKernel::connect_to(int listener, std::size_t room) {
  File connection = make(FakeKind::Socket);
  connection->connected = true;
  connection->room = room;
  file(listener)->pending.push_back(connection);
  return connection;
}

std::uint32_t FakeKernel::ready_of(const FakeFile& file) const {
  switch (file.kind) {
    case FakeKind::Socket: {
      const bool readable = !file.incoming.empty() || file.ended;
      const bool writable = file.connected && file.room > 0;
      return file.ready | (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);
    }
    case FakeKind::Listener:
      return file.pending.empty() ? 0u : EPOLLIN;
    case FakeKind::Counter:
      return EPOLLOUT | (file.count > 0 ? EPOLLIN : 0u);
    case FakeKind::Epoll:
      return found_of(interests_of(file)).empty() ? 0u : EPOLLIN;
  }
  return 0;
}

// --- waits ---

std::vector<FakeKernel::Asked> FakeKernel::interests_of(const FakeFile& epoll) const {
  std::vector<Asked> all;
  for (const auto& [key, interest] : epoll.interests) {
    all.push_back({key.second, interest.file, interest.events, interest.data});
  }
  return all;
}

void FakeKernel::note(const Asked& asked) {
  if (asked.file == nullptr || file(asked.number) != asked.file) return;
  asked_[asked.number] |= asked.events;
  if (asked.file->kind != FakeKind::Epoll) return;
  for (const Asked& inside : interests_of(*asked.file)) note(inside);
}

std::vector<FakeKernel::Asked> FakeKernel::found_of(std::vector<Asked> asked) const {
  for (Asked& each : asked) {
    each.found = each.file != nullptr ? ready_of(*each.file) & (each.events | each.always)
                                      : std::uint32_t{POLLNVAL};
  }
  std::erase_if(asked, [](const Asked& each) { return each.found == 0; });
  return asked;
}

std::vector<FakeKernel::Asked> FakeKernel::batch_of(std::vector<Asked> found, std::size_t room) {
  const auto first = static_cast<std::ptrdiff_t>(answers_.below(found.size()));
  std::rotate(found.begin(), found.begin() + first, found.end());
  found.resize(std::min(room, found.size() - answers_.below(found.size())));
  return found;
}

std::vector<FakeKernel::Asked> FakeKernel::seemingly_ready(std::vector<Asked> asked) {
  std::erase_if(asked, [&](const Asked& each) {
    return each.file == nullptr || each.file->kind != FakeKind::Socket ||
           (each.events & options_.spurious) == 0;
  });
  if (asked.empty() || !answers_.once_in(8)) return {};
  Asked one = asked[answers_.below(asked.size())];
  one.found = one.events & options_.spurious;
  return {one};
}

Instant FakeKernel::next_happening() const {
  return happenings_.empty() ? Instant::never() : happenings_.begin()->first;
}

void FakeKernel::pass_until(Instant when) {
  now_ = std::max(now_, when);
  while (next_happening() <= now_) {
    const auto what = std::move(happenings_.begin()->second);
    happenings_.erase(happenings_.begin());
    what();
  }
}

/// Somewhere on the way, or at once, as when something is ready.
bool FakeKernel::interrupts(const Asking& asking, Instant wake_by) {
  if (!answers_.once_in(8)) return false;
  const Instant end = std::min(wake_by, next_happening());
  if (found_of(asking()).empty() && end > now_ && end != Instant::never()) {
    pass_until(now_ + (end - now_) * static_cast<std::int64_t>(answers_.below(4)) / 4);
  }
  errno = EINTR;
  return true;
}

bool FakeKernel::has_patience(Instant next) {
  if (next != Instant::never() && waits_ <= options_.waits_max) return true;
  lost_patience_ = true;
  errno = EDEADLK;
  return false;
}

std::optional<std::vector<FakeKernel::Asked>> FakeKernel::wait_for(const Asking& asking,
                                                                   Instant wake_by,
                                                                   std::size_t room) {
  ++waits_;
  if (!has_patience(now_)) return std::nullopt;
  asked_.clear();
  for (const Asked& each : asking()) note(each);
  if (interrupts(asking, wake_by)) return std::nullopt;
  pass_until(now_);
  std::vector<Asked> found = seemingly_ready(asking());
  while (found.empty()) {
    found = found_of(asking());
    if (!found.empty() || wake_by <= now_) break;
    const Instant next = std::min(wake_by, next_happening());
    if (!has_patience(next)) return std::nullopt;
    pass_until(next);
  }
  if (found.empty()) return found;
  found = batch_of(std::move(found), room);
  if (on_found) {
    for (const Asked& each : found) on_found(each.number);
  }
  return found;
}

}  // namespace fermata::test
