// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moments of a machine's course that matter to whoever plans misfortune for it.

#include <cstdint>
#include <string_view>

namespace fermata::sim::detail {

enum class Occasion : std::uint8_t {
  Wait,           // its program begins to wait, or gives way
  Sync,           // a file has been synced
  DirectorySync,  // a directory has been synced
  Rename,         // a file or directory has another name
  Send,           // a message to another machine has been sent
  Mark,           // FERMATA_REACHABLE is reached, or FERMATA_SOMETIMES holds
};

/// Is told of the occasions of one machine.
class OccasionListener {
 public:
  /// `subject` is the path of what was synced or its new name, the machine that a message goes to,
  /// or the text of a mark; of a wait it is empty.
  virtual void came(Occasion occasion, std::string_view subject) = 0;

 protected:
  ~OccasionListener() = default;
};

}  // namespace fermata::sim::detail
