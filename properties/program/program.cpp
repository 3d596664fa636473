// SPDX-License-Identifier: Apache-2.0
#include "properties/program/program.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string_view>

namespace fermata::properties {
namespace {

std::string_view name_of(ProgramEvent event) {
  switch (event) {
    case ProgramEvent::Signal:
      return "signal";
    case ProgramEvent::Promise:
      return "promise";
    case ProgramEvent::Once:
      return "timer";
    case ProgramEvent::Periodic:
      return "periodic timer";
    case ProgramEvent::Multishot:
      return "multishot timer";
    case ProgramEvent::Hidden:
      return "hidden timer";
  }
  return "?";
}

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
  const unsigned subject = step.subject;
  const unsigned number = step.number;
  switch (op_of(step)) {
    case Op::Suspend:
      return "suspend";
    case Op::Delay:
      return fmt::format("delay {} ms", number);
    case Op::Consume:
      return fmt::format("compute for {} ms", number);
    case Op::Spawn:
      return fmt::format("spawn body {}", subject);
    case Op::Await:
      return fmt::format("await coroutine {}{}", subject, patience(step.number));
    case Op::Wait:
      return fmt::format("wait for event {}{}", subject, patience(step.number));
    case Op::WaitClosed:
      return fmt::format("wait until event {} is closed", subject);
    case Op::Cancel:
      return fmt::format("cancel coroutine {}", subject);
    case Op::Protect:
      return fmt::format("protect the next {}", number);
    case Op::Catch:
      return fmt::format("catch what the next {} throw", number);
    case Op::Throw:
      return "throw";
    case Op::Subscribe:
      return fmt::format("subscribe callback {} to event {}", number, subject);
    case Op::Unsubscribe:
      return fmt::format("unsubscribe {}", subject);
    case Op::Notify:
      return fmt::format("notify event {}", subject);
    case Op::Close:
      return fmt::format("close event {}", subject);
    case Op::Start:
      return fmt::format("start event {}", subject);
    case Op::Stop:
      return fmt::format("stop event {}", subject);
    case Op::Rearm:
      return fmt::format("rearm event {} to {} ms", subject, number);
    case Op::Hold:
      return fmt::format("hold event {}", subject);
    case Op::Drop:
      return fmt::format("drop event {}", subject);
    case Op::Finally:
      return fmt::format("finally callback {}", number);
    case Op::Microtask:
      return fmt::format("queue microtask: callback {}", number);
    case Op::Shutdown:
      return "shut down";
  }
  return "?";
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
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", i, name_of(program.events[i]));
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
