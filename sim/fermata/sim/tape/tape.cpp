// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/tape.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/whole_file.hpp"

namespace fermata::sim {
namespace {

constexpr std::string_view kMagic = "fermata-tape ";

std::string one_line(std::string text) {
  for (char& letter : text) {
    if (letter == '\n' || letter == '\r') letter = ' ';
  }
  return text;
}

void append(std::string& out, const Decision& decision, const KeyNames& names) {
  FERMATA_ASSERT(out.ends_with('\n'));
  if (decision.is_pick) {
    out +=
        fmt::format("pick {} {:#x} {} {} {:#x} {}", decision.index, decision.subject,
                    decision.occurrence, decision.bound, decision.value, decision.at.nanoseconds);
  } else {
    out += fmt::format("draw {} {} {:#x} {} {} {} {}", decision.index, to_string(decision.stream),
                       decision.subject, decision.occurrence, decision.bound, decision.value,
                       decision.at.nanoseconds);
  }
  out += fmt::format(" # {} {}\n", describe(decision.at), one_line(describe(decision, names)));
}

/// Reads a tape from its first line to its last.
class Reader {
 public:
  Reader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Tape read() {
    read_version();
    while (!at_end_) {
      const std::size_t line_start = position_;
      std::string_view rest = next_line();
      const std::string_view word = next_word(rest);
      if (word == "end") {
        read_end(rest, line_start);
      } else {
        read_field(word, rest);
      }
    }
    if (position_ != text_.size()) refuse("nothing after the line 'end'");
    return std::move(tape_);
  }

 private:
  void read_version() {
    FERMATA_ASSERT(position_ == 0);
    if (text_.substr(0, kMagic.size()) != kMagic) {
      line_ = 1;
      refuse("the line 'fermata-tape 2'");
    }
    const std::string_view version = next_line().substr(kMagic.size());
    if (version != kTapeFormat) {
      throw TapeError(fmt::format("{}: tape format {} is unknown; this build reads format {}",
                                  origin_, version, kTapeFormat));
    }
  }

  void read_field(std::string_view word, std::string_view rest) {
    if (word == "test") {
      tape_.test = rest;
    } else if (word == "program") {
      tape_.program = rest;
    } else if (word == "seed") {
      tape_.seed = only_number(rest);
    } else if (word == "strategy") {
      tape_.strategy = rest;
    } else if (word == "faults") {
      tape_.faults = rest;
    } else if (word == "time-limit") {
      tape_.limits.time = Duration(static_cast<std::int64_t>(only_number(rest)));
    } else if (word == "step-limit") {
      tape_.limits.steps = only_number(rest);
    } else if (word == "instant-limit") {
      tape_.limits.steps_at_instant = only_number(rest);
    } else if (word == "rapidcheck") {
      tape_.rapidcheck = rest;
    } else if (word == "signature") {
      tape_.signature = rest;
    } else if (word == "trace") {
      tape_.trace_hash = only_number(rest);
    } else if (word == "draws") {
      tape_.draws = only_number(rest);
    } else if (word == "name") {
      const std::uint64_t key = number(rest);
      tape_.names.emplace(key, std::string(rest));
    } else if (word == "origin") {
      const std::uint64_t path = number(rest);
      const std::uint64_t parent = number(rest);
      tape_.origins.emplace(path, Origin{parent, only_small_number(rest)});
    } else if (word == "pick" || word == "draw") {
      read_decision(word == "pick", rest);
    } else {
      refuse("a field of a tape, not '" + std::string(word) + "'");
    }
  }

  void read_decision(bool is_pick, std::string_view rest) {
    FERMATA_ASSERT(!at_end_);
    Decision decision;
    decision.is_pick = is_pick;
    decision.index = number(rest);
    if (!is_pick) decision.stream = stream(rest);
    decision.subject = number(rest);
    decision.occurrence = small_number(rest);
    decision.bound = number(rest);
    decision.value = number(rest);
    decision.at.nanoseconds = static_cast<std::int64_t>(number(rest));
    decision.key = key_of(topic_of(decision), decision.occurrence);
    if (!tape_.decisions.empty() && decision.index <= tape_.decisions.back().index) {
      refuse("a draw after draw " + std::to_string(tape_.decisions.back().index));
    }
    tape_.decisions.push_back(decision);
  }

  void read_end(std::string_view rest, std::size_t line_start) {
    FERMATA_ASSERT(line_start < position_);
    const std::uint64_t decisions = number(rest);
    const std::uint64_t checksum = only_number(rest);
    if (decisions != tape_.decisions.size() || checksum != key_of(text_.substr(0, line_start))) {
      throw TapeError(fmt::format("{}: the tape is damaged: its checksum does not match", origin_));
    }
    at_end_ = true;
  }

