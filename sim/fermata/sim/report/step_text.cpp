// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/printable.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kBytesShown = 40;
constexpr std::size_t kNamesShown = 5;  // Of those whom one step wakes.
constexpr const char* kCancels = "cancels";
constexpr const char* kWakes = "wakes";

std::string bytes_text(const Message& message) {
  return fmt::format("\"{}\"", printable(message.bytes, message.size, kBytesShown));
}

std::string fate_text(Message::Fate fate) {
  switch (fate) {
    case Message::Fate::Delivered:
      return {};
    case Message::Fate::UnderWay:
      return " (still under way at the end)";
    case Message::Fate::Lost:
      return " (lost)";
    case Message::Fate::Refused:
      return " (refused)";
    case Message::Fate::Duplicate:
      return " (a duplicate)";
  }
  return {};
}

std::string sent_text(const Message& message) {
  FERMATA_ASSERT(!message.to.empty());
  const std::string to = fmt::format("'{}'{}", message.to, fate_text(message.fate));
  switch (message.kind) {
    case Message::Kind::Connect:
      return "connects to " + to;
    case Message::Kind::Data:
    case Message::Kind::Datagram:
      return fmt::format("sends {} to {}", bytes_text(message), to);
    case Message::Kind::End:
      return "ends its stream to " + to;
    case Message::Kind::Reset:
      return "resets the connection to " + to;
  }
  return {};
}

std::string received_text(const Message& message, std::string_view machine) {
  FERMATA_ASSERT(!machine.empty());
  FERMATA_ASSERT(!message.from.empty());
  switch (message.kind) {
    case Message::Kind::Connect:
      if (message.to == machine && message.from != machine) {
        return fmt::format("is asked for a connection by '{}'", message.from);
      }
      return fmt::format("is {} '{}'",
                         message.fate == Message::Fate::Refused ? "refused by" : "connected to",
                         message.to);
    case Message::Kind::Data:
    case Message::Kind::Datagram:
      return fmt::format("receives {} from '{}'", bytes_text(message), message.from);
    case Message::Kind::End:
      return fmt::format("sees the end of the stream from '{}'", message.from);
    case Message::Kind::Reset:
      return fmt::format("finds the connection reset by '{}'", message.from);
  }
  return {};
}

/// Null for a wake that says nothing: of a yield it is known from the step itself.
const char* what_it_does(backend::WakeCause cause) noexcept {
  switch (cause) {
    case backend::WakeCause::Yield:
      return nullptr;
    case backend::WakeCause::Spawn:
      return "spawns";
    case backend::WakeCause::Cancel:
    case backend::WakeCause::Shutdown:
      return kCancels;
    default:
      return kWakes;
  }
}

/// The text between the first pair of parentheses, up to a comma.
std::string_view in_parentheses(std::string_view event) {
  const std::size_t begin = event.find('(');
  if (begin == std::string_view::npos) return {};
  event.remove_prefix(begin + 1);
  return event.substr(0, event.find_first_of(",)"));
}

/// "300ms" as "300 ms".
std::string spaced(std::string_view time) {
  FERMATA_ASSERT(!time.empty());
  const std::size_t unit = time.find_first_not_of("0123456789");
  if (unit == std::string_view::npos) return std::string(time);
  return fmt::format("{} {}", time.substr(0, unit), time.substr(unit));
}

