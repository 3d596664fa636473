// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/plan_folder.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/fleet/publisher.hpp"

namespace fermata::sim::fleet {

namespace {
constexpr unsigned kResultFolders = 16;
}  // namespace

std::string PlanFolder::results_of(ChunkId chunk) const {
  return fmt::format("{}/{}", results(), chunk.text().front());
}

void PlanFolder::create() const {
  make_folder(temporary());
  try {
    require_links("plan");
  } catch (const UsageError&) {
    fs::remove_directory(temporary());  // The folder is as it was.
    throw;
  }
  for (const std::string& folder :
       {leases(), results(), conflicts(), findings(), inputs(), workers()}) {
    make_folder(folder);
  }
  for (unsigned i = 0; i < kResultFolders; ++i) {
    make_folder(fmt::format("{}/{:x}", results(), i));
  }
  fs::sync_directory(results());
  fs::sync_directory(root_);
}

void PlanFolder::require_links(const std::string& writer) const {
  const std::string file = temporary() + '/' + writer + ".links";
  const std::string name = file + ".again";
  remove_file(name);
  fs::write_file(file, "");
  std::string why;
  try {
    if (!link_once(file, name)) why = "a link that was made is not there";
  } catch (const InputOutputError& error) {
    if (error.code() != EPERM && error.code() != ENOSYS && error.code() != EOPNOTSUPP) throw;
    why = fermata::detail::errno_text(error.code());
  }
  remove_file(name);
  remove_file(file);
  if (why.empty()) return;
  throw UsageError(fmt::format(
      "{} is on a file system without hard links, with which workers take chunks ({}): expected "
      "one that has them, such as ext4, XFS or NFS",
      root_, why));
}

}  // namespace fermata::sim::fleet
