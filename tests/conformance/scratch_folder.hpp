// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace fermata::conformance {

/// A test with an empty folder: one of its own on a real disk, the root of a simulated one.
template <class Arm>
class ScratchFolder : public ::testing::Test {
 protected:
  ScratchFolder() {
    if (!Arm::kReal) return;
    std::string folder = ::testing::TempDir() + "fermata_XXXXXX";
    root_ = ::mkdtemp(folder.data());
  }
  ~ScratchFolder() override {
    if (Arm::kReal) std::filesystem::remove_all(root_);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  std::string root_;  // Empty in simulation.
};

}  // namespace fermata::conformance
