// SPDX-License-Identifier: Apache-2.0
#include "properties/program/program.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string_view>

namespace fermata::properties {
namespace {

constexpr std::array kEventNames = {"signal",         "promise",         "timer",
                                    "periodic timer", "multishot timer", "hidden timer"};

/// What a step says, in the order of Op.
constexpr auto kStepTexts = std::to_array<std::string_view>({
    "suspend",
    "delay {number} ms",
    "compute for {number} ms",
    "spawn body {subject}",
    "await coroutine {subject}{patience}",
    "wait for event {subject}{patience}",
    "wait until event {subject} is closed",
    "cancel coroutine {subject}",
    "protect the next {number}",
    "catch what the next {number} throw",
    "throw",
    "subscribe callback {number} to event {subject}",
    "unsubscribe {subject}",
    "notify event {subject}",
    "close event {subject}",
    "start event {subject}",
    "stop event {subject}",
    "rearm event {subject} to {number} ms",
    "hold event {subject}",
    "drop event {subject}",
    "finally callback {number}",
    "queue microtask: callback {number}",
    "shut down",
});
static_assert(kStepTexts.size() == static_cast<std::size_t>(Op::Shutdown) + 1);

std::string patience(std::uint8_t number) {
  switch (patience_of(number)) {
    case Patience::ForEver:
      return "";
    case Patience::Never:
      return ", timeout 0";
    case Patience::Briefly:
      return fmt::format(", timeout {} ms", number - 3);
    case Patience::WithToken:
      return ", the next event as token";
  }
  return "";
}

std::string text_of(const Step& step) {
  return fmt::format(fmt::runtime(kStepTexts[step.what]), fmt::arg("subject", step.subject),
                     fmt::arg("number", step.number), fmt::arg("patience", patience(step.number)));
}

void append(std::string& text, const char* what, std::size_t index, const Steps& steps) {
  if (steps.empty()) return;
  text += fmt::format("{} {}:\n", what, index);
  for (const Step& step : steps) text += "  " + text_of(step) + "\n";
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text = "events:";
  for (std::size_t i = 0; i < program.events.size(); ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", i,
                        kEventNames[static_cast<std::size_t>(program.events[i])]);
  }
  text += "\n";
  for (std::size_t i = 0; i < program.bodies.size(); ++i) {
    append(text, i == 0 ? "main, body" : "body", i, program.bodies[i]);
  }
  for (std::size_t i = 0; i < program.callbacks.size(); ++i) {
    append(text, "callback", i, program.callbacks[i]);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << "\n" << to_text(program);
}

}  // namespace fermata::properties
