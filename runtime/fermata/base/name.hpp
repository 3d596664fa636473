// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fermata {

namespace detail {
struct DebuggerLayout;
}

/// The display name of a coroutine or another object. A literal is referred to; any other text is
/// copied.
class Name {
 public:
  constexpr Name() noexcept = default;

  template <std::size_t N>
  consteval Name(const char (&literal)[N]) noexcept  // NOLINT(google-explicit-constructor)
      : text_(literal), size_(N - 1) {}

  Name(const std::string& text) : Name(std::string_view(text)) {}  // NOLINT
  Name(std::string_view text)                                      // NOLINT
      : size_(static_cast<std::uint32_t>(text.size())), owned_(true) {
    auto* copy = new char[text.size() + 1];
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    text_ = copy;
  }

  Name(Name&& other) noexcept
      : text_(std::exchange(other.text_, "")),
        size_(std::exchange(other.size_, 0)),
        owned_(std::exchange(other.owned_, false)) {}
  Name& operator=(Name&& other) noexcept {
    std::swap(text_, other.text_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Name() {
    if (owned_) delete[] text_;
  }

  [[nodiscard]] std::string_view view() const noexcept { return {text_, size_}; }
  /// Null-terminated.
  [[nodiscard]] const char* c_str() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  friend struct detail::DebuggerLayout;

  const char* text_ = "";
  std::uint32_t size_ = 0;
  bool owned_ = false;
};

}  // namespace fermata
