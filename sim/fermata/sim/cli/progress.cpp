// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/cli/test_totals.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOnTerminal(200);
constexpr milliseconds kElsewhere(10'000);
constexpr milliseconds kWindow(3'000);
constexpr std::uint64_t kBar = 20;

/// A longer line would not go away again.
std::size_t columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

std::string bar(std::uint64_t done, std::uint64_t all) {
  const std::uint64_t full = std::min(kBar, done * kBar / std::max(all, std::uint64_t{1}));
  return '[' + std::string(full, '#') + std::string(kBar - full, '.') + ']';
}

/// Rounded up: "0 s left" is the end.
std::string left_text(const Moment& moment) {
  if (!moment.left) return {};
  return fmt::format(", {} s left", (moment.left->count() + 999) / 1000);
}

}  // namespace

Progress::Progress(std::size_t tests)
    : terminal_(::isatty(STDOUT_FILENO) != 0),
      tests_(tests),
      next_(terminal_ ? milliseconds(0) : kElsewhere) {}

std::string Progress::text(const Moment& moment) const {
  const Sample& before = samples_.front();
  const auto span = static_cast<std::uint64_t>((moment.elapsed - before.at).count());
  // Runs of a chunk that was dropped are not counted any more.
  const std::uint64_t runs = moment.runs - std::min(before.runs, moment.runs);
  const std::uint64_t kinds = std::min(moment.kinds - std::min(before.kinds, moment.kinds), runs);
  std::string line = fmt::format(
      "{} s{}: {}, {}/s, {} new, {}, {} of {}", moment.elapsed.count() / 1000, left_text(moment),
      counted(moment.runs, "run"), span == 0 ? 0 : runs * 1000 / span, percent(kinds, runs),
      counted(moment.failures, "failure"), moment.tests_over, counted(tests_, "test"));
  if (moment.runs_wanted != kNoEnd) line = bar(moment.runs, moment.runs_wanted) + ' ' + line;
  if (!moment.test.empty()) line += ": " + moment.test;
  return line;
}

void Progress::show(const Moment& moment) {
  while (samples_.size() > 1 && samples_[1].at + kWindow <= moment.elapsed) samples_.pop_front();
  if (samples_.empty() || samples_.back().at < moment.elapsed) {
    samples_.push_back({moment.elapsed, moment.runs, moment.kinds});
  }
  if (moment.elapsed < next_) return;
  next_ = moment.elapsed + (terminal_ ? kOnTerminal : kElsewhere);
  if (terminal_) {
    fmt::print("\r\x1b[K{}", text(moment).substr(0, columns() - 1));
    shown_ = true;
  } else {
    fmt::print("{}\n", text(moment));
  }
  std::fflush(stdout);
}

void Progress::clear() {
  if (shown_) fmt::print("\r\x1b[K");
  shown_ = false;
}

}  // namespace fermata::sim::cli
