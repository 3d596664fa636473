// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that appear whole, under a name that nobody takes from them. All calls suspend, and throw
// InputOutputError.

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/sim/fleet/plan_folder.hpp"

namespace fermata::sim::fleet {

enum class Publication : std::uint8_t {
  New,
  Same,       // The name had these very bytes.
  Different,  // The name has other bytes, and keeps them.
};

class Publisher {
 public:
  /// `writer` names this worker, and no other of the plan. `folder` must outlive this.
  Publisher(const PlanFolder& folder, std::string writer)
      : folder_(folder), writer_(std::move(writer)) {}

  [[nodiscard]] const std::string& writer() const noexcept { return writer_; }

  /// Gives the file `name` of `directory` the content `bytes`, unless there is such a file. What
  /// it says of the name is durable when it returns.
  Publication publish(const std::string& directory, const std::string& name,
                      std::string_view bytes);

  /// Makes the file `path`, unless there is one; not durable. Returns whether it did.
  bool take_name(const std::string& path, std::string_view bytes);

  /// Replaces the file `path`; not durable.
  void replace(const std::string& path, std::string_view bytes);

 private:
  [[nodiscard]] std::string fresh_name();

  const PlanFolder& folder_;
  std::string writer_;
  std::uint64_t files_ = 0;
};

/// Makes `name` a second name of the file `own`, which has one. Returns whether it did. The link
/// count says so, not the answer to the call: when an answer is lost, NFS tells EEXIST of a link
/// that it has made.
bool link_once(const std::string& own, const std::string& name);

/// Removes a file, which may have vanished.
void remove_file(const std::string& path);

/// Makes a folder, unless there is one.
void make_folder(const std::string& path);

/// Whether there is something at `path`.
[[nodiscard]] bool exists(const std::string& path);

}  // namespace fermata::sim::fleet
