// SPDX-License-Identifier: Apache-2.0
#pragma once

// A page of memory that a test process and the tool that started it both see, in a file: which run
// is going on is on disk before it begins, whatever then becomes of the process, and what it costs
// is a few plain stores.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fermata::sim {

/// The content of the status page. Numbers are written by the test process, `stop` by the tool.
struct StatusPage {
  enum class Phase : std::uint64_t { Starting, Running, Reporting, Over };

  static constexpr std::uint64_t kMagic = 0x31646472616f4246;

  std::uint64_t magic = kMagic;
  std::atomic<Phase> phase = Phase::Starting;
  /// The run that goes on, or was the last to begin.
  std::atomic<std::uint64_t> run = 0;
  /// How many runs of this process are over, how many of them were new behaviours.
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint64_t> kinds = 0;
  std::atomic<std::uint64_t> failures = 0;
  /// Not zero: end before the next run.
  std::atomic<std::uint64_t> stop = 0;
  /// "Suite.Name", cut off when it is very long.
  char test[512] = {};
};

class SharedStatus {
 public:
  /// Creates a status page in a new file, with room on the disk; for the tool. Throws
  /// InputOutputError.
  [[nodiscard]] static SharedStatus create(const std::string& path);
  /// For the test process: the page of that file; of none when `path` is empty. Throws
  /// InputOutputError when it cannot be read, or is not the status page of a run.
  [[nodiscard]] static SharedStatus open(const std::string& path);

  [[nodiscard]] StatusPage& page() const noexcept { return *page_; }

  /// The exploration of `test` begins.
  void name(std::string_view test) const noexcept;

 private:
  using Page = std::shared_ptr<StatusPage>;

  explicit SharedStatus(Page page) noexcept : page_(std::move(page)) {}

  Page page_;
};

}  // namespace fermata::sim
