// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process that the tool starts: in a process group of its own, so that whatever it forks ends
// with it, even what leaves the group (orphans.hpp); its output kept within bounds; not trusted to
// end when asked.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/sim/cli/captured_text.hpp"
#include "fermata/sim/cli/descendants.hpp"

namespace fermata::sim::cli {

/// NAME and value, as the environment has them.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Command {
  std::string program;
  std::vector<std::string> arguments;
  /// Beside this process's environment without what begins with FERMATA_ or GTEST_.
  Settings settings;
  /// Bytes of address space; 0: as much as this process.
  std::uint64_t memory_limit = 0;
};

/// How a process ended.
struct Ending {
  /// The exit code as a shell reports it: 128 plus the signal for a process that a signal killed.
  int code = 0;
  int signal = 0;
  /// The most memory that it had at a time.
  std::uint64_t resident_bytes = 0;

  /// "exited with code 3", "was killed by signal 11 (Segmentation fault)".
  [[nodiscard]] std::string text() const;
};

class Child {
 public:
  /// Throws InputOutputError when the program cannot be started.
  explicit Child(const Command& command);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills what is left of it and of what it has started.
  ~Child();

  /// The descriptor to poll for output and for the end; -1 when there is nothing to watch.
  [[nodiscard]] int descriptor() const noexcept { return output_; }
  [[nodiscard]] int end_descriptor() const noexcept { return end_; }

  /// Takes what there is to read. Does not block.
  void read_output();
  [[nodiscard]] std::string output() const { return text_.text(); }

  /// Whether it has ended; if so nothing that it has started is left. Does not block.
  bool has_ended();
  /// Whether has_ended() has found the end.
  [[nodiscard]] bool is_ended() const noexcept { return ended_; }
  [[nodiscard]] const Ending& ending() const noexcept { return ending_; }

  /// Ends the group at once, whatever it thinks of that.
  void kill() const noexcept;

 private:
  void close_output() noexcept;

  Descendants descendants_;
  pid_t process_ = 0;
  int output_ = -1;
  int end_ = -1;
  CapturedText text_;
  Ending ending_;
  bool ended_ = false;
};

/// Runs it to its end, or kills it when `limit` is over or `unwanted` says so; then returns false.
/// `unwanted` is asked many times a second, unless it is empty.
bool run_to_end(Child& child, std::chrono::milliseconds limit,
                const std::function<bool()>& unwanted = {});

/// Runs it to its end with the terminal of this process, as a shell does.
[[nodiscard]] Ending run_in_foreground(const Command& command);

/// Replaces this process by it, so that a debugger that runs this one has it. Returns only by
/// throwing InputOutputError.
[[noreturn]] void become(const Command& command);

}  // namespace fermata::sim::cli