/// ", held by 'x'" of a mutex that somebody holds.
std::string holder_text(std::string_view event) {
  constexpr std::string_view kHeld = ", held by '";
  const std::size_t begin = event.find(kHeld);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = event.find('\'', begin + kHeld.size());
  return std::string(event.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
}

/// "'first'" for "Coroutine 2 'first'": who has a name is known by it.
std::string without_numbers(std::string event) {
  constexpr std::string_view kCoroutine = "Coroutine ";
  for (std::size_t at = 0; (at = event.find(kCoroutine, at)) != std::string::npos;) {
    const std::size_t name = event.find_first_not_of("0123456789", at + kCoroutine.size());
    if (name == std::string::npos || event.compare(name, 2, " '") != 0) break;
    event.erase(at, name + 1 - at);
  }
  return event;
}

std::string event_text(std::string_view event) {
  FERMATA_ASSERT(!event.empty());
  constexpr std::string_view kTimeout = "timeout=";
  const std::string_view inside = in_parentheses(event);
  if (event.starts_with("Request #") && !inside.empty()) return std::string(inside);
  if (event.starts_with("Timer #") && inside.starts_with(kTimeout)) {
    return spaced(inside.substr(kTimeout.size()));
  }
  const std::string held = holder_text(event);
  for (const std::string_view end : {" spawned at", " created at", ", "}) {
    event = event.substr(0, event.find(end));
  }
  const bool is_open = event.find('(') != std::string_view::npos && event.back() != ')';
  return without_numbers(std::string(event)) + (is_open ? ")" : "") + held;
}

/// Whether it waits for the answer to what it asked for.
bool waits_for_answer(const RunLog::Step& step) {
  return step.ending == RunLog::Ending::Waits && step.reason.starts_with("Request #");
}

/// Where that is, and for how long at most: "wire.hpp:36 (for 300 ms at most)".
std::string answer_place(const RunLog::Step& step) {
  FERMATA_ASSERT(waits_for_answer(step));
  constexpr std::string_view kOr = " or ";
  const std::size_t limit = step.reason.find(kOr);
  if (limit == std::string::npos) return short_place(step.place);
  return fmt::format("{} (for {} at most)", short_place(step.place),
                     wait_text(std::string_view(step.reason).substr(limit + kOr.size())));
}

/// Whether a message says anything beside `others` of its step: who sends or receives bytes is
/// connected, and what ends a stream right after them is what programs always do.
bool is_worth_telling(const Message& message, const std::vector<const Message*>& others) {
  FERMATA_ASSERT(!others.empty());
  if (message.kind == Message::Kind::Data || message.kind == Message::Kind::Datagram) return true;
  return std::none_of(others.begin(), others.end(), [&](const Message* other) {
    return other->kind == Message::Kind::Data && other->connection == message.connection;
  });
}

/// False for what is expected: a connection that is made, or the end of its stream.
bool is_telling(const Message& message, bool is_received) {
  FERMATA_ASSERT(!message.from.empty());
  FERMATA_ASSERT(!message.to.empty());
  if (message.fate == Message::Fate::Lost || message.fate == Message::Fate::Refused) return true;
  switch (message.kind) {
    case Message::Kind::Connect:
      return message.fate == Message::Fate::UnderWay;
    case Message::Kind::End:
      return is_received;
    default:
      return true;
  }
}

/// What neither reads nor changes a file tells something only if it fails.
bool is_telling_call(std::string_view call) {
  FERMATA_ASSERT(!call.empty());
  const bool is_harmless = call.starts_with("closes ") || call.starts_with("looks up the status ");
  return !is_harmless || call.back() == ')';
}

bool is_telling(RunLog::Ending ending) noexcept {
  return ending == RunLog::Ending::Fails || ending == RunLog::Ending::Cancelled;
}

std::string ending_text(const RunLog::Step& step) {
  switch (step.ending) {
    case RunLog::Ending::Runs:
      return "is running";
    case RunLog::Ending::Yields:
      return fmt::format("yields {}", short_place(step.place));
    case RunLog::Ending::Waits:
      return fmt::format("waits for {} {}", wait_text(step.reason), short_place(step.place));
    case RunLog::Ending::Ends:
      return "ends";
    case RunLog::Ending::Fails:
      return fmt::format("fails: {}", step.reason.substr(0, step.reason.find('\n')));
    case RunLog::Ending::Cancelled:
      return "ends, cancelled";
    case RunLog::Ending::Unwound:
      return "is unwound";
  }
  return {};
}

}  // namespace

StepText::StepText(const RunLog& run_log) : run_log_(run_log) {
  for (const Message& message : run_log.message_log().messages()) {
    if (message.step) sent_.emplace(*message.step, &message);
  }
  for (const RunLog::Line& line : run_log.lines()) {
    if (!line.lane) continue;
    FERMATA_ASSERT(*line.lane < run_log.lanes().size());
    printed_.emplace(line.step, &line);
  }
}

std::vector<std::string> StepText::clauses(std::size_t step) const {
  std::vector<std::string> texts;
  for (Clause& clause : all_clauses(step)) texts.push_back(std::move(clause.text));
  return texts;
}

std::vector<std::string> StepText::telling_clauses(std::size_t step) const {
  std::vector<std::string> texts;
  for (Clause& clause : all_clauses(step)) {
    FERMATA_ASSERT(!clause.text.empty());
    if (clause.is_telling) texts.push_back(std::move(clause.text));
  }
  return texts;
}

std::vector<StepText::Clause> StepText::all_clauses(std::size_t step) const {
  FERMATA_ASSERT(step < run_log_.steps().size());
  const RunLog::Step& it = run_log_.steps()[step];
  const std::vector<const Message*> messages = messages_of(step);
  std::vector<Clause> clauses;
  for (const MessageLog::Id id : it.received) {
    const Message* const message = run_log_.message_log().find(id);
    if (message == nullptr || !is_worth_telling(*message, messages)) continue;
    clauses.push_back(
        {received_text(*message, run_log_.lanes()[it.lane].machine), is_telling(*message, true)});
  }
  add_woken_and_printed(clauses, step);
  const std::size_t before = clauses.size();
  auto [sent, last] = sent_.equal_range(run_log_.forgotten() + step);
  for (std::size_t call = 0; call <= it.calls.size(); ++call) {
    for (; sent != last && sent->second->calls <= call; ++sent) {
      const Message& message = *sent->second;
      if (!is_worth_telling(message, messages)) continue;
      clauses.push_back({sent_text(message), is_telling(message, false)});
    }
    if (call < it.calls.size())
      clauses.push_back({it.calls[call], is_telling_call(it.calls[call])});
  }
  const bool woke_last = clauses.size() == before && !clauses.empty() && clauses.back().is_wake;
  if (clauses.size() > before && waits_for_answer(it)) {
    clauses.back().text += ' ' + answer_place(it);
  } else if (woke_last && it.ending == RunLog::Ending::Ends) {
    clauses.back().text += " and ends";  // Which is why it wakes them.
  } else if (clauses.empty() || !goes_on(step)) {
    clauses.push_back({ending_text(it), is_telling(it.ending)});
  }
  return clauses;
}

