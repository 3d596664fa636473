// SPDX-License-Identifier: Apache-2.0
#pragma once

// File watches on Linux: one inotify descriptor of our own in the libuv loop.
//
// libuv's uv_fs_event_t is not used: it hides an overflow of the kernel's queue, does not say what
// is a directory, and cannot tell a root that is gone from an entry of the same name.
// Limits  Of the system: instances (one for each reactor that watches) and watches for each user.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fermata/reactor/file_watches.hpp"
#include "fermata/uv/loop.hpp"

struct inotify_event;

namespace fermata::uv::detail {

class FileWatches;

class InotifyPlace final : public backend::WatchedPlace {
 public:
  InotifyPlace(FileWatches& watches, backend::FileWatch& watch, std::string name)
      : backend::WatchedPlace(watch, std::move(name)), watches_(watches) {}

 private:
  friend class FileWatches;

  int begin(const std::string& path) override;
  void end() noexcept override;
  void report(const inotify_event& event, std::string_view name);

  FileWatches& watches_;
  int descriptor_ = -1;  // The kernel's, of what is watched.
  bool is_directory_ = true;
};

class FileWatches final : public fermata::backend::FileWatches {
 public:
  explicit FileWatches(Loop& loop)
      : fermata::backend::FileWatches(loop.attachment()), loop_(loop) {}
  FileWatches(const FileWatches&) = delete;
  FileWatches& operator=(const FileWatches&) = delete;
  ~FileWatches() override;

 private:
  friend class InotifyPlace;
  /// Places of one inode share what the kernel knows of it.
  using Places = std::vector<InotifyPlace*>;

  std::unique_ptr<backend::WatchedPlace> make_place(backend::FileWatch& watch,
                                                    std::string name) override;

  int open_queue();
  /// Returns the kernel's descriptor, or a negative error code.
  int watch(InotifyPlace& place, const std::string& path);
  void unwatch(InotifyPlace& place) noexcept;
  void collect() noexcept;
  void dispatch(const inotify_event& event, std::string_view name);

  Loop& loop_;
  int inotify_ = -1;
  uv_poll_t* readable_ = nullptr;
  std::map<int, Places> places_;
};

}  // namespace fermata::uv::detail
