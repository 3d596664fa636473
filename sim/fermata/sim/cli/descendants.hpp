// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a test process leaves running that has also left its process group, such as a daemon: a
// signal to the group does not reach it. So the tool adopts it (PR_SET_CHILD_SUBREAPER, prctl(2))
// when its parent has ended, and ends it when the test process it is from has ended. Which one that
// is stands in its environment; one that has another environment is ended sooner, with the first
// test process that ends.
//
// Needs Linux with CONFIG_PROC_CHILDREN, as all distributions have it.

#include <sys/types.h>

#include <string>

namespace fermata::sim::cli {

/// From now on orphans are this process's children.
void become_subreaper() noexcept;

/// A test process, from its start to its end.
class Descendants {
 public:
  Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
  ~Descendants() { end(); }

  /// The variable for its environment: "NAME=VALUE".
  [[nodiscard]] const std::string& mark() const noexcept { return mark_; }
  /// It is this child of this process.
  void belong_to(pid_t process) noexcept { process_ = process; }
  /// It has ended, and been waited for: ends all orphans that are nobody's any more.
  void end() noexcept;

 private:
  std::string mark_;
  pid_t process_ = 0;
};

}  // namespace fermata::sim::cli
