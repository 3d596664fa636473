// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/exec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/io/line_splitter.hpp"
#include "fermata/io/process.hpp"
#include "fermata/sync/await_all.hpp"

namespace fermata {

namespace {

constexpr std::size_t kReadSize = 16 * 1024;
/// What is readable already is read, also when the grace is over.
constexpr Duration kLeastGrace = std::chrono::milliseconds(1);

/// Reads one of the child's streams, piece by piece.
class Reader {
 public:
  void open(PipeStream& stream) {
    stream_ = &stream;
    buffer_.resize(kReadSize);
  }
  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr; }

  /// The read under way.
  [[nodiscard]] Event& next() {
    if (!request_) request_.emplace(stream_->handle(), std::as_writable_bytes(std::span(buffer_)));
    return *request_;
  }

  /// Gives what has come to `take`; the end closes this.
  template <class Take>
  void take_piece(const Take& take) {
    if (!request_ || !request_->completed()) return;
    const std::size_t size = request_->take();
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
  std::optional<ReadRequest> request_;
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
    while (!process_.ended() || output_.is_open() || errors_.is_open()) {
      if (!wait_for_something(place)) {
        result.cut_off = true;
        break;
      }
      output_.take_piece(take);
      errors_.take_piece([&](std::string_view piece) { result.errors += piece; });
    }
    result.exit = process_.result();
    return result;
  }

 private:
  /// False when the grace is over.
  bool wait_for_something(const SourcePlace& place) {
    std::array<Event*, 3> events{};
    std::size_t count = 0;
    if (!process_.ended()) events[count++] = &process_.event();
    for (Reader* each : {&output_, &errors_}) {
      if (each->is_open()) events[count++] = &each->next();
    }
    const std::span<Event* const> items(events.data(), count);
    const WaitOptions left = deadline_.remaining();
    AwaitOptions options{.timeout = left.timeout, .token = left.token};
    if (!process_.ended()) {
      await_any_or_fail(items, options, place);
      return true;
    }
    const Duration grace = std::max(grace_, kLeastGrace);
    if (options.timeout && *options.timeout < grace) {
      await_any_or_fail(items, options, place);
      return true;
    }
    options.timeout = grace;
    const Instant began = now();
    try {
      await_any_or_fail(items, options, place);
    } catch (const Timeout&) {
      return false;
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

void require_sink(const OutputSink& sink, const char* function) {
  if (!sink) throw UsageError(std::string(function) + ": expected a sink for the output");
}

}  // namespace

ExecResult exec(std::string_view command, const ExecOptions& how, const WaitOptions& options,
                SourcePlace place) {
  return system(
      command, [](std::string_view) {}, how, options, place);
}

ExecResult exec_lines(std::string_view command, std::vector<std::string>& lines,
                      const ExecOptions& how, const WaitOptions& options, SourcePlace place) {
  detail::LineSplitter splitter;
  bool any = false;
  const auto keep = [&](std::string line) {
    lines.push_back(std::move(line));
    any = true;
  };
  const auto take = [&](std::string_view piece) { splitter.feed(piece, keep); };
  ExecResult result = execute(command, take, how, options, place);
  splitter.finish(keep);
  if (any) result.text = lines.back();
  return result;
}

ExecResult system(std::string_view command, const OutputSink& sink, const ExecOptions& how,
                  const WaitOptions& options, SourcePlace place) {
  require_sink(sink, "system");
  detail::LineSplitter splitter;
  std::string last;
  const auto keep = [&](std::string line) { last = std::move(line); };
  const auto take = [&](std::string_view piece) {
    splitter.feed(piece, keep);
    sink(piece);
  };
  ExecResult result = execute(command, take, how, options, place);
  splitter.finish(keep);
  result.text = std::move(last);
  return result;
}

ExecResult passthru(std::string_view command, const OutputSink& sink, const ExecOptions& how,
                    const WaitOptions& options, SourcePlace place) {
  require_sink(sink, "passthru");
  return execute(command, sink, how, options, place);
}

ExecResult shell_exec(std::string_view command, const ExecOptions& how, const WaitOptions& options,
                      SourcePlace place) {
  std::string text;
  const auto take = [&](std::string_view piece) { text += piece; };
  ExecResult result = execute(command, take, how, options, place);
  result.text = std::move(text);
  return result;
}

}  // namespace fermata
