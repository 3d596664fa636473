// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/descriptor_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/descriptors.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t kTableKey = key_of("descriptors");

}  // namespace

// --- a file ---

PollMask DescriptorFile::readiness(PollMask wanted) const noexcept {
  constexpr PollMask kBoth = PollMask::Readable | PollMask::Writable;
  FERMATA_ASSERT(kind != Kind::Regular);
  if (kind == Kind::Refused) return (wanted & kBoth) | PollMask::Disconnect;
  const bool input_ended = peer == nullptr || peer->shut || broken;
  const bool hung_up = peer == nullptr || broken || (shut && input_ended);
  PollMask ready = PollMask::None;
  if (input.unread() > 0 || input_ended || error != 0) ready |= PollMask::Readable;
  if (hung_up || shut || peer->input.room() > 0) ready |= PollMask::Writable;
  if (input_ended) ready |= PollMask::Disconnect;
  ready = ready & wanted;
  return hung_up || error != 0 ? ready | PollMask::Disconnect : ready;
}

std::string DescriptorFile::state() const {
  if (kind != Kind::Stream) return kind == Kind::Refused ? "refused" : "a regular file";
  if (peer == nullptr) return "its other end is closed";
  return fmt::format("{} bytes to read, room for {} in its other end, descriptor {}",
                     input.unread(), peer->input.room(), peer->number);
}

// --- the table ---

DescriptorFile* DescriptorTable::find(int descriptor) const noexcept {
  if (descriptor < backend::kFirstSimulatedDescriptor) return nullptr;
  const auto index = static_cast<std::size_t>(descriptor - backend::kFirstSimulatedDescriptor);
  return index < files_.size() ? files_[index].get() : nullptr;
}

void DescriptorTable::looks_at(const DescriptorFile& file) const {
  machine_.announced(key_of(key_of(machine_.key(), kTableKey), file.key), false);
}

// Both ends of a pair are one thing that coroutines share.
DescriptorFile* DescriptorTable::use(int descriptor) {
  DescriptorFile* const file = find(descriptor);
  if (file == nullptr) return nullptr;
  const std::uint64_t table = key_of(machine_.key(), kTableKey);
  machine_.announced(key_of(table, file->key), true);
  if (file->peer != nullptr) machine_.announced(key_of(table, file->peer->key), true);
  return file;
}

void DescriptorTable::require_room(const char* operation, const char* what) {
  machine_.announced(key_of(machine_.key(), kTableKey), true);
  if (exhausted_ || out_of_descriptors(machine_, backend::RandomStream::Network, what)) {
    throw InputOutputError(operation, EMFILE);
  }
}

DescriptorFile& DescriptorTable::open(DescriptorFile::Kind kind, const SourcePlace& place) {
  while (lowest_free_ < files_.size() && files_[lowest_free_] != nullptr) ++lowest_free_;
  if (lowest_free_ == files_.size()) files_.emplace_back();
  FERMATA_ASSERT(lowest_free_ < files_.size());
  auto& file = files_[lowest_free_] = std::make_unique<DescriptorFile>();
  file->kind = kind;
  file->number = backend::kFirstSimulatedDescriptor + static_cast<int>(lowest_free_);
  file->serial = ++files_made_;
  file->key = key_of(key_of(machine_.key(), "descriptor file"), file->serial);
  file->made_at = place;
  FERMATA_ASSERT(find(file->number) == file.get());
  return *file;
}

DescriptorPair DescriptorTable::open_pair(const SourcePlace& place) {
  require_room("open a pair of descriptors", "pair of descriptors");
  DescriptorFile& first = open(DescriptorFile::Kind::Stream, place);
  DescriptorFile& second = open(DescriptorFile::Kind::Stream, place);
  first.peer = &second;
  second.peer = &first;
  FERMATA_ASSERT(first.number != second.number);
  FERMATA_ASSERT(first.peer->peer == &first);
  return {first.number, second.number};
}

int DescriptorTable::open_refused(const SourcePlace& place) {
  require_room("open a descriptor that is refused", "refused descriptor");
  DescriptorFile& file = open(DescriptorFile::Kind::Refused, place);
  file.error = ECONNREFUSED;
  return file.number;
}

int DescriptorTable::open_file(const SourcePlace& place) {
  require_room("open a file", "file without a name");
  return open(DescriptorFile::Kind::Regular, place).number;
}

int DescriptorTable::close(int descriptor) {
  machine_.announced(key_of(machine_.key(), kTableKey), true);
  DescriptorFile* const file = use(descriptor);
  if (file == nullptr) return EBADF;
  const auto index = static_cast<std::size_t>(descriptor - backend::kFirstSimulatedDescriptor);
  const auto closed = std::move(files_[index]);
  lowest_free_ = std::min(lowest_free_, index);
  if (DescriptorFile* const peer = closed->peer) {
    FERMATA_ASSERT(peer->peer == closed.get());
    peer->peer = nullptr;
    if (closed->input.unread() > 0) peer->error = ECONNRESET;
    changed(peer);
  }
  changed(closed.get());
  return 0;
}

bool DescriptorTable::is_open(int descriptor) const noexcept { return find(descriptor) != nullptr; }

void DescriptorTable::end_run(std::vector<std::string>& leaks) {
  for (const auto& file : files_) {
    if (file == nullptr) continue;
    leaks.push_back(fmt::format("left open at the end of the run: descriptor {}, made at {}:{}",
                                file->number, file->made_at.file, file->made_at.line));
  }
  files_.clear();
  lowest_free_ = 0;
  files_made_ = 0;
  exhausted_ = false;
}

