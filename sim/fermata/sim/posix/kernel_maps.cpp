// SPDX-License-Identifier: Apache-2.0

// Files in memory.

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/maps.hpp"
#include "fermata/sim/posix/kernel_files.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {

namespace {

/// A file for as long as some memory shows it, on a disk that knows nothing of processes.
class MappedFile {
 public:
  MappedFile(Disk& disk, const OpenFile& file, bool writes)
      : disk_(disk),
        life_(disk.life()),
        inode_(file.inode()),
        path_(file.path()),
        descriptor_(disk.map(file.inode(), writes)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (descriptor_ >= 0 && life_ == disk_.life()) disk_.unmap(inode_);
  }

  [[nodiscard]] Disk::Inode inode() const noexcept { return inode_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The system's; negative when it has none.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  Disk& disk_;
  std::uint64_t life_;
  Disk::Inode inode_;
  std::string path_;
  int descriptor_;
};

/// Why a file cannot be mapped so, a negative errno, or 0.
int refuse(const OpenFile& file, const posix::MapRequest& request) noexcept {
  const int access = file.status & O_ACCMODE;
  const int kind = request.flags & MAP_TYPE;
  const bool is_shared = kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE;
  const bool writes = is_shared && (request.protection & PROT_WRITE) != 0;
  if ((file.status & O_PATH) != 0) return -EBADF;
  if (access == O_WRONLY || (writes && access == O_RDONLY)) return -EACCES;
  return file.is_directory() ? -ENODEV : 0;
}

}  // namespace

int SimKernelFiles::map(const posix::MapRequest& request, void*& mapped) {
  return with_file("mmap", request.descriptor, -ENODEV, [&](OpenFile& file) -> int {
    if (const int code = refuse(file, request)) return code;
    const bool writes =
        (request.flags & MAP_TYPE) != MAP_PRIVATE && (file.status & O_ACCMODE) == O_RDWR;
    const auto shown = std::make_shared<MappedFile>(disk_, file, writes);
    if (shown->descriptor() < 0) return -ENOMEM;
    mapped = os::kernel.mmap(request.address, request.size, request.protection, request.flags,
                             shown->descriptor(), request.offset);
    if (mapped == MAP_FAILED) return -errno;
    FERMATA_ASSERT(request.size > 0);
    posix::Maps::all().add(this, mapped, request.size, shown);
    return 0;
  });
}

int SimKernelFiles::sync_maps(const void* address, std::size_t size) {
  kernel_.leave_if_endless();
  if (const int code = kernel_.enter("msync")) return code;
  std::vector<std::shared_ptr<MappedFile>> files;
  for (const auto& each : posix::Maps::all().files(address, size)) {
    files.push_back(std::static_pointer_cast<MappedFile>(each));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a->inode() < b->inode(); });
  for (const auto& each : files) {
    const int code = carry_out({"msync", kSync, each->path()}, [&](const DiskCall& work) {
      return sync_file(work, each->inode(), posix::Sync::File);
    });
    if (code != 0) return code;
  }
  return 0;
}

}  // namespace fermata::sim::detail