  std::string_view next_line() {
    FERMATA_ASSERT(position_ <= text_.size());
    ++line_;
    const std::size_t end = text_.find('\n', position_);
    if (end == std::string_view::npos) {
      throw TapeError(fmt::format(
          "{}: the tape is cut off after line {}: its line 'end' is missing", origin_, line_ - 1));
    }
    const std::string_view line = text_.substr(position_, end - position_);
    position_ = end + 1;
    return line;
  }

  static std::string_view next_word(std::string_view& rest) {
    const std::size_t end = rest.find(' ');
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return word;
  }

  std::uint64_t number(std::string_view& rest) const {
    const std::string_view word = next_word(rest);
    const bool is_hexadecimal = word.substr(0, 2) == "0x";
    const char* begin = word.data() + (is_hexadecimal ? 2 : 0);
    const char* end = word.data() + word.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end) refuse("a number, not '" + std::string(word) + "'");
    return value;
  }

  std::uint64_t only_number(std::string_view rest) const {
    const std::uint64_t value = number(rest);
    if (!rest.empty()) refuse("the end of the line, not '" + std::string(rest) + "'");
    return value;
  }

  std::uint32_t small_number(std::string_view& rest) const { return as_small(number(rest)); }
  std::uint32_t only_small_number(std::string_view rest) const {
    return as_small(only_number(rest));
  }

  std::uint32_t as_small(std::uint64_t value) const {
    if (value > UINT32_MAX) refuse("a number below 2^32, not " + std::to_string(value));
    return static_cast<std::uint32_t>(value);
  }

  backend::RandomStream stream(std::string_view& rest) const {
    const std::string_view name = next_word(rest);
    const std::optional<backend::RandomStream> found = stream_of(name);
    if (!found) refuse("a stream, not '" + std::string(name) + "'");
    return *found;
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    FERMATA_ASSERT(line_ > 0);
    throw TapeError(fmt::format("{}:{}: expected {}", origin_, line_, expected));
  }

  std::string_view text_;
  std::string_view origin_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  bool at_end_ = false;
  Tape tape_;
};

}  // namespace

void set_names(Tape& tape, const KeyNames& names, const Origins& origins) {
  tape.names.clear();
  tape.origins.clear();
  const auto take = [&](std::uint64_t key) {
    if (const auto name = names.find(key); name != names.end()) tape.names.insert(*name);
    for (auto origin = origins.find(key); origin != origins.end();
         origin = origins.find(origin->second.parent)) {
      if (!tape.origins.insert(*origin).second) break;
    }
  };
  for (const Decision& decision : tape.decisions) {
    if (!decision.is_pick) {
      take(decision.key);
    } else {
      take(decision.subject);
      take(decision.value);
    }
  }
  FERMATA_ASSERT(tape.names.size() <= names.size());
  FERMATA_ASSERT(tape.origins.size() <= origins.size());
}

std::size_t count_shown(const Tape& tape) { return count_shown(tape.decisions, tape.names); }

std::string to_text(const Tape& tape) {
  std::string out = fmt::format("{}{}\n", kMagic, kTapeFormat);
  out += fmt::format("test {}\n", tape.test);
  if (!tape.program.empty()) out += fmt::format("program {}\n", one_line(tape.program));
  out += fmt::format("seed {:#x}\nstrategy {}\nfaults {}\n", tape.seed, tape.strategy, tape.faults);
  out += fmt::format("time-limit {}\nstep-limit {}\ninstant-limit {}\n", tape.limits.time.count(),
                     tape.limits.steps, tape.limits.steps_at_instant);
  if (!tape.rapidcheck.empty()) out += fmt::format("rapidcheck {}\n", tape.rapidcheck);
  out += fmt::format("signature {}\n", one_line(tape.signature));
  out += fmt::format("trace {:#x}\ndraws {}\n", tape.trace_hash, tape.draws);
  for (const auto& [key, name] : tape.names) {
    out += fmt::format("name {:#x} {}\n", key, one_line(name));
  }
  for (const auto& [path, origin] : tape.origins) {
    out += fmt::format("origin {:#x} {:#x} {}\n", path, origin.parent, origin.number);
  }
  for (const Decision& decision : tape.decisions) append(out, decision, tape.names);
  out += fmt::format("end {} {:#x}\n", tape.decisions.size(), key_of(out));
  return out;
}

Tape parse_tape(std::string_view text, std::string_view origin) {
  return Reader(text, origin).read();
}

Tape load_tape(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputOutputError("cannot read the tape " + path, errno);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_tape(text, path);
}

void save_tape(const Tape& tape, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  write_whole_file(path, to_text(tape), "the tape ");
}

}  // namespace fermata::sim
