// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run prints: kept, and shown for the failing run only. Takes printf and std::cout,
// std::cerr and std::clog; what writes to a descriptor directly, or to C's stderr, is not taken, so
// that the last words of a process that dies are never lost.

#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace fermata::sim::detail {

/// Who is told what is printed, as it is.
class OutputListener {
 public:
  /// What stands before a line that begins now: "[+1 ms server/worker] ".
  [[nodiscard]] virtual std::string line_head() const = 0;
  /// `text` was printed, which has no newline; `continues`: on the line of what came before.
  virtual void printed(std::string_view text, bool continues) = 0;

 protected:
  ~OutputListener() = default;
};

class Output {
 public:
  /// From now on output is taken. `listener` must outlive this.
  explicit Output(OutputListener& listener);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  /// Forgets what the last run printed.
  void clear() noexcept {
    if (!text_.empty()) text_.clear();
    at_line_start_ = true;
  }
  /// Every line with the virtual time and the coroutine that printed it.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(Output& output) : output_(output) {}

   private:
    int_type overflow(int_type letter) override;
    std::streamsize xsputn(const char* letters, std::streamsize count) override;

    Output& output_;
  };

  static ssize_t write_cookie(void* cookie, const char* letters, std::size_t count);
  void append(const char* letters, std::size_t count);

  OutputListener& listener_;
  std::string text_;
  bool at_line_start_ = true;
  Buffer buffer_{*this};
  std::FILE* stream_;
  std::FILE* saved_stdout_;
  std::streambuf* saved_cout_;
  std::streambuf* saved_cerr_;
  std::streambuf* saved_clog_;
};

}  // namespace fermata::sim::detail
