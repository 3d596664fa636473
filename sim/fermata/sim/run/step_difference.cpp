// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/step_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim::detail {
namespace {

constexpr std::size_t kItemsWithStacks = 24;

std::string side_text(std::string_view title, const StepAccount& side, std::size_t at) {
  FERMATA_ASSERT(at <= side.items.size());
  std::string text = fmt::format("{}: {}\n", title, side.who.empty() ? "nobody runs" : side.who);
  if (at == side.items.size()) return text + "  nothing more happens in this step\n";
  const StepAccount::Item& item = side.items[at];
  text += fmt::format("  it {}\n", item.text);
  for (const std::string& frame : item.stack) text += fmt::format("    in {}\n", frame);
  return text;
}

}  // namespace

StepAccount StepAccount::of(const StepProbe::Step& step, const KeyNames& names) {
  StepAccount account;
  account.who = step.who;
  for (const StepProbe::Item& item : step.items) {
    const bool looked_up = account.items.size() < kItemsWithStacks;
    account.items.push_back(Item{item.identity, item.text,
                                 looked_up ? stack_text(item.stack) : std::vector<std::string>()});
  }
  for (const Decision& decision : step.decisions) {
    if (goes_without_saying(decision, names)) continue;
    account.decisions.push_back(describe(decision.at) + ' ' + describe(decision, names));
  }
  FERMATA_ASSERT(account.items.size() == step.items.size());
  return account;
}

void StepAccount::write(std::ostream& out) const {
  out << "who " << who << '\n';
  for (const std::string& decision : decisions) out << "decision " << decision << '\n';
  for (const Item& item : items) {
    out << "item " << item.identity << ' ' << item.text << '\n';
    for (const std::string& frame : item.stack) out << "frame " << frame << '\n';
  }
}

StepAccount StepAccount::read(std::istream& in) {
  StepAccount account;
  std::string word;
  while (in >> word) {
    Item item;
    if (word == "item") in >> item.identity;
    in.get();
    std::string rest;
    std::getline(in, rest);
    if (word == "who") {
      account.who = rest;
    } else if (word == "decision") {
      account.decisions.push_back(rest);
    } else if (word == "item") {
      item.text = rest;
      account.items.push_back(std::move(item));
    } else if (word == "frame" && !account.items.empty()) {
      account.items.back().stack.push_back(rest);
    }
  }
  return account;
}

std::uint64_t first_difference(std::span<const std::uint64_t> first,
                               std::span<const std::uint64_t> second) noexcept {
  const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  if (a == first.end() && b == second.end()) return 0;
  return static_cast<std::uint64_t>(a - first.begin()) + 1;
}

std::string difference_text(std::uint64_t step, const StepAccount& first,
                            const StepAccount& second) {
  FERMATA_ASSERT(step > 0);
  std::string text = fmt::format("the first step that differs is step {}\n", step);
  const auto [a, b] = std::mismatch(
      first.items.begin(), first.items.end(), second.items.begin(), second.items.end(),
      [](const auto& one, const auto& other) { return one.identity == other.identity; });
  if (a == first.items.end() && b == second.items.end()) {
    return text + side_text("both", first, 0) + "run once more, that step was the same\n";
  }
  const auto at = static_cast<std::size_t>(a - first.items.begin());
  text += side_text("first", first, at) + side_text("second", second, at);
  if (first.decisions.empty()) return text;
  text += "what was not calm before:\n";
  for (const std::string& decision : first.decisions) text += fmt::format("  {}\n", decision);
  return text;
}

}  // namespace fermata::sim::detail
