// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/exec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/io/line_splitter.hpp"
#include "fermata/io/process.hpp"
#include "fermata/sync/when_all.hpp"

namespace fermata {

namespace {

constexpr std::size_t kReadSize = 16 * 1024;
/// What is readable already is read, also when the grace is over.
constexpr Duration kLeastGrace = std::chrono::milliseconds(1);

/// Reads one of the child's streams, piece by piece.
class Reader {
 public:
  void open(PipeStream& stream) {
    FERMATA_ASSERT(stream_ == nullptr);
    stream_ = &stream;
    buffer_.resize(kReadSize);
  }
  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr; }

  /// Whether a piece has come that nobody has taken.
  [[nodiscard]] bool has_piece() const noexcept { return request_ && request_->is_completed(); }
  /// The read under way.
  [[nodiscard]] Event& next() {
    FERMATA_ASSERT(is_open());
    if (!request_) request_.emplace(stream_->handle(), std::as_writable_bytes(std::span(buffer_)));
    return *request_;
  }

  /// Gives what has come to `take`; the end closes this.
  template <class Take>
  void take_piece(const Take& take) {
    if (!has_piece()) return;
    const std::size_t size = request_->take();
    FERMATA_ASSERT(size <= buffer_.size());
    request_.reset();
    if (size == 0) {
      stream_ = nullptr;
    } else {
      take(std::string_view(buffer_).substr(0, size));
    }
  }

 private:
  PipeStream* stream_ = nullptr;  // Null before it is opened and at its end.
  std::string buffer_;
  std::optional<backend::ReadRequest> request_;
};

ProcessOptions shell(std::string_view command, const ExecOptions& how) {
  return {.program = "/bin/sh",
          .arguments = {"-c", std::string(command)},
          .environment = how.environment,
          .directory = how.directory,
          .input = Stdio::Ignore,
          .output = Stdio::Pipe,
          .errors = how.capture_errors ? Stdio::Pipe : Stdio::Inherit,
          .terminate_when_dropped = true};
}

/// One command from its start to the end of its output.
class Execution {
 public:
  Execution(std::string_view command, const ExecOptions& how, const WaitOptions& options)
      : process_(Process::spawn(shell(command, how))), deadline_(options), grace_(how.grace) {
    output_.open(process_.output());
    if (how.capture_errors) errors_.open(process_.errors());
  }

  ExecResult run(const OutputSink& take, const SourcePlace& place) {
    ExecResult result;
    while (!process_.is_ended() || output_.is_open() || errors_.is_open()) {
      if (!wait_for_something(place)) {
        result.cut_off = true;
        break;
      }
      output_.take_piece(take);
      errors_.take_piece([&](std::string_view piece) { result.errors += piece; });
    }
    FERMATA_ASSERT(process_.is_ended());
    result.exit = process_.result();
    return result;
  }

 private:
  /// False when the grace is over.
  bool wait_for_something(const SourcePlace& place) {
    std::array<Event*, 3> events{};
    std::size_t count = 0;
    if (!process_.is_ended()) events[count++] = &process_.event();
    for (Reader* each : {&output_, &errors_}) {
      if (each->is_open()) events[count++] = &each->next();
    }
    FERMATA_ASSERT(count > 0);
    const std::span<Event* const> items(events.data(), count);
    const WaitOptions left = deadline_.remaining();
    AwaitOptions options{.timeout = left.timeout, .token = left.token};
    if (!process_.is_ended()) {
      when_any(items, options, place);
      return true;
    }
    const Duration grace = std::max(grace_, kLeastGrace);
    if (options.timeout && *options.timeout < grace) {
      when_any(items, options, place);
      return true;
    }
    options.timeout = grace;
    const Instant began = now();
    try {
      when_any(items, options, place);
    } catch (const Timeout&) {
      // In the turn of the timer more may have come, if the loop was busy before.
      grace_ = Duration::zero();
      return output_.has_piece() || errors_.has_piece();
    }
    grace_ -= std::min(grace_, now() - began);
    return true;
  }

  Process process_;
  Reader output_;
  Reader errors_;
  detail::Deadline deadline_;
  Duration grace_;
};

ExecResult execute(std::string_view command, const OutputSink& take, const ExecOptions& how,
                   const WaitOptions& options, const SourcePlace& place) {
  detail::require_valid_span(how.grace);
  detail::check_token(options);
  return Execution(command, how, options).run(take, place);
}

/// `on_line` gets each line, without white space at its end; the last one is the result's text.
template <class OnLine>
ExecResult execute_by_lines(std::string_view command, const OutputSink& sink, const OnLine& on_line,
                            const ExecOptions& how, const WaitOptions& options,
                            const SourcePlace& place) {
  detail::LineSplitter splitter;
  std::string last;
  const auto keep = [&](std::string line) {
    on_line(line);
    last = std::move(line);
  };
  const auto take = [&](std::string_view piece) {
    splitter.feed(piece, keep);
    if (sink) sink(piece);
  };
  ExecResult result = execute(command, take, how, options, place);
  splitter.finish(keep);
  result.text = std::move(last);
  return result;
}

constexpr auto kIgnoreLine = [](const std::string&) {};

void require_sink(const OutputSink& sink, const char* function) {
  if (!sink) throw UsageError(std::string(function) + ": expected a sink for the output");
}

}  // namespace

ExecResult exec(std::string_view command, const ExecOptions& how, const WaitOptions& options,
                SourcePlace place) {
  return execute_by_lines(command, nullptr, kIgnoreLine, how, options, place);
}

ExecResult exec_lines(std::string_view command, std::vector<std::string>& lines,
                      const ExecOptions& how, const WaitOptions& options, SourcePlace place) {
  const auto keep = [&](const std::string& line) { lines.push_back(line); };
  return execute_by_lines(command, nullptr, keep, how, options, place);
}

ExecResult exec_tee(std::string_view command, const OutputSink& sink, const ExecOptions& how,
                    const WaitOptions& options, SourcePlace place) {
  require_sink(sink, "exec_tee");
  return execute_by_lines(command, sink, kIgnoreLine, how, options, place);
}

ExecResult exec_to(std::string_view command, const OutputSink& sink, const ExecOptions& how,
                   const WaitOptions& options, SourcePlace place) {
  require_sink(sink, "exec_to");
  return execute(command, sink, how, options, place);
}

ExecResult exec_output(std::string_view command, const ExecOptions& how, const WaitOptions& options,
                       SourcePlace place) {
  std::string text;
  const auto take = [&](std::string_view piece) { text += piece; };
  ExecResult result = execute(command, take, how, options, place);
  result.text = std::move(text);
  return result;
}

}  // namespace fermata
