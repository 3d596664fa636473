// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/unix_names.hpp"

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/unix_socket.hpp"

namespace fermata::sim::detail {

UnixNames::UnixNames(Machine& machine, Network& network, Disk& disk)
    : machine_(machine), network_(network), disk_(disk) {}

// The system makes the file before it looks at the socket.
int UnixNames::bind(const std::string& path, Socket& socket, bool is_fresh, Name& name) {
  constexpr mode_t kAll = 0777;
  if (network_.is_bound(machine_, path)) return EADDRINUSE;
  const DiskPath place(path, directory_);
  Disk::Inode file = 0;
  disk_.set_time(machine_.clock().wall(machine_.now()));
  const int code = disk_.make_socket(place, kAll & ~mask_, file);
  if (code != 0) return code == EEXIST ? EADDRINUSE : code;
  if (!is_fresh) {
    disk_.remove(place);
    return EINVAL;
  }
  disk_.share(file);
  name = {file, disk_.life()};
  bound_.emplace(file, &socket);
  return 0;
}

void UnixNames::unbind(const Name& name) {
  const std::size_t erased = bound_.erase(name.file);
  FERMATA_ASSERT(erased == 1);
  if (name.life == disk_.life()) disk_.release(name.file);
}

Socket* UnixNames::find(const std::string& path, int& code) const {
  Disk::Inode file = 0;
  code = disk_.find({path, directory_}, file);
  if (code != 0) return nullptr;
  code = ECONNREFUSED;
  const auto found = bound_.find(file);
  if (found == bound_.end()) return nullptr;
  FERMATA_ASSERT(disk_.attributes(file).type == FileType::Other);
  code = 0;
  return found->second;
}

Listening* UnixNames::listening_at(const std::string& path) const {
  int code = 0;
  auto* const socket = dynamic_cast<UnixSocket*>(find(path, code));
  return socket != nullptr && socket->takes_connections() ? socket : nullptr;
}

bool UnixNames::is_bound(const std::string& path) const {
  int code = 0;
  return find(path, code) != nullptr;
}

}  // namespace fermata::sim::detail
