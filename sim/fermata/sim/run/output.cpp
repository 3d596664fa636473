// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/output.hpp"

#include <cerrno>
#include <iostream>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim::detail {

Output::Output(OutputListener& listener) : listener_(listener) {
  cookie_io_functions_t functions{};
  functions.write = &Output::write_cookie;
  stream_ = ::fopencookie(this, "w", functions);
  if (stream_ == nullptr) throw InputOutputError("cannot take the standard output", errno);
  std::setvbuf(stream_, nullptr, _IONBF, 0);
  std::fflush(stdout);
  saved_stdout_ = stdout;
  stdout = stream_;
  FERMATA_ASSERT(saved_stdout_ != stream_);
  saved_cout_ = std::cout.rdbuf(&buffer_);
  saved_cerr_ = std::cerr.rdbuf(&buffer_);
  saved_clog_ = std::clog.rdbuf(&buffer_);
}

Output::~Output() {
  std::cout.rdbuf(saved_cout_);
  std::cerr.rdbuf(saved_cerr_);
  std::clog.rdbuf(saved_clog_);
  stdout = saved_stdout_;
  std::fclose(stream_);
}

Output::Buffer::int_type Output::Buffer::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char byte = traits_type::to_char_type(letter);
  output_.append(&byte, 1);
  return letter;
}

std::streamsize Output::Buffer::xsputn(const char* letters, std::streamsize count) {
  FERMATA_ASSERT(count >= 0);
  output_.append(letters, static_cast<std::size_t>(count));
  return count;
}

ssize_t Output::write_cookie(void* cookie, const char* letters, std::size_t count) {
  FERMATA_ASSERT(cookie != nullptr);
  static_cast<Output*>(cookie)->append(letters, count);
  return static_cast<ssize_t>(count);
}

void Output::append(const char* letters, std::size_t count) {
  FERMATA_ASSERT(letters != nullptr || count == 0);
  std::string_view rest(letters, count);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view piece = rest.substr(0, end);
    if (at_line_start_) text_ += listener_.line_head();
    listener_.printed(piece, !at_line_start_);
    text_ += piece;
    at_line_start_ = end != std::string_view::npos;
    if (!at_line_start_) return;
    text_ += '\n';
    rest.remove_prefix(end + 1);
  }
}

}  // namespace fermata::sim::detail
