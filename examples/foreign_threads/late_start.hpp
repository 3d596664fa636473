// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace foreign_threads {

/// What a program puts before each line of its log.
class Label {
 public:
  void ask_system() {
    std::array<char, 64> name{};
    if (::gethostname(name.data(), name.size() - 1) == 0) text_ = name.data();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum class Publication {
  kWhenComplete,
  kAtOnce,  // The planted bug: who does not take the lock sees a label that is not complete.
};

/// Makes the label when the first one asks for it.
class LateStart {
 public:
  explicit LateStart(Publication publication) : publication_(publication) {}

  const Label& label() {
    if (const Label* const known = label_.load()) return *known;
    const std::lock_guard lock(mutex_);
    if (owned_ == nullptr) {
      owned_ = std::make_unique<Label>();
      if (publication_ == Publication::kAtOnce) label_ = owned_.get();
      owned_->ask_system();
      label_ = owned_.get();
    }
    return *owned_;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Label> owned_;
  std::atomic<const Label*> label_ = nullptr;
  Publication publication_;
};

}  // namespace foreign_threads
