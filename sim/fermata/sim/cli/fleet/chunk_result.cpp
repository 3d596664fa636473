// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/chunk_result.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim::cli {
namespace {

constexpr std::string_view kHead = "fermata-chunk 1 ";

/// Takes a text apart from its beginning.
class ResultReader {
 public:
  explicit ResultReader(std::string_view text) : text_(text) {}

  std::string_view bytes(std::uint64_t count) {
    if (count > text_.size()) refuse();
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }
  /// Up to `end`, which is taken too.
  std::string_view word(char end) {
    const std::size_t at = text_.find(end);
    if (at == std::string_view::npos) refuse();
    const std::string_view taken = text_.substr(0, at);
    text_.remove_prefix(at + 1);
    return taken;
  }
  std::uint64_t number(char end) {
    const std::string_view digits = word(end);
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size()) refuse();
    return value;
  }

  [[noreturn]] static void refuse() { throw Error("the result of a chunk is damaged"); }

 private:
  std::string_view text_;
};

}  // namespace

std::string ChunkResult::text() const {
  std::string text =
      fmt::format("{}{} {} {} {}\n", kHead, test, number, parts.size(), inputs.size());
  for (const EventFiles& part : parts) {
    text += fmt::format("{} {}\n", part.events.size(), part.behaviours.size());
    text += part.events;
    text += part.behaviours;
  }
  for (const std::string& input : inputs) text += input + '\n';
  return text + fmt::format("end {:016x}\n", key_of(text));
}

ChunkResult ChunkResult::parse(std::string_view text) {
  constexpr std::size_t kEnd = 21;  // "end ", 16 digits and a newline.
  if (text.size() < kEnd || !text.starts_with(kHead)) ResultReader::refuse();
  const std::string_view body = text.substr(0, text.size() - kEnd);
  if (text.substr(body.size()) != fmt::format("end {:016x}\n", key_of(body)))
    ResultReader::refuse();
  ResultReader reader(body.substr(kHead.size()));
  ChunkResult result;
  result.test = reader.word(' ');
  result.number = reader.number(' ');
  std::uint64_t left = reader.number(' ');
  std::uint64_t inputs = reader.number('\n');
  for (; left > 0; --left) {
    const std::uint64_t events = reader.number(' ');
    const std::uint64_t behaviours = reader.number('\n');
    EventFiles part;
    part.events = reader.bytes(events);
    part.behaviours = reader.bytes(behaviours);
    result.parts.push_back(std::move(part));
  }
  for (; inputs > 0; --inputs) result.inputs.emplace_back(reader.word('\n'));
  return result;
}

std::vector<RangeResult> ChunkResult::ranges() const {
  std::vector<RangeResult> ranges;
  for (const EventFiles& part : parts) {
    ReportedEvents reported = parse_events(part);
    if (reported.explored && reported.explored->counts.runs > 0)
      ranges.push_back(std::move(*reported.explored));
  }
  return ranges;
}

}  // namespace fermata::sim::cli
