// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of Unix sockets in the file system of a machine. Each is a file, which stays when its
// socket is closed, and after a crash as other files do; then nobody is behind it.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/net/network.hpp"

namespace fermata::sim::detail {

class Machine;
class Socket;

class UnixNames final : public LocalNames {
 public:
  UnixNames(Machine& machine, Network& network, Disk& disk);
  UnixNames(const UnixNames&) = delete;
  UnixNames& operator=(const UnixNames&) = delete;

  /// From now on relative paths begin at `directory`, and new names are not given what `mask` has.
  void look_from(Disk::Inode directory, mode_t mask) noexcept {
    directory_ = directory;
    mask_ = mask;
  }

  /// The file that is a socket's name, while the socket is open.
  struct Name {
    Disk::Inode file = 0;
    std::uint64_t life = 0;  // Of the disk.
  };
  /// Makes a name for `socket`, which has none yet if it `is_fresh`. Returns an errno value.
  [[nodiscard]] int bind(const std::string& path, Socket& socket, bool is_fresh, Name& name);
  void unbind(const Name& name);
  /// The socket of that name; null with an errno value in `code`.
  [[nodiscard]] Socket* find(const std::string& path, int& code) const;

  [[nodiscard]] Listening* listening_at(const std::string& path) const override;
  [[nodiscard]] bool is_bound(const std::string& path) const override;

 private:
  Machine& machine_;
  Network& network_;
  Disk& disk_;
  std::map<Disk::Inode, Socket*> bound_;
  Disk::Inode directory_ = Disk::kRoot;
  mode_t mask_ = 0;
};

}  // namespace fermata::sim::detail
