// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim {

namespace {

constexpr char kInterrupt = 3;  // Ctrl-C
constexpr char kEnd = 4;        // Ctrl-D
constexpr char kBackspace = 127;
constexpr int kSizeMax = 65'535;

}  // namespace

void Terminal::reset() {
  readers_.clear();
  line_.clear();
  input_.clear();
  output_.clear();
  size_ = {80, 24};
  mode_ = backend::TerminalMode::Lines;
  ended_ = dead_ = false;
}

// --- input ---

void Terminal::type(std::string_view text) {
  FERMATA_REQUIRE(!dead_, "type: the terminal has hung up");
  for (const char key : text) type(key);
  tell_readers();
}

void Terminal::type(char key) {
  if (mode_ == backend::TerminalMode::Raw) {
    input_ += key;
  } else if (key == kInterrupt) {
    line_.clear();
    machine_.signal(SIGINT);
  } else if (key == kEnd) {
    ended_ = ended_ || line_.empty();
    take_line();
  } else if (key == kBackspace) {
    if (!line_.empty()) {
      line_.pop_back();
      print("\b \b");
    }
  } else {
    line_ += key == '\r' ? '\n' : key;
    print({&line_.back(), 1});
    if (line_.back() == '\n') take_line();
  }
}

void Terminal::take_line() { input_ += std::exchange(line_, {}); }

void Terminal::hang_up() {
  dead_ = true;
  tell_readers();
}

void Terminal::tell_readers() {
  for (Reader* reader : readers_) reader->expect_input();
}

std::size_t Terminal::read(std::span<std::byte> buffer) {
  FERMATA_ASSERT(is_readable());
  FERMATA_ASSERT(!buffer.empty());
  std::size_t size = std::min(buffer.size(), input_.size());
  if (mode_ == backend::TerminalMode::Lines) {
    const std::size_t newline = input_.find('\n');
    if (newline != std::string::npos) size = std::min(size, newline + 1);
  }
  FERMATA_ASSERT(size > 0);
  std::memcpy(buffer.data(), input_.data(), size);
  input_.erase(0, size);
  return size;
}

void Terminal::set_mode(backend::TerminalMode mode) {
  mode_ = mode;
  if (mode == backend::TerminalMode::Lines) return;
  take_line();
  tell_readers();
}

// --- output and size ---

void Terminal::print(std::string_view text) {
  for (const char each : text) {
    if (each == '\n') output_ += '\r';
    output_ += each;
  }
}

std::string Terminal::take_output() { return std::exchange(output_, {}); }

void Terminal::resize(const backend::WindowSize& size) {
  const auto fits = [](int length) { return length >= 1 && length <= kSizeMax; };
  if (!fits(size.columns) || !fits(size.rows)) {
    throw UsageError(fmt::format("resize: {} columns, {} rows: expected 1 to {} of each",
                                 size.columns, size.rows, kSizeMax));
  }
  size_ = size;
  machine_.signal(SIGWINCH);
}

}  // namespace fermata::sim
