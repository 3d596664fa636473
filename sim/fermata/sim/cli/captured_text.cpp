// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/captured_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fermata::sim::cli {

void CapturedText::append(std::string_view text) {
  const std::size_t room = std::min(kKept - head_.size(), text.size());
  head_ += text.substr(0, room);
  tail_ += text.substr(room);
  if (tail_.size() <= 2 * kKept) return;
  const std::size_t surplus = tail_.size() - kKept;
  tail_.erase(0, surplus);
  left_out_ += surplus;
}

std::string CapturedText::text() const {
  if (left_out_ == 0) return head_ + tail_;
  return fmt::format("{}\n... {} bytes ...\n{}", head_, left_out_, tail_);
}

}  // namespace fermata::sim::cli