// --- faults ---

bool DescriptorTable::strikes(Fault fault, const DescriptorFile& file, const char* draw,
                              const char* does) {
  const auto tell = [&](const Decision&) { return text(file, does); };
  return machine_.faults().strikes(fault, backend::RandomStream::Network, key_of(file.key, draw),
                                   tell);
}

std::string DescriptorTable::text(const DescriptorFile& file, const char* does) const {
  return fmt::format(fmt::runtime(does),
                     fmt::format("descriptor {} of '{}'", file.number, machine_.name()));
}

std::size_t DescriptorTable::drawn_read(const DescriptorFile& file, std::size_t whole) {
  if (whole < 2) return whole;
  const auto tell = [&](const Decision& decision) {
    return text(file, "a read of {} gives ") + part_of_bytes(decision.value, whole);
  };
  const std::uint64_t drawn =
      machine_.faults().strength(Fault::ShortRead, backend::RandomStream::Network,
                                 key_of(file.key, "short read"), whole, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn);
}

std::size_t DescriptorTable::drawn_write(const DescriptorFile& file, std::size_t whole) {
  if (whole == 0) return 0;
  const auto tell = [&](const Decision& decision) {
    const std::size_t part = decision.value - 1;
    if (part == 0) return text(file, "a write to {} has to wait");
    return text(file, "a write to {} takes ") + part_of_bytes(part, whole);
  };
  const std::uint64_t drawn =
      machine_.faults().strength(Fault::ShortWrite, backend::RandomStream::Network,
                                 key_of(file.key, "short write"), whole + 1, tell);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn - 1);
}

void DescriptorTable::break_down(DescriptorFile& file) {
  FERMATA_ASSERT(file.peer != nullptr);
  FERMATA_ASSERT(!file.broken);
  for (DescriptorFile* const end : {&file, file.peer}) {
    end->broken = true;
    end->error = ECONNRESET;
    end->input.consume(end->input.unread());
    changed(end);
  }
}

// --- reading and writing ---

void DescriptorTable::changed(const DescriptorFile* file) const {
  if (file != nullptr && file->watcher != nullptr) file->watcher->look();
}

DescriptorTransfer DescriptorTable::read(int descriptor, std::span<std::byte> buffer) {
  DescriptorFile* const file = use(descriptor);
  if (file == nullptr) return {0, EBADF};
  if (file->kind == DescriptorFile::Kind::Regular)
    return {};  // It is read behind what was written.
  if (strikes(Fault::Interrupted, *file, "interrupted read", "a read of {} is interrupted"))
    return {0, EINTR};
  const std::span<const std::byte> unread = file->input.peek();
  if (unread.empty()) {
    if (const int code = std::exchange(file->error, 0)) return {0, code};
    const bool open = file->peer != nullptr && !file->peer->shut && !file->broken;
    return {0, open ? EAGAIN : 0};
  }
  const std::size_t whole = std::min(buffer.size(), unread.size());
  const std::size_t part = drawn_read(*file, whole);
  FERMATA_ASSERT(part <= whole);
  if (part > 0) std::memcpy(buffer.data(), unread.data(), part);
  file->input.consume(part);
  changed(file->peer);
  return {part, 0};
}

DescriptorTransfer DescriptorTable::write(int descriptor, std::span<const std::byte> data) {
  DescriptorFile* const file = use(descriptor);
  if (file == nullptr) return {0, EBADF};
  if (file->kind == DescriptorFile::Kind::Regular) return {data.size(), 0};
  if (strikes(Fault::Interrupted, *file, "interrupted write", "a write to {} is interrupted"))
    return {0, EINTR};
  if (file->kind == DescriptorFile::Kind::Stream && !file->shut && file->peer != nullptr) {
    if (!file->broken && strikes(Fault::Reset, *file, "reset", "{} is reset")) break_down(*file);
    if (!file->broken) return write_stream(*file, data);
  }
  const bool tells_error = file->broken || file->kind == DescriptorFile::Kind::Refused;
  const int code = tells_error ? std::exchange(file->error, 0) : 0;
  return {0, code != 0 ? code : EPIPE};
}

DescriptorTransfer DescriptorTable::write_stream(DescriptorFile& file,
                                                 std::span<const std::byte> data) {
  FERMATA_ASSERT(file.peer != nullptr);
  FERMATA_ASSERT(!file.shut);
  DescriptorFile& there = *file.peer;
  const std::size_t whole = std::min(data.size(), there.input.room());
  const std::size_t part = drawn_write(file, whole);
  FERMATA_ASSERT(part <= whole);
  if (part == 0) return {0, data.empty() ? 0 : EAGAIN};
  there.input.send(data.first(part), machine_.now());
  there.input.arrive(machine_.now());
  FERMATA_ASSERT(there.input.under_way() == 0);
  changed(&there);
  return {part, 0};
}

int DescriptorTable::shut_down_writing(int descriptor) {
  DescriptorFile* const file = use(descriptor);
  if (file == nullptr) return EBADF;
  if (file->kind == DescriptorFile::Kind::Regular) return ENOTSOCK;
  if (file->kind == DescriptorFile::Kind::Refused) return ENOTCONN;
  file->shut = true;
  changed(file);
  changed(file->peer);
  return 0;
}

int DescriptorTable::take_error(int descriptor) {
  DescriptorFile* const file = use(descriptor);
  if (file == nullptr) return EBADF;
  if (file->kind == DescriptorFile::Kind::Regular) return ENOTSOCK;
  return std::exchange(file->error, 0);
}

}  // namespace fermata::sim::detail
