// SPDX-License-Identifier: Apache-2.0
#pragma once

// The terminal of a simulated machine: what a program's standard streams are. Tests are its user:
// they type, read what was printed, and change its size.
//
// Lines  In lines mode input becomes readable with its newline, Ctrl-D (or at an empty line ends),
//        backspace takes a character back, Ctrl-C is SIGINT, and what is typed is echoed.
// Raw    Input is readable as it is typed, and not echoed.
// Output A newline is printed as "\r\n" in both modes.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/reactor/terminal.hpp"

namespace fermata::sim {

namespace detail {
class Machine;
}

class Terminal {
 public:
  /// Somebody who reads it.
  class Reader {
   public:
    /// There is something to read.
    virtual void expect_input() = 0;

   protected:
    ~Reader() = default;
  };

  explicit Terminal(detail::Machine& machine) noexcept : machine_(machine) {}

  // --- the user's side ---

  void type(std::string_view text);
  /// The line is dead: input ends behind what was typed, and output fails.
  void hang_up();
  /// The output since the last call.
  [[nodiscard]] std::string take_output();
  /// 80 columns and 24 rows at the beginning. The program gets SIGWINCH.
  void resize(const backend::WindowSize& size);
  [[nodiscard]] backend::TerminalMode mode() const noexcept { return mode_; }

  // --- the machine's side ---

  /// Returns to the state at the start of a run.
  void reset();
  void add(Reader& reader) { readers_.push_back(&reader); }
  void remove(const Reader& reader) noexcept { std::erase(readers_, &reader); }
  void set_mode(backend::TerminalMode mode);
  [[nodiscard]] const backend::WindowSize& size() const noexcept { return size_; }
  [[nodiscard]] bool is_readable() const noexcept { return !input_.empty(); }
  [[nodiscard]] bool is_ended() const noexcept { return ended_; }
  [[nodiscard]] bool is_dead() const noexcept { return dead_; }
  /// Reads what was typed; at most one line in line mode. REQUIRES: is_readable().
  std::size_t read(std::span<std::byte> buffer);
  void print(std::string_view text);

 private:
  void type(char key);
  void take_line();
  void tell_readers();

  detail::Machine& machine_;
  std::vector<Reader*> readers_;
  std::string line_;   // Not readable yet.
  std::string input_;  // Readable.
  std::string output_;
  backend::WindowSize size_{80, 24};
  backend::TerminalMode mode_ = backend::TerminalMode::Lines;
  bool ended_ = false;
  bool dead_ = false;
};

}  // namespace fermata::sim
