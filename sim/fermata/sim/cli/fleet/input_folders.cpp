// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/input_folders.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/whole_file.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

constexpr const char* kQueue = "queue";

/// Adds the files below `folder`, without those whose names begin with a dot.
void add_inputs(const files::path& folder, Inputs& inputs) {
  if (files::is_directory(folder / kQueue)) return add_inputs(folder / kQueue, inputs);
  for (const auto& entry : files::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with('.')) continue;
    if (entry.is_directory()) {
      add_inputs(entry.path(), inputs);
    } else if (entry.is_regular_file()) {
      std::string bytes = whole_file(entry.path().string());
      std::string name = name_of_input(bytes);
      inputs.emplace(std::move(name), std::move(bytes));
    }
  }
}

}  // namespace

CorpusLayout parse_layout(std::string_view text) {
  if (text.empty() || text == "plain") return CorpusLayout::Plain;
  if (text == "afl") return CorpusLayout::Afl;
  throw UsageError(fmt::format("--layout: '{}' is unknown; expected plain or afl", text));
}

Inputs inputs_for(const std::string& test, const std::string& folder) {
  if (!files::is_directory(folder)) {
    throw UsageError(fmt::format("--corpus: there is no folder {}", folder));
  }
  const files::path own = files::path(folder) / test;
  Inputs inputs;
  add_inputs(files::is_directory(own) ? own : files::path(folder), inputs);
  return inputs;
}

void write_corpus(const Inputs& inputs, const std::string& test, const std::string& folder,
                  CorpusLayout layout) {
  FERMATA_ASSERT(!test.empty());
  const bool is_afl = layout == CorpusLayout::Afl;
  const std::string place = folder + '/' + test + (is_afl ? "/fermata/queue" : "");
  files::create_directories(place);
  std::size_t number = 0;
  for (const auto& [name, bytes] : inputs) {
    const std::string file = is_afl ? fmt::format("id:{:06},orig:{}", number++, name) : name;
    write_whole_file(place + '/' + file, bytes, "the input ");
  }
}

}  // namespace fermata::sim::cli
