// SPDX-License-Identifier: Apache-2.0
#pragma once

// What posix_spawn wants to be told, as values that clean up.

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"

namespace fermata::uv::detail {

/// Owns a descriptor; -1 for none.
class OwnedDescriptor {
 public:
  OwnedDescriptor() noexcept = default;
  explicit OwnedDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OwnedDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// The child's actions between fork and exec, in order.
class ChildActions {
 public:
  ChildActions() { posix_spawn_file_actions_init(&actions_); }
  ChildActions(const ChildActions&) = delete;
  ChildActions& operator=(const ChildActions&) = delete;
  ~ChildActions() { posix_spawn_file_actions_destroy(&actions_); }

  void use(int descriptor, int as) {
    require(posix_spawn_file_actions_adddup2(&actions_, descriptor, as));
  }
  void use_nothing(int as) {
    require(posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDWR, 0));
  }
  void change_directory(const std::string& to) {
    require(posix_spawn_file_actions_addchdir_np(&actions_, to.c_str()));
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  static void require(int code) {
    if (code != 0) throw InputOutputError("prepare a process", code);
  }
  posix_spawn_file_actions_t actions_;
};

/// Every signal as a program expects to find it: not blocked, and not ignored because this process
/// ignores it.
class ChildSignals {
 public:
  ChildSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;
  ~ChildSignals() { posix_spawnattr_destroy(&attributes_); }

  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Texts as C programs are given them; refers to the strings.
class TextTable {
 public:
  void add(const std::string& text) { texts_.push_back(const_cast<char*>(text.c_str())); }
  [[nodiscard]] char* const* get() {
    if (texts_.empty() || texts_.back() != nullptr) texts_.push_back(nullptr);
    return texts_.data();
  }

 private:
  std::vector<char*> texts_;
};

}  // namespace fermata::uv::detail
