// SPDX-License-Identifier: Apache-2.0
#pragma once

// Settings that a program reads again when it gets SIGUSR1, while it goes on with what it had.

#include <array>
#include <csignal>
#include <fermata/runtime.hpp>
#include <fermata/loop/event_interface.hpp>
#include <functional>
#include <string>
#include <utility>

class Settings {
 public:
  using Changed = std::function<void(const std::string& text)>;

  /// Reads `path` now, and again at each signal; `changed` is called when that has worked. A file
  /// that cannot be read leaves the settings as they are.
  Settings(fermata::loop::EventInterface& events, std::string path, Changed changed)
      : events_(events), path_(std::move(path)), changed_(std::move(changed)) {
    load();
    events_.on_signal(SIGUSR1, [this] { load(); });
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() { forget(); }

  /// Signals are as they were before.
  void forget() { events_.off_signal(SIGUSR1); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  /// Reading waits, and a signal that comes meanwhile is handled when this has returned.
  void load() {
    std::string text;
    try {
      fermata::File file = fermata::File::open(path_);
      std::array<char, 1'024> piece;
      while (const std::size_t size = file.read(std::as_writable_bytes(std::span(piece)))) {
        text.append(piece.data(), size);
      }
    } catch (const fermata::InputOutputError&) {
      return;
    }
    text_ = std::move(text);
    changed_(text_);
  }

  fermata::loop::EventInterface& events_;
  std::string path_;
  Changed changed_;
  std::string text_;
};
