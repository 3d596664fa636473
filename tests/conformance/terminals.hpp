// SPDX-License-Identifier: Apache-2.0
#pragma once

// The user of the terminal that a body's standard input and standard error are. Standard output
// stays what it is, for the test's own reports.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fermata/core/timer.hpp"
#include "fermata/reactor/terminal.hpp"
#include "tests/conformance/arms.hpp"

namespace fermata::conformance {

/// Puts another descriptor in the place of a standard one, until its end.
class Redirected {
 public:
  Redirected(int standard, int other) : standard_(standard), before_(::dup(standard)) {
    ::dup2(other, standard);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    ::dup2(before_, standard_);
    ::close(before_);
  }

 private:
  int standard_;
  int before_;
};

template <class Arm>
class User;

/// At the other side of a pseudo-terminal.
template <>
class User<UvArm> {
 public:
  User() : ends_(open_pair()), input_(0, ends_.terminal), error_(2, ends_.terminal) {}
  User(const User&) = delete;
  User& operator=(const User&) = delete;
  ~User() {
    hang_up();
    ::close(ends_.terminal);
  }

  void type(std::string_view text) {
    EXPECT_EQ(::write(ends_.user, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void hang_up() {
    if (ends_.user >= 0) ::close(ends_.user);
    ends_.user = -1;
  }
  std::string take_output() {
    std::string output(1000, '\0');
    const ssize_t size = ::read(ends_.user, output.data(), output.size());
    output.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return output;
  }
  void resize(const backend::WindowSize& size) {
    winsize native{};
    native.ws_col = static_cast<unsigned short>(size.columns);
    native.ws_row = static_cast<unsigned short>(size.rows);
    EXPECT_EQ(::ioctl(ends_.user, TIOCSWINSZ, &native), 0);
  }
  [[nodiscard]] backend::TerminalMode mode() const {
    termios settings{};
    EXPECT_EQ(::tcgetattr(ends_.terminal, &settings), 0);
    return (settings.c_lflag & ICANON) != 0 ? backend::TerminalMode::Lines
                                            : backend::TerminalMode::Raw;
  }

 private:
  struct Ends {
    int user = -1;
    int terminal = -1;
  };
  static Ends open_pair() {
    Ends ends;
    EXPECT_EQ(::openpty(&ends.user, &ends.terminal, nullptr, nullptr, nullptr), 0);
    ::fcntl(ends.user, F_SETFL, O_NONBLOCK);
    return ends;
  }

  Ends ends_;
  Redirected input_;
  Redirected error_;
};

/// At the machine's terminal.
template <>
class User<SimArm> {
 public:
  void type(std::string_view text) { SimArm::terminal().type(text); }
  void hang_up() { SimArm::terminal().hang_up(); }
  std::string take_output() { return SimArm::terminal().take_output(); }
  void resize(const backend::WindowSize& size) { SimArm::terminal().resize(size); }
  [[nodiscard]] backend::TerminalMode mode() const { return SimArm::terminal().mode(); }
};

/// What `user` sees from now on, until it is as long as `expected`, or five seconds have passed.
template <class Arm>
std::string seen_by(User<Arm>& user, std::string_view expected) {
  std::string seen = user.take_output();
  for (int i = 0; i < 5000 && seen.size() < expected.size(); ++i) {
    delay(std::chrono::milliseconds(1));
    seen += user.take_output();
  }
  return seen;
}

}  // namespace fermata::conformance