// It has let others go first, and nobody has.
bool StepText::goes_on(std::size_t step) const {
  const auto& steps = run_log_.steps();
  FERMATA_ASSERT(step < steps.size());
  return steps[step].ending == RunLog::Ending::Yields && step + 1 < steps.size() &&
         steps[step + 1].lane == steps[step].lane;
}

bool StepText::has_only_gone_on(std::size_t step) const {
  const std::vector<Clause> all = all_clauses(step);
  return goes_on(step) && all.size() == 1 &&
         all.front().text == ending_text(run_log_.steps()[step]);
}

std::vector<const Message*> StepText::messages_of(std::size_t step) const {
  FERMATA_ASSERT(step < run_log_.steps().size());
  std::vector<const Message*> messages;
  for (const MessageLog::Id id : run_log_.steps()[step].received) {
    if (const Message* const found = run_log_.message_log().find(id)) messages.push_back(found);
  }
  const auto [begin, end] = sent_.equal_range(run_log_.forgotten() + step);
  for (auto each = begin; each != end; ++each) messages.push_back(each->second);
  return messages;
}

// A line stands between what the step did before and after it was printed.
void StepText::add_woken_and_printed(std::vector<Clause>& clauses, std::size_t index) const {
  FERMATA_ASSERT(index < run_log_.steps().size());
  const RunLog::Step& step = run_log_.steps()[index];
  auto [line, last] = printed_.equal_range(run_log_.forgotten() + index);
  std::vector<std::size_t> whom;
  const char* verb = nullptr;
  const auto say = [&] {
    if (verb != nullptr) {
      const std::string_view what = verb;
      clauses.push_back({woken_text(verb, whom), what == kCancels, what == kWakes});
    }
    whom.clear();
    verb = nullptr;
  };
  for (std::size_t i = 0; i <= step.woken.size(); ++i) {
    for (; line != last && line->second->woken <= i; ++line) {
      say();
      clauses.push_back({"| " + line->second->text, true});
    }
    if (i == step.woken.size() || step.woken[i].lane == step.lane) continue;
    const char* const next = what_it_does(step.woken[i].cause);
    if (next == nullptr) continue;
    if (verb != nullptr && std::string_view(verb) != next) say();
    verb = next;
    whom.push_back(step.woken[i].lane);
  }
  say();
}

std::string StepText::woken_text(std::string_view verb,
                                 const std::vector<std::size_t>& whom) const {
  FERMATA_ASSERT(!whom.empty());
  std::string clause(verb);
  for (std::size_t i = 0; i < std::min(whom.size(), kNamesShown); ++i) {
    clause += (i == 0 ? " " : ", ") + lane_text(run_log_, whom[i]);
  }
  if (whom.size() > kNamesShown) clause += fmt::format(" and {} more", whom.size() - kNamesShown);
  return clause;
}

std::string wait_text(std::string_view reason) {
  constexpr std::string_view kOr = " or ";
  std::string text;
  while (!reason.empty()) {
    const std::size_t end = reason.find(kOr);
    if (!text.empty()) text += kOr;
    text += event_text(reason.substr(0, end));
    reason.remove_prefix(end == std::string_view::npos ? reason.size() : end + kOr.size());
  }
  return text;
}

std::string lane_text(const RunLog& run_log, std::size_t lane) {
  const std::vector<RunLog::Lane>& lanes = run_log.lanes();
  FERMATA_ASSERT(lane < lanes.size());
  const bool one_machine = std::all_of(lanes.begin(), lanes.end(), [&](const auto& each) {
    return each.machine == lanes.front().machine;
  });
  const RunLog::Lane& it = lanes[lane];
  return one_machine || it.machine == it.name ? fmt::format("'{}'", it.name)
                                              : fmt::format("'{}/{}'", it.machine, it.name);
}

// Of foreign code no line is known.
std::string short_place(const SourcePlace& place) {
  if (place.line != 0 || place.function[0] == '\0') return place.in_short();
  return fmt::format("{} ({})", place.file, place.function);
}

}  // namespace fermata::sim
