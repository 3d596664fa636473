// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/disk_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/printable.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kMostShown = 32;  // Bytes of a file.

std::string text_of(const std::optional<FileContents>& contents) {
  if (!contents) return "no file";
  if (contents->size == 0) return "empty";
  FERMATA_ASSERT(!contents->bytes.empty());
  return fmt::format("\"{}\" ({})", printable(contents->bytes, contents->size, kMostShown),
                     counted(contents->size, "byte"));
}

/// The longest of `texts`.
template <class Texts, class Text>
std::size_t widest(const Texts& texts, Text text) {
  std::size_t width = 0;
  for (const auto& each : texts) width = std::max(width, text(each).size());
  return width;
}

using Files = std::vector<const DiskLog::Change*>;

std::string lines_of(const Files& files) {
  FERMATA_ASSERT(!files.empty());
  const std::size_t path = widest(files, [](const auto* each) { return each->file.path; });
  const std::size_t seen = widest(files, [](const auto* each) { return text_of(each->file.seen); });
  const std::size_t durable =
      widest(files, [](const auto* each) { return text_of(each->file.durable); });
  std::string text;
  for (const DiskLog::Change* each : files) {
    const FileState& file = each->file;
    std::string line = fmt::format("  {:<{}}  seen {:<{}}  durable {:<{}}  {}", file.path, path,
                                   text_of(file.seen), seen, text_of(file.durable), durable,
                                   file.is_synced ? "" : "<- not durable");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::string disk_text(const RunLog& run_log, const MomentOfRun& moment) {
  FERMATA_ASSERT(!moment.text.empty());
  const Files files = run_log.disk_log().files(
      [&](const DiskLog::Change& change) { return moment.has_come(change.step, change.at); });
  if (files.empty()) return fmt::format("files {}: none\n", moment.text);
  std::string text;
  for (auto begin = files.begin(); begin != files.end();) {
    const std::string& machine = (*begin)->machine;
    const auto end = std::find_if(begin, files.end(),
                                  [&](const auto* each) { return each->machine != machine; });
    text += fmt::format("files of '{}' {}:\n{}", machine, moment.text, lines_of({begin, end}));
    begin = end;
  }
  return text;
}

}  // namespace fermata::sim
