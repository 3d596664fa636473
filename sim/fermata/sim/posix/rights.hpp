// SPDX-License-Identifier: Apache-2.0
#pragma once

// Descriptors in messages between Unix sockets: SCM_RIGHTS.

#include <sys/socket.h>

#include <memory>
#include <vector>

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

class DescriptorTable;

/// What the descriptors of a message refer to, while it is under way.
struct Rights {
  std::vector<std::shared_ptr<Description>> descriptions;
};

/// The rights of all messages that are under way in a machine.
class RightsUnderWay {
 public:
  void add(const std::shared_ptr<Rights>& rights);
  /// The processes have ended: sockets that are under way through themselves are closed as well.
  void drop_all();

 private:
  std::vector<std::weak_ptr<Rights>> all_;
};

/// What the control data of a message that is sent ask for: 0, or a negative errno. Null in
/// `rights` when it carries no descriptors. `own` is the number of the process.
[[nodiscard]] int read_rights(const msghdr& message, const DescriptorTable& table, pid_t own,
                              std::shared_ptr<Rights>& rights);

/// Opens what a message has brought, as far as the receiver has room, and writes its control data.
/// `flags` are those of recvmsg(). Null: it has brought nothing.
void hand_over(const Rights* rights, DescriptorTable& table, msghdr& message, int flags);

}  // namespace fermata::sim::detail
