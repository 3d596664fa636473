// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/stack_text.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/program_path.hpp"

namespace fermata::sim {
namespace {

bool names_are_wanted = true;

struct Frame {
  std::string function;
  std::string place;
};

/// Where the program itself is loaded, so that its frames can be told from those of libraries.
std::uintptr_t load_address() {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<const void*>(&stack_text), &info) == 0
             ? 0
             : reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

/// The offset of `address` in the program's file: in a position-independent program, what the
/// loader added is subtracted.
std::string offset_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0) return {};
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  if (base != load_address()) return {};
  constexpr std::uintptr_t kFixed = 0x400000;
  // The return address is behind the call.
  const auto at = reinterpret_cast<std::uintptr_t>(address) - 1;
  FERMATA_ASSERT(at >= base);
  return fmt::format("{:#x}", base == kFixed ? at : at - base);
}

std::vector<Frame> symbolize(const std::string& offsets) {
  FERMATA_ASSERT(!offsets.empty());
  const std::string command = fmt::format("addr2line -Cfie {} {} 2>/dev/null",
                                          detail::shell_quoted(detail::program_path()), offsets);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string text;
  std::array<char, 4'096> chunk;
  while (pipe != nullptr) {
    const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe.get());
    if (size == 0) break;
    text.append(chunk.data(), size);
  }
  std::vector<Frame> frames;
  std::string_view rest = text;
  const auto line = [&rest] {
    const std::size_t end = rest.find('\n');
    const std::string_view found = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return std::string(found);
  };
  while (!rest.empty()) {
    Frame frame;
    frame.function = line();
    frame.place = line();
    frames.push_back(std::move(frame));
  }
  return frames;
}

bool has_line(const Frame& frame) {
  return !frame.place.starts_with("??") && !frame.place.ends_with(":?");
}

bool begins_with_one_of(std::string_view function, std::span<const std::string_view> names) {
  if (function.starts_with("void ")) function.remove_prefix(5);
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return function.starts_with(name); });
}

/// Wherever its file was when it was compiled.
bool is_plumbing(std::string_view function) {
  constexpr std::array<std::string_view, 6> kNames = {
      "fermata::detail::", "fermata::sim::detail::", "fermata::Runtime::", "std::", "boost::",
      "trampoline"};
  return begins_with_one_of(function, kNames);
}

/// For frames without a line: a program without debug information has names only, also of the
/// libraries that are linked into it.
bool is_named_by_the_user(std::string_view function) {
  constexpr std::array<std::string_view, 4> kNames = {"fermata::", "testing::", "__", "_start"};
  return !begins_with_one_of(function, kNames) && !function.starts_with('?') &&
         !function.ends_with(".o");
}

bool is_the_users(const Frame& frame) {
  const std::string_view place = frame.place;
  if (is_plumbing(frame.function)) return false;
  for (const std::string_view ours : {"runtime/", "sim/"}) {
    if (place.substr(0, ours.size()) == ours) return false;
    if (place.find("/fermata/" + std::string(ours)) != std::string_view::npos) return false;
  }
  if (!has_line(frame)) return is_named_by_the_user(frame.function);
  return place.find("/c++/") == std::string_view::npos;
}

std::vector<std::string> without_repetition(const std::vector<std::string>& lines) {
  std::vector<std::string> result;
  for (auto line = lines.begin(); line != lines.end();) {
    const auto end =
        std::find_if(line, lines.end(), [&](const auto& other) { return other != *line; });
    const auto times = end - line;
    result.push_back(times == 1 ? *line : fmt::format("{} ({} times)", *line, times));
    line = end;
  }
  FERMATA_ASSERT(result.size() <= lines.size());
  return result;
}

std::vector<std::string> look_up(const std::string& offsets) {
  FERMATA_ASSERT(offsets.starts_with(' '));
  std::vector<std::string> lines;
  for (const Frame& frame : symbolize(offsets)) {
    if (!is_the_users(frame)) continue;
    const std::string place = frame.place.substr(0, frame.place.find(" (discriminator"));
    lines.push_back(frame.function + (has_line(frame) ? " at " + place : std::string()));
  }
  return without_repetition(lines);
}

}  // namespace

std::vector<const void*> present_stack() {
  std::array<void*, 64> frames;
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  FERMATA_ASSERT(static_cast<std::size_t>(count) <= frames.size());
  // In parentheses: braces would make a list of two out of the two pointers.
  return std::vector<const void*>(frames.begin(), frames.begin() + count);
}

std::vector<std::string> stack_text(std::span<const void* const> stack) {
  if (!names_are_wanted) return {};
  // By the program's own frames: in other runs of the same failure, others may differ.
  static std::map<std::string, std::vector<std::string>> known;
  std::string offsets;
  for (const void* address : stack) {
    const std::string offset = offset_of(address);
    if (!offset.empty()) offsets += ' ' + offset;
  }
  if (offsets.empty()) return {};
  const auto [text, is_new] = known.try_emplace(offsets);
  if (is_new) text->second = look_up(offsets);
  return text->second;
}

void look_names_up(bool wanted) noexcept { names_are_wanted = wanted; }

}  // namespace fermata::sim
