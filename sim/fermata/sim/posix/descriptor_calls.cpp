// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/descriptor_calls.hpp"

#include <memory>

#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/pair_end.hpp"

namespace fermata::sim::detail {

namespace {

DescriptorTransfer transfer_of(ssize_t result) noexcept {
  if (result < 0) return {0, static_cast<int>(-result)};
  return {static_cast<std::size_t>(result), 0};
}

}  // namespace

void SimDescriptorCalls::require_room(const char* operation, const char* what) {
  if (table_.is_full(what)) throw InputOutputError(operation, EMFILE);
}

template <class File>
File& SimDescriptorCalls::open(const SourcePlace& place, int& descriptor) {
  auto file = std::make_shared<File>(machine_, table_.next_serial());
  File& opened = *file;
  descriptor = table_.open(
      {.description = std::move(file), .owner = DescriptorTable::Owner::Program, .made_at = place});
  if (descriptor < 0) throw InputOutputError("open a descriptor", -descriptor);
  return opened;
}

DescriptorPair SimDescriptorCalls::open_pair(const SourcePlace& place) {
  require_room("open a pair of descriptors", "pair of descriptors");
  DescriptorPair ends;
  PairEnd& first = open<PairEnd>(place, ends.first);
  PairEnd& second = open<PairEnd>(place, ends.second);
  first.join(second, ends.first, ends.second);
  second.join(first, ends.second, ends.first);
  return ends;
}

int SimDescriptorCalls::open_refused(const SourcePlace& place) {
  require_room("open a descriptor that is refused", "refused descriptor");
  int descriptor = -1;
  open<RefusedFile>(place, descriptor);
  return descriptor;
}

int SimDescriptorCalls::open_file(const SourcePlace& place) {
  require_room("open a file", "file without a name");
  int descriptor = -1;
  open<RegularFile>(place, descriptor);
  return descriptor;
}

DescriptorTransfer SimDescriptorCalls::read(int descriptor, std::span<std::byte> buffer) {
  Description* const file = table_.use(descriptor);
  if (file == nullptr) return {0, EBADF};
  const iovec target = {buffer.data(), buffer.size()};
  return transfer_of(file->read({&target, 1}));
}

DescriptorTransfer SimDescriptorCalls::write(int descriptor, std::span<const std::byte> data) {
  Description* const file = table_.use(descriptor);
  if (file == nullptr) return {0, EBADF};
  const iovec source = {const_cast<std::byte*>(data.data()), data.size()};
  return transfer_of(file->write({&source, 1}));
}

int SimDescriptorCalls::shut_down_writing(int descriptor) {
  Description* const file = table_.use(descriptor);
  if (file == nullptr) return EBADF;
  if (Socket* const socket = file->as_socket()) return -socket->shut_down(SHUT_WR);
  if (auto* const end = dynamic_cast<PairEnd*>(file)) {
    end->shut();
    return 0;
  }
  return dynamic_cast<RefusedFile*>(file) != nullptr ? ENOTCONN : ENOTSOCK;
}

int SimDescriptorCalls::take_error(int descriptor) {
  Description* const file = table_.use(descriptor);
  if (file == nullptr) return EBADF;
  if (Socket* const socket = file->as_socket()) return socket->take_error();
  if (auto* const end = dynamic_cast<PairEnd*>(file)) return end->take_error();
  if (auto* const refused = dynamic_cast<RefusedFile*>(file)) return refused->take_error();
  return ENOTSOCK;
}

}  // namespace fermata::sim::detail
