// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace fermata::conformance {

/// An empty folder: one of its own on a real disk, the root of a simulated one.
class Folder {
 public:
  explicit Folder(bool real) {
    if (!real) return;
    std::string folder = ::testing::TempDir() + "fermata_XXXXXX";
    root_ = ::mkdtemp(folder.data());
  }
  ~Folder() {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  std::string root_;  // Empty in simulation.
};

/// A test with one.
template <class Arm>
class ScratchFolder : public ::testing::Test, protected Folder {
 protected:
  ScratchFolder() : Folder(Arm::kReal) {}
};

}  // namespace fermata::conformance
